"""The REST API of curation."""
