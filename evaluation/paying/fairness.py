"""Whom a decision or a rule leaves out more often than others, before it is applied.

By what submissions hold: the language in which texts were read, the kind of device, and whether the
worker asked not to be counted, which people who use assistive technology do, and others who do not
want it: nobody can tell them apart. Of who chose to say that they use it there is a verdict and no
number. Numbers of two tries that differ by one person would tell of that one what they said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotations.answering.monitor import DEVICES
from annotations.exchange.prolific import REJECT
from annotations.languages import own_name
from annotations.models import QuestionSetVersion, Submission
from annotations.panels.people import standing
from evaluation.methods.inference.selection_rates import FEWEST, SelectionRates, selection_rates
from evaluation.words.message import Message

TOO_FEW = "too few to tell"
"""In place of the ratio of a group that is too small."""

FEWEST_EACH_WAY = 5
"""People for whom it turns out well, and badly, below which nothing is said of who uses assistive
technology: trying the rejection of one person tells nothing of that one."""


@dataclass(frozen=True, slots=True)
class Group:
    """People who have something in common; a number is None where there is nothing to say.

    Attributes
    ----------
    hit, n : for how many of the group it turns out well. share, low, high : the same as a share,
        with Wilson's 95% interval. ratio, ratio_low, ratio_high : over the group for which it
        turns out well most often. small : too few to tell. unfair : the ratio is below four fifths.
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """The groups of one kind, the largest first, and what to say of those that are worse off.

    Of assistive technology there are no groups: `told` is what is said in place of them, None where
    that is a warning.
    """

    what: str
    groups: tuple[Group, ...]
    warnings: tuple[Message, ...]
    told: Message | None = None


def fairness(
    version: QuestionSetVersion, among: Collection[int], well: Collection[int], done: str
) -> list[Comparison]:
    """Compare groups of the submissions `among`, for those of whom in `well` it turns out well.

    `done` is what that is, after a number: "get a bonus". Kinds with one group only are left out,
    and so is everything where it turns out well for all or for nobody; of assistive technology it
    is always said where people answered here, so that it does not tell whether somebody uses it.
    One query.
    """
    chosen, of = set(among), set(well) & set(among)
    if not of or of == chosen:
        return []
    rows = Submission.objects.filter(version=version).values(
        "pk", "source", "language", "device", "signals_off", "assistive"
    )
    people: list[Any] = [row for row in rows if row["pk"] in chosen]
    found = list(_comparisons(people, of, done))
    here = [row for row in people if row["source"] == Submission.Source.COLLECTED]
    return [*found, _assistive(here, of, done)] if here else found


def of_decisions(
    version: QuestionSetVersion, rejecting: Collection[int] = (), keeping: Collection[int] = ()
) -> list[Comparison]:
    """Compare how often work is not rejected, among everybody who handed in.

    By the decisions that count, and as if those `rejecting` were rejected too and those `keeping`
    were not.
    """
    handed_in = Submission.objects.filter(
        version=version, state=Submission.State.SUBMITTED, withdrawn_at=None
    )
    among = set(handed_in.values_list("pk", flat=True)) | set(rejecting)
    refused = {key for key, row in standing(version).items() if row.kind == REJECT}
    refused = (refused - set(keeping)) | set(rejecting)
    return fairness(version, among, among - refused, "are not rejected")


def of_kinds(version: QuestionSetVersion, kinds: Mapping[int, str]) -> list[Comparison]:
    """Compare how often work is not rejected once these decisions are kept; [] without rejections.

    `kinds` are the decisions by the keys of the submissions: an id of a worker may be there in two
    panels.
    """
    rejecting = {key for key, kind in kinds.items() if kind == REJECT}
    return of_decisions(version, rejecting, set(kinds) - rejecting) if rejecting else []


def lines(found: list[Comparison], said: Callable[[Message], str]) -> Iterator[str]:
    """Yield the comparisons for a terminal, a line a group; `said` puts a message into words."""
    yield from (f"  {line}" for line in group_lines(found))
    yield from (f"  {said(one.told)}" for one in found if one.told is not None)


