"""Merges and merge requests over REST."""

from typing import Any

import pytest

from memory.answers import merges as m
from memory.models import Project
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
TASK = "task/tokens"


@pytest.fixture
def reviewer(project: Project) -> Api:
    return api_for(project, label="reviewer", scopes=["merge"])


@pytest.fixture
def learned(api: Api) -> dict[str, Any]:
    """Write a verified fact on a task branch."""
    api.post("/branches", {"name": TASK})
    return verified(api, api.fact("Tokens live for an hour.", branch=TASK), TASK)


@pytest.fixture
def conflict(api: Api) -> dict[str, Any]:
    """Write a fact that both branches change."""
    fact = verified(api, api.fact("Tokens live for a day."), "main")
    api.post("/branches", {"name": TASK})
    for branch, text in (("main", "Tokens live for two days."), (TASK, "Tokens live for an hour.")):
        api.patch(f"/facts/{fact['id']}", {"fact_text": text, "branch": branch})
        verified(api, fact, branch)
    return fact


def verified(api: Api, fact: dict[str, Any], branch: str) -> dict[str, Any]:
    answer = api.post(f"/facts/{fact['id']}/verify", {"verdict": "verified", "branch": branch})
    assert answer.status_code == 200, answer.content
    return fact


def texts(api: Api, branch: str = "main") -> list[str]:
    return sorted(row["fact_text"] for row in api.get(f"/facts?branch={branch}").json()["results"])


def done(answer: Any, status: int = 200) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_conflict_names_the_keys_that_a_decision_settles(api: Api) -> None:
    fact = api.fact("Tokens live for a day.", metadata={"owner": "vera", "team": "a", "room": 1})
    api.post("/branches", {"name": TASK})
    for branch, metadata in (
        ("main", {"owner": "max", "team": "b", "room": 1}),
        (TASK, {"owner": "lea", "team": "a", "room": 2}),
    ):
        done(api.patch(f"/facts/{fact['id']}", {"metadata": metadata, "branch": branch}))
    plan = done(api.post(f"/branches/{TASK}/merge", {"dry_run": True}))
    (item,) = [row for row in plan["results"] if row["class"] == "conflict"]
    assert item["conflicting"] == ["metadata.owner"]


