"""The rules of conversations. Surfaces call these; nothing here knows a surface."""
