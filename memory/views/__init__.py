"""The web pages: each parses its address, calls an engine, and renders a template."""
