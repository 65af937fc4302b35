"""Written by ``python -m clients.generate_python`` from docs/openapi.yaml; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from day1_client.groups import AsyncGroup, Group, awaits, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal
    from day1_client import types as t
    from day1_client.pages import Page
    from day1_client.values import Null


class Facts(Group):
    """The operations of facts."""

    def actions(
        self, action: t.Action, fact_ids: Sequence[str], *, idempotency_key: str | None = None,
        agent_id: str | None = None, branch: str | None = None, category: str | None = None,
        expected_versions: Mapping[str, int] | None = None, new_fact_text: str | None = None,
        reason: str | None = None, replaced_by: str | Null | None = None, session_id: str | None = None,
        task_id: str | None = None,
    ) -> t.Report:
        """Do something to up to 1,000 facts."""
        return self._send("facts.actions", "POST /facts/actions", locals())

    def archive(
        self, id: t.At, *, idempotency_key: str | None = None, if_match: str | None = None,
        agent_id: str | None = None, app_id: str | None = None, branch: str | None = None,
        expected_version: int | None = None, session_id: str | None = None, task_id: str | None = None,
        user_id: str | None = None,
    ) -> t.Fact:
        """Retire a fact."""
        return self._send("facts.archive", "POST /facts/{id}/archive", locals())

    def create(
        self, fact_text: str, *, idempotency_key: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, category: str | None = None,
        confidence: float | None = None, created_cycle: int | None = None, deduplicate: bool | None = None,
        essence: str | None = None, expires_at: t.When | Null | None = None, kind: Literal["OBSERVATION",
        "BELIEF", "TASK", "OUTPUT_DRAFT", "NOTE"] | None = None, metadata: Mapping[str, Any] | None = None,
        origin: Literal["EXPERIENCE", "SEEDED_LLM", "DISTILLED_LLM"] | None = None,
        parent_id: str | Null | None = None, pinned: bool | None = None, priority: t.Priority | None = None,
        propose: bool | None = None, repository: str | None = None, session_id: str | None = None,
        source: str | None = None, source_id: str | None = None, source_type: t.SourceType | None = None,
        tags: Sequence[str] | None = None, task_id: str | None = None, updated_cycle: int | None = None,
        user_id: str | None = None, valid_from: t.When | Null | None = None,
        valid_until: t.When | Null | None = None, visibility: t.Visibility | None = None,
        wait: t.Wait | None = None,
    ) -> t.Written:
        """Write a fact."""
        return self._send("facts.create", "POST /facts", locals(), query="wait")

    def create_many(
        self, facts: Sequence[t.FactItemInput], *, idempotency_key: str | None = None,
        agent_id: str | None = None, app_id: str | None = None, branch: str | None = None,
        deduplicate: bool | None = None, propose: bool | None = None, session_id: str | None = None,
        task_id: str | None = None, user_id: str | None = None, wait: t.Wait | None = None,
    ) -> t.Bulk:
        """Write up to 1,000 facts, all or none."""
        return self._send("facts.create_many", "POST /facts/bulk", locals(), query="wait")

    def delete(
        self, id: t.At, *, if_match: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, expected_version: int | None = None,
        session_id: str | None = None, task_id: str | None = None, user_id: str | None = None,
    ) -> None:
        """Delete a fact on this branch."""
        return self._send("facts.delete", "DELETE /facts/{id}", locals())

    def explain(
        self, id: t.At, q: str, *, agent_id: str | Sequence[str] | None = None, app_id: str | None = None,
        at: t.At | None = None, branch: str | None = None, category: str | Sequence[str] | None = None,
        created_after: t.When | None = None, created_before: t.When | None = None,
        current_cycle: int | None = None, include: t.Include | Sequence[t.Include] | None = None,
        kind: t.Kind | Sequence[t.Kind] | None = None, limit: int | None = None,
        max_confidence: float | None = None, min_confidence: float | None = None,
        namespace: str | None = None, origin: t.Origin | Sequence[t.Origin] | None = None,
        own: bool | None = None, parent_id: str | None = None, pinned: bool | None = None, priority:
        t.Priority | Sequence[t.Priority] | None = None, recipe: t.Recipe | None = None,
        repository: str | None = None, search_type: t.SearchType | None = None,
        session_id: str | Sequence[str] | None = None, source_id: str | Sequence[str] | None = None,
        source_type: t.SourceType | Sequence[t.SourceType] | None = None,
        status: t.Status | Sequence[t.Status] | None = None, tag_prefix: str | None = None,
        tags: str | Sequence[str] | None = None, task_id: str | Sequence[str] | None = None,
        user_id: str | None = None, valid_after: t.When | None = None, valid_at: t.When | None = None,
        valid_before: t.When | None = None, verification_status: t.VerificationStatus | None = None,
        visibility: t.Visibility | Sequence[t.Visibility] | None = None,
    ) -> t.Explanation:
        """Why a query finds a fact, or why not."""
        return self._send("facts.explain", "GET /facts/{id}/explain", locals(), plain="agent_id")

    def get(
        self, id: t.At, *, if_none_match: str | None = None, app_id: str | None = None,
        at: t.At | None = None, branch: str | None = None, user_id: str | None = None,
    ) -> t.Fact:
        """Read a fact."""
        return self._send("facts.get", "GET /facts/{id}", locals())

    def history(
        self, id: t.At, *, app_id: str | None = None, branch: str | None = None, cursor: str | None = None,
        limit: int | None = None, user_id: str | None = None,
    ) -> Page[t.Version, t.VersionPage]:
        """Every version, newest first."""
        return self._page("facts.history", "GET /facts/{id}/history", locals())

    def link(
        self, id: t.At, to_id: str, link_type: t.LinkType, *, idempotency_key: str | None = None,
        agent_id: str | None = None, branch: str | None = None, session_id: str | None = None,
        task_id: str | None = None, to_type: t.ToType | None = None, valid_from: t.When | Null | None = None,
        valid_until: t.When | Null | None = None, weight: float | None = None,
    ) -> t.Link:
        """Link a fact to another."""
        return self._send("facts.link", "POST /facts/{id}/links", locals())

    def links(
        self, id: t.At, *, at: t.At | None = None, branch: str | None = None, cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[t.Link, t.LinkPage]:
        """The links from and to a fact."""
        return self._page("facts.links", "GET /facts/{id}/links", locals())

    def list(
        self, *, agent_id: str | Sequence[str] | None = None, app_id: str | Sequence[str] | None = None,
        at: t.At | None = None, branch: str | None = None, category: str | Sequence[str] | None = None,
        created_after: t.When | None = None, created_before: t.When | None = None, cursor: str | None = None,
        kind: t.Kind | Sequence[t.Kind] | None = None, limit: int | None = None,
        max_confidence: float | None = None, min_confidence: float | None = None,
        namespace: str | None = None, ordering: t.Ordering | None = None,
        origin: t.Origin | Sequence[t.Origin] | None = None, own: bool | None = None,
        parent_id: str | None = None, pinned: bool | None = None, priority: t.Priority | Sequence[t.Priority]
        | None = None, repository: str | None = None, session_id: str | Sequence[str] | None = None,
        source_id: str | Sequence[str] | None = None, source_type: t.SourceType | Sequence[t.SourceType] |
        None = None, status: t.Status | Sequence[t.Status] | None = None, tag_prefix: str | None = None,
        tags: str | Sequence[str] | None = None, task_id: str | Sequence[str] | None = None,
        user_id: str | Sequence[str] | None = None, valid_after: t.When | None = None,
        valid_at: t.When | None = None, valid_before: t.When | None = None, verification_status:
        t.VerificationStatus | None = None, visibility: t.Visibility | Sequence[t.Visibility] | None = None,
    ) -> Page[t.Fact, t.FactPage]:
        """List facts, newest first."""
        return self._page("facts.list", "GET /facts", locals(), plain="agent_id")

    def related(
        self, id: t.At, *, at: t.At | None = None, branch: str | None = None, depth: int | None = None,
        limit: int | None = None,
    ) -> t.Relatives:
        """Facts that have to do with a fact."""
        return self._send("facts.related", "GET /facts/{id}/related", locals())

    def restore(
        self, id: t.At, *, idempotency_key: str | None = None, if_match: str | None = None,
        agent_id: str | None = None, app_id: str | None = None, branch: str | None = None,
        expected_version: int | None = None, session_id: str | None = None, task_id: str | None = None,
        user_id: str | None = None,
    ) -> t.Fact:
        """Bring an archived fact back."""
        return self._send("facts.restore", "POST /facts/{id}/restore", locals())

    def search(
        self, query: str, *, day1_session: str | None = None, agent_id: Sequence[str] | None = None,
        app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        branches: Sequence[str] | None = None, category: Sequence[str] | None = None,
        created_after: t.When | None = None, created_before: t.When | None = None,
        current_cycle: int | None = None, cursor: str | None = None,
        include: Sequence[t.Include] | None = None, kind: Sequence[t.Kind] | None = None,
        limit: int | None = None, max_confidence: float | None = None, max_tokens: int | None = None,
        min_confidence: float | None = None, namespace: str | None = None,
        origin: Sequence[t.Origin] | None = None, own: bool | None = None, parent_id: str | None = None,
        pinned: bool | None = None, priority: Sequence[t.Priority] | None = None,
        recipe: t.Recipe | None = None, repository: str | None = None,
        search_type: t.SearchType | None = None, session_id: Sequence[str] | None = None,
        source_id: Sequence[str] | None = None, source_type: Sequence[t.SourceType] | None = None,
        status: Sequence[t.Status] | None = None, tag_prefix: str | None = None,
        tags: Sequence[str] | None = None, task_id: Sequence[str] | None = None,
        time_range: t.TimeRange | None = None, user_id: str | None = None, valid_after: t.When | None = None,
        valid_at: t.When | None = None, valid_before: t.When | None = None, verification_status:
        t.VerificationStatus | None = None, visibility: Sequence[t.Visibility] | None = None,
    ) -> t.Found:
        """Search facts, told in the body."""
        return self._send("facts.search", "POST /facts/search", locals(), plain="agent_id")

    def search_get(
        self, q: str, *, day1_session: str | None = None, agent_id: str | Sequence[str] | None = None,
        app_id: str | None = None, at: t.At | None = None, branch: str | None = None,
        branches: str | Sequence[str] | None = None, category: str | Sequence[str] | None = None,
        created_after: t.When | None = None, created_before: t.When | None = None,
        current_cycle: int | None = None, cursor: str | None = None,
        include: t.Include | Sequence[t.Include] | None = None, kind: t.Kind | Sequence[t.Kind] | None = None,
        limit: int | None = None, max_confidence: float | None = None, max_tokens: int | None = None,
        min_confidence: float | None = None, namespace: str | None = None,
        origin: t.Origin | Sequence[t.Origin] | None = None, own: bool | None = None,
        parent_id: str | None = None, pinned: bool | None = None, priority: t.Priority | Sequence[t.Priority]
        | None = None, recipe: t.Recipe | None = None, repository: str | None = None,
        search_type: t.SearchType | None = None, session_id: str | Sequence[str] | None = None,
        source_id: str | Sequence[str] | None = None, source_type: t.SourceType | Sequence[t.SourceType] |
        None = None, status: t.Status | Sequence[t.Status] | None = None, tag_prefix: str | None = None,
        tags: str | Sequence[str] | None = None, task_id: str | Sequence[str] | None = None,
        user_id: str | None = None, valid_after: t.When | None = None, valid_at: t.When | None = None,
        valid_before: t.When | None = None, verification_status: t.VerificationStatus | None = None,
        visibility: t.Visibility | Sequence[t.Visibility] | None = None,
    ) -> Page[t.Hit, t.Found]:
        """Search facts."""
        return self._page("facts.search_get", "GET /facts/search", locals(), plain="agent_id")

    def supersede(
        self, id: t.At, new_fact_text: str, *, idempotency_key: str | None = None,
        if_match: str | None = None, agent_id: str | None = None, app_id: str | None = None,
        branch: str | None = None, category: str | None = None, confidence: float | None = None,
        created_cycle: int | None = None, deduplicate: bool | None = None, essence: str | None = None,
        expected_version: int | None = None, expires_at: t.When | Null | None = None, kind:
        Literal["OBSERVATION", "BELIEF", "TASK", "OUTPUT_DRAFT", "NOTE"] | None = None,
        metadata: Mapping[str, Any] | None = None, origin: Literal["EXPERIENCE", "SEEDED_LLM",
        "DISTILLED_LLM"] | None = None, pinned: bool | None = None, priority: t.Priority | None = None,
        repository: str | None = None, session_id: str | None = None, source: str | None = None,
        source_id: str | None = None, source_type: t.SourceType | None = None,
        tags: Sequence[str] | None = None, task_id: str | None = None, updated_cycle: int | None = None,
        user_id: str | None = None, valid_from: t.When | Null | None = None,
        valid_until: t.When | Null | None = None, visibility: t.Visibility | None = None,
        wait: t.Wait | None = None,
    ) -> t.Written:
        """Replace a fact by a new one."""
        return self._send("facts.supersede", "POST /facts/{id}/supersede", locals(), query="wait")

    def tags(
        self, *, agent_id: str | Sequence[str] | None = None, app_id: str | Sequence[str] | None = None,
        at: t.At | None = None, branch: str | None = None, category: str | Sequence[str] | None = None,
        created_after: t.When | None = None, created_before: t.When | None = None,
        kind: t.Kind | Sequence[t.Kind] | None = None, limit: int | None = None,
        max_confidence: float | None = None, min_confidence: float | None = None,
        namespace: str | None = None, origin: t.Origin | Sequence[t.Origin] | None = None,
        own: bool | None = None, parent_id: str | None = None, pinned: bool | None = None,
        prefix: str | None = None, priority: t.Priority | Sequence[t.Priority] | None = None,
        repository: str | None = None, session_id: str | Sequence[str] | None = None,
        source_id: str | Sequence[str] | None = None, source_type: t.SourceType | Sequence[t.SourceType] |
        None = None, status: t.Status | Sequence[t.Status] | None = None, tag_prefix: str | None = None,
        tags: str | Sequence[str] | None = None, task_id: str | Sequence[str] | None = None,
        user_id: str | Sequence[str] | None = None, valid_after: t.When | None = None,
        valid_at: t.When | None = None, valid_before: t.When | None = None, verification_status:
        t.VerificationStatus | None = None, visibility: t.Visibility | Sequence[t.Visibility] | None = None,
    ) -> t.Tags:
        """The tags of facts, and how many have each."""
        return self._send("facts.tags", "GET /facts/tags", locals(), plain="agent_id")

    def unlink(
        self, id: t.At, link_id: str, *, agent_id: str | None = None, branch: str | None = None,
        session_id: str | None = None, task_id: str | None = None,
    ) -> None:
        """Take a link away."""
        return self._send("facts.unlink", "DELETE /facts/{id}/links/{link_id}", locals())

    def update(
        self, id: t.At, *, if_match: str | None = None, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, category: str | None = None,
        confidence: float | None = None, essence: str | None = None, expected_version: int | None = None,
        expires_at: t.When | Null | None = None, fact_text: str | None = None, kind: Literal["OBSERVATION",
        "BELIEF", "TASK", "OUTPUT_DRAFT", "NOTE"] | None = None, metadata: Mapping[str, Any] | None = None,
        pinned: bool | None = None, priority: t.Priority | None = None, repository: str | None = None,
        session_id: str | None = None, source: str | None = None, source_id: str | None = None,
        status: t.Status | None = None, tags: Sequence[str] | None = None, task_id: str | None = None,
        updated_cycle: int | None = None, user_id: str | None = None, valid_from: t.When | Null | None = None,
        valid_until: t.When | Null | None = None, visibility: t.Visibility | None = None,
        wait: t.Wait | None = None,
    ) -> t.Fact:
        """Correct a fact."""
        return self._send("facts.update", "PATCH /facts/{id}", locals(), query="wait")

    def update_many(
        self, facts: Sequence[t.FactUpdateItemInput], *, agent_id: str | None = None,
        app_id: str | None = None, branch: str | None = None, session_id: str | None = None,
        task_id: str | None = None, user_id: str | None = None, wait: t.Wait | None = None,
    ) -> t.BulkUpdate:
        """Correct up to 1,000 facts, all or none."""
        return self._send("facts.update_many", "PATCH /facts/bulk", locals(), query="wait")

    def verification(
        self, id: t.At, *, if_none_match: str | None = None, at: t.At | None = None,
        branch: str | None = None,
    ) -> t.FactVerification:
        """The verdict on a fact, and its newest rating."""
        return self._send("facts.verification", "GET /facts/{id}/verification", locals())

    def verify(
        self, id: t.At, *, idempotency_key: str | None = None, if_match: str | None = None,
        agent_id: str | None = None, branch: str | None = None, expected_version: int | None = None,
        reason: str | None = None, session_id: str | None = None, task_id: str | None = None,
        verdict: t.Verdict | None = None, wait: int | None = None,
    ) -> t.Fact | t.Job:
        """Give a verdict on a fact, or ask the judge for a rating."""
        return self._send("facts.verify", "POST /facts/{id}/verify", locals(), query="wait")


class AsyncFacts(AsyncGroup):
    """The operations of facts, to be awaited."""

    actions = awaits(Facts.actions)
    archive = awaits(Facts.archive)
    create = awaits(Facts.create)
    create_many = awaits(Facts.create_many)
    delete = awaits(Facts.delete)
    explain = awaits(Facts.explain)
    get = awaits(Facts.get)
    history = pages(Facts.history)
    link = awaits(Facts.link)
    links = pages(Facts.links)
    list = pages(Facts.list)
    related = awaits(Facts.related)
    restore = awaits(Facts.restore)
    search = awaits(Facts.search)
    search_get = pages(Facts.search_get)
    supersede = awaits(Facts.supersede)
    tags = awaits(Facts.tags)
    unlink = awaits(Facts.unlink)
    update = awaits(Facts.update)
    update_many = awaits(Facts.update_many)
    verification = awaits(Facts.verification)
    verify = awaits(Facts.verify)
