"""Detect the alarms of a grading: statistical checks, checks of the texts, and messages.

Alarms never change a grade and never end a grading: where a crowd is too small for a statistic, its
check is undefined with a reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from annotations.exchange import AnswerStatus
from evaluation.consensus import AQER
from evaluation.consensus.inputs import Progress
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import BackendError
from evaluation.core.backends.embedding.contract import LexicalEmbedder
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Booleans, Floats, Integers, encode_labels
from evaluation.core.stats.grams import Vectors
from evaluation.core.text.quality import is_dont_know as says_dont_know
from evaluation.grading.alarms.methods import (
    Finding,
    ModelAnswerVectors,
    QuestionCamps,
    RunChecks,
    build_findings,
    compute_run_checks,
    sort_findings,
)
from evaluation.grading.alarms.methods.questions import AnswerCamps, clip_separation
from evaluation.grading.alarms.run.checks import (
    DONT_KNOW,
    build_checks,
    build_dont_know_check,
    compute_dont_know_shares,
)
from evaluation.grading.alarms.run.texts import find_identical_texts, find_junk, is_copied_group
from evaluation.grading.crowd import GradedCrowd, ModelColumns, RemedyInputs, build_labels
from evaluation.grading.summary import CheckResult

OTHER_GRADER = "tfidf-word"
# A group is alike because nobody in it knows, where so many of its answers say so.
MOSTLY = 0.5
# Two answers are called nearly identical from this cosine on.
NEARLY = 0.9
# Answers shown of an alarm, and workers or questions named: a cell of a table has its limits.
MAX_SHOWN = 50
NAMED = 5000
COLUMNS = (
    *("kind", "severity", "statistic", "threshold", "workers", "questions", "message"),
    *("state", "outcome"),
)
OPEN, REMEDIED = "open", "remedied"
# What a remedy can bring that takes care of an alarm; see `evaluation.grading.run.outcomes`.
ANSWERS = frozenset(
    f"outcome.{code}"
    for code in (
        *("excluded", "some_excluded", "silent_without", "silent", "collapsed", "collapsed_first"),
        *("settled", "settled_won", "settled_lost", "settled_questions", "nearest_camp"),
    )
)


@dataclass(frozen=True)
class SideBySideAnswers:
    """Row numbers of two answers to a question that are shown side by side as evidence.

    Attributes
    ----------
    left, right : `rows` of the graded answers; right is None if the other answer is a model's or
        missing.
    model_row : row of the model's answer; None if both are workers' answers.
    """

    question: Any
    left: int
    right: int | None = None
    model_row: int | None = None


@dataclass(frozen=True)
class Alarm:
    """An alarm, notice or information on a grading, with the ids of its workers and questions.

    Attributes
    ----------
    kind, severity : codes. statistic, threshold : None if the alarm is not based on a number.
    workers, questions : ids that the alarm names, at most 5,000; none for the whole crowd.
    message : evidence, meaning and advice, without names. exhibits : answers shown as evidence.
    outcome : effect of the remedies on the alarm; None in a run without remedies.
    reviewed : state set by a reviewer; "" without a review.
    state : the reviewed state, else "remedied" if a remedy of this run settles it, else "open".
    """

    kind: str
    severity: str
    statistic: float | None
    threshold: float | None
    workers: tuple[Any, ...]
    questions: tuple[Any, ...]
    message: Message
    exhibits: tuple[SideBySideAnswers, ...] = ()
    outcome: Message | None = None
    reviewed: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether a remedy of this run settles the alarm."""
        return self.outcome is not None and self.outcome.code in ANSWERS

    @property
    def state(self) -> str:
        """Review state of the alarm: the reviewer's if there is one, else "remedied" or "open"."""
        return self.reviewed or (REMEDIED if self.is_answered else OPEN)

    def as_dict(self) -> dict[str, Any]:
        """Return the alarm's values by the column names of alarms.csv."""
        return {column: getattr(self, column) for column in COLUMNS}


@dataclass(frozen=True)
class Alarms:
    """All alarms of a grading, with the checks that raised them and the camps of its answers.

    Attributes
    ----------
    camps : separation of all questions with 6 answers or more, with or without an alarm.
    gone : alarms among all workers that are not raised without the excluded ones.
    camps_now : after a remedy, the camps of the crowd and which one the ranking follows.
    """

    found: tuple[Alarm, ...]
    checks: tuple[CheckResult, ...]
    camps: dict[Any, AnswerCamps] = field(default_factory=dict)
    gone: tuple[Alarm, ...] = ()
    camps_now: tuple[Any, ...] = ()

    def convert_checks(self) -> list[dict[str, Any]]:
        """Return the checks as dictionaries for the run's summary (JSON)."""
        return [
            {**asdict(check), "result": check.result, "needed": check.needed}
            for check in self.checks
        ]


