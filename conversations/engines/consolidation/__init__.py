"""Rule-based extraction of facts from sessions."""
