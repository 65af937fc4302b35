"""Migrations; those that the first one replaces are named here, where a look imports no models."""

REPLACED = """
    0001_verification 0010_handoffs 0011_review_queue 0012_queue 0015_templates 0016_bundles 0020_quarantines
    0021_hidden_bundles 0025_scorings 0026_leases 0027_open_requests 0028_rated_requests
    0029_plausible_verdicts 0030_checksums_of_ratings
""".split()
