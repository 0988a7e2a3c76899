"""Human benchmark of UMWP, and agreement of the classifier with annotators' labels.

People's answers to word problems are classified by the same rules as replies of models. In the
tables all people together are the system "people". People mostly answered a sample of the
problems. Models therefore have additional rows over that sample, for a fair comparison.

Annotators label whether a reply states that its problem has no answer. Their labels are compared
with the classes of the classifier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from annotations.exchange.reading.reply_labels import LABELS, NO, YES, Reply, ReplyLabel
from annotations.exchange.reading.word_problems import CATEGORIES, DIRECT, WordProblemReply
from annotations.exchange.records import AnswerRecord, AnswerStatus
from evaluation.core.stats.cells import Integers
from evaluation.core.stats.inference.clustered import compute_means
from evaluation.core.stats.inference.estimate import SampleEstimate
from evaluation.runs.flow.metrics import OVERALL, Exclusions, MetricRow, build_group_name
from evaluation.umwp.methods.detection import (
    MISSING_LABEL,
    NO_MAJORITY,
    Detections,
    Draws,
    compute_annotator_agreement,
    compute_classifier_agreement,
    compute_pair_agreement,
    compute_weighted_share,
    count_labels,
    find_majority_labels,
)
from evaluation.umwp.run.classification import ANSWERABLE, REFUSED, JudgedReply, build_detections
from evaluation.umwp.run.study import (
    NO_PARTNER,
    PAIRS,
    UmwpStudy,
    find_contradictory_texts,
    normalize_space,
)

PEOPLE = "people"
SAMPLE = build_group_name("sample", PEOPLE)
UNANSWERED = "not_answered_by_worker"
REJECTED = "rejected_answer"


class PersonRow(NamedTuple):
    """A row of people.csv: one worker's answer, its class and the evidence that decided."""

    worker: str
    item: str
    answerable: bool | None
    category: int | None
    source: str
    taken_as: str
    decided_by: str
    similarity: float | None
    window: str | None
    template: str | None
    expression: str | None
    answer: float | None
    right: bool | None


def build_people_replies(
    answers: Iterable[AnswerRecord], exclusions: Exclusions
) -> Iterator[WordProblemReply]:
    """Yield workers' answers as replies in the prompt form "direct", with worker as system.

    Rejected and empty answers are left out and counted.
    """
    for answer in answers:
        key = {"worker": answer.worker, "item": answer.question, "line": answer.line}
        if answer.is_rejected:
            exclusions.add(REJECTED, key)
        elif not answer.text:
            exclusions.add(UNANSWERED, key)
        else:
            yield WordProblemReply(
                *(answer.line, answer.worker, answer.question, DIRECT, answer.text),
                AnswerStatus.TEXT,
            )


def build_person_rows(study: UmwpStudy) -> Iterator[PersonRow]:
    """Yield the row of people.csv for each worker's answer."""
    for worker, replies in study.people.items():
        for judged in replies:
            problem, classified = judged.problem, judged.classified
            # A problem without an answer, or without a known number, has no right number.
            is_gradable = problem.answerable and problem.answers
            yield PersonRow(
                worker,
                problem.id,
                problem.answerable,
                problem.category,
                problem.source,
                classified.taken_as,
                classified.by,
                classified.similarity,
                classified.window,
                classified.template,
                classified.expression,
                classified.answer,
                judged.right if is_gradable else None,
            )


def compute_people_metrics(study: UmwpStudy) -> Iterator[MetricRow]:
    """Yield metrics of workers, and of each model on the problems that workers answered.

    The bootstrap draws whole problems with all answers to them. A group `worker:` has the answers
    of one person. Nothing is yielded without an answer to a labelled problem.
    """
    answers = [
        judged
        for replies in study.people.values()
        for judged in replies
        if judged.problem.answerable is not None
    ]
    if not answers:
        return
    detections = _build_people_detections(answers)
    everything = np.ones(len(answers), dtype=np.bool_)
    groups = [(OVERALL, everything), (build_group_name("form", DIRECT), everything)]
    for number in CATEGORIES:
        mask = np.array([answer.problem.category == number for answer in answers], dtype=np.bool_)
        groups.append((build_group_name("category", str(number)), mask))
    for source in dict.fromkeys(
        answer.problem.source for answer in answers if answer.problem.source
    ):
        mask = np.array([answer.problem.source == source for answer in answers])
        groups.append((build_group_name("source", source), mask))
    for worker in study.people:
        mask = np.array([answer.reply.system == worker for answer in answers])
        groups.append((build_group_name("worker", worker), mask))
    for group, mask in groups:
        if mask.any():
            yield from study.compute_group_metrics(PEOPLE, group, detections.select_replies(mask))
        # By identity: the mask of a category may be true throughout as well.
        if mask is everything:
            yield _estimate_pair_accuracy(study, group)
    yield from _compute_sample_metrics(study, {answer.problem.id for answer in answers})


