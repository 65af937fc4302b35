"""Tags of the pages of conversations."""
