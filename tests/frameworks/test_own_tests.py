"""The frameworks' own tests of stores, from their sources, with Day1 in the store's place."""

import os
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest

from tests.amounts import is_thorough
from tests.frameworks.environments import CLIENT, make_environment, read_bounds
from tests.up_process import Up, provisioned
from tests.waiting import TIMEOUT_SECONDS

TESTERS = ("pytest~=9.0", "pytest-asyncio", "pytest-mock")

pytestmark = [pytest.mark.nightly, pytest.mark.slow]


@dataclass(frozen=True)
class OwnTests:
    """Tests of a release; ``plugin`` puts Day1 in the place, ``lacking`` are those that do not hold.

    The files are in the sdist, or below ``address`` where a release has none of its tests.
    """

    extra: str
    release: str
    plugin: str
    files: tuple[str, ...]
    passed: int
    lacking: str
    options: tuple[str, ...] = ()
    address: str = ""


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
    # A search is by meaning too: a word finds more than what has it, and equals come in another order.
    OwnTests(
        "google-adk",
        "google-adk==2.13.0",
        "google_adk_service",
        ("test_in_memory_memory_service.py",),
        38,
        """
        test_search_memory_case_insensitive_match
        test_search_memory_non_latin
        test_search_memory_returns_at_most_ten_memories
        test_search_memory_simple_match
        """,
        address="https://raw.githubusercontent.com/google/adk-python/2049ee68b54ba8b3bc562bbfdc489a1190c852f6/"
        "tests/unittests/memory",
    ),
    # It reads the id of a row from SQL's table.
    OwnTests(
        "llamaindex",
        "llama-index-core==0.14.25",
        "llamaindex_chat_store",
        ("test_sql.py",),
        9,
        "test_delete_message",
        address="https://raw.githubusercontent.com/run-llama/llama_index/09e5118d6cffb504bdb7a4741547b0ea582f2106/"
        "llama-index-core/tests/storage/chat_store",
    ),
    # Three want words counted and the newest of equals first, which a search by meaning does not; the others
    # look into the file of their store, its path and its ids.
    OwnTests(
        "strands",
        "strands-agents==1.62.0",
        "strands_store",
        ("tests/strands/vended_memory_stores/test_memory_store/test_store.py",),
        29,
        """
        test_accepts_null_metadata_as_absent
        test_breaks_ties_by_recency
        test_defaults_to_a_sanitized_path_under_the_home_memory_dir
        test_excludes_records_with_no_token_overlap
        test_loads_a_file_written_in_the_shared_camelcase_format
        test_raises_clear_error_on_corrupt_file
        test_raises_clear_error_on_malformed_record
        test_raises_clear_error_on_non_object_metadata
        test_raises_clear_error_on_wrong_shape_file
        test_raises_clear_error_when_path_is_unreachable
        test_raises_when_explicit_path_is_empty
        test_ranks_higher_overlap_first_with_relevance_score
        test_uses_the_monkeypatchable_id_generator
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


def fetch_source(python: Path, own: OwnTests, folder: Path) -> Path:
    """Return the folder of a framework's tests. Skips where they cannot be had."""
    folder = Path(os.environ.get("DAY1_FRAMEWORKS") or folder) / f"{own.extra}-source"
    folder.mkdir(exist_ok=True)
    try:
        return load_files(own, folder) if own.address else load_sdist(python, own, folder)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"The tests of {own.release} cannot be had, they are NOT played: {error}")


def load_files(own: OwnTests, folder: Path) -> Path:
    for path in [folder / name for name in own.files]:
        if not path.exists():
            with urlopen(f"{own.address}/{path.name}", timeout=TIMEOUT_SECONDS) as answer:
                path.write_bytes(answer.read())
    return folder


def load_sdist(python: Path, own: OwnTests, folder: Path) -> Path:
    if not any(folder.glob("*.tar.gz")):
        name = own.release.partition("==")[0]
        command = [str(python), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name]
        subprocess.run([*command, "-d", str(folder), own.release], check=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as source:
        source.extractall(folder, filter="data")
    return next(one for one in folder.iterdir() if one.is_dir())


@pytest.mark.parametrize("own", OWN_TESTS, ids=lambda own: own.extra)
def test_a_frameworks_own_tests_hold_on_day1(own: OwnTests, server: Up, tmp_path: Path) -> None:
    needed = [*read_bounds(own.extra), own.release, *TESTERS]
    python = make_environment(f"{own.extra}-tests", needed, tmp_path)
    source = fetch_source(python, own, tmp_path)
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
