"""Embedding models: one that runs in this process, and any server with OpenAI's API."""
