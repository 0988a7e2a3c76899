"""Compare how often groups of workers are favoured by a decision or rule, before its use.

Groups come from the submissions: language of the texts, kind of device, and whether the worker
switched off the recording of how answers are written. Further groups come from facts that were
imported with the answers, such as age and country.

Workers with assistive technology switch that recording off, and others who prefer it; the two
cannot be distinguished.

For the use of assistive technology there is a verdict without numbers. Numbers of two attempts that
differ by one worker would reveal that worker's answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from django.db.models import JSONField, OuterRef, Subquery

from annotations.answering.monitor import DEVICES
from annotations.exchange.column_names import (
    is_demographic_heading,
    normalise_name,
    normalise_names,
)
from annotations.exchange.prolific import REJECT
from annotations.languages import get_native_language_name
from annotations.models import Import, QuestionSetVersion, Response, Submission
from annotations.panels.people import PanelSubmission, load_submissions_with_decisions
from evaluation.core.messages.message import Message
from evaluation.core.stats.inference.intervals import (
    FEWEST,
    SelectionRates,
    compare_selection_rates,
)

UNKNOWN = "not known"
"""Group of the workers whose fact is missing."""
AGES = normalise_names(
    "age ages ageinyears alter âge edad età idade leeftijd wiek возраст 年龄 年齢 나이"
)
"""Names of columns with an age in years."""
AGE_BANDS = (
    *((18, "under 18"), (25, "18 to 24"), (35, "25 to 34"), (45, "35 to 44")),
    *((55, "45 to 54"), (65, "55 to 64"), (121, "65 and over")),
)
"""Groups of ages: the first age above the band, and the band's name."""
MOST_JOINED_VALUES = 12
"""Most different values of a joined column that is no known demographic one, such as an id."""


def load_worker_facts(
    version: QuestionSetVersion, keys: Collection[int]
) -> dict[str, dict[int, str]]:
    """Return the submissions' groups by each imported fact: {column: {submission key: group}}.

    Facts are the demographic columns stored with the answers, and the columns of joined demographic
    exports that have few values. Submissions without the fact are left out. Two queries.
    """
    answers = Response.objects.filter(submission=OuterRef("pk")).exclude(extra={}).order_by("pk")
    extra = Subquery(answers.values("extra")[:1], output_field=JSONField())
    rows = Submission.objects.filter(version=version).annotate(facts=extra)
    cells: dict[str, dict[int, str]] = {}
    for key, facts in rows.exclude(facts=None).order_by("pk").values_list("pk", "facts"):
        for column, value in facts.items() if key in keys else ():
            if text := str(value).strip():
                cells.setdefault(column, {})[key] = text
    joined = _load_joined_columns(version)
    return {
        column: _group_cells(column, values)
        for column, values in cells.items()
        if is_demographic_heading(column)
        or (column in joined and len(set(values.values())) <= MOST_JOINED_VALUES)
    }


def _load_joined_columns(version: QuestionSetVersion) -> frozenset[str]:
    """Return the columns of demographic exports that were joined to a version's answers."""
    joins = Import.objects.filter(version=version, what=Import.What.DEMOGRAPHICS, undone_at=None)
    return frozenset(
        name for columns in joins.values_list("columns", flat=True) for name in columns
    )


def _group_cells(column: str, values: Mapping[int, str]) -> dict[int, str]:
    """Return the group of each submission: an age band, or the cell as stored."""
    if normalise_name(column) not in AGES:
        return dict(values)
    return {key: find_age_band(text) for key, text in values.items()}


def find_age_band(text: str) -> str:
    """Return the band of an age in years, such as "25 to 34"; other texts unchanged."""
    try:
        age = float(text.replace(",", "."))
    except ValueError:
        return text
    return next((name for above, name in AGE_BANDS if 0 <= age < above), text)


TOO_FEW = "too few for a verdict"
"""Text in place of a verdict on a group that is too small, or whose low ratio may be chance."""

MOST_SMALL = 5
"""Most groups without a verdict that are listed by name; of more, the number is given."""

