"""What the remedies of a run did and changed, against the plain run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotations.models import Response, Share, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading import summary as aqer_summary
from evaluation.grading.summary import AnchorChoice, RemediesDone, summary_of
from evaluation.methods.agreement import Agreement, agreements
from evaluation.models import HumanJudgement, JudgementRequest, Run, WorkerGrade, WorkerVerdict
from evaluation.reports.about import RunAbout, about
from evaluation.steps.answers import parameters_of
from evaluation.steps.checkpoints import RunInputError

# Runs among which the plain one is looked for.
LOOKED_AT = 50
NAMES = {
    "exclude_workers": "workers excluded",
    "collapse_copies": "copies collapsed",
    "weight_cap": "votes capped",
    "anchors": "experts' grades used",
    "suggest_anchors": "answers suggested for experts",
    "camps": "several right answers",
    "unit_length": "vectors of unit length",
    "spelling": "spelling corrected",
}


@dataclass(frozen=True)
class Mover:
    """A worker whose rank changed; None for no rank."""

    worker: UUID
    name: str
    plain_rank: int | None
    rank: int | None


@dataclass(frozen=True)
class First:
    """Who of a group was first on `n_first` of the `n_timed` questions whose times tell."""

    worker: UUID
    name: str
    n_first: int
    n_timed: int


@dataclass(frozen=True)
class RemediesReport:
    """What was asked for, and the ranking against the plain one.

    Attributes
    ----------
    names : the remedies, in words. spearman : rank correlation of the raw scores of `n` workers
        with the plain run's, None where undefined.
    first : of each group whose times tell, who was first and keeps its vote.
    collapsed, kept : groups of copies that vote as one, and those left alone as camps.
    plain : a run of the same version that differs by the remedies only, None if there is none.
    """

    names: list[str]
    spearman: float | None
    n: int
    movers: list[Mover]
    collapsed: int
    kept: int
    plain: UUID | None
    first: list[First]


def remedies_report(run: Run) -> RemediesReport | None:
    """Return the report of a run, by three queries; None if it used no remedy."""
    done = summary_of(run).remedies
    if done is None:
        return None
    compared = done.compared_with_plain
    n_collapsed = sum(group.collapsed for group in done.groups)
    return RemediesReport(
        names=[NAMES.get(name, name) for name in done.asked_for],
        spearman=compared.spearman,
        n=compared.n,
        movers=_movers(compared.movers),
        collapsed=n_collapsed,
        kept=len(done.groups) - n_collapsed,
        plain=_plain(run),
        first=_first(done.groups),
    )


def _first(groups: Sequence[aqer_summary.CopyGroup]) -> list[First]:
    known = [group for group in groups if group.collapsed and group.first is not None]
    ids = [UUID(group.first or "") for group in known]
    names = dict(Worker.objects.filter(public_id__in=ids).values_list("public_id", "external_id"))
    return [
        First(worker, names[worker], group.n_first or 0, group.n_timed or 0)
        for worker, group in zip(ids, known, strict=True)
        if worker in names
    ]


def _movers(stored: Sequence[aqer_summary.Mover]) -> list[Mover]:
    ids = [UUID(row.worker) for row in stored]
    names = dict(Worker.objects.filter(public_id__in=ids).values_list("public_id", "external_id"))
    return [
        Mover(worker, names[worker], row.plain_rank, row.rank)
        for worker, row in zip(ids, stored, strict=True)
        if worker in names
    ]


def _plain(run: Run) -> UUID | None:
    try:
        wanted = parameters_of(run.parameters).without_remedies()
    except RunInputError:  # it is of another version of the platform
        return None
    others = (
        Run.objects.filter(version=run.version_id, state=Run.State.DONE)
        .exclude(pk=run.pk)
        .order_by("-id")
        .values_list("public_id", "parameters")[:LOOKED_AT]
    )
    return next((other for other, stored in others if _is(wanted, stored)), None)


def _is(wanted: AqerParameters, stored: dict[str, Any]) -> bool:
    try:
        return parameters_of(stored) == wanted
    except RunInputError:
        return False


RECOMMENDED = 6
FEWEST = 2
# Experts that the page lists.
MOST_EXPERTS = 100


@dataclass(frozen=True)
class ExpertProgress:
    """How far somebody is with the suggested answers."""

    user: int
    name: str
    n_asked: int
    n_graded: int

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return 0 < self.n_asked <= self.n_graded


@dataclass(frozen=True)
class Suggestion:
    """An answer to grade, and the grades it has; it is shown to requesters, not to experts."""

    question: str
    question_text: str
    text: str
    grades: tuple[float, ...]


@dataclass(frozen=True)
class Ranking:
    """A ranking at which the crowd may rest.

    Attributes
    ----------
    name : code. with_experts : Pearson correlation of its scores with the grades, None where
        undefined. with_plain : Spearman correlation with the plain ranking. chosen : by the grades.
    """

    name: str
    with_experts: float | None
    with_plain: float | None
    chosen: bool

    @property
    def words(self) -> str:
        """What leads to it."""
        kind, _, camp = self.name.rpartition("_camp_")
        return {
            "from": f"started from camp {camp}",
            "only": f"only camp {camp} votes",
        }.get(kind, "as graded without experts" if self.name == "default" else self.name)


@dataclass(frozen=True)
class AnchorsReport:
    """What it takes to settle which camp is right.

    Attributes
    ----------
    asked : whether the run looked for such answers. reason : code of why there are none.
    n_graded : suggested answers with a grade. choice : what the anchors of this run chose, as in
        its summary; None if it used none. camps : the numbers of workers of its camps, () where
        it did not look for rankings.
    """

    about: RunAbout
    asked: bool
    reason: str | None
    suggestions: list[Suggestion]
    experts: list[ExpertProgress]
    others: list[tuple[int, str]]
    agreements: list[Agreement]
    choice: AnchorChoice | None
    rankings: list[Ranking]
    camps: tuple[int, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether this run's ranking was chosen by grades."""
        return self.choice is not None and self.choice.reason is None

    @property
    def n_graded(self) -> int:
        """How many of the suggested answers have a grade."""
        return sum(bool(suggestion.grades) for suggestion in self.suggestions)

    @property
    def can_choose(self) -> bool:
        """Whether grades can choose: two at least, which are not all the same."""
        known = [sum(s.grades) / len(s.grades) for s in self.suggestions if s.grades]
        return len(known) >= FEWEST and len(set(known)) > 1


