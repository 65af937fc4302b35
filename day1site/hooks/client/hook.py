"""Hook client: stores one event of an agent's program in a spool on disk, then sends it to the server.

Run as ``python3 -I -S hook.py --client NAME [--config FILE]`` with the event on standard input. What it does
stands in capture.py: Python compiles a script at each start, a module once.
"""

import os
import sys


def run(words):
    """Store one event and end the process; never raises."""
    try:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        __import__("capture").main(words)
    finally:
        os._exit(0)  # nothing is left to do, and interpreter shutdown takes time


if __name__ == "__main__":
    run(sys.argv[1:])
