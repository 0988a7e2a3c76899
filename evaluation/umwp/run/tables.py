"""Tables of UMWP: classifier ablation, comparison of systems (McNemar), F1 by model size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from annotations.exchange.reading.systems import System
from evaluation.core.stats.cells import Booleans
from evaluation.core.stats.inference.comparison import compare_models
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.core.stats.statistics.descriptive import spearman
from evaluation.runs.flow.metrics import MetricRow
from evaluation.umwp.methods.detection import compute_detection_rates, compute_f1_loss
from evaluation.umwp.methods.texts import find_variable_expression
from evaluation.umwp.options import UmwpParameters
from evaluation.umwp.run.classification import (
    ANSWERABLE,
    EXPRESSION,
    TEMPLATE,
    JudgedReply,
    build_detections,
)

BOTH, TEMPLATES, EXPRESSIONS = "both", "templates", "expressions"
METRIC_NAMES = ("precision", "recall", "f1")
F1_LOST = "f1_lost"


class AblationRow(NamedTuple):
    """A row of ablation.csv: one metric of a system with only a part of the classifier.

    `part` is both, templates or expressions. `metric` is precision, recall, f1 or f1_lost: F1 of
    both minus F1 of the part.
    """

    system: str
    form: str
    part: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None

    @classmethod
    def from_estimate(
        cls, key: tuple[str, str, str], metric: str, estimate: SampleEstimate
    ) -> AblationRow:
        """Return the row of an estimate; `key` is (system, prompt form, classifier part)."""
        interval = (estimate.value, estimate.low, estimate.high)
        return cls(*key, metric, *interval, estimate.n, estimate.reason)


def compute_ablation_rows(
    judged: Mapping[tuple[str, str], Sequence[JudgedReply]], parameters: UmwpParameters
) -> Iterator[AblationRow]:
    """Yield metrics of the whole classifier and of each part alone, by system and prompt form."""
    draws = (parameters.bootstrap, parameters.seed)
    for (system, form), replies in judged.items():
        both = build_detections(replies)
        for part, positive in _list_part_masks(replies, parameters.rules).items():
            detections = replace(both, positive=positive)
            estimates = compute_detection_rates(detections, *draws)
            for name in METRIC_NAMES:
                yield AblationRow.from_estimate((system, form, part), name, estimates[name])
            if part != BOTH:
                loss = compute_f1_loss(both, detections, *draws)
                yield AblationRow.from_estimate((system, form, part), F1_LOST, loss)


def _list_part_masks(replies: Sequence[JudgedReply], rules: str) -> dict[str, Booleans]:
    """Return a mask per classifier part: the replies that it classifies as unanswerable."""
    template = np.array([reply.classified.by == TEMPLATE for reply in replies], dtype=np.bool_)
    # Templates are tried first, so a reply decided by a template may contain an expression too.
    expression = np.array(
        [
            reply.classified.by == EXPRESSION
            or (
                reply.classified.by == TEMPLATE
                and reply.problem.is_math
                and find_variable_expression(reply.reply.text, rules) is not None
            )
            for reply in replies
        ],
        dtype=np.bool_,
    )
    return {BOTH: template | expression, TEMPLATES: template, EXPRESSIONS: expression}


TOLD_APART, ANSWERED = "told_apart", "answered"


class ComparisonRow(NamedTuple):
    """A row of comparisons.csv: two systems in one prompt form, over `n` common problems.

    `measure` is told_apart (problems classified correctly as answerable or unanswerable) or
    answered (answerable problems answered correctly). `only_system` and `only_other` count the
    problems that only one of the two got right; `difference` is (only_system - only_other) / n,
    with 95% interval `low` to `high`. `adjusted_p_value` is corrected by Holm over the pairs of the
    form and measure; `mid_p_value` is McNemar's mid-p, not adjusted.
    """

    form: str
    measure: str
    system: str
    other: str
    n: int
    only_system: int
    only_other: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    smallest_detectable: float | None
    reason: str | None
    mid_p_value: float | None = None


def compare_systems(
    judged: Mapping[tuple[str, str], Sequence[JudgedReply]], parameters: UmwpParameters
) -> Iterator[ComparisonRow]:
    """Yield the comparison of each two systems, by prompt form and measure.

    Parameters
    ----------
    judged : replies to labelled problems, by system and form.
    """
    for form in dict.fromkeys(form for _, form in judged):
        systems = [system for system, system_form in judged if system_form == form]
        if len(systems) < 2:
            continue
        for measure, is_right in _MEASURES.items():
            scores = [
                {
                    reply.problem.id: right
                    for reply in judged[system, form]
                    if (right := is_right(reply)) is not None
                }
                for system in systems
            ]
            yield from _compare_system_pairs(form, measure, systems, scores, parameters)


def _is_classified_right(judged: JudgedReply) -> bool | None:
    """Return whether a reply's class equals its problem's label; False if refused."""
    if not judged.problem.answerable:
        return judged.positive
    return judged.classified.taken_as == ANSWERABLE


def _is_answered_right(judged: JudgedReply) -> bool | None:
    """Return whether a reply's number is right; None if the problem accepts no number."""
    return judged.right if judged.problem.answerable and judged.problem.answers else None


