"""The check of a whole store: what is damaged, lost, or not what it was derived from."""
