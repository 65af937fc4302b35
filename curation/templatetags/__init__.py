"""Template tags of the pages of curation."""
