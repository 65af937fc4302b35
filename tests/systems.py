"""Marks of tests that need what some systems lack: see ``tests/hidden``."""

from pathlib import Path

import pytest

from memory.file_locks import HAS_FCNTL
from memory.processes import CAN_FORK

HAS_PROC = Path("/proc/self/task").exists()
needs_fork = pytest.mark.skipif(not (CAN_FORK and HAS_FCNTL), reason="this system does not fork")
needs_proc = pytest.mark.skipif(not HAS_PROC, reason="needs /proc to tell processes apart")