class TestMergeRequests:
    def test_from_the_question_to_the_merge_and_back(self, api: Api, reviewer: Api, learned: Any) -> None:
        made = done(api.post("/merge-requests", {"source": TASK, "title": "Longer tokens"}), 201)
        assert list(made) == list(m.MergeRequestShape().get_fields())
        assert (made["number"], made["state"], made["target"], made["author_label"]) == (
            1,
            "open",
            "main",
            "tester",
        )
        path = f"/merge-requests/{made['id']}"
        detail = done(api.get(path))
        assert list(detail) == list(m.MergeRequestDetailShape().get_fields())
        assert [(one["name"], one["state"]) for one in detail["checks"]][1:] == [
            ("require_verified", "passed"),
            ("secrets", "passed"),
            ("recall", "passed"),
        ]
        assert list(detail["checks"][0]) == list(m.CheckShape().get_fields())
        assert (detail["mergeable"], detail["counts"]["fact"]) == (True, {"applied": 1})
        plan = done(api.get(f"{path}/plan?type=fact"))
        assert list(plan) == list(m.MergePlanShape().get_fields())
        (item,) = plan["results"]
        assert list(item) == list(m.PlanItemShape().get_fields())
        assert (item["id"], item["class"], item["theirs"]["fact_text"]) == (
            learned["id"],
            "applied",
            "Tokens live for an hour.",
        )
        approved = done(reviewer.post(f"{path}/approve", {"source_seq": detail["source_seq"] or 2}))
        assert (approved["state"], approved["approvals"][0]["actor_label"]) == ("approved", "reviewer")
        merged = done(reviewer.post(f"{path}/merge", {"message": "All true."}))
        assert list(merged) == list(m.MergedShape().get_fields())
        assert (merged["state"], merged["commit"]["message"]) == ("merged", "All true.")
        assert merged["merge_commit"] == merged["commit"]["id"]
        assert texts(api) == ["Tokens live for an hour."]
        reverted = done(reviewer.post("/merge-requests/1/revert"))
        assert reverted["state"] == "reverted"
        assert texts(api) == []
        assert done(api.get("/merge-requests?state=reverted"))["results"] == [reverted]

    def test_conflicts_are_decided_one_by_one_and_by_rule(
        self, api: Api, reviewer: Api, conflict: Any
    ) -> None:
        done(api.post("/merge-requests", {"source": TASK}), 201)
        refusal = refused(reviewer.post("/merge-requests/1/merge"), 409, "conflict")
        assert (refusal["data"]["gates"], refusal["data"]["ids"]) == ("conflicts", [conflict["id"]])
        (item,) = done(api.get("/merge-requests/1/plan?class=conflict&type=fact"))["results"]
        assert refusal["data"]["conflicts"] == [
            {"type": "fact", "id": conflict["id"], "reason": "edited", "token": item["token"]}
        ]
        assert item["fields"]["fact_text"][:3] == [
            "Tokens live for a day.",
            "Tokens live for two days.",
            "Tokens live for an hour.",
        ]
        body = {"decisions": [{"id": item["id"], "choice": "source", "token": item["token"]}]}
        settled = done(reviewer.post("/merge-requests/1/decisions", body))
        assert list(settled) == list(m.SettledShape().get_fields())
        assert (settled["decided"], settled["undecided"]) == (1, 0)
        (item,) = done(api.get("/merge-requests/1/plan?class=conflict&type=fact"))["results"]
        assert (item["decision"]["choice"], item["decision"]["by"]) == ("source", "reviewer")
        rule = {"choice": "target", "reasons": ["edited"]}
        assert done(reviewer.post("/merge-requests/1/decisions", rule))["decided"] == 1
        done(reviewer.post("/merge-requests/1/decisions", {"choice": "source"}))
        done(reviewer.post("/merge-requests/1/merge"))
        assert texts(api) == ["Tokens live for an hour."]

    def test_what_was_decided_and_approved_is_taken_back(
        self, api: Api, reviewer: Api, stranger: Api, conflict: Any
    ) -> None:
        done(api.post("/merge-requests", {"source": TASK}), 201)
        done(reviewer.post("/merge-requests/1/decisions", {"choice": "source"}))
        done(reviewer.post("/merge-requests/1/approve"))
        path = f"/merge-requests/1/decisions?id={conflict['id']}"
        refused(stranger.delete(path), 404, "not_found")
        refused(reviewer.delete("/merge-requests/1/decisions"), 400, "invalid", "id")
        assert done(reviewer.delete(path))["state"] == "open"
        refused(reviewer.delete(f"{path}&type=fact"), 404, "not_found")
        (item,) = done(api.get("/merge-requests/1/plan?class=conflict&type=fact"))["results"]
        assert item["decision"] is None
        refused(api.delete("/merge-requests/1/approve"), 404, "not_found")
        assert done(reviewer.delete("/merge-requests/1/approve"))["state"] == "open"
        assert done(api.get("/merge-requests/1"))["approvals"] == []

    def test_what_one_call_decided_is_taken_back(
        self, api: Api, reviewer: Api, stranger: Api, conflict: Any
    ) -> None:
        path = "/merge-requests/1/decisions"
        opened = done(api.post("/merge-requests", {"source": TASK}), 201)["created_at"]
        first = done(reviewer.post(path, {"choice": "target", "type": "fact"}))
        assert (first["decided"], done(api.get("/merge-requests/1"))["decided_at"]) == (
            1,
            first["decided_at"],
        )
        none = done(reviewer.post(path, {"choice": "source", "type": "fact", "only_open": True}))
        assert (none["decided"], none["decided_at"]) == (0, None)
        refused(api.post("/merge-requests/1/approve", {"decided_at": opened}), 409, "conflict")
        at = f"{path}?decided_at={first['decided_at']}"
        for wrong in (f"{at}&id={conflict['id']}", f"{at}&type=fact"):
            refused(reviewer.delete(wrong), 400, "invalid", "id")
        refused(reviewer.delete(f"{path}?decided_at=yesterday"), 400, "invalid", "decided_at")
        refused(api.delete(at), 404, "not_found")  # another decided it
        refused(stranger.delete(at), 404, "not_found")
        assert done(reviewer.delete(at))["state"] == "open"
        refused(reviewer.delete(at), 404, "not_found")
        (item,) = done(api.get("/merge-requests/1/plan?class=conflict&type=fact"))["results"]
        assert item["decision"] is None

    def test_a_key_of_its_branch_reads_its_request_and_nothing_of_main(
        self, project: Project, api: Api, conflict: Any
    ) -> None:
        agent = api_for(project, scopes=["write"], branch_patterns=["task/*"])
        number = done(agent.post("/merge-requests", {"source": TASK, "title": "Longer"}), 201)["number"]
        done(api.post("/merge-requests/1/decisions", {"choice": "target"}))
        assert [row["number"] for row in done(agent.get("/merge-requests"))["results"]] == [number]
        found = done(agent.get("/merge-requests/1"))
        assert (found["title"], found["state"], found["mergeable"]) == ("Longer", "open", None)
        (item,) = done(agent.get("/merge-requests/1/plan?type=fact"))["results"]
        assert (item["id"], item["class"], item["reason"]) == (conflict["id"], "", "")
        assert item["theirs"]["fact_text"] == "Tokens live for an hour."
        hidden = ("ours", "base", "other", "score", "decision", "token")
        assert [item[name] for name in hidden] == [None, None, None, None, None, ""]
        for path in ("/merge-requests/1", "/merge-requests/1/plan"):
            assert "two days" not in agent.get(path).content.decode()
            assert "two days" in api.get("/merge-requests/1/plan").content.decode()
        for path in ("merge", "approve", "decisions"):
            refused(agent.post(f"/merge-requests/1/{path}", {}), 403, "scope_missing")
        stranger = api_for(project, scopes=["write"], branch_patterns=["other/*"])
        assert done(stranger.get("/merge-requests"))["results"] == []
        refused(stranger.get("/merge-requests/1"), 404, "not_found")

    def test_a_guess_of_what_main_has_tells_a_key_of_its_branch_nothing(
        self, project: Project, api: Api, main: Any
    ) -> None:
        done(api.post("/branches", {"name": "task/q"}), 201)
        api.fact("The vault key is 42.")
        agent = api_for(project, scopes=["write"], branch_patterns=["task/*"])
        texts = [f"The vault key is {number}." for number in (43, 42, 44)]
        ids = [agent.fact(text, branch="task/q")["id"] for text in texts]
        done(agent.post("/merge-requests", {"source": "task/q"}), 201)
        found = done(agent.get("/merge-requests/1/plan?type=fact"))
        assert [(one["id"], one["class"], one["reason"]) for one in found["results"]] == [
            (uid, "", "") for uid in ids
        ]
        assert (found["counts"], found["unchecked"], found["unchecked_reason"]) == ({}, 0, "")
        assert [
            done(agent.get("/merge-requests/1"))["counts"],
            done(api.get("/merge-requests/1"))["counts"],
        ] == [
            {},
            {"fact": {"applied": 2, "identical": 1}},
        ]
        for name in ("identical", "applied"):
            refused(agent.get(f"/merge-requests/1/plan?class={name}"), 403, "branch_forbidden")

    def test_the_checks_tell_it_nothing_either(self, project: Project, api: Api, main: Any) -> None:
        """Two branches, of which main has one's fact already and contradicts the other's."""
        agent = api_for(project, scopes=["write"], branch_patterns=["task/*"])
        for branch in ("task/1", "task/2"):
            done(api.post("/branches", {"name": branch}), 201)
        verified(api, api.fact("Tokens live for a day."), "main")
        done(api.patch("/policies/main", {"approvals": 1}), 201)
        found = []
        for number, text in enumerate(["Tokens live for a day.", "Badges are blue."], start=1):
            branch = f"task/{number}"
            agent.fact(text, branch=branch)
            done(agent.post("/merge-requests", {"source": branch}), 201)
            row = done(agent.get(f"/merge-requests/{number}"))
            plan = done(agent.get(f"/merge-requests/{number}/plan"))
            found.append((row["checks"], row["mergeable"], plan["open_conflicts"], plan["unchecked"]))
        assert found[0] == found[1]
        checks, *rest = found[0]
        assert [(one["name"], one["state"]) for one in checks] == [
            ("conflicts", "hidden"),
            ("require_verified", "hidden"),
            ("secrets", "hidden"),
            ("recall", "hidden"),
            ("changes", "hidden"),
            ("approvals", "failed"),
        ]
        assert {(one["reason"], one["count"], tuple(one["ids"]), one["link"]) for one in checks[:-1]} == {
            ("Known to those who may read main.", 0, (), "")
        }
        assert checks[-1]["reason"] == "Approvals: 0 of 1."
        assert rest == [False, None, 0]
        states = [one["state"] for one in done(api.get("/merge-requests/1"))["checks"]]
        assert "hidden" not in states

    def test_a_tail_that_became_a_fork_names_its_conversation(self, api: Api, reviewer: Api) -> None:
        talk = done(api.post("/conversations", {"title": "Tokens"}), 201)["id"]

        def say(content: str, branch: str) -> str:
            body = {"role": "user", "content": content, "branch": branch}
            return done(api.post(f"/conversations/{talk}/messages", body), 201)["id"]

        last = say("How long?", "main")
        api.post("/branches", {"name": TASK})
        say("A day.", "main")
        say("An hour.", TASK)
        done(reviewer.post(f"/branches/{TASK}/merge"))
        rows = done(api.get("/conversations"))["results"]
        names = ("parent_conversation_id", "fork_point_message_id")
        assert {row["id"] == talk: tuple(row[name] for name in names) for row in rows} == {
            True: (None, None),
            False: (talk, last),
        }

    def test_a_rule_for_what_no_conflict_has_is_a_mistake(
        self, api: Api, reviewer: Api, conflict: Any
    ) -> None:
        done(api.post("/merge-requests", {"source": TASK}), 201)
        with nothing_left():
            for name, value in (("reasons", ["edited", "near-duplicate"]), ("type", "facts")):
                body = {"choice": "source", name: value}
                refused(reviewer.post("/merge-requests/1/decisions", body), 400, "invalid", name)

    def test_a_merge_picks_as_many_as_a_request(self, api: Api, learned: Any) -> None:
        body = {"strategy": "cherry_pick", "ids": [learned["id"]] * 1000}
        done(api.post("/merge-requests", {"source": TASK, **body}), 201)
        plan = done(api.post(f"/branches/{TASK}/merge", {"dry_run": True, **body}))
        assert plan["counts"]["fact"] == {"applied": 1}
        body["ids"].append(learned["id"])
        refused(api.post("/merge-requests", {"source": TASK, **body}), 400, "invalid", "ids")
        refused(api.post(f"/branches/{TASK}/merge", body), 400, "invalid", "ids")

    def test_a_plan_goes_on_whether_the_default_strategy_is_named(self, api: Api, learned: Any) -> None:
        verified(api, api.fact("Keys are kept in a vault.", branch=TASK), TASK)
        body = {"dry_run": True, "limit": 1, "type": "fact"}
        first = done(api.post(f"/branches/{TASK}/merge", body))
        body |= {"strategy": "auto", "cursor": first["next"]}
        rest = done(api.post(f"/branches/{TASK}/merge", body))
        shown = sorted(row["theirs"]["fact_text"] for row in [*first["results"], *rest["results"]])
        assert (shown, rest["next"]) == (["Keys are kept in a vault.", "Tokens live for an hour."], None)

    def test_a_call_has_at_most_a_thousand_decisions(self, api: Api, reviewer: Api, conflict: Any) -> None:
        done(api.post("/merge-requests", {"source": TASK}), 201)
        body = {"decisions": [{"id": conflict["id"], "choice": "source"}] * 1001}
        with nothing_left():
            for path in ("/merge-requests/1/decisions", f"/branches/{TASK}/merge"):
                refused(reviewer.post(path, body), 400, "invalid", "decisions")


class TestRefused:
    @pytest.mark.parametrize(
        ("body", "code", "field"),
        [
            ({}, "invalid", "decisions"),
            ({"decisions": "x"}, "invalid", "decisions"),
            ({"decisions": [1]}, "invalid", "decisions[0]"),
            ({"decisions": [{"id": UNKNOWN}]}, "invalid", "decisions[0].choice"),
            ({"decisions": [{"id": "x", "choice": "source"}]}, "invalid", "decisions[0].id"),
            ({"decisions": [{"id": UNKNOWN, "choice": "mine"}]}, "invalid", "decisions[0].choice"),
            ({"decisions": [{"id": UNKNOWN, "choice": "source", "x": 1}]}, "unknown_field", "decisions[0].x"),
            ({"choice": "edited"}, "invalid", "choice"),
        ],
    )
    def test_what_decides_nothing(self, api: Api, conflict: Any, body: Any, code: str, field: str) -> None:
        done(api.post("/merge-requests", {"source": TASK}), 201)
        with nothing_left():
            refused(api.post("/merge-requests/1/decisions", body), 400, code, field)
