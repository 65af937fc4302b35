"""The hook client, of the standard library, run outside of Day1's environment; the plugin of opencode."""
