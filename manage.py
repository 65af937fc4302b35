#!/usr/bin/env python3
"""Runs every command of Day1, such as ``python3 manage.py up``. Needs only Python 3.11 or newer.

An older Python must be able to read this file too, so that it can say that it is too old.
"""

import os
import sys

ROOT = os.path.dirname(os.path.realpath(__file__))  # also where this file is called by a link to it


def too_old(version):
    """Return what a Python of this version is told, or "" when it is new enough."""
    if tuple(version[:2]) >= (3, 11):
        return ""
    return "Day1 needs Python 3.11 or newer; this is Python {}.{}.".format(*version[:2])


def load_bootstrap():
    """day1site/bootstrap.py by its path: the package around it needs what is not installed yet."""
    from importlib.util import module_from_spec, spec_from_file_location

    path = os.path.join(ROOT, "day1site", "bootstrap.py")
    spec = spec_from_file_location("day1_bootstrap", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_day1(words):
    """Carry out the words of the command line ``day1``, in the environment that bootstrap has made."""
    from day1site.cli import run_process

    return run_process(words)


if __name__ == "__main__":
    if too_old(sys.version_info):
        sys.exit(too_old(sys.version_info))
    load_bootstrap().run(sys.argv, run_day1)
