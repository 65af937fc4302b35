"""The MCP server: tools, resources and prompts of the Model Context Protocol.

Only this package imports the SDK, which takes a second or two to load.
"""
