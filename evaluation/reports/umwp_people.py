"""People beside models, and beside the classifier: their own answers, and their labels of replies.

Labels are given on the experts' pages: a sample in the shares of what the classifier said, of the
categories and of the forms of asking, blind, in an order of each annotator's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotations.exchange.reading.reply_labels import CANNOT_TELL, NO, YES, ReplyLabel
from annotations.exchange.reading.word_problems import DIRECT, WordProblem, WordProblemReply
from annotations.exchange.records import AnswerStatus
from evaluation.flow.metrics import OVERALL, MetricRow
from evaluation.flow.umwp.classifying import REFUSED, UNANSWERABLE, Classified
from evaluation.flow.umwp.judged import Judged
from evaluation.flow.umwp.labels import (
    EVERYBODY,
    FLEISS,
    LabelledReplies,
    LabelRow,
    label_replies,
)
from evaluation.flow.umwp.people import PEOPLE, SAMPLE, PersonRow
from evaluation.flow.umwp.sampling import stratum_of
from evaluation.flow.umwp.study import ItemRow
from evaluation.judging import Choice, Exhibit, Judging, Part, given_of
from evaluation.judging.declaration import Key
from evaluation.methods.umwp.labels import Draws
from evaluation.models import Run
from evaluation.reports.spreadsheet import Table
from evaluation.reports.umwp import Number, number
from evaluation.steps.findings import kept_rows
from evaluation.steps.umwp import tables as kept
from evaluation.steps.umwp.noticing import options_of

RATES = ("f1", "precision", "recall", "answer_accuracy", "pairs")


def _exhibits(run: Run, _rng: np.random.Generator) -> list[Exhibit]:
    """Return every reply with a text, and the problem that it replies to."""
    texts = {(one.system, one.id, one.form): one.reply for one in kept.replies_of(run)}
    problems = {one.id: one.question for one in kept.problems_kept(run)}
    found = []
    for row in kept.items_of(run):
        text = texts.get((row.system, row.item, row.form), "").strip()
        if row.taken_as in (None, REFUSED) or not text:
            continue
        parts = (Part("The problem", problems[row.item]), Part("The reply", text, quoted=True))
        stratum = stratum_of(row.category, row.form, row.taken_as or "")
        found.append(Exhibit((row.system, row.item, row.form), parts, stratum))
    return found


def _machines(run: Run) -> dict[str, dict[Key, float | str]]:
    """Return what the classifier said, as a label."""
    return {
        "the classifier": {
            (row.system, row.item, row.form): YES if row.taken_as == UNANSWERABLE else NO
            for row in kept.items_of(run)
            if row.taken_as not in (None, REFUSED)
        }
    }


LABELS = Judging(
    name="labels",
    title="Do people read it so too?",
    one="reply",
    many="replies",
    words="Say of each reply whether it says that the problem has no answer. Whether that is true "
    "does not matter, nor whether a number in it is right.",
    question="Does this reply say that the problem has no answer?",
    choices=(
        Choice(YES, "yes", key="y"),
        Choice(NO, "no", key="n"),
        Choice(CANNOT_TELL, "cannot tell", key="c"),
    ),
    columns=("system", "id", "form"),
    cluster=1,
    value="label",
    exhibits=_exhibits,
    machines=_machines,
)


@dataclass(frozen=True)
class Benchmark:
    """One row of people beside models: everybody together, or a model over the same questions."""

    system: str
    form: str
    is_people: bool
    f1: Number
    precision: Number
    recall: Number
    answer_accuracy: Number
    pairs: Number


@dataclass(frozen=True)
class SaidNone:
    """How often people together, or a model in one form, said that there is no answer.

    Over the questions that people answered, labelled or not: `said` of `n` answers.
    """

    system: str
    form: str
    is_people: bool
    said: int
    n: int


@dataclass(frozen=True)
class PeopleReport:
    """People beside models and beside the classifier.

    Attributes
    ----------
    people, questions, answers : who answered, to how many of the questions, how often.
    said_none : people first, then each model and form: how often they said that there is no
        answer. benchmark : in the same order, the scores; empty where no question that people
        answered says whether it has an answer.
    labelled : replies with a label; annotators : who gave one.
    between : Fleiss' kappa of them. classifier : how far it agrees with their majority, by name.
    """

    people: int
    questions: int
    answers: int
    said_none: list[SaidNone]
    benchmark: list[Benchmark]
    labelled: int
    annotators: list[str]
    between: Number
    classifier: dict[str, Number]


def people_report(run: Run) -> PeopleReport:
    """Return what people answered and said in a run that is done."""
    persons = list(kept_rows(run, kept.PERSONS, PersonRow))
    labelled = labelled_of(run)
    rows = {row.metric: row for row in labelled.metrics() if _of_everybody(row)}
    return PeopleReport(
        len({one.worker for one in persons}),
        len({one.item for one in persons}),
        len(persons),
        _said_none(run, persons) if persons else [],
        list(_benchmark(kept.metrics_of(run))) if persons else [],
        len(labelled.replies),
        list(labelled.annotators),
        number(rows.get(FLEISS)),
        {
            name.removeprefix("classifier_"): number(row)
            for name, row in rows.items()
            if name.startswith("classifier_")
        },
    )


def labelled_of(run: Run) -> LabelledReplies:
    """Return the replies of a run with the labels that people gave them on its pages."""
    labels = []
    for place, one in enumerate(given_of(run, LABELS), 1):
        system, item, form = one.key
        labels.append(ReplyLabel(place, system, item, form, one.expert, str(one.value)))
    judged: dict[tuple[str, str], list[Judged]] = {}
    for row in kept.items_of(run):
        if row.taken_as is not None:
            judged.setdefault((row.system, row.form), []).append(_judged(row))
    options = options_of(run)
    return label_replies(judged, labels, Draws(options.bootstrap, options.seed))


def persons_table(run: Run) -> Table:
    """Return a row for each answer of a person."""
    return Table(PersonRow._fields, kept_rows(run, kept.PERSONS, PersonRow))


def agreement_table(run: Run) -> Table:
    """Return how far annotators agree, and the classifier with them, as rows of metrics."""
    return Table(MetricRow._fields, labelled_of(run).metrics())


def labelled_table(run: Run) -> Table:
    """Return a row for each labelled reply."""
    return Table(LabelRow._fields, labelled_of(run).rows())


def _judged(row: ItemRow) -> Judged:
    """Return a reply as far as labels need it."""
    reply = WordProblemReply(0, row.system, row.item, row.form, "", AnswerStatus.TEXT)
    problem = WordProblem(row.item, "", (), row.answerable, row.category, (), row.source, 0)
    taken = Classified(row.taken_as or "", row.decided_by or "")
    return Judged(reply, problem, taken, bool(row.right))


def _said_none(run: Run, persons: list[PersonRow]) -> list[SaidNone]:
    answered = {one.item for one in persons}
    found = {(PEOPLE, DIRECT): Counter(one.taken_as for one in persons)}
    for row in kept.items_of(run):
        if row.item in answered and row.taken_as is not None:
            found.setdefault((row.system, row.form), Counter())[row.taken_as] += 1
    return [
        SaidNone(system, form, place == 0, taken[UNANSWERABLE], taken.total())
        for place, ((system, form), taken) in enumerate(found.items())
    ]


def _benchmark(rows: list[MetricRow]) -> Iterator[Benchmark]:
    groups: dict[tuple[str, str], dict[str, MetricRow]] = {}
    for row in rows:
        is_people = row.system == PEOPLE and row.group == OVERALL
        if is_people or row.group.startswith(SAMPLE):
            groups.setdefault((row.system, row.group), {})[row.metric] = row
    forms = {row.system: row.group for row in rows if row.group.startswith("form:")}
    for (system, group), metrics in sorted(groups.items(), key=lambda one: one[0][0] != PEOPLE):
        form = group.partition(",form:")[2] or forms.get(system, "").removeprefix("form:")
        numbers = {name: number(metrics.get(name)) for name in RATES}
        yield Benchmark(system, form, system == PEOPLE, **numbers)


def _of_everybody(row: MetricRow) -> bool:
    return row.system == EVERYBODY and row.group == OVERALL
