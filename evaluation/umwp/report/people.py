"""Human benchmark of a UMWP run, and agreement of annotators with the classifier.

Annotators label replies on the experts' pages. The sample is stratified by class, category and
prompt form. Annotators see neither the model nor the class, and each has their own order.

`TABLES` has all tables of a run, with people's answers and labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from annotations.exchange.reading.reply_labels import CANNOT_TELL, NO, YES, ReplyLabel
from annotations.exchange.reading.word_problems import DIRECT, WordProblem, WordProblemReply
from annotations.exchange.records import AnswerStatus
from evaluation.models import Run
from evaluation.runs.flow.metrics import OVERALL, MetricRow
from evaluation.runs.judging import Choice, Exhibit, Judging, Part, load_judgements
from evaluation.runs.judging.declaration import Key
from evaluation.runs.reports.lists import Table, build_table_readers
from evaluation.runs.steps.checkpoints import read_result_table
from evaluation.umwp.methods.detection import Draws
from evaluation.umwp.problems import build_stratum_name
from evaluation.umwp.report import results
from evaluation.umwp.report.results import ShareEstimate, build_share_estimate
from evaluation.umwp.run.classification import REFUSED, UNANSWERABLE, Classification, JudgedReply
from evaluation.umwp.run.people import (
    ALL_SYSTEMS,
    FLEISS,
    PEOPLE,
    SAMPLE,
    UNRELATED,
    LabelledReplies,
    PersonRow,
    match_labels_to_replies,
)
from evaluation.umwp.run.result_tables import AGREEMENT, PERSONS
from evaluation.umwp.run.result_tables import LABELS as LABELLED
from evaluation.umwp.run.result_tables import UNRELATED as UNRELATED_CONTENT
from evaluation.umwp.run.study import ItemRow
from evaluation.umwp.storage import running
from evaluation.umwp.storage.running import load_options

RATES = ("f1", "precision", "recall", "answer_accuracy", "pairs")


def _build_exhibits(run: Run, _rng: np.random.Generator) -> list[Exhibit]:
    """Return an exhibit for each reply with a text: the problem and the reply to annotate."""
    texts = {(row.system, row.id, row.form): row.reply for row in running.load_reply_rows(run)}
    problems = {row.id: row.question for row in running.load_problem_rows(run)}
    exhibits = []
    for row in running.load_item_rows(run):
        text = texts.get((row.system, row.item, row.form), "").strip()
        # Failed, refused and empty replies have no text to label.
        if row.taken_as in (None, REFUSED) or not text:
            continue
        parts = (Part("The problem", problems[row.item]), Part("The reply", text, quoted=True))
        stratum = build_stratum_name(row.category, row.form, row.taken_as or "")
        exhibits.append(Exhibit((row.system, row.item, row.form), parts, stratum))
    return exhibits


def _list_classifier_labels(run: Run) -> dict[str, dict[Key, float | str]]:
    """Return the classifier's yes/no label of each reply, by annotator name and reply key."""
    return {
        "the classifier": {
            (row.system, row.item, row.form): YES if row.taken_as == UNANSWERABLE else NO
            for row in running.load_item_rows(run)
            if row.taken_as not in (None, REFUSED)
        }
    }


LABELS = Judging(
    name="labels",
    title="Do people read it so too?",
    one="reply",
    many="replies",
    words="For each reply, decide whether it states that the problem has no answer. Whether "
    "that is true "
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
    exhibits=_build_exhibits,
    machines=_list_classifier_labels,
)
UNRELATED_LABELS = replace(
    LABELS,
    name="unrelated",
    title="Unrelated content",
    words="For each reply, decide whether it contains content unrelated to the problem: another "
    "problem, a topic that the problem does not mention, or text without sense. A wrong number "
    "or a wrong step is not unrelated.",
    question="Does this reply contain content unrelated to the problem?",
    # The classifier does not judge unrelated content.
    machines=lambda _: {},
)


@dataclass(frozen=True)
class BenchmarkRow:
    """Metrics of all workers together, or of one model and prompt form on the same questions."""

    system: str
    form: str
    is_people: bool
    f1: ShareEstimate
    precision: ShareEstimate
    recall: ShareEstimate
    answer_accuracy: ShareEstimate
    pairs: ShareEstimate


@dataclass(frozen=True)
class NoAnswerCount:
    """Number of answers classified as unanswerable, by workers or by one model.

    `n_unanswerable` of `n` answers to the questions that people answered, with or without a label.
    """

    system: str
    form: str
    is_people: bool
    n_unanswerable: int
    n: int


@dataclass(frozen=True)
class PeopleReport:
    """Human benchmark of a UMWP run, and agreement of annotators with the classifier.

    Attributes
    ----------
    people, questions, answers : number of workers who answered, of questions that they answered,
        and of their answers.
    no_answer_counts : answers classified as unanswerable: of people, then of each model and form.
    benchmark : metrics in the same order; empty without a labelled question that people answered.
    labelled : number of replies with a label.
    annotators : names of the annotators.
    between : Fleiss' kappa of the annotators.
    classifier : agreement of the classifier with the annotators' majority, by name.
    unrelated : replies with unrelated content, of all models, then of each model and form.
    unrelated_between : Fleiss' kappa of the annotators of unrelated content.
    """

    people: int
    questions: int
    answers: int
    no_answer_counts: list[NoAnswerCount]
    benchmark: list[BenchmarkRow]
    labelled: int
    annotators: list[str]
    between: ShareEstimate
    classifier: dict[str, ShareEstimate]
    unrelated: list[UnrelatedShare]
    unrelated_between: ShareEstimate


