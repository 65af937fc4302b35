"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from functools import cached_property

from day1_client.operations.ageing import AsyncAgeing, Ageing
from day1_client.operations.analytics import AsyncAnalytics, Analytics
from day1_client.operations.audit import AsyncAudit, Audit
from day1_client.operations.branches import AsyncBranches, Branches
from day1_client.operations.bundles import AsyncBundles, Bundles
from day1_client.operations.commits import AsyncCommits, Commits
from day1_client.operations.connections import AsyncConnections, Connections
from day1_client.operations.consolidation import AsyncConsolidation, Consolidation
from day1_client.operations.conversations import AsyncConversations, Conversations
from day1_client.operations.erasures import AsyncErasures, Erasures
from day1_client.operations.evals import AsyncEvals, Evals
from day1_client.operations.events import AsyncEvents, Events
from day1_client.operations.facts import AsyncFacts, Facts
from day1_client.operations.handoffs import AsyncHandoffs, Handoffs
from day1_client.operations.health import AsyncHealth, Health
from day1_client.operations.imports import AsyncImports, Imports
from day1_client.operations.ingest import AsyncIngest, Ingest
from day1_client.operations.instructions import AsyncInstructions, Instructions
from day1_client.operations.invitations import AsyncInvitations, Invitations
from day1_client.operations.items import AsyncItems, Items
from day1_client.operations.jobs import AsyncJobs, Jobs
from day1_client.operations.keys import AsyncKeys, Keys
from day1_client.operations.learning import AsyncLearning, Learning
from day1_client.operations.limits import AsyncLimits, Limits
from day1_client.operations.members import AsyncMembers, Members
from day1_client.operations.merge_requests import AsyncMergeRequests, MergeRequests
from day1_client.operations.messages import AsyncMessages, Messages
from day1_client.operations.observations import AsyncObservations, Observations
from day1_client.operations.policies import AsyncPolicies, Policies
from day1_client.operations.project_templates import AsyncProjectTemplates, ProjectTemplates
from day1_client.operations.projects import AsyncProjects, Projects
from day1_client.operations.quarantine import AsyncQuarantine, Quarantine
from day1_client.operations.questions import AsyncQuestions, Questions
from day1_client.operations.relations import AsyncRelations, Relations
from day1_client.operations.replay_batches import AsyncReplayBatches, ReplayBatches
from day1_client.operations.replays import AsyncReplays, Replays
from day1_client.operations.review_items import AsyncReviewItems, ReviewItems
from day1_client.operations.scores import AsyncScores, Scores
from day1_client.operations.scorings import AsyncScorings, Scorings
from day1_client.operations.server import AsyncServer, Server
from day1_client.operations.sessions import AsyncSessions, Sessions
from day1_client.operations.signing_key import AsyncSigningKey, SigningKey
from day1_client.operations.snapshots import AsyncSnapshots, Snapshots
from day1_client.operations.tasks import AsyncTasks, Tasks
from day1_client.operations.templates import AsyncTemplates, Templates
from day1_client.operations.time_travel import AsyncTimeTravel, TimeTravel
from day1_client.operations.trusted_keys import AsyncTrustedKeys, TrustedKeys
from day1_client.operations.verification import AsyncVerification, Verification
from day1_client.operations.webhooks import AsyncWebhooks, Webhooks
from day1_client.operations.workspaces import AsyncWorkspaces, Workspaces
from day1_client.sending import AsyncSender, Sender


