"""Settings by use: dev (the default), test, production; base holds what they share."""
