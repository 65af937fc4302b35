"""What findings become in a commit: new facts, or confirmations of those that say the same already."""

from collections.abc import Mapping, Sequence

from conversations.engines.consolidation.confirming import confirm_facts
from conversations.engines.consolidation.finding import Finding
from conversations.engines.consolidation.matching import Texts
from conversations.engines.consolidation.revised import Comparison, Statement, link_revised
from memory.actors import Actor
from memory.engines.facts.batch import FactBatch, WriteResult, get_source
from memory.engines.versions.commits import CommitWriter
from memory.models import Fact


def choose_leaders(requested: Sequence[str], texts: Texts) -> dict[str, str]:
    """Return for each text the first one that says the same, mostly the text itself."""
    leaders: dict[str, str] = {}
    for text in dict.fromkeys(requested):
        equal = (one for one in dict.fromkeys(leaders.values()) if texts.measure(text, one))
        leaders[text] = next(equal, text)
    return leaders


class FindingWriter:
    """Writer of findings in one commit; ``same`` are facts that say the same as a text in other words,
    ``leaders`` the first of the new texts that say the same.
    """

    def __init__(
        self, commit: CommitWriter, same: Mapping[str, Fact], leaders: Mapping[str, str], actor: Actor
    ) -> None:
        self.commit, self.same, self.leaders, self.actor = commit, same, leaders, actor

    def write(self, found: Sequence[Finding], comparison: Comparison) -> dict[str, int]:
        """Write findings with links to their sources; return what the run counts."""
        if not found:
            return {}
        texts = list(dict.fromkeys(one.text for one in found))
        known = self._load_known(texts)
        leaders = self._regroup([text for text in texts if text not in known])
        fresh = [one for one in found if one.text not in known and leaders[one.text] == one.text]
        results = self._write_facts(fresh)
        facts = known | {one.text: result.fact for one, result in zip(fresh, results, strict=True)}
        stated = [(one, facts[leaders.get(one.text, one.text)]) for one in found]
        links = [link for one, fact in stated for link in one.list_links(fact)]
        self.commit.add_rows(list({(link.from_id, link.to_id): link for link in links}.values()))
        own = get_source(Fact(**self.actor.origin_fields()))
        updated = confirm_facts(self.commit, [(fact, own) for fact in known.values()])
        self._link_revised(stated, comparison)
        created = sum(result.created for result in results)
        return {"created": created, "updated": updated, "deduplicated": len(found) - created}

    def _load_known(self, texts: Sequence[str]) -> dict[str, Fact]:
        """Return the facts that say the same, as far as they still are what was compared."""
        likely = [self.same[text] for text in texts if text in self.same]
        versions = {fact.uid: fact.version for fact in likely}
        rows = self.commit.visible_rows(Fact).filter(uid__in=list(versions)).fetch_all() if versions else []
        now = {row.uid: row for row in rows if row.version == versions[row.uid]}
        uids = ((text, self.same[text].uid) for text in texts if text in self.same)
        return {text: now[uid] for text, uid in uids if uid in now}

    def _regroup(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the leaders of the texts that are left, each one of them."""
        first: dict[str, str] = {}
        return {text: first.setdefault(self.leaders.get(text, text), text) for text in texts}

    def _write_facts(self, found: Sequence[Finding]) -> list[WriteResult]:
        if not found:
            return []
        batch = FactBatch([one.fact() for one in found], self.actor, Fact.Status.ACTIVE, deduplicate=True)
        return batch.write_facts(self.commit)

    def _link_revised(self, stated: Sequence[tuple[Finding, Fact]], comparison: Comparison) -> None:
        statements = [
            Statement(fact, one.text, one.said_at, one.is_persons)
            for one, fact in stated
            if one.said_at and one.text in comparison.disagreeing
        ]
        link_revised(self.commit, statements, comparison)
