"""Pages of facts, and of what stands beside them."""