@dataclass(frozen=True)
class GradedAnswers:
    """Graded answers of workers (texts, workers, questions, vectors), and models' answers.

    `rows` are the answers' row numbers in the caller's table, which may have more answers; by
    default 0 to N-1.
    """

    texts: Sequence[str]
    workers: Sequence[Hashable]
    questions: Sequence[Hashable]
    vectors: Vectors
    models: ModelColumns | None = None
    rows: Sequence[int] | None = None


def choose_alarm_crowd(
    parameters: AqerParameters,
    graded: GradedCrowd,
    answers: GradedAnswers,
    outside: RemedyInputs | None = None,
) -> tuple[AQER, GradedAnswers]:
    """Return the fitted grading and the answers in which alarms are to be detected.

    In a run without remedies these are the run's grading and answers. With remedies it is the
    grading without them, because a remedy corrects the grades and not the crowd. If workers are
    excluded, the other workers are graded once more, without remedies.
    """
    if graded.plain is None:
        return graded.aqer, answers
    answers = restore_plain_vectors(answers, outside)
    excluded = set(outside.excluded) if outside else set()
    if not excluded:
        return graded.plain, answers
    answers = select_rows(
        answers, np.flatnonzero([worker not in excluded for worker in answers.workers])
    )
    plain = replace(parameters.reset_remedies(), bootstrap=0, init="equal", nli=None)
    aqer = plain.build_estimator().fit(
        answers.vectors, build_labels(answers.workers), build_labels(answers.questions)
    )
    return aqer, answers


def restore_plain_vectors(answers: GradedAnswers, outside: RemedyInputs | None) -> GradedAnswers:
    """Return the answers with vectors of their uncorrected texts, and without models' answers.

    Returned unchanged if the spelling was not corrected.
    """
    if outside is None or outside.plain_vectors is None:
        return answers
    return replace(answers, vectors=outside.plain_vectors, models=None)


def select_rows(answers: GradedAnswers, rows: Integers) -> GradedAnswers:
    """Return the answers with these row numbers, which keep their original row numbers."""
    row_numbers = rows.tolist()
    return replace(
        answers,
        texts=[answers.texts[row] for row in row_numbers],
        workers=[answers.workers[row] for row in row_numbers],
        questions=[answers.questions[row] for row in row_numbers],
        vectors=answers.vectors[rows],
        rows=row_numbers,
    )


def join_ids(ids: Iterable[object]) -> str:
    """Return ids joined by semicolons for a CSV cell; semicolons within an id are escaped."""
    return ";".join(str(identifier).replace("\\", "\\\\").replace(";", "\\;") for identifier in ids)


def detect_alarms(
    parameters: AqerParameters,
    aqer: AQER,
    answers: GradedAnswers,
    progress: Progress | None = None,
    model_names: Mapping[Any, str] | None = None,
    ranking: AQER | None = None,
) -> Alarms:
    """Return the alarms of a grading, its checks, and the camps of answers to each question.

    Parameters
    ----------
    model_names : how models are called in messages, by id; by default the id.
    ranking : the run's final grading, whose bootstrap draws give the stability; by default `aqer`.
        With remedies the two differ, and the plain grading has no draws.
    """
    if progress is not None:
        progress("alarms", 0, 1)
    codes = _RunCodes.from_answers(aqer, answers)
    other_raw, reason = _compute_raw_by_words(parameters, aqer, answers)
    is_dont_know = np.array([says_dont_know(text) for text in answers.texts], dtype=bool)
    givers = (codes.worker, codes.question, len(codes.workers))
    junk = find_junk(answers.texts, answers.vectors, *givers, is_dont_know, parameters.seed)
    model_answers = _collect_model_answers(codes, answers.models)
    survey_result = compute_run_checks(
        aqer, other_raw, model_answers, answers.vectors, reason, ranking, junk.workers
    )
    proven = [
        # Who says again and again that he does not know needs nobody to copy from.
        None
        if is_dont_know[np.isin(codes.worker, group.members)].mean() >= MOSTLY
        else is_copied_group(group, answers.texts, codes.worker, codes.question, parameters.seed)
        for group in survey_result.kinship.groups
    ]
    # junk.workers | Answers without content agree with each other for no reason that the text check
    # is about.
    left_out = is_dont_know | junk.workers[codes.worker]
    identical_texts, identity_check = find_identical_texts(
        survey_result, answers.texts, codes.worker, codes.question, left_out
    )
    dont_know_shares = compute_dont_know_shares(codes.worker, len(codes.workers), is_dont_know)
    unsorted = [
        *build_findings(survey_result, proven),
        *identical_texts,
        *_build_dont_know_findings(codes, is_dont_know, dont_know_shares),
    ]
    if junk.repeated is not None:
        unsorted.append(junk.repeated)
    alike_counts = _count_nearly_identical(survey_result)
    sorted_findings = [
        _add_identical_counts(finding, alike_counts) for finding in sort_findings(unsorted)
    ]
    alarms = tuple(_build_alarm(codes, finding, model_names or {}) for finding in sorted_findings)
    if progress is not None:
        progress("alarms", 1, 1)
    dont_know = build_dont_know_check(codes.worker, dont_know_shares)
    checks = build_checks(survey_result, identity_check, junk.check, dont_know)
    return Alarms(alarms, checks, _build_question_camps(codes, survey_result.questions))


