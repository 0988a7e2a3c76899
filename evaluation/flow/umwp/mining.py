"""New templates out of replies: frequent wordings that only replies without an answer have.

Half of the replies are mined. In them a candidate is a run of up to six words of a sentence that
stands in enough replies taken for unanswerable, in hardly any other one, and more often than
chance puts it there. Candidates are then read as templates are (by the likeness of windows), and
told by the half that was kept aside: how many replies each finds, how many of them rightly, and
what it adds to the templates that are there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluation.flow.umwp.expressions import expression_in
from evaluation.flow.umwp.likeness import similarities
from evaluation.flow.umwp.parameters import MiningParameters
from evaluation.flow.umwp.pieces import WINDOW, plain, sentences, windows
from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.methods.umwp.mining import greedy_order, separation, wilson
from evaluation.methods.umwp.noticing import Taken, rates

SHORTEST = 2
_DIGIT = re.compile(r"\d")
ADDS_NOTHING = "adds_nothing"
NOT_PRECISE = "not_precise_as_a_template"
ALPHA = 0.05

Progress = Callable[[str, int, int], None]


class OneLabelError(ValueError):
    """A half of the replies has only one of the two labels."""


@dataclass(frozen=True)
class MinedReply:
    """A reply, whether it takes its problem for unanswerable, and whether it is mined.

    What is not mined is kept aside.
    """

    text: str
    unanswerable: bool
    mined: bool


class CandidateRow(NamedTuple):
    """A row of candidates.csv, in the order of choice.

    `replies` and `precision` count the mined replies that hold the words; `p_value` is Fisher's
    exact test, corrected over all patterns. As a template, with the threshold: `found` and `wrong`
    of the mined and of the kept-aside replies, `new` and `new_wrong` those that no template,
    expression or earlier chosen candidate found. `nearest` is the template that is most like it.
    """

    template: str
    chosen: bool
    reason: str | None
    replies: int
    precision: float
    p_value: float
    found: int
    wrong: int
    gain: int
    kept_found: int
    kept_wrong: int
    kept_precision: float | None
    kept_low: float | None
    kept_high: float | None
    kept_new: int
    kept_new_wrong: int
    nearest: str
    similarity: float


@dataclass(frozen=True)
class Rates:
    """Of the kept-aside replies, with templates and expressions; None where undefined."""

    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class Mined:
    """What came of it.

    Attributes
    ----------
    candidates : in the order of choice, those that add nothing at the end.
    patterns : how many were tested. before, after : what the templates do on the kept-aside half
        without and with those that are chosen. mined, kept : replies of each half, unanswerable
        ones first, then the others.
    """

    candidates: tuple[CandidateRow, ...]
    templates: tuple[str, ...]
    threshold: float
    patterns: int
    before: Rates
    after: Rates
    mined: tuple[int, int]
    kept: tuple[int, int]

    @property
    def chosen(self) -> list[str]:
        """The candidates that are worth a place among the templates."""
        return [row.template for row in self.candidates if row.chosen]


def patterns_of(reply: str) -> set[str]:
    """Return the runs of two to six words of its sentences that hold no digit."""
    found = set()
    for sentence in sentences(reply):
        words = plain(sentence).split()
        for size in range(SHORTEST, WINDOW + 1):
            for start in range(len(words) - size + 1):
                run = plain(" ".join(words[start : start + size]))
                if not _DIGIT.search(run) and run.count(" ") == size - 1:
                    found.add(run)
    return found


def mine(
    replies: Sequence[MinedReply],
    templates: Sequence[str],
    threshold: float,
    parameters: MiningParameters,
    progress: Progress | None = None,
) -> Mined:
    """Find candidates in one half, and measure them in the other.

    Raises
    ------
    OneLabelError : a half has no reply that takes its problem for unanswerable, or no other one.
    """
    unanswerable = np.array([one.unanswerable for one in replies], dtype=np.bool_)
    mined = np.array([one.mined for one in replies], dtype=np.bool_)
    halves = [(int((unanswerable & of).sum()), int((~unanswerable & of).sum()))
              for of in (mined, ~mined)]  # fmt: skip
    if any(not count for half in halves for count in half):
        raise OneLabelError
    runs, tested = _candidates(replies, unanswerable, mined, parameters)
    names = [run.text for run in runs]
    similar = _similar(replies, [*templates, *names], parameters.encoder, progress)
    expression = np.array([expression_in(one.text) is not None for one in replies], dtype=np.bool_)
    known, of_candidates = similar[:, : len(templates)], similar[:, len(templates) :]
    before = (known.max(axis=1) > threshold) | expression
    hits = of_candidates > threshold
    good = mined & unanswerable
    wrong = (hits & (mined & ~unanswerable)[:, None]).sum(axis=0)
    found = hits[good].sum(axis=0)
    precise = found >= parameters.precision * (found + wrong)
    order = _order(hits[good].T, before[good], wrong, precise)
    like = similarities(names, templates, parameters.encoder) if names else np.zeros((0, 1))
    rows, covered = [], before.copy()
    for at, gain in order:
        reason = NOT_PRECISE if not precise[at] else None if gain else ADDS_NOTHING
        rows.append(
            CandidateRow(
                names[at],
                reason is None,
                reason,
                runs[at].positive + runs[at].negative,
                runs[at].precision,
                runs[at].p_value,
                int(found[at]),
                int(wrong[at]),
                gain,
                *_kept(hits[:, at], covered, unanswerable, ~mined),
                nearest=templates[int(like[at].argmax())],
                similarity=float(like[at].max()),
            )
        )
        if reason is None:
            covered |= hits[:, at]
    return Mined(
        tuple(rows),
        tuple(templates),
        threshold,
        tested,
        _rates(before, unanswerable, ~mined),
        _rates(covered, unanswerable, ~mined),
        *halves,
    )


def _order(
    covers: Booleans, covered: Booleans, wrong: Integers, precise: Booleans
) -> list[tuple[int, int]]:
    """Return candidates with what they add; those that are not precise come last and add 0."""
    places = np.flatnonzero(precise)
    chosen = greedy_order(covers[places], covered, wrong[places])
    rest = ((int(at), 0) for at in np.flatnonzero(~precise))
    return [*((int(places[at]), gain) for at, gain in chosen), *rest]


def halves(groups: Sequence[str], seed: int) -> list[bool]:
    """Return for each reply whether it is mined: half of the groups, drawn, whole groups each."""
    distinct = sorted(set(groups))
    drawn = np.random.default_rng(seed).permutation(len(distinct))[: (len(distinct) + 1) // 2]
    mined = {distinct[at] for at in drawn}
    return [group in mined for group in groups]


@dataclass(frozen=True)
class _Run:
    text: str
    positive: int
    negative: int
    precision: float
    p_value: float


def _candidates(
    replies: Sequence[MinedReply],
    unanswerable: Booleans,
    mined: Booleans,
    parameters: MiningParameters,
) -> tuple[list[_Run], int]:
    """Return the runs that separate the mined half, at most `most`, and how many were tested."""
    places: dict[str, list[int]] = defaultdict(list)
    for at in np.flatnonzero(mined).tolist():
        for run in patterns_of(replies[at].text):
            places[run].append(at)
    frequent = {
        run: np.array(where)
        for run, where in sorted(places.items())
        if unanswerable[where].sum() >= parameters.least
    }
    if not frequent:
        return [], 0
    positive = np.array([int(unanswerable[where].sum()) for where in frequent.values()])
    negative = np.array([len(where) for where in frequent.values()]) - positive
    n_positive = int((mined & unanswerable).sum())
    apart = separation(positive, negative, n_positive, int(mined.sum()) - n_positive)
    runs = {
        text: _Run(text, int(positive[at]), int(negative[at]),
                   float(apart.precision[at]), float(apart.adjusted[at]))
        for at, text in enumerate(frequent)
        if apart.precision[at] >= parameters.precision and apart.adjusted[at] < ALPHA
    }  # fmt: skip
    closed = [run for run in runs.values() if not _is_part(run, runs, places)]
    closed.sort(key=lambda run: (run.p_value, -run.positive, -len(run.text), run.text))
    return closed[: parameters.most], len(frequent)


def _is_part(run: _Run, runs: dict[str, _Run], places: dict[str, list[int]]) -> bool:
    """Whether a longer run stands in the very same replies, and says more."""
    return any(
        other.positive == run.positive
        and f" {run.text} " in f" {other.text} "
        and other.text != run.text
        and places[other.text] == places[run.text]
        for other in runs.values()
    )


def _similar(
    replies: Sequence[MinedReply],
    templates: Sequence[str],
    encoder: str,
    progress: Progress | None,
) -> Floats:
    """Return (replies, templates), the greatest cosine of a reply's windows; -1 without any."""
    of_replies = [windows(one.text) for one in replies]
    distinct = {window: None for many in of_replies for window in many}
    place = {window: at for at, window in enumerate(distinct)}
    cosines = similarities(list(distinct), templates, encoder, progress)
    found = np.full((len(replies), len(templates)), -1.0)
    for at, many in enumerate(of_replies):
        if many:
            found[at] = cosines[[place[window] for window in many]].max(axis=0)
    return found


def _kept(
    hits: Booleans, covered: Booleans, unanswerable: Booleans, kept: Booleans
) -> tuple[int, int, float | None, float | None, float | None, int, int]:
    """Return the cells of a candidate that begin with `kept_`."""
    found, wrong = int((hits & unanswerable & kept).sum()), int((hits & ~unanswerable & kept).sum())
    interval = wilson(found, found + wrong)
    fresh = hits & ~covered & kept
    return (
        found,
        wrong,
        found / (found + wrong) if interval else None,
        *(interval or (None, None)),
        int((fresh & unanswerable).sum()),
        int((fresh & ~unanswerable).sum()),
    )


def _rates(positive: Booleans, unanswerable: Booleans, kept: Booleans) -> Rates:
    none = np.zeros(int(kept.sum()), dtype=np.bool_)
    found = rates(Taken(unanswerable[kept], positive[kept], none, none), n_draws=0)
    return Rates(*(found[name].value for name in ("precision", "recall", "f1")))
