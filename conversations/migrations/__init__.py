"""Migrations; those that the first one replaces are named here, where a look imports no models."""

REPLACED = """
    0001_initial 0002_closed_versions 0003_forks 0004_consolidation_run 0005_consolidation_model
    0006_fork_index 0007_picked_messages 0008_run_answers 0009_replays 0010_dreaming 0011_message_sessions
    0013_replay_batches 0014_compactions 0015_replay_leases 0016_batch_budget 0017_replay_of_fork
    0018_drop_cancelled_at_of_batches 0019_checksums 0020_instructions 0021_respelled_texts
""".split()