class Operations:
    """A group of methods for each noun."""

    sender: Sender

    @cached_property
    def ageing(self) -> Ageing:
        return Ageing(self.sender)

    @cached_property
    def analytics(self) -> Analytics:
        return Analytics(self.sender)

    @cached_property
    def audit(self) -> Audit:
        return Audit(self.sender)

    @cached_property
    def branches(self) -> Branches:
        return Branches(self.sender)

    @cached_property
    def bundles(self) -> Bundles:
        return Bundles(self.sender)

    @cached_property
    def commits(self) -> Commits:
        return Commits(self.sender)

    @cached_property
    def connections(self) -> Connections:
        return Connections(self.sender)

    @cached_property
    def consolidation(self) -> Consolidation:
        return Consolidation(self.sender)

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self.sender)

    @cached_property
    def erasures(self) -> Erasures:
        return Erasures(self.sender)

    @cached_property
    def evals(self) -> Evals:
        return Evals(self.sender)

    @cached_property
    def events(self) -> Events:
        return Events(self.sender)

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.sender)

    @cached_property
    def handoffs(self) -> Handoffs:
        return Handoffs(self.sender)

    @cached_property
    def health(self) -> Health:
        return Health(self.sender)

    @cached_property
    def imports(self) -> Imports:
        return Imports(self.sender)

    @cached_property
    def ingest(self) -> Ingest:
        return Ingest(self.sender)

    @cached_property
    def instructions(self) -> Instructions:
        return Instructions(self.sender)

    @cached_property
    def invitations(self) -> Invitations:
        return Invitations(self.sender)

    @cached_property
    def items(self) -> Items:
        return Items(self.sender)

    @cached_property
    def jobs(self) -> Jobs:
        return Jobs(self.sender)

    @cached_property
    def keys(self) -> Keys:
        return Keys(self.sender)

    @cached_property
    def learning(self) -> Learning:
        return Learning(self.sender)

    @cached_property
    def limits(self) -> Limits:
        return Limits(self.sender)

    @cached_property
    def members(self) -> Members:
        return Members(self.sender)

    @cached_property
    def merge_requests(self) -> MergeRequests:
        return MergeRequests(self.sender)

    @cached_property
    def messages(self) -> Messages:
        return Messages(self.sender)

    @cached_property
    def observations(self) -> Observations:
        return Observations(self.sender)

    @cached_property
    def policies(self) -> Policies:
        return Policies(self.sender)

    @cached_property
    def project_templates(self) -> ProjectTemplates:
        return ProjectTemplates(self.sender)

    @cached_property
    def projects(self) -> Projects:
        return Projects(self.sender)

    @cached_property
    def quarantine(self) -> Quarantine:
        return Quarantine(self.sender)

    @cached_property
    def questions(self) -> Questions:
        return Questions(self.sender)

    @cached_property
    def relations(self) -> Relations:
        return Relations(self.sender)

    @cached_property
    def replay_batches(self) -> ReplayBatches:
        return ReplayBatches(self.sender)

    @cached_property
    def replays(self) -> Replays:
        return Replays(self.sender)

    @cached_property
    def review_items(self) -> ReviewItems:
        return ReviewItems(self.sender)

    @cached_property
    def scores(self) -> Scores:
        return Scores(self.sender)

    @cached_property
    def scorings(self) -> Scorings:
        return Scorings(self.sender)

    @cached_property
    def server(self) -> Server:
        return Server(self.sender)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self.sender)

    @cached_property
    def signing_key(self) -> SigningKey:
        return SigningKey(self.sender)

    @cached_property
    def snapshots(self) -> Snapshots:
        return Snapshots(self.sender)

    @cached_property
    def tasks(self) -> Tasks:
        return Tasks(self.sender)

    @cached_property
    def templates(self) -> Templates:
        return Templates(self.sender)

    @cached_property
    def time_travel(self) -> TimeTravel:
        return TimeTravel(self.sender)

    @cached_property
    def trusted_keys(self) -> TrustedKeys:
        return TrustedKeys(self.sender)

    @cached_property
    def verification(self) -> Verification:
        return Verification(self.sender)

    @cached_property
    def webhooks(self) -> Webhooks:
        return Webhooks(self.sender)

    @cached_property
    def workspaces(self) -> Workspaces:
        return Workspaces(self.sender)


