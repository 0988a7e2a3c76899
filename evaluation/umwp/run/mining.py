"""Extract new templates: word sequences frequent in unanswerable replies only.

One half of the replies is mined. There a candidate is a run of up to six words of a sentence that
occurs in enough unanswerable replies, in hardly any other reply, and more often than by chance.
Candidates are then applied as templates are, by the similarity of windows. The held-out half
measures how many replies each finds, how many of them are unanswerable, and what it adds to the
existing templates.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluation.consensus.inputs import Progress
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.umwp.methods.detection import (
    Detections,
    compute_detection_rates,
    compute_wilson_interval,
    measure_pattern_separation,
    order_candidates_greedily,
)
from evaluation.umwp.methods.texts import (
    WINDOW,
    find_variable_expression,
    list_windows,
    normalize_sentence,
    split_sentences,
)
from evaluation.umwp.options import MiningParameters
from evaluation.umwp.run.classification import compute_template_similarities

SHORTEST_PATTERN = 2
_DIGIT = re.compile(r"\d")
ADDS_NOTHING = "adds_nothing"
NOT_PRECISE = "not_precise_as_a_template"
# Of the p-values after Benjamini and Hochberg's correction.
ALPHA = 0.05


class OneLabelError(ValueError):
    """Error: one half of the replies has only one of the two labels."""


@dataclass(frozen=True)
class MinedReply:
    """A labelled reply; `mined` states whether it is in the mined or the held-out half."""

    text: str
    unanswerable: bool
    mined: bool


class CandidateRow(NamedTuple):
    """A row of candidates.csv: one template candidate with its performance, in order of choice.

    `replies` and `precision` count the mined replies that contain the words. `p_value` is that of
    Fisher's exact test, corrected over all patterns. The other counts are those of the candidate as
    a template with the threshold: `found` unanswerable and `wrong` other replies that it finds,
    without a prefix of the mined half, with `kept_` of the held-out half. `new` and `new_wrong`
    count those that no template, expression or earlier chosen candidate found. `nearest` is the
    most similar template.
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
class HeldOutRates:
    """Precision, recall and F1 of the classifier on the held-out replies; None if undefined."""

    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class MiningResult:
    """Candidate templates, with the classifier's performance before and after adding them.

    Attributes
    ----------
    candidates : in the order of choice; those that add nothing are at the end.
    templates : the existing templates.
    patterns : number of word patterns that were tested.
    before, after : rates on the held-out half without and with the chosen candidates.
    mined, kept : (unanswerable, other) replies of the mined and of the held-out half.
    """

    candidates: tuple[CandidateRow, ...]
    templates: tuple[str, ...]
    threshold: float
    patterns: int
    before: HeldOutRates
    after: HeldOutRates
    mined: tuple[int, int]
    kept: tuple[int, int]

    @property
    def chosen(self) -> list[str]:
        """Candidates that are precise and detect replies that existing templates miss."""
        return [row.template for row in self.candidates if row.chosen]


def list_word_patterns(reply: str) -> set[str]:
    """Return the sequences of two to six words in a reply's sentences, without digits."""
    patterns = set()
    for sentence in split_sentences(reply):
        words = normalize_sentence(sentence).split()
        for size in range(SHORTEST_PATTERN, WINDOW + 1):
            for start in range(len(words) - size + 1):
                run = normalize_sentence(" ".join(words[start : start + size]))
                # Normalising may drop a word that is only a punctuation mark.
                if not _DIGIT.search(run) and run.count(" ") == size - 1:
                    patterns.add(run)
    return patterns