@dataclass(frozen=True)
class _RunCodes:
    """Integer codes of a run's workers and questions, with their ids and answer rows."""

    worker: Integers
    question: Integers
    workers: list[Any]
    questions: list[Any]
    row_of: dict[tuple[int, int], int]
    model_rows: dict[Any, dict[int, int]]

    @classmethod
    def from_answers(cls, aqer: AQER, answers: GradedAnswers) -> _RunCodes:
        """Return the codes of the workers and questions of graded answers, with answer rows."""
        workers, questions = aqer.workers_.tolist(), aqer.questions_.tolist()
        of_worker = {label: code for code, label in enumerate(workers)}
        of_question = {label: code for code, label in enumerate(questions)}
        worker = np.array([of_worker[label] for label in answers.workers], dtype=np.int64)
        question = np.array([of_question[label] for label in answers.questions], dtype=np.int64)
        model_rows: dict[Any, dict[int, int]] = {}
        models = answers.models
        for row in range(0 if models is None else len(models.models)):
            assert models is not None
            code = of_question.get(models.questions[row])
            # The first answer of a model to a question counts.
            if code is not None and models.statuses[row] is AnswerStatus.TEXT:
                model_rows.setdefault(models.models[row], {}).setdefault(code, row)
        keys = zip(worker.tolist(), question.tolist(), strict=True)
        rows = range(len(worker)) if answers.rows is None else answers.rows
        row_of = dict(zip(keys, rows, strict=True))
        return cls(worker, question, workers, questions, row_of, model_rows)


def _collect_model_answers(
    codes: _RunCodes, models: ModelColumns | None
) -> list[ModelAnswerVectors]:
    """Return the answer vectors and question codes of each language model."""
    if models is None:
        return []
    return [
        ModelAnswerVectors(
            label, models.vectors[list(rows.values())], np.array(list(rows), dtype=np.int64)
        )
        for label, rows in codes.model_rows.items()
    ]


def _compute_raw_by_words(
    parameters: AqerParameters, aqer: AQER, answers: GradedAnswers
) -> tuple[Floats | None, str]:
    """Return workers' raw scores (M,) by word counts (TF-IDF) and "", or None and a reason code.

    The electorate and the start are those of the run.
    """
    if parameters.embedder == OTHER_GRADER:
        return None, "graded_by_words_already"
    try:
        vectors = LexicalEmbedder(OTHER_GRADER).fit_and_embed(answers.texts)
    except BackendError:
        return None, "no_words"
    grader = replace(
        parameters.reset_remedies(),
        similarity="cosine",
        aggregation="mean",
        init="equal",
        nli=None,
        bootstrap=0,
    ).build_estimator()
    worker_codes = encode_labels(np.array(answers.workers, dtype=object))[0]
    question_codes = encode_labels(np.array(answers.questions, dtype=object))[0]
    electorate = aqer.fitted_.crowd.rules.electorate
    grader.fit(vectors, worker_codes, question_codes, electorate=replace(electorate, cap=None))
    return grader.raw_, ""


