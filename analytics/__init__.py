"""Analytics: aggregates over memory, without any memory text."""
