"""Memory of other programs, read leniently: what is unknown is skipped and counted, never an error."""
