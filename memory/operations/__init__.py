"""Operations, each declared once: every surface follows from it."""