def anchors_report(run: Run, myself: int) -> AnchorsReport:
    """Return the report for a user, by six queries; `myself` is the key of who asks."""
    answers = suggested_anchors(run)
    keys = [answer.pk for answer in answers] or [0]
    remedies = summary_of(run).remedies or RemediesDone()
    suggested = remedies.suggested_anchors
    grades: dict[str, dict[int, float]] = {}
    of_answer: dict[int, list[float]] = {}
    for name, key, grade in (
        HumanJudgement.objects.filter(response__in=keys)
        .order_by("pk")
        .values_list("expert__username", "response", "grade")
    ):
        if grade is None:
            continue
        grades.setdefault(name, {})[key] = grade
        of_answer.setdefault(key, []).append(grade)
    asked: dict[tuple[int, str], int] = {}
    for user, name in JudgementRequest.objects.filter(response__in=keys).values_list(
        "expert", "expert__username"
    ):
        asked[user, name] = asked.get((user, name), 0) + 1
    shares = Share.objects.of_experts(run.version.question_set).values_list(
        "user", "user__username"
    )[:MOST_EXPERTS]
    known = {user for user, _ in asked}
    return AnchorsReport(
        about=about(run),
        asked=suggested is not None,
        reason=suggested.reason if suggested else None,
        suggestions=[
            Suggestion(
                question=answer.question.external_id,
                question_text=answer.question.text,
                text=answer.text,
                grades=tuple(of_answer.get(answer.pk, ())),
            )
            for answer in answers
        ],
        experts=[
            ExpertProgress(user, name, n, len(grades.get(name, {})))
            for (user, name), n in sorted(asked.items(), key=lambda item: item[0][1])
        ],
        others=[(user, name) for user, name in shares if user not in known],
        agreements=agreements(grades),
        choice=remedies.anchors,
        rankings=_rankings(remedies),
        camps=remedies.candidates.camps if remedies.candidates else (),
    )


def _rankings(remedies: RemediesDone) -> list[Ranking]:
    chosen = remedies.anchors and remedies.anchors.chosen
    return [
        Ranking(
            name=found.name,
            with_experts=found.correlation_with_expert,
            with_plain=found.spearman_with_default,
            chosen=found.name == chosen,
        )
        for found in (remedies.candidates.found if remedies.candidates else ())
    ]


def suggested_anchors(run: Run) -> list[Response]:
    """Return the answers that an expert should grade for a run, the most telling first.

    Empty where the run suggested none; its summary says why. Answers that were withdrawn since are
    left out, and so are those of excluded workers.
    """
    remedies = summary_of(run).remedies
    suggested = remedies and remedies.suggested_anchors
    keys = suggested.responses if suggested else ()
    if not keys:
        return []
    found = Response.objects.select_related("question", "submission__worker").in_bulk(keys)
    out = {one.worker_id for one in WorkerVerdict.excluding(run.version.question_set)}
    out.update(WorkerGrade.of_excluded(run).values_list("worker_id", flat=True))
    return [
        found[key] for key in keys if key in found and found[key].submission.worker_id not in out
    ]
