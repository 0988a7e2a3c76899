"""People's labels of replies, beside the classifier: do they say that there is no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from annotations.exchange.reading.reply_labels import LABELS, NO, YES, Reply, ReplyLabel
from evaluation.flow.metrics import OVERALL, Exclusions, MetricRow, group_name
from evaluation.flow.umwp.classifying import REFUSED
from evaluation.flow.umwp.judged import Judged
from evaluation.methods.cells import Integers
from evaluation.methods.umwp.labels import (
    NO_MAJORITY,
    NOBODY,
    Draws,
    annotators_agreement,
    classifier_agreement,
    label_counts,
    majority,
    pair_agreement,
)

SystemForm = tuple[str, str]
EVERYBODY = ""
"""The system of rows over the replies of all systems."""
LABELLED_REFUSAL = "label_of_refused_reply"
LABELLED_ERROR = "label_of_failed_reply"
LABELLED_STRANGER = "label_of_reply_to_unknown_item"
FLEISS, COHEN = "annotators_fleiss_kappa", "annotators_kappa"


class LabelRow(NamedTuple):
    """A row of labels.csv: a labelled reply, what people say of it, what the classifier says.

    `majority` is the label that more annotators gave than any other; `agrees` is empty where that
    is neither yes nor no, or the reply was refused.
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
    """The labels of a study's replies, in the order of the study; `draws` for the intervals."""

    judged: Mapping[SystemForm, Sequence[Judged]]
    draws: Draws
    replies: Sequence[Judged]
    annotators: Sequence[str]
    votes: Integers
    exclusions: Exclusions

    @cached_property
    def majority(self) -> Integers:
        """Return (n,) the label of each reply, -1 without one."""
        return majority(self.votes, len(LABELS))

    def rows(self) -> Iterator[LabelRow]:
        """Yield a row for each labelled reply."""
        counts = label_counts(self.votes, len(LABELS))
        for one, times, most in zip(self.replies, counts, self.majority, strict=True):
            label = None if most == NOBODY else LABELS[most]
            compared = label in (YES, NO) and one.classified.taken_as != REFUSED
            reply = one.reply
            yes, no, cannot_tell = (int(n) for n in times)
            yield LabelRow(
                reply.system,
                reply.item,
                reply.form,
                yes,
                no,
                cannot_tell,
                label,
                one.classified.taken_as,
                (label == YES) is one.positive if compared else None,
                _reason(one, label),
            )

    def metrics(self) -> Iterator[MetricRow]:
        """Yield agreement between annotators, and of the classifier with their majority."""
        draws = self.draws
        problems, n = self._problems, len(LABELS)
        found = annotators_agreement(self.votes, n, problems, draws)
        yield MetricRow.of(EVERYBODY, OVERALL, FLEISS, found)
        for one, other in combinations(range(len(self.annotators)), 2):
            pair = pair_agreement(self.votes[:, one], self.votes[:, other], n, problems, draws)
            names = f"{self.annotators[one]},{self.annotators[other]}"
            yield MetricRow.of(EVERYBODY, group_name("annotators", names), COHEN, pair)
        yield from self._classifier(EVERYBODY, OVERALL, np.arange(len(self.replies)), draws)
        for system, form in self.judged:
            of_them = [
                place
                for place, one in enumerate(self.replies)
                if (one.reply.system, one.reply.form) == (system, form)
            ]
            if of_them:
                places = np.array(of_them, dtype=np.int64)
                yield from self._classifier(system, group_name("form", form), places, draws)
        sure = {LABELS.index(YES), LABELS.index(NO)}
        for place, name in enumerate(self.annotators):
            # One person's "cannot tell" is compared with nothing, as the majority's is not.
            said = np.where(np.isin(self.votes[:, place], list(sure)), self.votes[:, place], NOBODY)
            kappa = pair_agreement(said, self._classified, n, problems, draws)
            group = group_name("annotator", name)
            yield MetricRow.of(EVERYBODY, group, "classifier_kappa", kappa)

    def _classifier(
        self, system: str, group: str, places: Integers, draws: Draws
    ) -> Iterator[MetricRow]:
        compared = places[self._compared[places]]
        weights = self._weights
        found = classifier_agreement(
            self.majority[compared] == LABELS.index(YES),
            self._classified[compared] == LABELS.index(YES),
            np.array([weights[_stratum(self.replies[int(at)])] for at in compared]),
            self._problems[compared],
            draws,
        )
        for name, one in found.items():
            yield MetricRow.of(system, group, name, one)

    @cached_property
    def _compared(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        sure = np.isin(self.majority, [LABELS.index(YES), LABELS.index(NO)])
        return sure & (self._classified != NOBODY)

    @cached_property
    def _classified(self) -> Integers:
        """Return (n,) the classifier's word as a label; -1 for a refused reply."""
        said = {True: LABELS.index(YES), False: LABELS.index(NO)}
        return np.array(
            [
                NOBODY if one.classified.taken_as == REFUSED else said[one.positive]
                for one in self.replies
            ],
            dtype=np.int64,
        )

    @cached_property
    def _problems(self) -> Integers:
        numbers: dict[str, int] = {}
        return np.array(
            [numbers.setdefault(one.problem.id, len(numbers)) for one in self.replies],
            dtype=np.int64,
        )

    @cached_property
    def _weights(self) -> dict[tuple[str, str, str], float]:
        """How many replies a labelled one stands for: of its system, form and class."""
        there = Counter(_stratum(one) for many in self.judged.values() for one in many)
        labelled = Counter(_stratum(self.replies[int(at)]) for at in np.flatnonzero(self._compared))
        return {stratum: there[stratum] / n for stratum, n in labelled.items()}


def label_replies(
    judged: Mapping[SystemForm, Sequence[Judged]],
    labels: Sequence[ReplyLabel],
    draws: Draws,
    failed: Collection[tuple[str, str, str]] = (),
) -> LabelledReplies:
    """Set labels beside the replies that they are about.

    Labels of replies that failed, or that are to problems that are not there, are left out and
    counted. What the reader of the file refuses does not come here.

    Parameters
    ----------
    judged : classified replies, by system and form. failed : (system, form, problem) of others.
    """
    exclusions = Exclusions()
    known = {one.problem.id for many in judged.values() for one in many}
    annotators = list(dict.fromkeys(label.annotator for label in labels))
    columns = {name: place for place, name in enumerate(annotators)}
    given: dict[Reply, list[ReplyLabel]] = {}
    for label in labels:
        if (label.system, label.form, label.item) in failed:
            exclusions.add(LABELLED_ERROR, {"line": label.line, "item": label.item})
        elif label.item not in known:
            exclusions.add(LABELLED_STRANGER, {"line": label.line, "item": label.item})
        else:
            given.setdefault(label.reply, []).append(label)
    replies = [
        one
        for many in judged.values()
        for one in many
        if (one.reply.system, one.reply.item, one.reply.form) in given
    ]
    votes = np.full((len(replies), len(annotators)), NOBODY, dtype=np.int64)
    for row, one in zip(votes, replies, strict=True):
        for label in given[one.reply.system, one.reply.item, one.reply.form]:
            row[columns[label.annotator]] = LABELS.index(label.label)
    found = LabelledReplies(judged, draws, replies, annotators, votes, exclusions)
    for said in found.rows():
        if said.reason is not None:
            of = {"system": said.system, "form": said.form, "item": said.item}
            exclusions.add(said.reason, of)
    return found


def _reason(one: Judged, label: str | None) -> str | None:
    if one.classified.taken_as == REFUSED:
        return LABELLED_REFUSAL
    return NO_MAJORITY if label not in (YES, NO) else None


def _stratum(one: Judged) -> tuple[str, str, str]:
    return one.reply.system, one.reply.form, one.classified.taken_as
