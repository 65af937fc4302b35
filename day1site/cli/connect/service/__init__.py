"""``service``: the system keeps Day1 running, as a service of the person's own."""
