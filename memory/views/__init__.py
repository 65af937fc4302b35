"""The web pages: each reads its address, calls an engine, and renders a template."""
