"""Readers of programs' transcripts, for imports and for what hooks missed. Without Django."""
