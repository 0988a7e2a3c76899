"""UMWP of all replies: rows of metrics, a row for each reply, a row for each pair of problems.

Forms of asking are never pooled: a system that was asked in several has a row of each, and none of
all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from annotations.exchange.reading.word_problems import CATEGORIES, WordProblem, WordProblemReply
from annotations.exchange.records import MISSING
from evaluation.flow.metrics import OVERALL, Exclusions, MetricRow, group_name
from evaluation.flow.umwp.ablation import AblationRow, ablation
from evaluation.flow.umwp.classifying import ANSWERABLE
from evaluation.flow.umwp.comparing import ComparisonRow, compared
from evaluation.flow.umwp.judged import Judged, judge, taken_of
from evaluation.flow.umwp.likeness import Likeness, likeness
from evaluation.flow.umwp.parameters import UmwpParameters
from evaluation.flow.umwp.pieces import windows
from evaluation.flow.umwp.tuning import RECORDED, Tuned, labelled_replies, tuned, windows_of
from evaluation.methods.inference.clustered import Estimate, means
from evaluation.methods.umwp.noticing import NO_ANSWERABLE, Taken, rates
from evaluation.words.message import Message

RATES = ("precision", "recall", "f1", "answer_accuracy")
COUNTS = ("true_positives", "false_positives", "false_negatives", "refusals")
NOT_POOLED = "forms_are_not_pooled"
OF_THE_FILE = "of_the_file"
UNKNOWN, ERROR, NO_REPLY = "unknown_item", "error", "no_reply"
NO_PARTNER = "partner_missing"
NO_PARTNER_REPLY = "partner_without_reply"
BOTH_LABELS = "text_with_both_labels"
NOT_TOLD, NO_NUMBER = "answerable_unknown", "no_number_to_compare"
PAIRS = "pairs"
# The threshold of the paper, for its encoder and its templates.
OF_THE_PAPER = 0.75

Progress = Callable[[str, int, int], None]


class ItemRow(NamedTuple):
    """A row of items.csv: a reply, what it was taken for, and by what.

    `decided_by` is template, expression, nothing, empty or refused. `similarity`, `window` and
    `template` are those of the window that is most like a template, whatever decided.
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
    """A row of pairs.csv: an unanswerable problem and the answerable one it was made of."""

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
    """All replies, classified.

    Attributes
    ----------
    judged : by system and form, in the order of the problems. failed : the status of each reply
        that is an error or was cut off, by system, form and problem.
    threshold : that was used. tuned : how well it does on labelled replies; None where it was
        given, or the templates are others than the project's.
    people : what each person answered, by their id; no systems, so in none of the rows here.
    notes : what the file of replies has to say.
    """

    parameters: UmwpParameters
    problems: Sequence[WordProblem]
    judged: dict[tuple[str, str], list[Judged]]
    failed: dict[tuple[str, str, str], str]
    exclusions: Exclusions
    found: Likeness
    threshold: float
    tuned: Tuned | None
    people: dict[str, list[Judged]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every system has a reply to every problem, in each form it was asked in."""
        return not any(self.exclusions.count(why) for why in (*MISSING, NO_REPLY))

    def counts(self) -> dict[str, int | dict[str, int]]:
        """Return what there was."""
        answerable = sum(problem.answerable is True for problem in self.problems)
        unanswerable = sum(problem.answerable is False for problem in self.problems)
        categories = Counter(problem.category for problem in self.problems)
        decided = Counter(one.classified.by for replies in self.judged.values() for one in replies)
        return {
            "problems": len(self.problems),
            "answerable": answerable,
            "unanswerable": unanswerable,
            "by_category": {str(number): categories[number] for number in CATEGORIES},
            "unanswerable_with_an_answer": sum(
                bool(problem.answers) and problem.answerable is False for problem in self.problems
            ),
            "texts_with_both_labels": len(both_labels(self.problems)),
            "replies": sum(map(len, self.judged.values())),
            "decided_by": dict(sorted(decided.items())),
            "distinct_windows": len(self.found.place),
            "templates": len(self.found.templates),
        }

    @cached_property
    def metrics(self) -> list[MetricRow]:
        """Return the rows of metrics.csv, intervals included."""
        return list(self._metrics())

    @cached_property
    def comparisons(self) -> list[ComparisonRow]:
        """Return every two systems compared, in each form that both were asked in."""
        return list(compared(self.labelled, self.parameters))

    @cached_property
    def labelled(self) -> dict[tuple[str, str], list[Judged]]:
        """Return the replies to problems of which it is known whether they have an answer."""
        return {
            both: [one for one in replies if one.problem.answerable is not None]
            for both, replies in self.judged.items()
        }

    def ablation(self) -> Iterator[AblationRow]:
        """Yield what the templates do alone, and the expressions."""
        return ablation(self.labelled, self.parameters)

    def items(self) -> Iterator[ItemRow]:
        """Yield a row for each problem, system and form."""
        for (system, form), replies in self.judged.items():
            by_id = {one.problem.id: one for one in replies}
            for problem in self.problems:
                yield self._item(problem, system, form, by_id.get(problem.id))

    def pairs(self) -> Iterator[PairRow]:
        """Yield a row for each unanswerable problem and each one it was made of."""
        known = {problem.id: problem for problem in self.problems}
        both = both_labels(self.problems)
        for (system, form), replies in self.judged.items():
            by_id = {one.problem.id: one for one in replies}
            for problem in self.problems:
                if problem.answerable is not False or same_words(problem.text) in both:
                    continue
                for other in problem.relevant:
                    one, partner = by_id.get(problem.id), by_id.get(other)
                    is_there = other in known and known[other].answerable is True
                    reason = (
                        NO_PARTNER
                        if not is_there
                        else NO_PARTNER_REPLY
                        if one is None or partner is None
                        else None
                    )
                    partner = partner if is_there else None
                    yield PairRow(
                        system,
                        form,
                        problem.id,
                        other,
                        None if one is None else one.positive,
                        None if partner is None else partner.classified.taken_as == ANSWERABLE,
                        None if partner is None else partner.right,
                        reason,
                    )

    def _item(self, problem: WordProblem, system: str, form: str, judged: Judged | None) -> ItemRow:
        about = (problem.id, system, form, problem.answerable, problem.category, problem.source)
        if judged is None:
            why = self.failed.get((system, form, problem.id), NO_REPLY)
            return ItemRow(*about, reason=why)
        found = judged.classified
        return ItemRow(
            *about,
            found.taken_as,
            found.by,
            found.similarity,
            found.window,
            found.template,
            found.expression,
            found.answer,
            judged.right if problem.answerable and problem.answers else None,
            NOT_TOLD if problem.answerable is None else None,
        )

    def _metrics(self) -> Iterator[MetricRow]:
        forms: dict[str, list[str]] = {}
        for system, form in self.judged:
            forms.setdefault(system, []).append(form)
        for system, of_system in forms.items():
            alone = len(of_system) == 1
            if not alone:
                nothing = Estimate(None, None, None, 0, NOT_POOLED)
                for name in (*RATES, *COUNTS, PAIRS):
                    yield MetricRow.of(system, OVERALL, name, nothing)
            for form in of_system:
                replies = self.labelled[system, form]
                yield from self._of_groups(system, form, replies, alone)

    def _of_groups(
        self, system: str, form: str, replies: Sequence[Judged], alone: bool
    ) -> Iterator[MetricRow]:
        taken = taken_of(replies)
        everything = np.ones(len(replies), dtype=np.bool_)
        groups = [(group_name("form", form), everything)]
        if alone:
            groups.insert(0, (OVERALL, everything))
        # Of several forms each group names its own, as they are not pooled.
        behind = "" if alone else f",{group_name('form', form)}"
        for number in CATEGORIES:
            chosen = np.array([one.problem.category == number for one in replies], dtype=np.bool_)
            if chosen.any():
                groups.append((group_name("category", str(number)) + behind, chosen))
        for source in dict.fromkeys(one.problem.source for one in replies):
            if source:
                chosen = np.array([one.problem.source == source for one in replies])
                groups.append((group_name("source", source) + behind, chosen))
        for group, chosen in groups:
            yield from self.of_group(system, group, taken.of(chosen))
            if chosen is everything:
                yield self._pair_row(system, form, group)

    def of_group(self, system: str, group: str, taken: Taken) -> Iterator[MetricRow]:
        """Yield the rates and counts of some replies."""
        draws = (self.parameters.bootstrap, self.parameters.seed)
        found = dict(rates(taken, *draws))
        if group.startswith("category:"):
            # None of these has an answer: precision would be 1, or undefined.
            for name in ("precision", "f1"):
                found[name] = Estimate(None, None, None, 0, NO_ANSWERABLE)
        for name in RATES:
            yield MetricRow.of(system, group, name, found[name])
        n = len(taken.unanswerable)
        for name, count in taken.counts().items():
            yield MetricRow(system, group, name, count, None, None, n, OF_THE_FILE)

    def _pair_row(self, system: str, form: str, group: str) -> MetricRow:
        """Share of pairs of which both were taken for what they are, and the answer is right."""
        rows = [row for row in self._pairs_of(system, form) if row.reason is None]
        good = [float(bool(row.noticed and row.answered and row.right)) for row in rows]
        if not good:
            return MetricRow.of(system, group, PAIRS, Estimate(None, None, None, 0, NO_PARTNER))
        draws = (self.parameters.bootstrap, self.parameters.seed)
        return MetricRow.of(system, group, PAIRS, means([good], *draws)[0])

    def _pairs_of(self, system: str, form: str) -> list[PairRow]:
        return self._pair_rows.get((system, form), [])

    @cached_property
    def _pair_rows(self) -> dict[tuple[str, str], list[PairRow]]:
        found: dict[tuple[str, str], list[PairRow]] = {}
        for row in self.pairs():
            found.setdefault((row.system, row.form), []).append(row)
        return found

    def warnings(self) -> list[Message]:
        """Return what to know of the numbers."""
        found = []
        if not self.complete:
            found.append(Message("umwp.not_every_reply"))
        if self.tuned is None and self.parameters.threshold is None:
            found.append(Message("umwp.threshold_not_tuned"))
        return found


def study_replies(
    parameters: UmwpParameters,
    problems: Sequence[WordProblem],
    replies: Sequence[WordProblemReply],
    templates: Sequence[str],
    own: bool,
    progress: Progress | None = None,
    people: Sequence[WordProblemReply] = (),
) -> UmwpStudy:
    """Classify all replies; every distinct window is embedded once.

    Left out and counted: replies to unknown problems, replies that failed. Problems of which nobody
    said whether they have an answer are classified, but in no number. Problems whose text stands
    in the file with both labels are named, and left out of the pairs only.

    Parameters
    ----------
    own : whether the templates are those of the project, for which a threshold is tuned.
    people : what people answered, each the system of their own name; classified by the same rules.
        A problem that a person was not asked is none that misses a reply.
    """
    known = {problem.id: problem for problem in problems}
    exclusions = Exclusions()
    kept, failed = _to_known(replies, known, exclusions)
    answered = _of_people(people, known, exclusions)
    rules = parameters.rules
    taken_apart = [
        window
        for many in (*kept.values(), *answered.values())
        for one in many
        for window in windows(one.text, rules)
    ]
    told = RECORDED.get(parameters.encoder) if own and parameters.threshold is None else None
    tunes = own and parameters.threshold is None and told is None
    labelled = labelled_replies() if tunes else ()
    found = likeness([*taken_apart, *windows_of(labelled)], templates, parameters.encoder, progress)
    if tunes:
        told = tuned(labelled, found)
    threshold = parameters.threshold
    if threshold is None:
        threshold = told.threshold if told else OF_THE_PAPER
    order = {problem.id: place for place, problem in enumerate(problems)}

    def in_order(many: Sequence[WordProblemReply]) -> list[Judged]:
        return [
            judge(one, known[one.item], found, threshold, rules)
            for one in sorted(many, key=lambda one: order[one.item])
        ]

    judged: dict[tuple[str, str], list[Judged]] = {}
    for both, many in kept.items():
        judged[both] = in_order(many)
        there = {one.item for one in many}
        missing = [
            {"system": both[0], "form": both[1], "item": item}
            for item in known
            if item not in there and (*both, item) not in failed
        ]
        if missing:
            exclusions.add_all(NO_REPLY, missing)
    not_told = [problem.id for problem in problems if problem.answerable is None]
    if not_told:
        exclusions.add_all(NOT_TOLD, not_told)
    no_number = [one.id for one in problems if one.answerable and not one.answers]
    if no_number:
        exclusions.add_all(NO_NUMBER, no_number)
    twice = both_labels(problems)
    if twice:
        exclusions.add_all(
            BOTH_LABELS, [one.id for one in problems if same_words(one.text) in twice]
        )
    by_people = {worker: in_order(many) for worker, many in answered.items()}
    study = UmwpStudy(
        parameters, problems, judged, failed, exclusions, found, threshold, told, by_people
    )
    for row in study.pairs():
        if row.reason is not None:
            of = {"system": row.system, "form": row.form}
            pair = {"item": row.unanswerable, "partner": row.answerable}
            exclusions.add(row.reason, {**of, **pair})
    return study


def _to_known(
    replies: Sequence[WordProblemReply], known: Mapping[str, WordProblem], exclusions: Exclusions
) -> tuple[dict[tuple[str, str], list[WordProblemReply]], dict[tuple[str, str, str], str]]:
    """Return what came, by system and form, and the status of what did not."""
    kept: dict[tuple[str, str], list[WordProblemReply]] = {}
    failed: dict[tuple[str, str, str], str] = {}
    for reply in replies:
        of_form = kept.setdefault((reply.system, reply.form), [])
        named = {
            "system": reply.system, "form": reply.form, "item": reply.item, "line": reply.line,
        }  # fmt: skip
        if reply.item not in known:
            exclusions.add(UNKNOWN, named)
        elif reply.status.is_missing:
            exclusions.add(reply.status.value, named)
            failed[reply.system, reply.form, reply.item] = reply.status.value
        else:
            of_form.append(reply)
    return kept, failed


def _of_people(
    people: Sequence[WordProblemReply], known: Mapping[str, WordProblem], exclusions: Exclusions
) -> dict[str, list[WordProblemReply]]:
    """Return what each person answered to a problem that there is."""
    answered: dict[str, list[WordProblemReply]] = {}
    for reply in people:
        if reply.item in known:
            answered.setdefault(reply.system, []).append(reply)
        else:
            named = {"worker": reply.system, "item": reply.item, "line": reply.line}
            exclusions.add(UNKNOWN, named)
    return answered


def threshold_of(encoder: str, templates: Sequence[str]) -> float:
    """Return the threshold of an encoder for the project's templates, recorded or found now."""
    told = RECORDED.get(encoder)
    if told is None:
        labelled = labelled_replies()
        told = tuned(labelled, likeness(windows_of(labelled), templates, encoder))
    return told.threshold


def same_words(text: str) -> str:
    """Return a text as it is compared: white space does not count."""
    return " ".join(text.split())


def both_labels(problems: Sequence[WordProblem]) -> set[str]:
    """Return the texts that stand there as answerable and as unanswerable."""
    labels: dict[str, set[bool]] = {}
    for problem in problems:
        if problem.answerable is not None:
            labels.setdefault(same_words(problem.text), set()).add(problem.answerable)
    return {text for text, found in labels.items() if len(found) > 1}