_MEASURES: Mapping[str, Callable[[JudgedReply], bool | None]] = {
    TOLD_APART: _is_classified_right,
    ANSWERED: _is_answered_right,
}


def _compare_system_pairs(
    form: str,
    measure: str,
    systems: Sequence[str],
    right: Sequence[Mapping[str, bool]],
    parameters: UmwpParameters,
) -> Iterator[ComparisonRow]:
    """Yield the comparisons of each two systems; `right` holds whether a problem is right."""
    problems = list(dict.fromkeys(item for by_problem in right for item in by_problem))
    # `reshape` keeps two dimensions if no system replied to any problem.
    scores = np.array(
        [
            [float(by_problem[item]) if item in by_problem else np.nan for item in problems]
            for by_problem in right
        ]
    ).reshape(len(systems), len(problems))
    scores_by_system = dict(zip(systems, scores, strict=True))
    for pair in compare_models(
        scores, systems, n_draws=parameters.bootstrap, seed=parameters.seed, test="mcnemar"
    ):
        difference = scores_by_system[pair.model_a] - scores_by_system[pair.model_b]
        yield ComparisonRow(
            *(form, measure, pair.model_a, pair.model_b, pair.n),
            int((difference > 0).sum()),
            int((difference < 0).sum()),
            *(pair.difference, pair.low, pair.high, pair.p_value, pair.adjusted_p_value),
            *(pair.smallest_detectable, pair.reason, pair.mid_p_value),
        )


UNKNOWN_SIZE = "size_unknown"
TOO_FEW = "fewer_than_3_sizes"
MIN_SIZES = 3


class SizeRow(NamedTuple):
    """A row of sizes.csv: F1 of a system in a prompt form, with its model size and tuning.

    Smaller ones first in each form and tuning; those of unknown size last, with the reason
    size_unknown where F1 itself has none.
    """

    form: str
    tuning: str
    system: str
    family: str
    size: str
    parameters: float | None
    f1: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None


class TrendRow(NamedTuple):
    """A row of size_trends.csv: how F1 changes with model size over `n` systems.

    `tuning` "" is over all tunings. `spearman` is the rank correlation, -1 to 1; `per_tenfold` the
    slope of the least-squares line of F1 on the logarithm of the parameters to base 10: what a
    model ten times as large has more.
    """

    form: str
    tuning: str
    n: int
    spearman: float | None
    per_tenfold: float | None
    reason: str | None


def build_size_rows(metrics: Iterable[MetricRow], systems: Mapping[str, System]) -> list[SizeRow]:
    """Return F1 and model size of each system and prompt form, smaller models first.

    Parameters
    ----------
    metrics : rows of metrics.csv; those with the metric f1 and a group `form:` are used.
    """
    result = []
    for row in metrics:
        key, _, form = row.group.partition(":")
        if row.metric != "f1" or key != "form" or "," in form:
            continue
        known = systems.get(row.system) or System(row.system, "", None, "", "")
        reason = row.reason or (UNKNOWN_SIZE if known.parameters is None else None)
        result.append(
            SizeRow(
                *(form, known.tuning, row.system, known.family, known.size, known.parameters),
                *(row.value, row.low, row.high, row.n, reason),
            )
        )
    # Reversed, so that the first row of a form sets its position.
    positions = {row.form: index for index, row in reversed(list(enumerate(result)))}
    return sorted(
        result,
        key=lambda row: (
            positions[row.form],
            row.tuning,
            row.parameters is None,
            row.parameters or 0.0,
        ),
    )


def build_trend_rows(rows: Iterable[SizeRow]) -> list[TrendRow]:
    """Return the trend of F1 with size in each prompt form: all systems, then each tuning."""
    all_rows = list(rows)
    trends = []
    for form in dict.fromkeys(row.form for row in all_rows):
        form_rows = [row for row in all_rows if row.form == form]
        tunings = list(dict.fromkeys(row.tuning for row in form_rows if row.tuning))
        trends += [
            _build_trend_row(form, tuning, [row for row in form_rows if tuning in ("", row.tuning)])
            for tuning in ["", *(tunings if len(tunings) > 1 else ())]
        ]
    return trends


def _build_trend_row(form: str, tuning: str, rows: Iterable[SizeRow]) -> TrendRow:
    """Return F1's rank correlation with model size, and its slope per tenfold size."""
    known = [
        # On the logarithm: sizes span powers of ten, and the largest alone would decide a line over
        # them.
        (float(np.log10(row.parameters)), row.f1)
        for row in rows
        if row.parameters is not None and row.f1 is not None
    ]
    sizes, f1 = np.array([size for size, _ in known]), np.array([score for _, score in known])
    # Two points always lie on a line, so a slope would mean nothing.
    if len(set(sizes)) < MIN_SIZES:
        return TrendRow(form, tuning, len(known), None, None, TOO_FEW)
    ranked = spearman(sizes, f1)
    slope = float(np.polyfit(sizes, f1, 1)[0])
    return TrendRow(
        form, tuning, len(known), ranked, slope, None if ranked is not None else "no_correlation"
    )