@dataclass(frozen=True)
class UnrelatedShare:
    """Share of replies with unrelated content, of one model and form; "" for all models."""

    system: str
    form: str
    share: ShareEstimate


def build_people_report(run: Run) -> PeopleReport:
    """Return the human benchmark and the annotators' agreement of a finished run."""
    persons = list(read_result_table(run, PERSONS))
    labelled = load_annotated_replies(run)
    rows = {row.metric: row for row in labelled.compute_agreement_rows() if _is_overall_row(row)}
    shares = list(load_annotated_replies(run, UNRELATED_LABELS).compute_unrelated_rows())
    return PeopleReport(
        len({row.worker for row in persons}),
        len({row.item for row in persons}),
        len(persons),
        _count_no_answer_replies(run, persons) if persons else [],
        list(_build_benchmark_rows(running.load_metric_rows(run))) if persons else [],
        len(labelled.replies),
        list(labelled.annotators),
        build_share_estimate(rows.get(FLEISS)),
        {
            name.removeprefix("classifier_"): build_share_estimate(row)
            for name, row in rows.items()
            if name.startswith("classifier_")
        },
        [
            UnrelatedShare(row.system, row.group.removeprefix("form:"), build_share_estimate(row))
            for row in shares
            if row.metric == UNRELATED and row.n
        ],
        build_share_estimate(next(row for row in shares if row.metric == FLEISS)),
    )


def load_annotated_replies(run: Run, judging: Judging = LABELS) -> LabelledReplies:
    """Return a run's replies with the labels that annotators gave on its pages."""
    labels = []
    for line, judgement in enumerate(load_judgements(run, judging), 1):
        system, item, form = judgement.key
        value = str(judgement.value)
        labels.append(ReplyLabel(line, system, item, form, judgement.expert, value))
    judged: dict[tuple[str, str], list[JudgedReply]] = {}
    for row in running.load_item_rows(run):
        if row.taken_as is not None:
            judged.setdefault((row.system, row.form), []).append(_restore_judged_reply(row))
    options = load_options(run)
    return match_labels_to_replies(judged, labels, Draws(options.bootstrap, options.seed))


def build_agreement_table(run: Run) -> Table:
    """Return the table of annotator and classifier agreement, one row per metric."""
    return Table(AGREEMENT.columns, load_annotated_replies(run).compute_agreement_rows())


def build_labelled_table(run: Run) -> Table:
    """Return the table of annotated replies, one row per reply."""
    return Table(LABELLED.columns, load_annotated_replies(run).build_label_rows())


def build_unrelated_table(run: Run) -> Table:
    """Return the table of unrelated content: shares and annotator agreement, a row per metric."""
    labelled = load_annotated_replies(run, UNRELATED_LABELS)
    return Table(UNRELATED_CONTENT.columns, labelled.compute_unrelated_rows())


def _restore_judged_reply(row: ItemRow) -> JudgedReply:
    """Return the classified reply of a stored row, without texts, to match with labels."""
    # Without texts, which were read already: labels and weights need the class only.
    reply = WordProblemReply(0, row.system, row.item, row.form, "", AnswerStatus.TEXT)
    problem = WordProblem(row.item, "", (), row.answerable, row.category, (), row.source, 0)
    classified = Classification(row.taken_as or "", row.decided_by or "")
    return JudgedReply(reply, problem, classified, bool(row.right))


def _count_no_answer_replies(run: Run, persons: list[PersonRow]) -> list[NoAnswerCount]:
    """Return counts of unanswerable-class answers for workers, then each model and form."""
    answered = {row.item for row in persons}
    counts = {(PEOPLE, DIRECT): Counter(row.taken_as for row in persons)}
    for row in running.load_item_rows(run):
        if row.item in answered and row.taken_as is not None:
            counts.setdefault((row.system, row.form), Counter())[row.taken_as] += 1
    return [
        NoAnswerCount(system, form, index == 0, classes[UNANSWERABLE], classes.total())
        for index, ((system, form), classes) in enumerate(counts.items())
    ]


def _build_benchmark_rows(rows: list[MetricRow]) -> Iterator[BenchmarkRow]:
    """Yield the metrics of workers, then of each model on the questions that workers answered."""
    groups: dict[tuple[str, str], dict[str, MetricRow]] = {}
    for row in rows:
        is_people = row.system == PEOPLE and row.group == OVERALL
        if is_people or row.group.startswith(SAMPLE):
            groups.setdefault((row.system, row.group), {})[row.metric] = row
    forms = {row.system: row.group for row in rows if row.group.startswith("form:")}
    # Workers first. The sort is stable, so the models keep their order.
    for (system, group), metrics in sorted(groups.items(), key=lambda item: item[0][0] != PEOPLE):
        form = group.partition(",form:")[2] or forms.get(system, "").removeprefix("form:")
        numbers = {name: build_share_estimate(metrics.get(name)) for name in RATES}
        yield BenchmarkRow(system, form, system == PEOPLE, **numbers)


def _is_overall_row(row: MetricRow) -> bool:
    """Return whether a metric row covers all systems and all replies."""
    return row.system == ALL_SYSTEMS and row.group == OVERALL


TABLES: Mapping[str, Callable[[Run], Table]] = {
    **results.TABLES,
    **build_table_readers([PERSONS]),
    LABELLED.name: build_labelled_table,
    AGREEMENT.name: build_agreement_table,
    UNRELATED_CONTENT.name: build_unrelated_table,
}
