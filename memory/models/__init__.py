"""Models of the memory, one module per resource. A module that is not listed is imported all the same."""

from importlib import import_module
from pkgutil import iter_modules

from memory.models.ageing import AgedVersion
from memory.models.agent_tasks import AgentTask, TaskAgent, TaskObjective
from memory.models.audit import AuditEntry, ServerEntry
from memory.models.base import OPEN, BranchedModel
from memory.models.branches import MAX_DEPTH, Branch, Commit
from memory.models.connections import Connection, OAuthClient
from memory.models.erasures import ErasedMemory, Erasure, HiddenVersion
from memory.models.external_logins import ExternalLogin
from memory.models.facts import Confirmation, Fact, FactAssessment, FactUse
from memory.models.keys import ApiKey, IdempotencyRecord
from memory.models.links import FactLink, PairVerdict
from memory.models.merges import MergeApproval, MergeDecision, MergeRequest, MergeWithdrawal
from memory.models.nodes import Node
from memory.models.observations import Observation
from memory.models.policies import BranchPolicy
from memory.models.projects import Invitation, LoginLink, Membership, Project, ProjectTemplate
from memory.models.questions import EvalRun, Question, RecallLog
from memory.models.queue import QueueMessage
from memory.models.relations import Relation
from memory.models.second_factors import SecondFactor
from memory.models.sessions import IngestedEvent, Session, WorkHandle
from memory.models.snapshots import Snapshot, Workspace
from memory.models.usage import Consumption, ProjectUsage
from memory.models.vectors import NearCheck, Vector, VectorClock

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
