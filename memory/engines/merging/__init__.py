"""Merges: what a branch brings to another one."""
