"""Reports of remedies: changes against the plain run, and the state of experts' grading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotations.models import Response, Share, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.statistics.agreement import ExpertAgreement, compare_experts
from evaluation.grading import summary as aqer_summary
from evaluation.grading.summary import AnchorChoice, RemedyEffects, read_summary
from evaluation.models import HumanJudgement, JudgementRequest, Run, WorkerGrade, WorkerVerdict
from evaluation.runs.reports.about import RunAbout, build_run_about
from evaluation.runs.steps.answers import read_grading_parameters
from evaluation.runs.steps.checkpoints import RunInputError

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
    """A worker whose rank changed because of the remedies; None for a missing rank."""

    worker: UUID
    name: str
    plain_rank: int | None
    rank: int | None


@dataclass(frozen=True)
class GroupSource:
    """The member of a group of copiers who answered first, on `n_first` of `n_timed` questions."""

    worker: UUID
    name: str
    n_first: int
    n_timed: int


@dataclass(frozen=True)
class RemediesReport:
    """The remedies of a run, and how they changed its ranking.

    Attributes
    ----------
    names : titles of the remedies. spearman : rank correlation of `n` workers' raw scores with
        those without remedies; None if undefined.
    first : for each group whose answer times show it, the member who answered first and votes.
    collapsed, kept : numbers of groups of copies with one vote, and of groups not collapsed because
        they are camps.
    plain : id of a run of the same version that differs by the remedies only; None without one.
    """

    names: list[str]
    spearman: float | None
    n: int
    movers: list[Mover]
    collapsed: int
    kept: int
    plain: UUID | None
    first: list[GroupSource]


def build_remedies_report(run: Run) -> RemediesReport | None:
    """Return the report on a run's remedies; None if it used none. Three queries."""
    remedies = read_summary(run).remedies
    if remedies is None:
        return None
    compared = remedies.compared_with_plain
    n_collapsed = sum(group.collapsed for group in remedies.groups)
    return RemediesReport(
        names=[NAMES.get(name, name) for name in remedies.asked_for],
        spearman=compared.spearman,
        n=compared.n,
        movers=_build_movers(compared.movers),
        collapsed=n_collapsed,
        kept=len(remedies.groups) - n_collapsed,
        plain=_find_plain_run(run),
        first=_find_sources(remedies.groups),
    )


def _find_sources(groups: Sequence[aqer_summary.CopyGroup]) -> list[GroupSource]:
    """Return the member who answered first of each group of copiers, where times show it."""
    with_source = [group for group in groups if group.collapsed and group.first is not None]
    ids = [UUID(group.first or "") for group in with_source]
    names = dict(Worker.objects.filter(public_id__in=ids).values_list("public_id", "external_id"))
    return [
        GroupSource(worker, names[worker], group.n_first or 0, group.n_timed or 0)
        for worker, group in zip(ids, with_source, strict=True)
        if worker in names
    ]


def _build_movers(stored: Sequence[aqer_summary.Mover]) -> list[Mover]:
    """Return the workers whose rank changed most, with their names."""
    ids = [UUID(row.worker) for row in stored]
    names = dict(Worker.objects.filter(public_id__in=ids).values_list("public_id", "external_id"))
    return [
        Mover(worker, names[worker], row.plain_rank, row.rank)
        for worker, row in zip(ids, stored, strict=True)
        if worker in names
    ]


def _find_plain_run(run: Run) -> UUID | None:
    """Return the id of the newest run with the same options but no remedies; None without one."""
    try:
        plain_parameters = read_grading_parameters(run.parameters).reset_remedies()
    except RunInputError:  # it is of another version of the platform
        return None
    others = (
        Run.objects.filter(version=run.version_id, state=Run.State.DONE)
        .exclude(pk=run.pk)
        .order_by("-id")
        .values_list("public_id", "parameters")[:LOOKED_AT]
    )
    return next(
        (other for other, stored in others if _has_equal_parameters(plain_parameters, stored)), None
    )


def _has_equal_parameters(expected: AqerParameters, stored: dict[str, Any]) -> bool:
    """Return whether stored run parameters equal these; False if they cannot be read."""
    try:
        return read_grading_parameters(stored) == expected
    except RunInputError:
        return False


# Measured: 2 well chosen answers settle two camps, three camps need 3; with noisy grades 5 settle
# 92% or more, and 7 all.
RECOMMENDED = 6
FEWEST = 2
# Experts that the page lists.
MOST_EXPERTS = 100


@dataclass(frozen=True)
class ExpertProgress:
    """Numbers of answers that an expert was asked to grade and has graded."""

    user: int
    name: str
    n_asked: int
    n_graded: int

    @property
    def is_done(self) -> bool:
        """Whether the expert has graded all requested answers."""
        return 0 < self.n_asked <= self.n_graded


@dataclass(frozen=True)
class Suggestion:
    """An answer suggested to experts for grading, with their grades so far."""

    question: str
    question_text: str
    text: str
    grades: tuple[float, ...]