FEWEST_EACH_WAY = 5
"""Least number of favoured, and of not favoured, workers for a verdict on assistive technology.

With fewer, the effect of rejecting one worker on the verdict would reveal that worker's answer.
"""


class SubmissionProperties(NamedTuple):
    """Properties of a submission by which workers are grouped; `key` is the submission key."""

    key: int
    language: str
    device: str
    signals_off: bool
    assistive: bool
    collected: bool


Groupable = SubmissionProperties | PanelSubmission


@dataclass(frozen=True, slots=True)
class GroupRate:
    """Workers with a property in common, and how often they are favoured; None if undefined.

    Attributes
    ----------
    hit : favoured workers. n : workers of the group. share, low, high : hit / n with Wilson's 95%
        interval.
    ratio, ratio_low, ratio_high : share divided by that of the most favoured group, with 95%
        interval.
    small : too few workers for a ratio. unfair : the ratio is below four fifths, and its interval
        below 1. unclear : the ratio is below four fifths, and chance may do that.
    """

    name: str
    hit: int
    n: int
    share: float | None
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    small: bool
    unfair: bool
    unclear: bool


@dataclass(frozen=True, slots=True)
class UnlistedGroups:
    """Groups that are too small for a verdict: their number, favoured workers, and workers."""

    n_groups: int
    hit: int
    n: int


@dataclass(frozen=True, slots=True)
class FairnessComparison:
    """Groups by one property, the largest first, and warnings about groups with a low ratio.

    Attributes
    ----------
    what : label of the property. told : message in place of groups for assistive technology, for
        which no numbers are shown; None if there is a warning instead.
    """

    what: str
    groups: tuple[GroupRate, ...]
    warnings: tuple[Message, ...]
    told: Message | None = None

    @property
    def listed(self) -> tuple[GroupRate, ...]:
        """The groups to show by name: all, or those with a verdict if the others are many."""
        if sum(group.small for group in self.groups) <= MOST_SMALL:
            return self.groups
        return tuple(group for group in self.groups if not group.small)

    @property
    def unlisted(self) -> UnlistedGroups | None:
        """The groups that are not shown by name; None if all are."""
        rest = [group for group in self.groups if group not in self.listed]
        if not rest:
            return None
        return UnlistedGroups(
            len(rest), sum(group.hit for group in rest), sum(group.n for group in rest)
        )


def compare_groups(
    version: QuestionSetVersion,
    considered: Collection[int],
    favoured: Collection[int],
    done: str,
    everybody: Sequence[PanelSubmission] | None = None,
) -> list[FairnessComparison]:
    """Compare how often groups of workers are favoured, by each property with several groups.

    `favoured` are the favoured ones of the `considered` submissions (keys). `done` is the verb
    phrase of the warnings: "get a bonus". If all or none are favoured, the result is empty.
    Assistive technology is always compared if answers were collected here; otherwise its presence
    would reveal a user. Three queries; two if the caller passes `everybody` of the version.
    """
    keys, favoured_keys = set(considered), set(favoured) & set(considered)
    # Without any difference in treatment no group can be worse off than another.
    if not favoured_keys or favoured_keys == keys:
        return []
    workers = [
        worker for worker in everybody or _load_submission_properties(version) if worker.key in keys
    ]
    properties = (*PROPERTIES, *_build_fact_properties(version, keys))
    comparisons = list(_compare_by_property(workers, favoured_keys, done, properties))
    collected = [worker for worker in workers if worker.collected]
    return (
        [*comparisons, _compare_assistive(collected, favoured_keys, done)]
        if collected
        else comparisons
    )


def compare_decisions(
    version: QuestionSetVersion,
    rejecting: Collection[int] = (),
    keeping: Collection[int] = (),
    people: Sequence[PanelSubmission] | None = None,
) -> list[FairnessComparison]:
    """Compare how often submitted work is not rejected, by groups of workers.

    The current decisions apply, except that submissions in `rejecting` count as rejected and those
    in `keeping` do not. `people` are those of `load_submissions_with_decisions`, if the caller has
    read them.
    """
    decided = load_submissions_with_decisions(version) if people is None else people
    is_rejected = {person.key: person.rejected for person in decided if person.handed_in}
    considered = set(is_rejected) | set(rejecting)
    rejected_keys = {key for key, is_person_rejected in is_rejected.items() if is_person_rejected}
    rejected_keys = (rejected_keys - set(keeping)) | set(rejecting)
    return compare_groups(
        version, considered, considered - rejected_keys, "are not rejected", people
    )