def extract_templates(
    replies: Sequence[MinedReply],
    templates: Sequence[str],
    threshold: float,
    parameters: MiningParameters,
    progress: Progress | None = None,
) -> MiningResult:
    """Return the candidate templates of the mined replies, measured on the held-out ones.

    Parameters
    ----------
    templates : the existing ones. threshold : a window with a greater similarity to a template or
    candidate counts as found.

    Raises
    ------
    OneLabelError : a half lacks unanswerable replies, or others.
    """
    unanswerable = np.array([reply.unanswerable for reply in replies], dtype=np.bool_)
    mined = np.array([reply.mined for reply in replies], dtype=np.bool_)
    halves = [(int((unanswerable & half).sum()), int((~unanswerable & half).sum()))
              for half in (mined, ~mined)]  # fmt: skip
    if any(not count for half in halves for count in half):
        raise OneLabelError
    runs, tested = _select_candidates(replies, unanswerable, mined, parameters)
    names = [run.text for run in runs]
    similar = _compute_reply_similarities(
        replies, [*templates, *names], parameters.encoder, progress
    )
    expression = np.array(
        [find_variable_expression(reply.text) is not None for reply in replies], dtype=np.bool_
    )
    to_templates, to_candidates = similar[:, : len(templates)], similar[:, len(templates) :]
    before = (to_templates.max(axis=1) > threshold) | expression
    hits = to_candidates > threshold
    positive = mined & unanswerable
    wrong = (hits & (mined & ~unanswerable)[:, None]).sum(axis=0)
    n_found = hits[positive].sum(axis=0)
    # A product, because a candidate that finds nothing would divide 0 by 0.
    is_precise = n_found >= parameters.precision * (n_found + wrong)
    order = _order_candidates(hits[positive].T, before[positive], wrong, is_precise)
    near = (
        compute_template_similarities(names, templates, parameters.encoder)
        if names
        else np.zeros((0, 1))
    )
    rows, covered = [], before.copy()
    for i, gain in order:
        reason = NOT_PRECISE if not is_precise[i] else None if gain else ADDS_NOTHING
        rows.append(
            CandidateRow(
                names[i],
                reason is None,
                reason,
                runs[i].positive + runs[i].negative,
                runs[i].precision,
                runs[i].p_value,
                int(n_found[i]),
                int(wrong[i]),
                gain,
                *_count_held_out_hits(hits[:, i], covered, unanswerable, ~mined),
                nearest=templates[int(near[i].argmax())],
                similarity=float(near[i].max()),
            )
        )
        if reason is None:
            # Later candidates are new only for replies that chosen ones do not find.
            covered |= hits[:, i]
    return MiningResult(
        tuple(rows),
        tuple(templates),
        threshold,
        tested,
        _compute_held_out_rates(before, unanswerable, ~mined),
        _compute_held_out_rates(covered, unanswerable, ~mined),
        *halves,
    )


def _order_candidates(
    covers: Booleans, covered: Booleans, wrong: Integers, is_precise: Booleans
) -> list[tuple[int, int]]:
    """Return (index, number of newly found replies) of each candidate; imprecise ones last."""
    precise = np.flatnonzero(is_precise)
    chosen = order_candidates_greedily(covers[precise], covered, wrong[precise])
    rest = ((int(i), 0) for i in np.flatnonzero(~is_precise))
    return [*((int(precise[i]), gain) for i, gain in chosen), *rest]


