"""The review queue and near duplicates."""
