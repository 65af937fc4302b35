"""Headers of an MCP connection: the repository that the program works in, as hooks name it.

Run as ``python3 -I -S headers.py``; Claude Code does so when it connects. Standard library only, Python 3.8
and later. Where the repository is unknown, or no header can hold it, there are none.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from capture import project_root  # a script without a package

NAME = "Day1-Repository"


def main():
    """Print the headers as a JSON object; never raises."""
    try:
        root = project_root()
    except Exception:  # whatever the error, the program connects
        root = ""
    sys.stdout.write(json.dumps({NAME: root} if root.isascii() and root.isprintable() and root else {}))


if __name__ == "__main__":
    main()
