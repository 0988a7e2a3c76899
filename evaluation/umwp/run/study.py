"""Evaluate all UMWP replies: rows of metrics, of replies and of problem pairs.

Prompt forms are never pooled. A system with several forms has metrics of each form and no overall
value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from annotations.exchange.reading.word_problems import CATEGORIES, WordProblem, WordProblemReply
from annotations.exchange.records import MISSING
from evaluation.consensus.inputs import Progress
from evaluation.core.messages.message import Message
from evaluation.core.stats.inference.clustered import compute_means
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.runs.flow.metrics import OVERALL, Exclusions, MetricRow, build_group_name
from evaluation.umwp.methods.detection import NO_ANSWERABLE, Detections, compute_detection_rates
from evaluation.umwp.methods.texts import list_windows
from evaluation.umwp.options import UmwpParameters
from evaluation.umwp.run.classification import (
    ANSWERABLE,
    RECORDED_THRESHOLDS,
    JudgedReply,
    TemplateSimilarity,
    TunedThreshold,
    build_detections,
    compare_with_templates,
    judge_reply,
    list_reply_windows,
    load_labelled_replies,
    tune_threshold,
)
from evaluation.umwp.run.tables import (
    AblationRow,
    ComparisonRow,
    compare_systems,
    compute_ablation_rows,
)

RATES = ("precision", "recall", "f1", "answer_accuracy")
COUNTS = ("true_positives", "false_positives", "false_negatives", "refusals")
NOT_POOLED = "forms_are_not_pooled"
NO_INTERVAL = "of_the_file"
UNKNOWN, ERROR, NO_REPLY = "unknown_item", "error", "no_reply"
NO_PARTNER = "partner_missing"
NO_PARTNER_REPLY = "partner_without_reply"
BOTH_LABELS = "text_with_both_labels"
UNKNOWN_LABEL, NO_NUMBER = "answerable_unknown", "no_number_to_compare"
PAIRS = "pairs"
# Threshold of the paper; it was chosen for another encoder and other templates.
PAPER_THRESHOLD = 0.75


class ItemRow(NamedTuple):
    """A row of items.csv: one reply, its class and the evidence that decided.

    `decided_by` is template, expression, nothing, empty or refused. `similarity`, `window` and
    `template` belong to the window most similar to a template, whatever decided.
    """

    item: str
    system: str
    form: str
    answerable: bool | None
    category: int | None
    source: str
    taken_as: str | None = None
    decided_by: str | None = None
    similarity: float | None = None
    window: str | None = None
    template: str | None = None
    expression: str | None = None
    answer: float | None = None
    right: bool | None = None
    reason: str | None = None


class PairRow(NamedTuple):
    """A row of pairs.csv: an unanswerable problem and its answerable original, for one system."""

    system: str
    form: str
    unanswerable: str
    answerable: str
    noticed: bool | None
    answered: bool | None
    right: bool | None
    reason: str | None


@dataclass
class UmwpStudy:
    """Classified replies of all systems, and the result tables computed from them.

    Attributes
    ----------
    judged : replies by system and form, in the order of the problems.
    failed : status of each reply that failed or was cut off, by system, form and problem.
    threshold : the threshold that was used.
    tuned : its performance on labelled replies; None with a fixed threshold or other templates
        than the project's.
    people : answers of each person, by worker id. People are no system and have no rows here.
    notes : warnings of the file of replies.
    """

    parameters: UmwpParameters
    problems: Sequence[WordProblem]
    judged: dict[tuple[str, str], list[JudgedReply]]
    failed: dict[tuple[str, str, str], str]
    exclusions: Exclusions
    similarity: TemplateSimilarity
    threshold: float
    tuned: TunedThreshold | None
    people: dict[str, list[JudgedReply]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every system has a reply to every problem in each of its prompt forms."""
        return not any(self.exclusions.count(reason) for reason in (*MISSING, NO_REPLY))

    def build_counts(self) -> dict[str, int | dict[str, int]]:
        """Return the numbers of problems, replies, windows and templates, for summary.json."""
        answerable = sum(problem.answerable is True for problem in self.problems)
        unanswerable = sum(problem.answerable is False for problem in self.problems)
        categories = Counter(problem.category for problem in self.problems)
        decided = Counter(reply.classified.by for group in self.judged.values() for reply in group)
        return {
            "problems": len(self.problems),
            "answerable": answerable,
            "unanswerable": unanswerable,
            "by_category": {str(number): categories[number] for number in CATEGORIES},
            "unanswerable_with_an_answer": sum(
                bool(problem.answers) and problem.answerable is False for problem in self.problems
            ),
            "texts_with_both_labels": len(find_contradictory_texts(self.problems)),
            "replies": sum(map(len, self.judged.values())),
            "decided_by": dict(sorted(decided.items())),
            "distinct_windows": len(self.similarity.place),
            "templates": len(self.similarity.templates),
        }

    @cached_property
    def metrics(self) -> list[MetricRow]:
        """Rows of metrics.csv: metrics of models with intervals."""
        return list(self._compute_metrics())

    @cached_property
    def comparisons(self) -> list[ComparisonRow]:
        """Comparisons of each two systems, in each prompt form that both have."""
        return list(compare_systems(self.labelled, self.parameters))

    @cached_property
    def labelled(self) -> dict[tuple[str, str], list[JudgedReply]]:
        """Replies to labelled problems, by system and prompt form."""
        return {
            system_form: [reply for reply in replies if reply.problem.answerable is not None]
            for system_form, replies in self.judged.items()
        }

    def compute_ablation_rows(self) -> Iterator[AblationRow]:
        """Yield metrics of the whole classifier, of templates alone, of expressions alone."""
        return compute_ablation_rows(self.labelled, self.parameters)

    def build_item_rows(self) -> Iterator[ItemRow]:
        """Yield the row of items.csv for each problem, system and prompt form."""
        for (system, form), replies in self.judged.items():
            by_id = {reply.problem.id: reply for reply in replies}
            for problem in self.problems:
                yield self._build_item_row(problem, system, form, by_id.get(problem.id))

    def build_pair_rows(self) -> Iterator[PairRow]:
        """Yield the row of pairs.csv for each unanswerable problem and original problem.

        Problems whose text has both labels are left out.
        """
        known = {problem.id: problem for problem in self.problems}
        contradictory = find_contradictory_texts(self.problems)
        for (system, form), replies in self.judged.items():
            by_id = {reply.problem.id: reply for reply in replies}
            for problem in self.problems:
                if (
                    problem.answerable is not False
                    or normalize_space(problem.text) in contradictory
                ):
                    continue
                for other in problem.relevant:
                    reply, partner = by_id.get(problem.id), by_id.get(other)
                    has_partner = other in known and known[other].answerable is True
                    reason = (
                        NO_PARTNER
                        if not has_partner
                        else NO_PARTNER_REPLY
                        if reply is None or partner is None
                        else None
                    )
                    partner = partner if has_partner else None
                    yield PairRow(
                        system,
                        form,
                        problem.id,
                        other,
                        None if reply is None else reply.positive,
                        None if partner is None else partner.classified.taken_as == ANSWERABLE,
                        None if partner is None else partner.right,
                        reason,
                    )

    def _build_item_row(
        self, problem: WordProblem, system: str, form: str, judged: JudgedReply | None
    ) -> ItemRow:
        """Return the items.csv row of a problem, system and form; a reason if it has no reply."""
        key = (problem.id, system, form, problem.answerable, problem.category, problem.source)
        if judged is None:
            reason = self.failed.get((system, form, problem.id), NO_REPLY)
            return ItemRow(*key, reason=reason)
        classified = judged.classified
        return ItemRow(
            *key,
            classified.taken_as,
            classified.by,
            classified.similarity,
            classified.window,
            classified.template,
            classified.expression,
            classified.answer,
            judged.right if problem.answerable and problem.answers else None,
            UNKNOWN_LABEL if problem.answerable is None else None,
        )

    def _compute_metrics(self) -> Iterator[MetricRow]:
        """Yield each system's metrics: overall, by prompt form, category and source."""
        forms: dict[str, list[str]] = {}
        for system, form in self.judged:
            forms.setdefault(system, []).append(form)
        for system, system_forms in forms.items():
            is_only_form = len(system_forms) == 1
            if not is_only_form:
                undefined = SampleEstimate(None, None, None, 0, NOT_POOLED)
                for name in (*RATES, *COUNTS, PAIRS):
                    yield MetricRow.from_estimate(system, OVERALL, name, undefined)
            for form in system_forms:
                replies = self.labelled[system, form]
                yield from self._compute_form_metrics(system, form, replies, is_only_form)

    def _compute_form_metrics(
        self, system: str, form: str, replies: Sequence[JudgedReply], is_only_form: bool
    ) -> Iterator[MetricRow]:
        """Yield a system's metrics in one prompt form, by group of problems."""
        detections = build_detections(replies)
        everything = np.ones(len(replies), dtype=np.bool_)
        groups = [(build_group_name("form", form), everything)]
        if is_only_form:
            groups.insert(0, (OVERALL, everything))
        # Forms are not pooled: with several forms each group's name ends with its form.
        suffix = "" if is_only_form else f",{build_group_name('form', form)}"
        for number in CATEGORIES:
            mask = np.array([reply.problem.category == number for reply in replies], dtype=np.bool_)
            if mask.any():
                groups.append((build_group_name("category", str(number)) + suffix, mask))
        for source in dict.fromkeys(reply.problem.source for reply in replies):
            if source:
                mask = np.array([reply.problem.source == source for reply in replies])
                groups.append((build_group_name("source", source) + suffix, mask))
        for group, mask in groups:
            yield from self.compute_group_metrics(system, group, detections.select_replies(mask))
            # Only over all problems: the answerable problem of a pair has no category.
            if mask is everything:
                yield self._build_pair_metric(system, form, group)

    def compute_group_metrics(
        self, system: str, group: str, detections: Detections
    ) -> Iterator[MetricRow]:
        """Yield the rates and counts over the replies of one group of problems."""
        draws = (self.parameters.bootstrap, self.parameters.seed)
        estimates = dict(compute_detection_rates(detections, *draws))
        if group.startswith("category:"):
            # All problems of a category are unanswerable: precision would be 1 or undefined.
            for name in ("precision", "f1"):
                estimates[name] = SampleEstimate(reason=NO_ANSWERABLE)
        for name in RATES:
            yield MetricRow.from_estimate(system, group, name, estimates[name])
        n = len(detections.unanswerable)
        for name, count in detections.count_cases().items():
            yield MetricRow(system, group, name, count, None, None, n, NO_INTERVAL)

    def _build_pair_metric(self, system: str, form: str, group: str) -> MetricRow:
        """Return the metric row of the share of problem pairs that a system got right."""
        rows = [row for row in self._pair_rows.get((system, form), []) if row.reason is None]
        scores = [float(bool(row.noticed and row.answered and row.right)) for row in rows]
        if not scores:
            return MetricRow.from_estimate(system, group, PAIRS, SampleEstimate(reason=NO_PARTNER))
        draws = (self.parameters.bootstrap, self.parameters.seed)
        return MetricRow.from_estimate(system, group, PAIRS, compute_means([scores], *draws)[0])

    @cached_property
    def _pair_rows(self) -> dict[tuple[str, str], list[PairRow]]:
        """Rows of pairs.csv, by system and prompt form."""
        rows: dict[tuple[str, str], list[PairRow]] = {}
        for row in self.build_pair_rows():
            rows.setdefault((row.system, row.form), []).append(row)
        return rows

    def list_warnings(self) -> list[Message]:
        """Return warnings: missing replies, and a threshold that was not tuned."""
        warnings = []
        if not self.complete:
            warnings.append(Message("umwp.not_every_reply"))
        if self.tuned is None and self.parameters.threshold is None:
            warnings.append(Message("umwp.threshold_not_tuned"))
        return warnings


