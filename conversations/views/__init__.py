"""Admin pages of conversations."""
