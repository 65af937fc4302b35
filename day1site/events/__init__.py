"""Live events: server-sent, beside Django in one ASGI application."""