def _build_dont_know_findings(
    codes: _RunCodes, is_dont_know: Booleans, share: Floats
) -> list[Finding]:
    """Return the notice on workers who often answer "I don't know"; empty if none do."""
    named = np.flatnonzero(share >= DONT_KNOW)
    if not len(named):
        return []
    rows = np.flatnonzero(is_dont_know & np.isin(codes.worker, named))[:MAX_SHOWN]
    exhibits = np.stack([codes.worker[rows], np.full(len(rows), -1), codes.question[rows]], axis=1)
    return [
        Finding(
            "dont_know",
            "notice",
            "workers",
            float(share[named].max()),
            DONT_KNOW,
            workers=named,
            exhibits=exhibits,
        )
    ]


def _count_nearly_identical(survey_result: RunChecks) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return, by group of copiers, its numbers of nearly identical and of all answer pairs.

    Nearly identical: a cosine of .9 or more. Keys are the codes of the members.
    """
    pairs, counts = survey_result.pairs, {}
    for group in survey_result.kinship.groups:
        inside = np.zeros(pairs.n_workers, dtype=bool)
        inside[group.members] = True
        is_inside = (inside[pairs.left] & inside[pairs.right])[pairs.pair]
        n_alike = int((pairs.cosine[is_inside] >= NEARLY).sum())
        counts[tuple(group.members.tolist())] = (n_alike, int(is_inside.sum()))
    return counts


def _add_identical_counts(
    finding: Finding, alike: Mapping[tuple[int, ...], tuple[int, int]]
) -> Finding:
    """Return a finding on copiers with its counts of nearly identical answers added."""
    counts = alike.get(tuple(finding.workers.tolist()))
    if counts is None or finding.kind not in ("copies", "clique"):
        return finding
    n_alike, n_pairs = counts
    more = {"n_alike": n_alike, "n_pairs": n_pairs, "mostly_alike": 2 * n_alike >= n_pairs}
    return replace(finding, figures={**finding.figures, **more})


def _build_alarm(codes: _RunCodes, finding: Finding, model_names: Mapping[Any, str]) -> Alarm:
    """Return the alarm of a finding, with ids of workers and questions in place of codes."""
    if finding.kind == "model_like":
        exhibits = _pair_with_model(codes, finding)
    else:
        exhibits = [
            SideBySideAnswers(
                codes.questions[question],
                codes.row_of[left, question],
                None if right < 0 else codes.row_of[right, question],
            )
            for left, right, question in finding.exhibits.tolist()
        ]
    return Alarm(
        finding.kind,
        finding.severity,
        finding.statistic,
        finding.threshold,
        tuple(codes.workers[code] for code in finding.workers[:NAMED].tolist()),
        tuple(codes.questions[code] for code in finding.questions[:NAMED].tolist()),
        _build_message(finding, model_names),
        tuple(exhibits),
    )


def _build_message(finding: Finding, model_names: Mapping[Any, str]) -> Message:
    """Return the message of a finding; it names no worker and no question."""
    values = {
        "workers": len(finding.workers),
        "questions": len(finding.questions),
        "statistic": finding.statistic,
        "threshold": finding.threshold,
        **finding.figures,
    }
    if "model" in values:
        values["model"] = str(model_names.get(values["model"], values["model"]))
    return Message(f"{finding.kind}.{finding.case}", values)


def _pair_with_model(codes: _RunCodes, finding: Finding) -> list[SideBySideAnswers]:
    """Return up to 50 pairs of a worker's and a model's answer, as evidence of an alarm."""
    rows = codes.model_rows[finding.figures["model"]]
    side_by_side = [
        SideBySideAnswers(codes.questions[question], codes.row_of[worker, question], None, row)
        for question, row in rows.items()
        for worker in finding.workers.tolist()
        if (worker, question) in codes.row_of
    ]
    return side_by_side[:MAX_SHOWN]


def _build_question_camps(
    codes: _RunCodes, question_camps: QuestionCamps
) -> dict[Any, AnswerCamps]:
    """Return, by question, the separation of its answers into camps, with sizes and examples."""
    camps = {
        codes.questions[code]: AnswerCamps(clip_separation(value))
        for code, value in enumerate(question_camps.separation.tolist())
        if not np.isnan(value)
    }
    for code, (larger, smaller), (nearest_larger, nearest_smaller) in zip(
        question_camps.listed.tolist(), question_camps.camps, question_camps.nearest, strict=True
    ):
        question = codes.questions[code]
        camps[question] = replace(
            camps[question],
            sizes=(len(larger), len(smaller)),
            nearest=(codes.row_of[nearest_larger, code], codes.row_of[nearest_smaller, code]),
        )
    return camps
