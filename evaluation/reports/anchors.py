"""Answers that tell camps apart, who is asked to grade them, and how far that is."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.models import Share
from evaluation.flow.aqer_summary import AnchorChoice, RemediesDone, summary_of
from evaluation.methods.agreement import Agreement, agreements
from evaluation.models import HumanJudgement, JudgementRequest, Run
from evaluation.reports.about import RunAbout, about
from evaluation.steps.outside import suggested_anchors

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
        its summary; None if it used none.
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
