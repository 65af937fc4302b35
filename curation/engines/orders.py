"""By what the lists of this app can be sorted."""

from memory.engines.support.ordering import Ordering

BUNDLES = Ordering({"-created_at": "id", "name": "name", "-size": "size"})
HANDOFFS = Ordering({"-created_at": "id", "-fact_count": "fact_count"})
JOBS = Ordering({"-created_at": "id", "-total": "total", "-finished_at": "finished_at"})
IMPORTS = Ordering({"-created_at": "id", "-updated_at": "updated_at", "file": "file"})
QUARANTINES = Ordering({"-created_at": "id", "label": "label", "-released_at": "released_at"})
SCORINGS = Ordering({"-created_at": "id", "-average": "average", "-calls": "calls"})
TEMPLATES = Ordering({"name": "name", "-updated_at": "updated_at", "-created_at": "id"}, unique=["name"])
