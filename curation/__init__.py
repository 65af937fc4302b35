"""Curation: what agents wrote becomes knowledge that is checked, handed over and reused."""
