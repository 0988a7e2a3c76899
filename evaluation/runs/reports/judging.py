"""Report experts' judgements of a run: progress, counts by choice, and agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from annotations.models import Share
from evaluation.core.stats.inference.raters import RaterAgreement, compute_rater_agreement
from evaluation.models import Exhibit, Run
from evaluation.runs.judging import ExpertJudgement, Judging, list_progress, load_judgements
from evaluation.runs.judging.declaration import Choice, Key
from evaluation.runs.judging.sample import ExpertProgress
from evaluation.runs.reports.spreadsheet import Table

# Experts that the page lists.
MOST_EXPERTS = 100


@dataclass(frozen=True)
class Pair:
    """The agreement of two judges (experts or programs) on the items that both judged."""

    renamed_keys: ClassVar = {"one": "expert", "found": "agreement"}

    one: str
    other: str
    found: RaterAgreement


@dataclass(frozen=True)
class ChoiceCount:
    """How many judgements chose one choice of the scale, and their share of all."""

    choice: Choice
    n: int
    share: float


@dataclass(frozen=True)
class JudgingReport:
    """Experts' judgements of a run's sample: progress, counts by choice, and agreement.

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


def build_judging_report(run: Run, judging: Judging) -> JudgingReport:
    """Return the report on experts' judgements of a run, by six queries or more."""
    judgements = load_judgements(run, judging)
    seeds = Exhibit.objects.filter(run=run, judging=judging.name).values_list("seed", flat=True)
    experts = list_progress(run, judging)
    asked = {expert.user for expert in experts}
    shares = Share.objects.of_experts(run.version.question_set).values_list(
        "user", "user__username"
    )[:MOST_EXPERTS]
    by_thing = Counter(one.key for one in judgements)
    by_expert_name = group_by_expert(judgements)
    by_machine = judging.machines(run) if judgements else {}
    return JudgingReport(
        judging,
        len(seeds),
        next(iter(seeds), None),
        len(by_thing),
        sum(n > 1 for n in by_thing.values()),
        len(judgements),
        experts,
        [(user, name) for user, name in shares if user not in asked],
        list(_count_choices(judging, judgements)),
        [
            _compare_pair(judging, one, other, by_expert_name[one], by_expert_name[other])
            for one, other in combinations(by_expert_name, 2)
        ],
        [
            _compare_pair(judging, expert, machine, by_expert_name[expert], by_machine[machine])
            for machine in by_machine
            for expert in by_expert_name
        ],
    )


def group_by_expert(given: Sequence[ExpertJudgement]) -> dict[str, dict[Key, float | str]]:
    """Return each expert's judgements: by expert name, then by the judged item."""
    found: dict[str, dict[Key, float | str]] = {}
    for name in sorted({one.expert for one in given}):
        found[name] = {one.key: one.value for one in given if one.expert == name}
    return found


def _count_choices(judging: Judging, given: Sequence[ExpertJudgement]) -> Iterator[ChoiceCount]:
    """Yield each choice of the scale with the number and share of its judgements."""
    n = Counter(
        judging.code_of(one.value, "") if isinstance(one.value, float) else one.value
        for one in given
    )
    for choice in judging.choices:
        times = n[choice.code]
        yield ChoiceCount(choice, times, times / len(given) if given else 0.0)


def _compare_pair(
    judging: Judging,
    one: str,
    other: str,
    of_one: Mapping[Key, float | str],
    of_other: Mapping[Key, float | str],
) -> Pair:
    """Return the agreement of two judges on the items that both judged."""
    shared_keys = [key for key in of_one if key in of_other]
    agreement = compute_rater_agreement(
        [of_one[key] for key in shared_keys],  # type: ignore[arg-type]
        [of_other[key] for key in shared_keys],  # type: ignore[arg-type]
        [key[judging.cluster] for key in shared_keys],
        graded=judging.graded,
    )
    return Pair(one, other, agreement)


def build_table(run: Run, judging: Judging) -> Table:
    """Return the table of experts' judgements, one row for each judgement."""
    header = (*judging.columns, "judge", "repeat", judging.column, "judged_at")
    return Table(
        header,
        (
            (*one.key, one.judge, 1, one.value, one.updated_at.isoformat())
            for one in load_judgements(run, judging)
        ),
    )