def draw_halves(groups: Sequence[str], seed: int) -> list[bool]:
    """Return whether each reply is in the mined half; replies of a group stay together.

    Half of the groups (rounded up) are drawn at random. `groups` has the group of each reply.
    """
    # Sorted: the order of a set of strings differs between processes.
    distinct = sorted(set(groups))
    drawn = np.random.default_rng(seed).permutation(len(distinct))[: (len(distinct) + 1) // 2]
    mined = {distinct[i] for i in drawn}
    return [group in mined for group in groups]


@dataclass(frozen=True)
class _WordPattern:
    """A word sequence, with its counts and test result in the mined half."""

    text: str
    positive: int
    negative: int
    precision: float
    p_value: float


def _select_candidates(
    replies: Sequence[MinedReply],
    unanswerable: Booleans,
    mined: Booleans,
    parameters: MiningParameters,
) -> tuple[list[_WordPattern], int]:
    """Return the word patterns that separate the mined half best, and the number tested."""
    replies_with: dict[str, list[int]] = defaultdict(list)
    for i in np.flatnonzero(mined).tolist():
        for text in list_word_patterns(replies[i].text):
            replies_with[text].append(i)
    frequent = {
        text: np.array(indices)
        # Sorted: the order of a set of strings differs between processes.
        for text, indices in sorted(replies_with.items())
        if unanswerable[indices].sum() >= parameters.least
    }
    if not frequent:
        return [], 0
    positive = np.array([int(unanswerable[indices].sum()) for indices in frequent.values()])
    negative = np.array([len(indices) for indices in frequent.values()]) - positive
    n_positive = int((mined & unanswerable).sum())
    tests = measure_pattern_separation(
        positive, negative, n_positive, int(mined.sum()) - n_positive
    )
    patterns = {
        text: _WordPattern(text, int(positive[i]), int(negative[i]),
                       float(tests.precision[i]), float(tests.adjusted[i]))
        for i, text in enumerate(frequent)
        if tests.precision[i] >= parameters.precision and tests.adjusted[i] < ALPHA
    }  # fmt: skip
    longest = [
        pattern
        for pattern in patterns.values()
        if not _is_part_of_longer_pattern(pattern, patterns, replies_with)
    ]
    longest.sort(
        # The text comes last, so that ties have one order.
        key=lambda pattern: (pattern.p_value, -pattern.positive, -len(pattern.text), pattern.text)
    )
    return longest[: parameters.most], len(frequent)


def _is_part_of_longer_pattern(
    pattern: _WordPattern, patterns: dict[str, _WordPattern], replies_with: dict[str, list[int]]
) -> bool:
    """Return whether a longer pattern contains this one and occurs in the same replies."""
    # With spaces around both texts, only whole words match.
    return any(
        other.positive == pattern.positive
        and f" {pattern.text} " in f" {other.text} "
        and other.text != pattern.text
        and replies_with[other.text] == replies_with[pattern.text]
        for other in patterns.values()
    )


def _compute_reply_similarities(
    replies: Sequence[MinedReply],
    templates: Sequence[str],
    encoder: str,
    progress: Progress | None,
) -> Floats:
    """Return each reply's greatest cosine, one column per template; -1 without windows."""
    reply_windows = [list_windows(reply.text) for reply in replies]
    distinct = {window: None for group in reply_windows for window in group}
    index = {window: i for i, window in enumerate(distinct)}
    cosines = compute_template_similarities(list(distinct), templates, encoder, progress)
    greatest = np.full((len(replies), len(templates)), -1.0)
    for row, group in zip(greatest, reply_windows, strict=True):
        if group:
            row[:] = cosines[[index[window] for window in group]].max(axis=0)
    return greatest


def _count_held_out_hits(
    hits: Booleans, covered: Booleans, unanswerable: Booleans, held_out: Booleans
) -> tuple[int, int, float | None, float | None, float | None, int, int]:
    """Return the `kept_` columns of a candidate: its counts and precision on held-out replies."""
    right = int((hits & unanswerable & held_out).sum())
    wrong = int((hits & ~unanswerable & held_out).sum())
    interval = compute_wilson_interval(right, right + wrong)
    new = hits & ~covered & held_out
    return (
        right,
        wrong,
        right / (right + wrong) if interval else None,
        *(interval or (None, None)),
        int((new & unanswerable).sum()),
        int((new & ~unanswerable).sum()),
    )


def _compute_held_out_rates(
    positive: Booleans, unanswerable: Booleans, held_out: Booleans
) -> HeldOutRates:
    """Return the classifier's rates on the held-out replies, of which none was refused."""
    none = np.zeros(int(held_out.sum()), dtype=np.bool_)
    detections = Detections(unanswerable[held_out], positive[held_out], none, none)
    estimates = compute_detection_rates(detections, n_draws=0)
    return HeldOutRates(*(estimates[name].value for name in ("precision", "recall", "f1")))
