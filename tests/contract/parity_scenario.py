"""One history and one set of queries, the same on every database. ``tell`` returns texts alone.

As a program: ``python -m tests.contract.parity_scenario`` on the database of DAY1_TEST_DATABASE_URL, which it
fills.
"""

import hashlib
import json
import random
from itertools import pairwise
from typing import Any

import numpy as np

MODEL, DIMENSIONS = "synthetic", 8
WORDS = "amber birch cedar delta ember fjord grove heron inlet jetty".split()
BRANCHES = ("main", "task/a", "task/b", "task/c")


def vector_of(text: str) -> np.ndarray:
    """Return a unit vector that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS)
    return (vector / np.linalg.norm(vector)).astype("f4")


class Story:
    """History of sixty commits on four branches, drawn from a fixed seed."""

    def __init__(self, actor: Any, seed: int) -> None:
        self.actor, self.random, self.texts = actor, random.Random(seed), set[str]()

    def tell(self) -> dict[str, Any]:
        from memory.engines.branches.manager import BranchManager

        parents = {"task/a": "main", "task/b": "task/a", "task/c": "main"}
        made = ["main"]
        for number in range(60):
            if number in (15, 25, 35):
                name = BRANCHES[len(made)]
                BranchManager().create_branch(name=name, actor=self.actor, parent=parents[name])
                made.append(name)
            self._commit(self.random.choice(made), number)
        self._embed()
        return {name: self._answers(name) for name in made}

    def _commit(self, branch: str, number: int) -> None:
        from memory.engines.versions.commits import open_commit
        from memory.models import Fact
        from tests.memory.test_branches import content_of, fact

        with open_commit(self.actor, branch, "story") as commit:
            shown = sorted(commit.visible_rows(Fact), key=lambda row: row.fact_text)
            for _ in range(3):
                commit.add_rows([fact(self._text(number))])
            if len(shown) > 4:
                changed, removed = self.random.sample(shown, 2)
                commit.change_row(changed, **content_of(self._text(number)))
                if number % 3 == 0:
                    commit.remove_row(removed)

    def _text(self, number: int) -> str:
        """Return a unique text of five words, so that all texts have the same length."""
        some = self.random.sample(WORDS, 2) + self.random.sample(["one", "two", "three", "four"], 2)
        self.texts.add(text := " ".join([*some, f"n{number}x{len(self.texts)}"]))
        return text

    def _embed(self) -> None:
        from django.utils import timezone

        from memory.models import Vector, VectorClock
        from memory.models.hashes import content_hash
        from memory.models.vectors import vector_slot

        project = self.actor.project_id
        VectorClock.objects.create(project_id=project, n=1)
        hashes = {content_hash(text): text for text in sorted(self.texts)}
        Vector.objects.bulk_create(
            Vector(
                slot=vector_slot(project, MODEL, value),
                project_id=project,
                model=MODEL,
                content_hash=value,
                n=1,
                state="ready",
                next_try=timezone.now(),
                data=vector_of(text),
            )
            for value, text in hashes.items()
        )

    # ---- questions -----------------------------------------------------------------------------

    def _answers(self, name: str) -> dict[str, Any]:
        from memory.engines.versions.lookup import find_branch
        from memory.models import Fact

        branch = find_branch(self.actor, name)
        heads = [branch.head, branch.head // 2]
        return {f"@{seq}": self._asked(Fact.objects.on(branch, seq)) for seq in heads}

    def _asked(self, rows: Any) -> dict[str, Any]:
        text_of = dict(rows.values_list("pk", "fact_text"))
        found: dict[str, Any] = {
            "visible": sorted(text_of.values()),
            "newest": [row.fact_text for row in rows.newest(5)],
        }
        for word in WORDS:
            hits, _ = rows.match_words([word], 1000)
            found[f"keyword {word}"] = sorted(text_of[rid] for rid, _ in hits)
            near = rows.search_vectors(vector_of(word), 10, MODEL, self.actor.project_id)
            found[f"nearest {word}"] = [(text_of[rid], round(score, 4)) for rid, score in near]
        for pair in pairwise(WORDS):
            hits, _ = rows.match_words(pair, 1000)
            # Texts of one length with both words come first, whatever the formula.
            both = [text_of[rid] for rid, _ in hits if set(pair) <= set(text_of[rid].split())]
            found[f"first {pair}"] = (sorted(both), sorted(text_of[rid] for rid, _ in hits[: len(both)]))
        return found


def main() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from tests.memory.test_branches import some_actor

    call_command("migrate", verbosity=0)
    print(json.dumps(Story(some_actor(), seed=7).tell()))


if __name__ == "__main__":
    main()
