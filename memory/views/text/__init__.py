"""What pages say: words of values, times, errors, prose."""