def evaluate_replies(
    parameters: UmwpParameters,
    problems: Sequence[WordProblem],
    replies: Sequence[WordProblemReply],
    templates: Sequence[str],
    own: bool,
    progress: Progress | None = None,
    people: Sequence[WordProblemReply] = (),
) -> UmwpStudy:
    """Classify all replies, and return the study with counts of exclusions.

    Replies to unknown problems and failed replies are left out and counted. Replies to problems
    without a label are classified, but enter no metric. Problems whose text has both labels are
    counted, and left out of the pairs only.

    Parameters
    ----------
    own : whether the templates are the project's; only for these a threshold is tuned.
    people : answers of people, with the worker as the system; classified by the same rules. A
        problem that a person did not answer does not count as a missing reply.
    """
    known = {problem.id: problem for problem in problems}
    exclusions = Exclusions()
    by_form, failed = _group_replies_by_form(replies, known, exclusions)
    by_worker = _group_replies_by_worker(people, known, exclusions)
    rules = parameters.rules
    reply_windows = [
        window
        for group in (*by_form.values(), *by_worker.values())
        for reply in group
        for window in list_windows(reply.text, rules)
    ]
    # Recorded and tuned thresholds hold for the project's templates; others get the paper's.
    tuned_threshold = (
        RECORDED_THRESHOLDS.get(parameters.encoder)
        if own and parameters.threshold is None
        else None
    )
    needs_tuning = own and parameters.threshold is None and tuned_threshold is None
    labelled = load_labelled_replies() if needs_tuning else ()
    # One call for all texts, so that every distinct window is embedded once.
    similarity = compare_with_templates(
        [*reply_windows, *list_reply_windows(labelled)], templates, parameters.encoder, progress
    )
    if needs_tuning:
        tuned_threshold = tune_threshold(labelled, similarity)
    threshold = parameters.threshold
    if threshold is None:
        threshold = tuned_threshold.threshold if tuned_threshold else PAPER_THRESHOLD
    order = {problem.id: index for index, problem in enumerate(problems)}

    def judge_in_order(group: Sequence[WordProblemReply]) -> list[JudgedReply]:
        return [
            judge_reply(reply, known[reply.item], similarity, threshold, rules)
            # A bootstrap draw is by position: in another order the intervals would differ.
            for reply in sorted(group, key=lambda reply: order[reply.item])
        ]

    judged: dict[tuple[str, str], list[JudgedReply]] = {}
    for (system, form), group in by_form.items():
        judged[system, form] = judge_in_order(group)
        replied = {reply.item for reply in group}
        missing = [
            {"system": system, "form": form, "item": item}
            for item in known
            # A failed reply is counted by its status already.
            if item not in replied and (system, form, item) not in failed
        ]
        if missing:
            exclusions.add_all(NO_REPLY, missing)
    unlabelled = [problem.id for problem in problems if problem.answerable is None]
    if unlabelled:
        exclusions.add_all(UNKNOWN_LABEL, unlabelled)
    no_number = [problem.id for problem in problems if problem.answerable and not problem.answers]
    if no_number:
        exclusions.add_all(NO_NUMBER, no_number)
    contradictory = find_contradictory_texts(problems)
    if contradictory:
        ids = [problem.id for problem in problems if normalize_space(problem.text) in contradictory]
        exclusions.add_all(BOTH_LABELS, ids)
    people_judged = {worker: judge_in_order(group) for worker, group in by_worker.items()}
    study = UmwpStudy(
        parameters,
        problems,
        judged,
        failed,
        exclusions,
        similarity,
        threshold,
        tuned_threshold,
        people_judged,
    )
    for row in study.build_pair_rows():
        if row.reason is not None:
            key = {"system": row.system, "form": row.form}
            pair = {"item": row.unanswerable, "partner": row.answerable}
            exclusions.add(row.reason, {**key, **pair})
    return study


