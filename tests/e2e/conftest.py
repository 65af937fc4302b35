"""The tools in bench import one another by their bare names."""

import sys

from tests.site.test_up import ROOT

sys.path.append(str(ROOT / "bench"))
