"""Models of the memory, one module per resource. A module that is not listed is imported all the same."""

from importlib import import_module
from pkgutil import iter_modules

from memory.models.ageing import AgedVersion
from memory.models.agent_tasks import AgentTask, TaskAgent, TaskObjective
from memory.models.audit import AuditEntry
from memory.models.base import OPEN, BranchedModel
from memory.models.branches import MAX_DEPTH, Branch, Commit
from memory.models.erasures import ErasedMemory, Erasure
from memory.models.facts import Confirmation, Fact, FactAssessment, FactUse
from memory.models.handles import WorkHandle
from memory.models.hidden import HiddenVersion
from memory.models.ingest import IngestedEvent
from memory.models.invitations import Invitation
from memory.models.keys import ApiKey, IdempotencyRecord
from memory.models.links import FactLink, PairVerdict
from memory.models.merges import MergeApproval, MergeDecision, MergeRequest, MergeWithdrawal
from memory.models.nodes import Node
from memory.models.observations import Observation
from memory.models.policies import BranchPolicy
from memory.models.projects import Membership, Project
from memory.models.questions import EvalRun, Question
from memory.models.queue import QueueMessage
from memory.models.recall import RecallLog
from memory.models.relations import Relation
from memory.models.sessions import Session
from memory.models.snapshots import Snapshot, Workspace
from memory.models.usage import ProjectUsage
from memory.models.vectors import NearCheck, Vector, VectorClock

__all__ = [
    "MAX_DEPTH",
    "OPEN",
    "AgedVersion",
    "AgentTask",
    "ApiKey",
    "AuditEntry",
    "Branch",
    "BranchPolicy",
    "BranchedModel",
    "Commit",
    "Confirmation",
    "ErasedMemory",
    "Erasure",
    "EvalRun",
    "Fact",
    "FactAssessment",
    "FactLink",
    "FactUse",
    "HiddenVersion",
    "IdempotencyRecord",
    "IngestedEvent",
    "Invitation",
    "Membership",
    "MergeApproval",
    "MergeDecision",
    "MergeRequest",
    "MergeWithdrawal",
    "NearCheck",
    "Node",
    "Observation",
    "PairVerdict",
    "Project",
    "ProjectUsage",
    "Question",
    "QueueMessage",
    "RecallLog",
    "Relation",
    "Session",
    "Snapshot",
    "TaskAgent",
    "TaskObjective",
    "Vector",
    "VectorClock",
    "WorkHandle",
    "Workspace",
]

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
