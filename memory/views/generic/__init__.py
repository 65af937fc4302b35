"""Pages that follow declarations: lists, filters, forms, actions."""
