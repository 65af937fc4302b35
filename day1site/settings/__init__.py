"""Settings by use: dev (the default), test, production; base has what they share."""

import sys

from memory.renamed import RenamedModules

if not any(isinstance(finder, RenamedModules) for finder in sys.meta_path):
    # a settings file with an old module name gets an error with the new one
    sys.meta_path.append(RenamedModules())
