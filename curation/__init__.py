"""Curation: verification, templates, hand-overs, bundles."""
