"""The fields of the nouns of curation, declared once."""
