"""OAuth 2.1: people let programs use a project, over MCP and REST. See docs/decisions/0095."""
