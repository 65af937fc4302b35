"""What is learned from sessions by rule."""
