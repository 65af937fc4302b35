"""What people install in their own programs, and what writes it from docs/openapi.yaml."""
