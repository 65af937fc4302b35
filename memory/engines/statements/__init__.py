"""What a statement says, apart from how, and whether an older one stands beside it. Pure functions."""
