"""Processing time is linear in the length of any text that a caller may send."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.amounts import is_thorough

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 300  # an expression of quadratic time may take longer


@pytest.mark.nightly
@pytest.mark.slow
def test_every_expression_over_stored_text_takes_linear_time():
    """Compare 256 KiB, or a fact's longest text, with a quarter of it, where that took any time.

    The suite takes a ninth of the kinds of text each day.
    """
    command = [sys.executable, "-m", "tests.memory.hostile_texts", "1" if is_thorough() else "9"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    assert (result.stdout, result.returncode) == ("done\n", 0), result.stdout + result.stderr
