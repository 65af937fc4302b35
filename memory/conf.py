"""Settings of Day1, read once from ``settings.DAY1``, with types and defaults."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

MERGE_GATES = {
    "conflicts": "memory.engines.merging.gates.check_conflicts",
    "require_verified": "curation.engines.verification.gates.check_verdicts",
    "secrets": "memory.engines.merging.gates.check_secrets",
    "recall": "memory.engines.merging.recall_gate.check_recall",
}


@dataclass(frozen=True)
class Conf:
    """The settings with their defaults; none of them must be set."""

    embedder: str = "minilm"  # minilm | multilingual | openai | off | path of an ONNX model
    embedding_model: str = "text-embedding-3-small"  # openai only
    embedding_dimensions: int = 0  # openai only; 0 = the model's own number
    embedding_base_url: str = ""  # openai only; "" = the client's default
    embedding_api_key: str = ""
    embedding_timeout: float = 20.0  # seconds for one call
    query_timeout: float = 3.0  # seconds that a search waits for its query's vector
    embedding_batch: int = 64  # texts in one call
    recipe: str = "default"
    resident_projects: int = 8  # projects whose vectors stay in memory
    vector_file_rows: int = 50_000  # rows in memory from which on files keep them; 0 = never
    oauth: bool = False  # whether people may connect programs by OAuth
    webhooks_allow_private: bool = False  # whether webhooks reach http and private addresses
    recall_on_prompt: bool = True  # whether a person's prompt is answered with what memory knows of it
    recall_days: int = 90  # days that the search log is kept; 0 = for ever
    session_parts: tuple[str, ...] = ()  # classes that store a part of a session (SessionPart)
    briefing_parts: tuple[str, ...] = ()  # classes with lines for a session that starts (BriefingPart)
    trace_erasers: tuple[str, ...] = ()  # classes that erase texts from rows of another app (TraceEraser)
    commit_maskers: tuple[str, ...] = ()  # classes that hide fresh versions in quarantine (CommitMasker)
    task_hooks: tuple[str, ...] = ()  # classes with a part in the end of a task (TaskHook)
    template_suggester: str = ""  # class that finds a template for a new task (TemplateSuggester); "" = none
    durable_categories: tuple[str, ...] = (  # of facts that outlive a task, where a project names none
        "bug_fix",
        "architecture",
        "pattern",
        "decision",
        "security",
        "performance",
    )
    consolidator: str = ""  # class that extracts facts from sessions (SessionConsolidator); "" = none
    # name -> function that checks a merge (Gate); a branch's policy says which of them count
    merge_gates: Mapping[str, str] = field(default_factory=MERGE_GATES.copy, hash=False)
    judge_model: str = ""  # language model that judges facts; "" = none, the heuristic alone
    judge_base_url: str = ""  # of a server with OpenAI's API; "" = OpenAI itself
    judge_api_key: str = ""
    judge_timeout: float = 60.0  # seconds for one answer
    replay_model: str = ""  # language model that replays go on with by default; "" = none runs
    replay_base_url: str = ""  # of a server with OpenAI's API; "" = OpenAI itself
    replay_api_key: str = ""
    replay_timeout: float = 120.0  # seconds for one answer
    replay_input_price: float = 0.0  # of a million tokens that are sent; 0 and 0 = unknown
    replay_output_price: float = 0.0
    judge_votes: int = 1  # answers on one fact, of which the median counts
    judge_budget: int = 50  # calls of the judge in a batch, and in an hour of verifying again
    consolidation_budget: int = 10  # calls of that model in a session's consolidation; 0 = rules alone
    judge_days: int = 90  # after so many days a verdict of the judge is made again; 0 = never
    quota_rows: int = 20_000_000  # of a project; 0 = no bound
    quota_bytes: int = 20_000_000_000
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)  # of a project; see memory.limits
    backup_keep: int = 0  # nightly backups that are kept; 0 = none is made
    backup_dir: str = ""  # their folder; "" = backups in the data directory
    commit_node_seconds: int = 120  # seconds that a process owns its node number


@cache
def conf() -> Conf:
    """Return the settings in force.

    Raises ValueError for an unknown name, so that a misspelling is noticed, and TypeError for a wrong type.
    """
    configured: dict[str, Any] = getattr(settings, "DAY1", {})
    unknown = set(configured) - {setting.name for setting in fields(Conf)}
    if unknown:
        raise ValueError(f"DAY1 has no setting named {', '.join(sorted(unknown))}")
    settings_given = Conf(**configured)
    for setting in fields(Conf):
        default, value = _default(setting), getattr(settings_given, setting.name)
        if not isinstance(value, (int, float) if isinstance(default, float) else type(default)):
            raise TypeError(f"DAY1[{setting.name!r}] must be of type {type(default).__name__}, not {value!r}")
    return settings_given


def list_gates() -> tuple[str, ...]:
    """Return the names of the gates in the settings, which need not be right otherwise."""
    return tuple(getattr(settings, "DAY1", {}).get("merge_gates", MERGE_GATES))


def _default(setting: Field) -> Any:
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def _clear_settings(*, setting: str, **_: Any) -> None:
    if setting == "DAY1":
        conf.cache_clear()


setting_changed.connect(_clear_settings, dispatch_uid="day1.conf")
