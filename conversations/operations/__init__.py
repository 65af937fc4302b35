"""What may be done with conversations, and what they add to the operations of the memory."""
