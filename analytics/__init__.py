"""Analytics: figures of what agents do and of how well memory works."""