@dataclass(frozen=True)
class Ranking:
    """A candidate ranking, with its correlations with experts' grades and the plain ranking.

    Attributes
    ----------
    name : code. with_experts : Pearson correlation of its scores with experts' grades; None if
        undefined. with_plain : Spearman correlation with the default ranking. chosen : whether the
        grades selected it.
    """

    name: str
    with_experts: float | None
    with_plain: float | None
    chosen: bool

    @property
    def words(self) -> str:
        """How the ranking was computed, as text, such as "only camp 1 votes"."""
        kind, _, camp = self.name.rpartition("_camp_")
        return {
            "from": f"started from camp {camp}",
            "only": f"only camp {camp} votes",
        }.get(kind, "as graded without experts" if self.name == "default" else self.name)


@dataclass(frozen=True)
class AnchorsReport:
    """Progress of the experts whose grades of answers (anchors) decide which camp is right.

    Attributes
    ----------
    asked : whether the run was to suggest answers. reason : code of why it suggests none.
    n_graded : number of suggested answers with a grade. choice : ranking that the run's anchors
        selected; None if it used none. camps : number of workers in each camp; () if the run did
        not compute candidate rankings.
    """

    about: RunAbout
    asked: bool
    reason: str | None
    suggestions: list[Suggestion]
    experts: list[ExpertProgress]
    others: list[tuple[int, str]]
    agreements: list[ExpertAgreement]
    choice: AnchorChoice | None
    rankings: list[Ranking]
    camps: tuple[int, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether experts' grades selected the ranking of this run."""
        return self.choice is not None and self.choice.reason is None

    @property
    def n_graded(self) -> int:
        """Number of suggested answers that at least one expert graded."""
        return sum(bool(suggestion.grades) for suggestion in self.suggestions)

    @property
    def can_choose(self) -> bool:
        """Whether the grades suffice to choose: two answers or more, with different mean grades."""
        known = [sum(s.grades) / len(s.grades) for s in self.suggestions if s.grades]
        return len(known) >= FEWEST and len(set(known)) > 1


def build_anchors_report(run: Run, myself: int) -> AnchorsReport:
    """Return the report on a run's experts' grading (anchors), as the user `myself` sees it.

    `myself` is the user id of the reader.
    """
    answers = read_suggested_anchors(run)
    # No row has the key 0: with an empty list Django would skip the queries.
    keys = [answer.pk for answer in answers] or [0]
    remedies = read_summary(run).remedies or RemedyEffects()
    suggested = remedies.suggested_anchors
    grades: dict[str, dict[int, float]] = {}
    grades_of_answer: dict[int, list[float]] = {}
    for name, key, grade in (
        HumanJudgement.objects.filter(response__in=keys)
        .order_by("pk")
        .values_list("expert__username", "response", "grade")
    ):
        if grade is None:
            continue
        grades.setdefault(name, {})[key] = grade
        grades_of_answer.setdefault(key, []).append(grade)
    n_asked: dict[tuple[int, str], int] = {}
    for user, name in JudgementRequest.objects.filter(response__in=keys).values_list(
        "expert", "expert__username"
    ):
        n_asked[user, name] = n_asked.get((user, name), 0) + 1
    shares = Share.objects.filter_experts(run.version.question_set).values_list(
        "user", "user__username"
    )[:MOST_EXPERTS]
    asked_users = {user for user, _ in n_asked}
    return AnchorsReport(
        about=build_run_about(run),
        asked=suggested is not None,
        reason=suggested.reason if suggested else None,
        suggestions=[
            Suggestion(
                question=answer.question.external_id,
                question_text=answer.question.text,
                text=answer.text,
                grades=tuple(grades_of_answer.get(answer.pk, ())),
            )
            for answer in answers
        ],
        experts=[
            ExpertProgress(user, name, n, len(grades.get(name, {})))
            for (user, name), n in sorted(n_asked.items(), key=lambda item: item[0][1])
        ],
        others=[(user, name) for user, name in shares if user not in asked_users],
        agreements=compare_experts(grades),
        choice=remedies.anchors,
        rankings=_build_rankings(remedies),
        camps=remedies.candidates.camps if remedies.candidates else (),
    )


def _build_rankings(remedies: RemedyEffects) -> list[Ranking]:
    """Return the candidate rankings stored with a run; empty if it computed none."""
    chosen = remedies.anchors and remedies.anchors.chosen
    return [
        Ranking(
            name=candidate.name,
            with_experts=candidate.correlation_with_expert,
            with_plain=candidate.spearman_with_default,
            chosen=candidate.name == chosen,
        )
        for candidate in (remedies.candidates.found if remedies.candidates else ())
    ]


def read_suggested_anchors(run: Run) -> list[Response]:
    """Return the answers that experts should grade for a run (anchors), most useful first.

    Empty where the run suggested none; its summary states why. Answers withdrawn since then and
    answers of excluded workers are left out.
    """
    remedies = read_summary(run).remedies
    suggested = remedies and remedies.suggested_anchors
    keys = suggested.responses if suggested else ()
    if not keys:
        return []
    responses = Response.objects.select_related("question", "submission__worker").in_bulk(keys)
    excluded = {
        verdict.worker_id
        for verdict in WorkerVerdict.list_exclusion_verdicts(run.version.question_set)
    }
    excluded.update(WorkerGrade.select_excluded(run).values_list("worker_id", flat=True))
    return [
        responses[key]
        for key in keys
        if key in responses and responses[key].submission.worker_id not in excluded
    ]
