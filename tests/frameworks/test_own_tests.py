"""The frameworks' own tests of stores, from the source of their releases, with Day1 in the store's place."""

import os
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.amounts import is_thorough
from tests.frameworks.environments import CLIENT, make_environment, read_bounds
from tests.up_process import Up, provisioned

TESTERS = ("pytest~=9.0", "pytest-asyncio", "pytest-mock")

pytestmark = [pytest.mark.nightly, pytest.mark.slow]


@dataclass(frozen=True)
class OwnTests:
    """Tests in the sdist of a release; ``plugin`` puts Day1 in the place, ``lacking`` do not hold."""

    extra: str
    release: str
    plugin: str
    files: tuple[str, ...]
    passed: int
    lacking: str
    options: tuple[str, ...] = ()


OWN_TESTS = [
    # A vector for each of the fields of an item, and equal scores where one of them fits.
    OwnTests(
        "langgraph",
        "langgraph-checkpoint==4.3.2",
        "langgraph_store",
        ("tests/test_store.py",),
        116,
        "test_embed_with_path",
    ),
    # All of them open SQLite's connection: its rows, threads, locks, and what a cancelled caller left in it.
    OwnTests(
        "openai-agents",
        "openai-agents==0.24.0",
        "openai_agents_session",
        ("tests/memory/test_session.py", "tests/memory/test_session_limit.py"),
        53,
        """
        test_sqlite_session_close_closes_worker_thread_connections
        test_sqlite_session_close_retries_quarantined_connection
        test_sqlite_session_closed_rejects_empty_add_items
        test_sqlite_session_closes_retired_connections_before_the_next_allocation
        test_sqlite_session_failed_add_items_releases_write_lock
        test_sqlite_session_failed_clear_session_rolls_back
        test_sqlite_session_failed_pop_item_releases_write_lock
        test_sqlite_session_file_lock_is_shared_across_instances
        test_sqlite_session_get_items_limit_skips_corrupt_newest_rows
        test_sqlite_session_get_items_session_settings_limit_skips_corrupt_rows
        test_sqlite_session_keeps_connections_of_live_worker_threads
        test_sqlite_session_pop_item_returns_none_after_dropping_only_corrupt_rows
        test_sqlite_session_pop_item_skips_corrupt_most_recent
        test_sqlite_session_post_commit_cancellation_propagates_after_known_outcome
        test_sqlite_session_reaps_connections_from_exited_worker_threads
        test_sqlite_session_rollback_failure_evicts_connection
        """,
    ),
    # Dates and sets of metadata are stored as text; a prefix is of whole scopes; a recall writes nothing, so
    # it does not say when a record was last read; the others look into the shards and the class of Qdrant.
    OwnTests(
        "crewai",
        "crewai==1.15.30",
        "crewai_storage",
        (
            "tests/memory/test_lancedb_filter_escaping.py",
            "tests/memory/test_lancedb_update.py",
            "tests/memory/test_memory_root_scope.py",
            "tests/memory/test_qdrant_edge_storage.py",
            "tests/memory/test_unified_memory.py",
        ),
        162,
        """
        test_close_lifecycle
        test_dual_shard_search
        test_flush_to_central
        test_memory_string_storage_qdrant_edge
        test_orphaned_shard_cleanup
        test_percent_underscore_and_backslash_in_scope_names_match_literally
        test_recall_does_not_refresh_access_time_when_read_only
        test_touch_records
        test_update_serialization_failure_preserves_existing_record
        """,
        ("--noconftest",),
    ),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    if not is_thorough():
        pytest.skip("the frameworks and their sources are from the network: make nightly")
    with Up(provisioned(tmp_path_factory.mktemp("served") / "data"), DAY1_EMBEDDER="minilm") as up:
        yield up


def fetch_source(python: Path, release: str, folder: Path) -> Path:
    """Return the folder of a release's source. Skips where it cannot be had."""
    name = release.partition("==")[0]
    command = [str(python), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name]
    done = subprocess.run([*command, "-d", str(folder), release], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"The source of {release} cannot be had: {done.stderr[-400:]}")
    with tarfile.open(next(folder.glob("*.tar.gz"))) as source:
        source.extractall(folder, filter="data")
    return next(one for one in folder.iterdir() if one.is_dir())


@pytest.mark.parametrize("own", OWN_TESTS, ids=lambda own: own.extra)
def test_a_frameworks_own_tests_hold_on_day1(own: OwnTests, server: Up, tmp_path: Path) -> None:
    needed = [*read_bounds(own.extra), own.release, *TESTERS]
    python = make_environment(f"{own.extra}-tests", needed, tmp_path)
    (tmp_path / "source").mkdir()
    source = fetch_source(python, own.release, tmp_path / "source")
    report = tmp_path / "report.xml"
    options = ("-p", own.plugin, "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", f"--junitxml={report}")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("DAY1_", "PYTEST_"))}
    env |= {"DAY1_URL": server.first["url"], "DAY1_KEY": server.first["key"], "OPENAI_API_KEY": "none"}
    env |= {"PYTHONPATH": os.pathsep.join([str(CLIENT / "src"), str(Path(__file__).parent / "own")])}
    command = [str(python), "-m", "pytest", "-q", *options, *own.options, *own.files]
    done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True)
    assert report.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    names = {str(case.get("name")).partition("[")[0] for case in failed}
    assert (names, len(cases) - len(failed)) == (set(own.lacking.split()), own.passed), done.stdout[-3000:]
