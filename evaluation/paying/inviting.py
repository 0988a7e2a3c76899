"""Who did well and may be asked again: the ids for the allow list of the next study.

Across sets the raw leave-one-out score is used, never the grade, which is relative to the others of
its own run. Nobody is told a score, and nothing is stored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from annotations.exchange.prolific import REJECT, REJECTED
from annotations.models import Collection, QuestionSetVersion, Submission, Worker
from annotations.panels.people import standing
from annotations.panels.statuses import newest_statuses
from evaluation.models import Run
from evaluation.paying.rule_errors import RuleError
from evaluation.paying.rules import LOW, SCORE, reach
from evaluation.paying.scores import RawScore, run_of, scores_of

ENDS = {SCORE: "the score", LOW: "the lower end of its interval"}
MOST = 1_000
"""Bounds of a score: whatever the scale, none is further from 0."""
LEFT_OUT = {
    "withdrew": "withdrew what they wrote",
    "other_panel": "came from another panel",
    "no_id": "came without an id of a panel",
    "open": "did not hand in",
    "rejected": "rejected, here or on the panel",
    "no_score": "without a score in the grading that counts",
    "too_few": "gave too few answers to say",
    "below": "did not reach it",
}
"""Why somebody is not invited; the first reason that holds counts."""
# `annotations.answering.places` names people so whom no panel named.
_UNNAMED = re.compile(r"anonymous-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Line:
    """What somebody has to reach: `at_least` on the run's own scale, by an end of `ENDS`.

    `panel` is whose ids are wanted: "" for that of the collecting, or the only one.
    """

    at_least: float
    end: str = SCORE
    panel: str = ""

    def check(self) -> None:
        """Raise RuleError for what will not do."""
        if not abs(self.at_least) <= MOST:  # also what is no number
            raise RuleError("at_least", "score_range", most=MOST)
        if self.end not in ENDS:
            raise RuleError("end", "unknown_end", given=self.end, known=", ".join(ENDS))


@dataclass(frozen=True, slots=True)
class Invited:
    """Who reaches a line now.

    Attributes
    ----------
    run : the grading that counts for the version. panel : whose ids these are, "" where files name
        none. ids : the panel's ids, each once, in the order of the alphabet.
    left_out : how many other ids by why not, in the order of `LEFT_OUT`; without zeros.
    """

    run: Run
    line: Line
    panel: str
    ids: list[str]
    left_out: dict[str, int]

    @property
    def n_people(self) -> int:
        """Ids of everybody who began; the invited and those left out."""
        return len(self.ids) + sum(self.left_out.values())

    @property
    def told(self) -> list[tuple[int, str]]:
        """How many are left out, and why in words."""
        return [(n, LEFT_OUT[why]) for why, n in self.left_out.items()]

    def lines(self) -> Iterator[str]:
        """The counts for a terminal, a line each."""
        yield f"{len(self.ids):,} of {self.n_people:,} people reach {self.line.at_least:g}"
        yield from (f"left out: {n:,} {why}" for n, why in self.told)


def invited(version: QuestionSetVersion, line: Line) -> Invited:
    """Return who of a version is asked again; the number of queries does not hang on the people.

    Invited is who handed in, did not withdraw, is not rejected (by the newest decision; where
    nothing is decided, on the panel), has enough answers for a rank, and reaches the line. An id
    that came both from the panel and in a file without a panel is one person, and what speaks
    against either counts. Raises RuleError: also without a grading, and where it is not known
    whose ids are wanted.
    """
    line.check()
    run = run_of(version)
    if run is None:
        raise RuleError("", "no_scores")
    panel = _panel(version, line.panel)
    there = Submission.objects.filter(version=version)
    decisions, statuses = standing(version), newest_statuses(there.values("pk"))
    scores, strictness = scores_of(run), list(LEFT_OUT)
    found: dict[str, str] = {}
    for one in there.select_related("worker").order_by("worker__external_id", "pk"):
        decision, status = decisions.get(one.pk), statuses.get(one.pk)
        if decision is not None:
            rejected = decision.kind == REJECT
        else:
            rejected = status is not None and status.status == REJECTED
        why = _why_not(one, panel, rejected=rejected) or _short(scores.get(one.worker_id), line)
        before = found.setdefault(one.worker.external_id, why)
        if why and (not before or strictness.index(why) < strictness.index(before)):
            found[one.worker.external_id] = why
    counts = Counter(found.values())
    return Invited(
        *(run, line, panel, [name for name, why in found.items() if not why]),
        {why: counts[why] for why in LEFT_OUT if counts[why]},
    )


def panels_of(version: QuestionSetVersion) -> list[str]:
    """Return the panels that people of a version came from, by name."""
    of = Worker.objects.filter(submissions__version=version).exclude(panel="")
    return sorted(set(of.order_by().values_list("panel", flat=True).distinct()))


def _panel(version: QuestionSetVersion, named: str) -> str:
    there = panels_of(version)
    if named and named not in there:
        known = ", ".join(there) or "none"
        raise RuleError("panel", "unknown_panel", given=named[:100], known=known)
    if named or len(there) < 2:
        return named or next(iter(there), "")
    collected = Collection.objects.filter(version=version).values_list("panel", flat=True).first()
    if collected in there:
        return str(collected)
    raise RuleError("panel", "several_panels", known=", ".join(there))


def _why_not(one: Submission, panel: str, *, rejected: bool) -> str:
    """Return why somebody is not asked again whatever they scored, "" for no reason."""
    if one.withdrawn_at or one.worker.erased_at:
        return "withdrew"
    if one.worker.panel not in ("", panel):
        return "other_panel"
    if _UNNAMED.fullmatch(one.worker.external_id):
        return "no_id"
    if one.state != Submission.State.SUBMITTED:
        return "open"
    return "rejected" if rejected else ""


def _short(score: RawScore | None, line: Line) -> str:
    if score is None or score.value is None:
        return "no_score"
    value = reach(score, line.end) if score.supported else None
    if value is None:
        return "too_few"
    return "" if value >= line.at_least else "below"