def _group_replies_by_form(
    replies: Sequence[WordProblemReply], known: Mapping[str, WordProblem], exclusions: Exclusions
) -> tuple[dict[tuple[str, str], list[WordProblemReply]], dict[tuple[str, str, str], str]]:
    """Return replies to known problems, and statuses of failed ones, by system and form.

    A system and form without any usable reply has an empty list.
    """
    by_form: dict[tuple[str, str], list[WordProblemReply]] = {}
    failed: dict[tuple[str, str, str], str] = {}
    for reply in replies:
        # A system without any usable reply is listed, too: all its replies are missing.
        usable = by_form.setdefault((reply.system, reply.form), [])
        key = {
            "system": reply.system, "form": reply.form, "item": reply.item, "line": reply.line,
        }  # fmt: skip
        if reply.item not in known:
            exclusions.add(UNKNOWN, key)
        elif reply.status.is_missing:
            exclusions.add(reply.status.value, key)
            failed[reply.system, reply.form, reply.item] = reply.status.value
        else:
            usable.append(reply)
    return by_form, failed


def _group_replies_by_worker(
    people: Sequence[WordProblemReply], known: Mapping[str, WordProblem], exclusions: Exclusions
) -> dict[str, list[WordProblemReply]]:
    """Return workers' answers to known problems, by worker; count the others."""
    by_worker: dict[str, list[WordProblemReply]] = {}
    for reply in people:
        if reply.item in known:
            by_worker.setdefault(reply.system, []).append(reply)
        else:
            key = {"worker": reply.system, "item": reply.item, "line": reply.line}
            exclusions.add(UNKNOWN, key)
    return by_worker


def find_threshold(encoder: str, templates: Sequence[str]) -> float:
    """Return an encoder's similarity threshold for the built-in templates, known or tuned now."""
    recorded = RECORDED_THRESHOLDS.get(encoder)
    if recorded is not None:
        return recorded.threshold
    labelled = load_labelled_replies()
    similarity = compare_with_templates(list_reply_windows(labelled), templates, encoder)
    return tune_threshold(labelled, similarity).threshold


def normalize_space(text: str) -> str:
    """Return a text with single spaces, to compare texts regardless of white space."""
    return " ".join(text.split())


def find_contradictory_texts(problems: Sequence[WordProblem]) -> set[str]:
    """Return the texts that are labelled both answerable and unanswerable."""
    labels: dict[str, set[bool]] = {}
    for problem in problems:
        if problem.answerable is not None:
            labels.setdefault(normalize_space(problem.text), set()).add(problem.answerable)
    return {text for text, values in labels.items() if len(values) > 1}