def _compute_sample_metrics(study: UmwpStudy, sample: set[str]) -> Iterator[MetricRow]:
    """Yield the metrics of each model on the problems whose ids are in `sample`."""
    # Forms are never pooled: a system with several has a row for each.
    n_forms = Counter(system for system, _ in study.judged)
    for (system, form), replies in study.labelled.items():
        suffix = "" if n_forms[system] == 1 else f",{build_group_name('form', form)}"
        chosen = [judged for judged in replies if judged.problem.id in sample]
        if chosen:
            yield from study.compute_group_metrics(
                system, SAMPLE + suffix, build_detections(chosen)
            )


def _build_people_detections(answers: list[JudgedReply]) -> Detections:
    """Return labels and classes of workers' answers, with each answer's problem index."""
    return replace(build_detections(answers), problem=_number_problems(answers))


def _estimate_pair_accuracy(study: UmwpStudy, group: str) -> MetricRow:
    """Return the metric row of the share of problem pairs that workers got right.

    A pair counts for each person who answered both problems. It is right if the person noticed that
    the first has no answer and gave a right number for the second. The mean is over pairs, of the
    share of persons with the pair right.
    """
    contradictory = find_contradictory_texts(study.problems)
    scores: dict[tuple[str, str], list[float]] = {}
    for replies in study.people.values():
        by_id = {judged.problem.id: judged for judged in replies}
        for judged in replies:
            problem = judged.problem
            if problem.answerable is not False or normalize_space(problem.text) in contradictory:
                continue
            for other in problem.relevant:
                partner = by_id.get(other)
                if partner is None or not partner.problem.answerable:
                    continue
                right = partner.classified.taken_as == ANSWERABLE and partner.right
                scores.setdefault((problem.id, other), []).append(float(judged.positive and right))
    if not scores:
        return MetricRow.from_estimate(
            PEOPLE, group, PAIRS, SampleEstimate(None, None, None, 0, NO_PARTNER)
        )
    # First the mean per pair: pairs that many people answered must not count more than others.
    shares = [float(np.mean(pair_scores)) for pair_scores in scores.values()]
    draws = (study.parameters.bootstrap, study.parameters.seed)
    return MetricRow.from_estimate(PEOPLE, group, PAIRS, compute_means([shares], *draws)[0])


SystemForm = tuple[str, str]
ALL_SYSTEMS = ""
"""Value of the column system in rows over all systems."""
LABELLED_REFUSAL = "label_of_refused_reply"
LABELLED_ERROR = "label_of_failed_reply"
LABELLED_UNKNOWN_ITEM = "label_of_reply_to_unknown_item"
FLEISS, COHEN = "annotators_fleiss_kappa", "annotators_kappa"
UNRELATED = "unrelated_content"


class LabelRow(NamedTuple):
    """A row of labels.csv: one reply's label counts, their majority, the classifier's class.

    `majority` is the label that most annotators gave. `agrees` is empty where that is neither yes
    nor no, and for a refused reply.
    """

    system: str
    item: str
    form: str
    yes: int
    no: int
    cannot_tell: int
    majority: str | None
    taken_as: str
    agrees: bool | None
    reason: str | None


