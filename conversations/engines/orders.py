"""By what the lists of this app can be sorted, besides conversations, which are versions."""

from memory.engines.support.ordering import Ordering

REPLAYS = Ordering({"-created_at": "id", "model": "model", "-steps": "steps", "-finished_at": "finished_at"})
REPLAY_BATCHES = Ordering({"-created_at": "id", "name": "name"})
RUNS = Ordering({"-started_at": "id", "target": "target", "-finished_at": "finished_at"})
