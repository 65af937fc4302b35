"""What findings become in a commit: new facts, or confirmations of those that say the same already."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from conversations.engines.consolidation.finding import Finding
from conversations.engines.consolidation.matching import Texts
from conversations.engines.consolidation.revised import Comparison, Statement, link_revised
from memory.actors import Actor
from memory.engines.facts.assessment import list_sources
from memory.engines.facts.batch import FactBatch, WriteResult, get_source
from memory.engines.versions.commits import CommitWriter
from memory.models import Confirmation, Fact

STEP = 0.1  # of confidence for each independent source
DIGITS = 6  # so that 0.7 + 0.1 counts as 0.8


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


# ---- confirmations -----------------------------------------------------------------------------------


def confirm_facts(commit: CommitWriter, stated: Iterable[tuple[Fact, str]]) -> int:
    """Confirm facts by sources that are independent and have not done so before, and raise the confidence of
    each fact that the commit confirmed; return how many those are.
    """
    if commit.proposes:  # a proposal changes nothing that is active
        return 0
    store_confirmations(commit, stated)
    return raise_confidence(commit)


def store_confirmations(commit: CommitWriter, stated: Iterable[tuple[Fact, str]]) -> None:
    pairs = {(fact.uid, source) for fact, source in stated if source and source != get_source(fact)}
    new = pairs - list_sources({uid for uid, _ in pairs}, commit.lineage) if pairs else pairs
    where = {"branch_id": commit.branch.pk, "seq": commit.seq, "at": commit.at}
    Confirmation.objects.bulk_create(
        [Confirmation(uid=uid, source=source, **where) for uid, source in sorted(new)]
    )
    commit.side_rows += len(new)


def raise_confidence(commit: CommitWriter) -> int:
    """Raise the confidence of each fact by the confirmations that this commit gave it."""
    if not commit.side_rows:  # their table is read whole: no index begins with the commit
        return 0
    own = Confirmation.objects.filter(branch_id=commit.branch.pk, seq=commit.seq)
    counts = Counter(own.values_list("uid", flat=True))
    rows = commit.visible_rows(Fact).filter(uid__in=sorted(counts)).fetch_all() if counts else []
    for fact in rows:
        if fact.confidence < 1:
            confidence = round(fact.confidence + STEP * counts[fact.uid], DIGITS)
            commit.change_row(fact, confidence=min(1.0, confidence))
    return len(rows)
