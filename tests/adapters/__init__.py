"""Programs that keep what frameworks keep, as their adapters would: over REST alone."""
