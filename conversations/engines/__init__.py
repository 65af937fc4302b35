"""Engines of conversations. Surfaces call them; they know no surface."""
