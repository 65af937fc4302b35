"""Search: candidates, scores, explanations."""
