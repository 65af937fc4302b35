"""Dreaming: observations that are alike in meaning become reflections, proposed by a merge request."""
