"""Live events over SSE, served next to Django in one ASGI application."""
