"""How a command reaches the store: over HTTP or in this process."""