def compare_rejections(
    version: QuestionSetVersion, kinds: Mapping[int, str]
) -> list[FairnessComparison]:
    """Compare how often work is not rejected after new decisions; [] if they reject nobody.

    `kinds` are the decisions by submission key, because two panels may share a worker's id.
    """
    rejecting = {key for key, kind in kinds.items() if kind == REJECT}
    return compare_decisions(version, rejecting, set(kinds) - rejecting) if rejecting else []


def format_comparisons(
    comparisons: list[FairnessComparison], format_message: Callable[[Message], str]
) -> Iterator[str]:
    """Yield the comparisons as lines for a terminal, groups first."""
    yield from (f"  {line}" for line in format_group_rates(comparisons))
    yield from (
        f"  {format_message(comparison.told)}"
        for comparison in comparisons
        if comparison.told is not None
    )


def format_group_rates(comparisons: list[FairnessComparison]) -> Iterator[str]:
    """Yield a line for each listed group: favoured workers, share and ratio."""
    for comparison in comparisons:
        for group in comparison.listed:
            share = "" if group.share is None else f" ({group.share:.0%}"
            if share:
                share += f", 95% {group.low:.0%} to {group.high:.0%})"
            ratio = TOO_FEW if group.small else _format_ratio(group)
            counts = f"{group.hit:,} of {group.n:,}{share}"
            yield f"{comparison.what} {group.name}: {counts}{'; ' + ratio if ratio else ''}"
        if (rest := comparison.unlisted) is not None:
            yield (
                f"{comparison.what}, {rest.n_groups:,} groups of fewer than {FEWEST}: "
                f"{rest.hit:,} of {rest.n:,}; {TOO_FEW}"
            )


def _format_ratio(group: GroupRate) -> str:
    """Return the ratio of a group as text; "" for the most favoured one."""
    if group.ratio is None or group.ratio == 1:
        return ""
    interval = ""
    if group.ratio_low is not None:
        interval = f" ({group.ratio_low:.2f} to {group.ratio_high:.2f})"
    verdict = ", below four fifths" if group.unfair else f", {TOO_FEW}" if group.unclear else ""
    return f"{group.ratio:.2f} times as often{interval}{verdict}"


def _load_submission_properties(version: QuestionSetVersion) -> list[SubmissionProperties]:
    """Return the properties of all submissions of a version; one query."""
    rows = Submission.objects.filter(version=version)
    columns = ("pk", "language", "device", "signals_off", "assistive", "source")
    return [
        SubmissionProperties(
            key, language, device, off, assistive, source == Submission.Source.COLLECTED
        )
        for key, language, device, off, assistive, source in rows.values_list(*columns)
    ]


def _name_language_group(worker: Groupable) -> str:
    """Return the name of a submission's group by the language of the texts."""
    return get_native_language_name(worker.language) if worker.language else UNKNOWN


def _name_device_group(worker: Groupable) -> str:
    """Return the name of a submission's group by kind of device."""
    return DEVICES[worker.device]


def _name_signals_group(worker: Groupable) -> str:
    """Return the name of a submission's group by whether typing recording was switched off."""
    return "switched off" if worker.signals_off else "on"


ASSISTIVE = "assistive technology"
Property = tuple[str, Callable[[Groupable], str]]
PROPERTIES: tuple[Property, ...] = (
    ("language", _name_language_group),
    ("device", _name_device_group),
    (
        "counting how answers are written (off with assistive technology, or by choice)",
        _name_signals_group,
    ),
)


def _build_fact_properties(
    version: QuestionSetVersion, keys: Collection[int]
) -> Iterator[Property]:
    """Yield (label, function that names a group) for each imported fact of these submissions."""
    for column, groups in load_worker_facts(version, keys).items():
        yield f"“{column}”", partial(_name_fact_group, groups)