def group_lines(found: list[Comparison]) -> Iterator[str]:
    """Yield what is counted of each group."""
    for one in found:
        for group in one.groups:
            share = "" if group.share is None else f" ({group.share:.0%}"
            if share:
                share += f", 95% {group.low:.0%} to {group.high:.0%})"
            ratio = TOO_FEW if group.small else _ratio(group)
            told = f"{group.hit:,} of {group.n:,}{share}"
            yield f"{one.what} {group.name}: {told}{'; ' + ratio if ratio else ''}"


def _ratio(group: Group) -> str:
    if group.ratio is None or group.ratio == 1:
        return ""
    ends = ""
    if group.ratio_low is not None:
        ends = f" ({group.ratio_low:.2f} to {group.ratio_high:.2f})"
    return f"{group.ratio:.2f} times as often{ends}{', below four fifths' if group.unfair else ''}"


def _language(row: dict[str, Any]) -> str:
    return own_name(row["language"]) if row["language"] else "not known"


def _device(row: dict[str, Any]) -> str:
    return DEVICES[row["device"]]


def _counting(row: dict[str, Any]) -> str:
    return "switched off" if row["signals_off"] else "on"


ASSISTIVE = "assistive technology"
KINDS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("language", _language),
    ("device", _device),
    ("counting how answers are written (off with assistive technology, or by choice)", _counting),
)


def _comparisons(people: list[dict[str, Any]], well: set[int], done: str) -> Iterator[Comparison]:
    for what, group_of in KINDS:
        names, hit, n, found = _rates(people, well, group_of)
        if found is None:
            continue
        groups = tuple(
            Group(
                name=name,
                hit=hit[at],
                n=n[at],
                share=_number(found.share[at]),
                low=_number(found.low[at]),
                high=_number(found.high[at]),
                ratio=_number(found.ratio[at]),
                ratio_low=_number(found.ratio_low[at]),
                ratio_high=_number(found.ratio_high[at]),
                small=bool(found.small[at]),
                unfair=bool(found.unfair[at]),
            )
            for at, name in enumerate(names)
        )
        yield Comparison(what, groups, tuple(_warnings(what, groups, found.best, done)))


def _rates(
    people: list[dict[str, Any]], well: set[int], group_of: Callable[[dict[str, Any]], str]
) -> tuple[list[str], list[int], list[int], SelectionRates | None]:
    """Return the groups, the largest first, for how many of each it turns out well, and the rates.

    None in place of the rates of one group.
    """
    counts: dict[str, list[int]] = {}
    for row in people:
        of = counts.setdefault(group_of(row), [0, 0])
        of[0] += row["pk"] in well
        of[1] += 1
    names = sorted(counts, key=lambda name: (-counts[name][1], name))
    hit, n = [counts[name][0] for name in names], [counts[name][1] for name in names]
    return names, hit, n, selection_rates(hit, n, FEWEST) if len(names) > 1 else None


def _assistive(people: list[dict[str, Any]], well: set[int], done: str) -> Comparison:
    """Compare who said that they use assistive technology with all others, by a verdict alone."""
    names, hit, n, found = _rates(people, well, lambda row: "said" if row["assistive"] else "other")
    n_well = sum(hit)
    few_each_way = min(n_well, sum(n) - n_well) < FEWEST_EACH_WAY
    values = {"done": done, "fewest": FEWEST, "each_way": FEWEST_EACH_WAY}
    if found is None or found.small.any() or few_each_way:
        return Comparison(ASSISTIVE, (), (), Message("paying.assistive_few", values))
    worse = [name for name, unfair in zip(names, found.unfair, strict=True) if unfair]
    if worse:
        message = Message("paying.assistive_unfair", values | {"said": worse == ["said"]})
        return Comparison(ASSISTIVE, (), (message,))
    return Comparison(ASSISTIVE, (), (), Message("paying.assistive_fair", values))


def _warnings(what: str, groups: tuple[Group, ...], best: int, done: str) -> Iterator[Message]:
    for one in groups:
        if one.unfair:
            values = {
                "what": what,
                "group": f"{one.name[:1].upper()}{one.name[1:]}",
                "hit": one.hit,
                "n": one.n,
                "done": done,
                "best": groups[best].name,
                "best_hit": groups[best].hit,
                "best_n": groups[best].n,
                "ratio": one.ratio,
            }
            yield Message("paying.unfair", values)


def _number(value: Any) -> float | None:
    return None if value != value else float(value)  # NaN is not itself