@dataclass(frozen=True)
class LabelledReplies:
    """Replies with annotators' labels, in study order, and their agreement.

    Attributes
    ----------
    judged : all classified replies by system and form, from which the weights are computed.
    draws : bootstrap settings of the intervals.
    replies : the n replies with a label.
    votes : (n, annotators) index of each label in `LABELS`; -1 without one.
    exclusions : labels and replies that are left out, by reason.
    """

    judged: Mapping[SystemForm, Sequence[JudgedReply]]
    draws: Draws
    replies: Sequence[JudgedReply]
    annotators: Sequence[str]
    votes: Integers
    exclusions: Exclusions

    @cached_property
    def majority(self) -> Integers:
        """Majority label index of each reply; -1 without one."""
        return find_majority_labels(self.votes, len(LABELS))

    def build_label_rows(self) -> Iterator[LabelRow]:
        """Yield the row of labels.csv for each labelled reply."""
        counts = count_labels(self.votes, len(LABELS))
        for judged, label_counts, most in zip(self.replies, counts, self.majority, strict=True):
            label = None if most == MISSING_LABEL else LABELS[most]
            is_compared = label in (YES, NO) and judged.classified.taken_as != REFUSED
            reply = judged.reply
            yes, no, cannot_tell = (int(n) for n in label_counts)
            yield LabelRow(
                reply.system,
                reply.item,
                reply.form,
                yes,
                no,
                cannot_tell,
                label,
                judged.classified.taken_as,
                (label == YES) is judged.positive if is_compared else None,
                _find_exclusion_reason(judged, label),
            )

    def compute_agreement_rows(self) -> Iterator[MetricRow]:
        """Yield agreement metrics: between annotators, and of classifier and majority."""
        draws = self.draws
        problems, n = self._problems, len(LABELS)
        yield from self._compare_annotators()
        for system, group, rows in self._group_labelled_replies():
            yield from self._compare_classifier(system, group, rows, draws)
        for column, name in enumerate(self.annotators):
            votes = self.votes[:, column]
            # "Cannot tell" has no class to compare with, as in the comparison of the majority.
            is_yes_or_no = np.isin(votes, [LABELS.index(YES), LABELS.index(NO)])
            labels = np.where(is_yes_or_no, votes, MISSING_LABEL)
            kappa = compute_pair_agreement(labels, self._classified, n, problems, draws)
            group = build_group_name("annotator", name)
            yield MetricRow.from_estimate(ALL_SYSTEMS, group, "classifier_kappa", kappa)

    def compute_unrelated_rows(self) -> Iterator[MetricRow]:
        """Yield the share of replies with unrelated content, and the annotators' agreement.

        Here "yes" means that the reply contains content unrelated to its problem (section 5.5).
        Each labelled reply is weighted by the replies of its system, form and class, because the
        sample is stratified by class.
        """
        weights = self._weights
        for system, group, rows in self._group_labelled_replies():
            compared = rows[self._is_compared[rows]]
            share = compute_weighted_share(
                self.majority[compared] == LABELS.index(YES),
                np.array([weights[_build_stratum(self.replies[int(row)])] for row in compared]),
                self._problems[compared],
                self.draws,
            )
            yield MetricRow.from_estimate(system, group, UNRELATED, share)
        yield from self._compare_annotators()

    def _compare_annotators(self) -> Iterator[MetricRow]:
        """Yield Fleiss' kappa of all annotators and Cohen's kappa of each two."""
        draws = self.draws
        problems, n = self._problems, len(LABELS)
        fleiss = compute_annotator_agreement(self.votes, n, problems, draws)
        yield MetricRow.from_estimate(ALL_SYSTEMS, OVERALL, FLEISS, fleiss)
        for first, second in combinations(range(len(self.annotators)), 2):
            pair = compute_pair_agreement(
                self.votes[:, first], self.votes[:, second], n, problems, draws
            )
            names = f"{self.annotators[first]},{self.annotators[second]}"
            yield MetricRow.from_estimate(
                ALL_SYSTEMS, build_group_name("annotators", names), COHEN, pair
            )

    def _group_labelled_replies(self) -> Iterator[tuple[str, str, Integers]]:
        """Yield system, group and indices of labelled replies: all, then each system and form."""
        yield ALL_SYSTEMS, OVERALL, np.arange(len(self.replies))
        for system, form in self.judged:
            rows = [
                row
                for row, judged in enumerate(self.replies)
                if (judged.reply.system, judged.reply.form) == (system, form)
            ]
            if rows:
                yield system, build_group_name("form", form), np.array(rows, dtype=np.int64)

    def _compare_classifier(
        self, system: str, group: str, rows: Integers, draws: Draws
    ) -> Iterator[MetricRow]:
        """Yield the classifier's agreement with the majority on the replies in `rows`."""
        compared = rows[self._is_compared[rows]]
        weights = self._weights
        estimates = compute_classifier_agreement(
            self.majority[compared] == LABELS.index(YES),
            self._classified[compared] == LABELS.index(YES),
            np.array([weights[_build_stratum(self.replies[int(row)])] for row in compared]),
            self._problems[compared],
            draws,
        )
        for name, estimate in estimates.items():
            yield MetricRow.from_estimate(system, group, name, estimate)

    @cached_property
    def _is_compared(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether a reply's majority is yes or no and it was not refused, per reply."""
        is_yes_or_no = np.isin(self.majority, [LABELS.index(YES), LABELS.index(NO)])
        return is_yes_or_no & (self._classified != MISSING_LABEL)

    @cached_property
    def _classified(self) -> Integers:
        """Classifier's class of each reply as a label index; -1 for a refused reply."""
        labels = {True: LABELS.index(YES), False: LABELS.index(NO)}
        return np.array(
            [
                MISSING_LABEL if judged.classified.taken_as == REFUSED else labels[judged.positive]
                for judged in self.replies
            ],
            dtype=np.int64,
        )

    @cached_property
    def _problems(self) -> Integers:
        """Index of each labelled reply's problem, for resampling by problem. Shape (n,)."""
        return _number_problems(self.replies)

    @cached_property
    def _weights(self) -> dict[tuple[str, str, str], float]:
        """Number of all replies per labelled reply, by system, prompt form and class."""
        # Only compared replies represent others: the rest enter no metric of the classifier.
        totals = Counter(_build_stratum(reply) for group in self.judged.values() for reply in group)
        labelled = Counter(
            _build_stratum(self.replies[int(row)]) for row in np.flatnonzero(self._is_compared)
        )
        return {stratum: totals[stratum] / n for stratum, n in labelled.items()}


def match_labels_to_replies(
    judged: Mapping[SystemForm, Sequence[JudgedReply]],
    labels: Sequence[ReplyLabel],
    draws: Draws,
    failed: Collection[tuple[str, str, str]] = (),
) -> LabelledReplies:
    """Return the replies that annotators labelled, with each annotator's label.

    Labels of failed replies and of replies to unknown problems are left out and counted.

    Parameters
    ----------
    judged : classified replies by system and form.
    failed : (system, form, problem) of replies that failed.
    """
    exclusions = Exclusions()
    known = {reply.problem.id for group in judged.values() for reply in group}
    annotators = list(dict.fromkeys(label.annotator for label in labels))
    columns = {name: column for column, name in enumerate(annotators)}
    by_reply: dict[Reply, list[ReplyLabel]] = {}
    for label in labels:
        if (label.system, label.form, label.item) in failed:
            exclusions.add(LABELLED_ERROR, {"line": label.line, "item": label.item})
        elif label.item not in known:
            exclusions.add(LABELLED_UNKNOWN_ITEM, {"line": label.line, "item": label.item})
        else:
            by_reply.setdefault(label.reply, []).append(label)
    replies = [
        classified
        for group in judged.values()
        for classified in group
        if _get_reply_key(classified) in by_reply
    ]
    votes = np.full((len(replies), len(annotators)), MISSING_LABEL, dtype=np.int64)
    for row, classified in zip(votes, replies, strict=True):
        for label in by_reply[_get_reply_key(classified)]:
            row[columns[label.annotator]] = LABELS.index(label.label)
    labelled = LabelledReplies(judged, draws, replies, annotators, votes, exclusions)
    # The rows have the reasons, so that exclusions and labels.csv agree.
    for label_row in labelled.build_label_rows():
        if label_row.reason is not None:
            key = {"system": label_row.system, "form": label_row.form, "item": label_row.item}
            exclusions.add(label_row.reason, key)
    return labelled


def _get_reply_key(judged: JudgedReply) -> Reply:
    """Return system, problem and prompt form, which identify a reply in labels."""
    return judged.reply.system, judged.reply.item, judged.reply.form


def _number_problems(replies: Sequence[JudgedReply]) -> Integers:
    """Return each reply's problem index, in order of first occurrence."""
    numbers: dict[str, int] = {}
    return np.array(
        [numbers.setdefault(judged.problem.id, len(numbers)) for judged in replies],
        dtype=np.int64,
    )


def _find_exclusion_reason(judged: JudgedReply, label: str | None) -> str | None:
    """Return why a labelled reply is not compared with the classifier; None if it is."""
    if judged.classified.taken_as == REFUSED:
        return LABELLED_REFUSAL
    return NO_MAJORITY if label not in (YES, NO) else None


def _build_stratum(judged: JudgedReply) -> tuple[str, str, str]:
    """Return the stratum of a reply: system, prompt form and class."""
    return judged.reply.system, judged.reply.form, judged.classified.taken_as