def _name_fact_group(groups: Mapping[int, str], worker: Groupable) -> str:
    """Return the name of a submission's group by an imported fact."""
    return groups.get(worker.key, UNKNOWN)


def _compare_by_property(
    workers: Sequence[Groupable],
    favoured: set[int],
    done: str,
    properties: Sequence[Property],
) -> Iterator[FairnessComparison]:
    """Yield the comparison of groups by each property that has several groups."""
    for label, name_group in properties:
        names, hit, n, rates = _compute_rates(workers, favoured, name_group)
        if rates is None:
            continue
        groups = tuple(
            GroupRate(
                name=name,
                hit=hit[index],
                n=n[index],
                share=_convert_number(rates.share[index]),
                low=_convert_number(rates.low[index]),
                high=_convert_number(rates.high[index]),
                ratio=_convert_number(rates.ratio[index]),
                ratio_low=_convert_number(rates.ratio_low[index]),
                ratio_high=_convert_number(rates.ratio_high[index]),
                small=bool(rates.small[index]),
                unfair=bool(rates.unfair[index]),
                unclear=bool(rates.unclear[index]),
            )
            for index, name in enumerate(names)
        )
        yield FairnessComparison(
            label, groups, tuple(_build_fairness_warnings(label, groups, rates.best, done))
        )


def _compute_rates(
    workers: Sequence[Groupable], favoured: set[int], name_group: Callable[[Groupable], str]
) -> tuple[list[str], list[int], list[int], SelectionRates | None]:
    """Return (group names, favoured counts, sizes, rates), the largest group first.

    The rates are None if there is only one group.
    """
    counts: dict[str, list[int]] = {}
    for worker in workers:
        count = counts.setdefault(name_group(worker), [0, 0])
        count[0] += worker.key in favoured
        count[1] += 1
    # The name breaks ties, so that equal groups keep their order between two requests.
    names = sorted(counts, key=lambda name: (-counts[name][1], name))
    hit, n = [counts[name][0] for name in names], [counts[name][1] for name in names]
    return names, hit, n, compare_selection_rates(hit, n, FEWEST) if len(names) > 1 else None


def _compare_assistive(
    workers: Sequence[Groupable], favoured: set[int], done: str
) -> FairnessComparison:
    """Compare the users of assistive technology with all others; the result has no numbers."""
    names, hit, n, rates = _compute_rates(
        workers, favoured, lambda worker: "said" if worker.assistive else "other"
    )
    n_favoured = sum(hit)
    few_each_way = min(n_favoured, sum(n) - n_favoured) < FEWEST_EACH_WAY
    values = {"done": done, "fewest": FEWEST, "each_way": FEWEST_EACH_WAY}
    if rates is None or rates.small.any() or rates.unclear.any() or few_each_way:
        return FairnessComparison(ASSISTIVE, (), (), Message("paying.assistive_few", values))
    worse = [name for name, unfair in zip(names, rates.unfair, strict=True) if unfair]
    if worse:
        message = Message("paying.assistive_unfair", values | {"said": worse == ["said"]})
        return FairnessComparison(ASSISTIVE, (), (message,))
    return FairnessComparison(ASSISTIVE, (), (), Message("paying.assistive_fair", values))


def _build_fairness_warnings(
    label: str, groups: tuple[GroupRate, ...], best: int, done: str
) -> Iterator[Message]:
    """Yield a warning for each group with a ratio below four fifths and an interval below 1."""
    for group in groups:
        if group.unfair:
            values = {
                "what": label,
                "group": f"{group.name[:1].upper()}{group.name[1:]}",
                "hit": group.hit,
                "n": group.n,
                "done": done,
                "best": groups[best].name,
                "best_hit": groups[best].hit,
                "best_n": groups[best].n,
                "ratio": group.ratio,
                "ratio_high": group.ratio_high,
            }
            yield Message("paying.unfair", values)


def _convert_number(value: Any) -> float | None:
    """Return a number of numpy as a float; None for NaN."""
    return None if value != value else float(value)  # NaN differs from itself
