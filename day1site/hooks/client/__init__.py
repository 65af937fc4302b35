"""The hook client: two files of the standard library that run outside of Day1's environment."""
