"""Migrations; those that the first one replaces are named here, where a look imports no models."""

REPLACED = """
    0001_initial 0002_curation 0003_capture 0004_snapshots 0005_ingest 0006_handles 0007_fact_parent
    0008_session_captured 0009_names_of_fields 0010_closed_versions 0011_observation_calls
    0012_one_open_version 0013_queue_tries 0014_fact_proposed 0015_fact_proposed_open 0016_session_recalled
    0017_project_settings 0018_repositories 0019_merges 0020_merge_requests 0021_policies 0022_branch_details
    0023_agent_tasks 0024_erasures 0025_erased_memory_key 0026_review_contested 0027_decided_at
    0028_session_compared_to 0029_questions 0030_least_evidence 0031_merge_withdrawals 0032_review_moved
    0033_fact_ends 0034_branch_read_only 0036_invitations 0037_hidden_versions 0038_ageing 0039_aged_facts
    0041_nightly_settings 0042_fact_shown 0043_fact_shown_by_source 0044_eval_at 0045_eval_questions
    0046_checksums 0047_project_usage 0048_node_leases 0049_dream_cohesion 0050_makers_of_keys
    0051_plausible_verdicts 0052_rotated_keys 0053_session_brought_by 0054_pair_verdicts
    0055_texts_without_vectors 0056_least_evidence_by_default
""".split()
