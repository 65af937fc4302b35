"""The server: its process, provisioning of the first start, authentication of ASGI apps."""
