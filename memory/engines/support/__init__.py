"""Helpers of all engines: validation, pagination, idempotency, buffers, rates."""