class AsyncOperations:
    """A group of methods for each noun."""

    sender: AsyncSender

    @cached_property
    def ageing(self) -> AsyncAgeing:
        return AsyncAgeing(self.sender)

    @cached_property
    def analytics(self) -> AsyncAnalytics:
        return AsyncAnalytics(self.sender)

    @cached_property
    def audit(self) -> AsyncAudit:
        return AsyncAudit(self.sender)

    @cached_property
    def branches(self) -> AsyncBranches:
        return AsyncBranches(self.sender)

    @cached_property
    def bundles(self) -> AsyncBundles:
        return AsyncBundles(self.sender)

    @cached_property
    def commits(self) -> AsyncCommits:
        return AsyncCommits(self.sender)

    @cached_property
    def connections(self) -> AsyncConnections:
        return AsyncConnections(self.sender)

    @cached_property
    def consolidation(self) -> AsyncConsolidation:
        return AsyncConsolidation(self.sender)

    @cached_property
    def conversations(self) -> AsyncConversations:
        return AsyncConversations(self.sender)

    @cached_property
    def erasures(self) -> AsyncErasures:
        return AsyncErasures(self.sender)

    @cached_property
    def evals(self) -> AsyncEvals:
        return AsyncEvals(self.sender)

    @cached_property
    def events(self) -> AsyncEvents:
        return AsyncEvents(self.sender)

    @cached_property
    def facts(self) -> AsyncFacts:
        return AsyncFacts(self.sender)

    @cached_property
    def handoffs(self) -> AsyncHandoffs:
        return AsyncHandoffs(self.sender)

    @cached_property
    def health(self) -> AsyncHealth:
        return AsyncHealth(self.sender)

    @cached_property
    def imports(self) -> AsyncImports:
        return AsyncImports(self.sender)

    @cached_property
    def ingest(self) -> AsyncIngest:
        return AsyncIngest(self.sender)

    @cached_property
    def instructions(self) -> AsyncInstructions:
        return AsyncInstructions(self.sender)

    @cached_property
    def invitations(self) -> AsyncInvitations:
        return AsyncInvitations(self.sender)

    @cached_property
    def items(self) -> AsyncItems:
        return AsyncItems(self.sender)

    @cached_property
    def jobs(self) -> AsyncJobs:
        return AsyncJobs(self.sender)

    @cached_property
    def keys(self) -> AsyncKeys:
        return AsyncKeys(self.sender)

    @cached_property
    def learning(self) -> AsyncLearning:
        return AsyncLearning(self.sender)

    @cached_property
    def limits(self) -> AsyncLimits:
        return AsyncLimits(self.sender)

    @cached_property
    def members(self) -> AsyncMembers:
        return AsyncMembers(self.sender)

    @cached_property
    def merge_requests(self) -> AsyncMergeRequests:
        return AsyncMergeRequests(self.sender)

    @cached_property
    def messages(self) -> AsyncMessages:
        return AsyncMessages(self.sender)

    @cached_property
    def observations(self) -> AsyncObservations:
        return AsyncObservations(self.sender)

    @cached_property
    def policies(self) -> AsyncPolicies:
        return AsyncPolicies(self.sender)

    @cached_property
    def project_templates(self) -> AsyncProjectTemplates:
        return AsyncProjectTemplates(self.sender)

    @cached_property
    def projects(self) -> AsyncProjects:
        return AsyncProjects(self.sender)

    @cached_property
    def quarantine(self) -> AsyncQuarantine:
        return AsyncQuarantine(self.sender)

    @cached_property
    def questions(self) -> AsyncQuestions:
        return AsyncQuestions(self.sender)

    @cached_property
    def relations(self) -> AsyncRelations:
        return AsyncRelations(self.sender)

    @cached_property
    def replay_batches(self) -> AsyncReplayBatches:
        return AsyncReplayBatches(self.sender)

    @cached_property
    def replays(self) -> AsyncReplays:
        return AsyncReplays(self.sender)

    @cached_property
    def review_items(self) -> AsyncReviewItems:
        return AsyncReviewItems(self.sender)

    @cached_property
    def scores(self) -> AsyncScores:
        return AsyncScores(self.sender)

    @cached_property
    def scorings(self) -> AsyncScorings:
        return AsyncScorings(self.sender)

    @cached_property
    def server(self) -> AsyncServer:
        return AsyncServer(self.sender)

    @cached_property
    def sessions(self) -> AsyncSessions:
        return AsyncSessions(self.sender)

    @cached_property
    def signing_key(self) -> AsyncSigningKey:
        return AsyncSigningKey(self.sender)

    @cached_property
    def snapshots(self) -> AsyncSnapshots:
        return AsyncSnapshots(self.sender)

    @cached_property
    def tasks(self) -> AsyncTasks:
        return AsyncTasks(self.sender)

    @cached_property
    def templates(self) -> AsyncTemplates:
        return AsyncTemplates(self.sender)

    @cached_property
    def time_travel(self) -> AsyncTimeTravel:
        return AsyncTimeTravel(self.sender)

    @cached_property
    def trusted_keys(self) -> AsyncTrustedKeys:
        return AsyncTrustedKeys(self.sender)

    @cached_property
    def verification(self) -> AsyncVerification:
        return AsyncVerification(self.sender)

    @cached_property
    def webhooks(self) -> AsyncWebhooks:
        return AsyncWebhooks(self.sender)

    @cached_property
    def workspaces(self) -> AsyncWorkspaces:
        return AsyncWorkspaces(self.sender)
