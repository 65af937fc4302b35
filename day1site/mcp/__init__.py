"""The surface for models: tools, resources and prompts of the Model Context Protocol.

Nothing outside of this package imports the SDK, which takes a second or two to load.
"""
