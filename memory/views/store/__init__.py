"""Pages of the store: its state, what was erased, the trail."""
