"""What may be asked of analytics."""
