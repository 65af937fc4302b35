"""Handoffs: what one agent leaves for the next, frozen in a packet."""
