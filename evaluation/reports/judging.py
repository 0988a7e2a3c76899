"""What experts said of a run: how far they are, how often which choice, how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from annotations.models import Share
from evaluation.judging import Given, Judging, given_of, progress_by_expert
from evaluation.judging.declaration import Choice, Key
from evaluation.judging.sample import ExpertProgress
from evaluation.methods.inference.raters import RaterAgreement, rater_agreement
from evaluation.models import Exhibit, Run
from evaluation.reports.spreadsheet import Table

# Experts that the page lists.
MOST_EXPERTS = 100


@dataclass(frozen=True)
class Pair:
    """Two who judged the same, experts or programs."""

    renamed_keys: ClassVar = {"one": "expert", "found": "agreement"}

    one: str
    other: str
    found: RaterAgreement


@dataclass(frozen=True)
class ChoiceCount:
    """How often a choice was made, and by which share of all judgements."""

    choice: Choice
    n: int
    share: float


@dataclass(frozen=True)
class JudgingReport:
    """What was drawn, who judges it, and what came.

    Attributes
    ----------
    n_drawn : things in the sample. seed : of its order; None before the first draw.
    n_judged : with a judgement at least. n_by_two : with two at least.
    others : experts of the set who are not asked yet.
    between, with_machines : agreement of experts with each other, and with programs.
    """

    judging: Judging
    n_drawn: int
    seed: int | None
    n_judged: int
    n_by_two: int
    n_given: int
    experts: list[ExpertProgress]
    others: list[tuple[int, str]]
    counts: list[ChoiceCount]
    between: list[Pair]
    with_machines: list[Pair]


def judging_report(run: Run, judging: Judging) -> JudgingReport:
    """Return the report, by six queries and what the kind needs for its own."""
    given = given_of(run, judging)
    seeds = Exhibit.objects.filter(run=run, judging=judging.name).values_list("seed", flat=True)
    experts = progress_by_expert(run, judging)
    asked = {expert.user for expert in experts}
    shares = Share.objects.of_experts(run.version.question_set).values_list(
        "user", "user__username"
    )[:MOST_EXPERTS]
    by_thing = Counter(one.key for one in given)
    people = by_expert(given)
    machines = judging.machines(run) if given else {}
    return JudgingReport(
        judging,
        len(seeds),
        next(iter(seeds), None),
        len(by_thing),
        sum(n > 1 for n in by_thing.values()),
        len(given),
        experts,
        [(user, name) for user, name in shares if user not in asked],
        list(_counts(judging, given)),
        [
            _pair(judging, one, other, people[one], people[other])
            for one, other in combinations(people, 2)
        ],
        [
            _pair(judging, expert, machine, people[expert], machines[machine])
            for machine in machines
            for expert in people
        ],
    )


def by_expert(given: Sequence[Given]) -> dict[str, dict[Key, float | str]]:
    """Return what each expert said, by name and thing."""
    found: dict[str, dict[Key, float | str]] = {}
    for name in sorted({one.expert for one in given}):
        found[name] = {one.key: one.value for one in given if one.expert == name}
    return found


def _counts(judging: Judging, given: Sequence[Given]) -> Iterator[ChoiceCount]:
    n = Counter(
        judging.code_of(one.value, "") if isinstance(one.value, float) else one.value
        for one in given
    )
    for choice in judging.choices:
        times = n[choice.code]
        yield ChoiceCount(choice, times, times / len(given) if given else 0.0)


def _pair(
    judging: Judging,
    one: str,
    other: str,
    of_one: Mapping[Key, float | str],
    of_other: Mapping[Key, float | str],
) -> Pair:
    both = [key for key in of_one if key in of_other]
    found = rater_agreement(
        [of_one[key] for key in both],  # type: ignore[arg-type]
        [of_other[key] for key in both],  # type: ignore[arg-type]
        [key[judging.cluster] for key in both],
        graded=judging.graded,
    )
    return Pair(one, other, found)


def judgements_table(run: Run, judging: Judging) -> Table:
    """Return a row for each judgement of an expert; the columns of the key are the kind's own."""
    header = (*judging.columns, "judge", "repeat", judging.column, "judged_at")
    return Table(
        header,
        (
            (*one.key, one.judge, 1, one.value, one.updated_at.isoformat())
            for one in given_of(run, judging)
        ),
    )
