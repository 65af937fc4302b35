"""Settings by use: dev (the default), test, production; base has what they share."""
