"""From a grading to its alarms: what the statistics say, what the texts add, in rows and words.

Alarms never change a grade and never end a grading: a crowd that is too small for a statistic has
none, with the reason among the checks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from annotations.exchange import AnswerStatus
from evaluation.backends import BackendError
from evaluation.backends.embedding.lexical import LexicalEmbedder
from evaluation.consensus import AQER
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.vectors import Progress
from evaluation.grading.alarms.methods import (
    Finding,
    ModelSpeech,
    QuestionCamps,
    Survey,
    findings,
    in_order,
    survey,
)
from evaluation.grading.alarms.methods.questions import CampedAnswers, known_separation
from evaluation.grading.alarms.run.copied_texts import are_copies
from evaluation.grading.alarms.run.identical_answers import identical
from evaluation.grading.alarms.run.junk import junk_of
from evaluation.grading.crowd import GradedCrowd, ModelColumns, OutsideInformation, labels_of
from evaluation.grading.summary import Looked
from evaluation.methods.cells import Booleans, Floats, Integers, codes_of
from evaluation.methods.grams import Vectors
from evaluation.texts.dont_know import says_dont_know
from evaluation.words.message import Message

OTHER_GRADER = "tfidf-word"
# Who answers so often that he does not know is told, and has said so at least so many times.
DONT_KNOW = 0.2
FEWEST_DONT_KNOW = 3
# A group is alike because nobody in it knows, where so many of its answers say so.
MOSTLY = 0.5
# Two answers are called nearly identical from this cosine on.
NEARLY = 0.9
# Answers shown of an alarm, and workers or questions named: a cell of a table has its limits.
SHOWN = 50
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
class SideBySide:
    """Answers to one question to put side by side.

    Attributes
    ----------
    left, right : `rows` of the graded answers; right is None where the other one is a model's, or
        where there is none.
    model_row : row of the model's answer, None otherwise.
    """

    question: Any
    left: int
    right: int | None = None
    model_row: int | None = None


@dataclass(frozen=True)
class Alarm:
    """What somebody should know before trusting a grading.

    Attributes
    ----------
    kind, severity : codes. statistic, threshold : None where there is no number behind it.
    workers, questions : ids it is about, none for the whole crowd; at most 5,000 are named.
    message : evidence, meaning and what to do; it names nobody.
    exhibits : the answers that show what it says.
    outcome : what became of it after a remedy; None in a run without remedies.
    reviewed : the state that people gave it; "" where nobody did.
    state : "remedied" where a remedy of this run takes care of it, else "open".
    """

    kind: str
    severity: str
    statistic: float | None
    threshold: float | None
    workers: tuple[Any, ...]
    questions: tuple[Any, ...]
    message: Message
    exhibits: tuple[SideBySide, ...] = ()
    outcome: Message | None = None
    reviewed: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether a remedy of this run takes care of it."""
        return self.outcome is not None and self.outcome.code in ANSWERS

    @property
    def state(self) -> str:
        """What became of it in a word; what people made of it goes before."""
        return self.reviewed or (REMEDIED if self.is_answered else OPEN)

    def as_dict(self) -> dict[str, Any]:
        """Return the columns of alarms.csv; message and outcome are still to be said."""
        return {column: getattr(self, column) for column in COLUMNS}


@dataclass(frozen=True)
class Alarms:
    """Everything that was found, alarms before notices before information.

    Attributes
    ----------
    camps : the questions with 6 answers or more, whether an alarm is about them or not.
    gone : what rang before workers were excluded, and does not any more.
    camps_now : after a remedy, the camps of the crowd and which one the ranking follows.
    """

    found: tuple[Alarm, ...]
    checks: tuple[Looked, ...]
    camps: dict[Any, CampedAnswers] = field(default_factory=dict)
    gone: tuple[Alarm, ...] = ()
    camps_now: tuple[Any, ...] = ()

    def checks_as_dicts(self) -> list[dict[str, Any]]:
        """Return the checks as plain values, ready for JSON."""
        return [
            {**asdict(check), "result": check.result, "needed": check.needed}
            for check in self.checks
        ]


@dataclass(frozen=True)
class GradedAnswers:
    """N graded answers in columns, as they went into the grading, and those of models.

    `rows` are their numbers for the caller, who may have left some out; by default 0 to N-1.
    """

    texts: Sequence[str]
    workers: Sequence[Hashable]
    questions: Sequence[Hashable]
    vectors: Vectors
    models: ModelColumns | None = None
    rows: Sequence[int] | None = None


def crowd_for_alarms(
    parameters: AqerParameters,
    graded: GradedCrowd,
    answers: GradedAnswers,
    outside: OutsideInformation | None = None,
) -> tuple[AQER, GradedAnswers]:
    """Return the grading and the answers that alarms are to be looked for in.

    Without remedies those of the run. With remedies the plain run: what is wrong with a crowd stays
    wrong where a remedy makes the best of it. Excluded workers are no part of the crowd any more,
    so without them it is graded once again, plainly.
    """
    if graded.plain is None:
        return graded.aqer, answers
    answers = plainly(answers, outside)
    out = set(outside.excluded) if outside else set()
    if not out:
        return graded.plain, answers
    answers = rows_of(answers, np.flatnonzero([worker not in out for worker in answers.workers]))
    plain = replace(parameters.without_remedies(), bootstrap=0, init="equal", nli=None)
    aqer = plain.estimator().fit(
        answers.vectors, labels_of(answers.workers), labels_of(answers.questions)
    )
    return aqer, answers


def plainly(answers: GradedAnswers, outside: OutsideInformation | None) -> GradedAnswers:
    """Return the answers as they were written; without models where these were not kept so."""
    if outside is None or outside.plain_vectors is None:
        return answers
    return replace(answers, vectors=outside.plain_vectors, models=None)


def rows_of(answers: GradedAnswers, rows: Integers) -> GradedAnswers:
    """Return some of the answers, which keep their numbers."""
    kept = rows.tolist()
    return replace(
        answers,
        texts=[answers.texts[row] for row in kept],
        workers=[answers.workers[row] for row in kept],
        questions=[answers.questions[row] for row in kept],
        vectors=answers.vectors[rows],
        rows=kept,
    )


def joined(ids: Iterable[object]) -> str:
    """Return ids in one cell, parted by semicolons; within an id they get a backslash before."""
    return ";".join(str(one).replace("\\", "\\\\").replace(";", "\\;") for one in ids)


def alarms_of(
    parameters: AqerParameters,
    aqer: AQER,
    answers: GradedAnswers,
    progress: Progress | None = None,
    model_names: Mapping[Any, str] | None = None,
    ranking: AQER | None = None,
) -> Alarms:
    """Look for everything that a requester should know before trusting a grading.

    Parameters
    ----------
    model_names : how models are called in messages, by id; by default the id.
    ranking : the grading that people go by, whose draws say how steady it is; by default `aqer`.
        With remedies the two differ, and the plain one that is looked at has no draws.
    """
    if progress is not None:
        progress("alarms", 0, 1)
    place = _Places.of(aqer, answers)
    other, reason = _other_raw(parameters, aqer, answers)
    said = np.array([says_dont_know(text) for text in answers.texts], dtype=bool)
    junk = junk_of(answers.texts, place.worker, place.question, len(place.workers), said)
    spoken = _speech(place, answers.models)
    seen = survey(aqer, other, spoken, answers.vectors, reason, ranking, junk.workers)
    proven = [
        # Who says again and again that he does not know needs nobody to copy from.
        None
        if said[np.isin(place.worker, group.members)].mean() >= MOSTLY
        else are_copies(group, answers.texts, place.worker, place.question, parameters.seed)
        for group in seen.kinship.groups
    ]
    without = said | junk.workers[place.worker]
    same = identical(seen, answers.texts, place.worker, place.question, without)
    found = [*findings(seen, proven), *same.findings, *_dont_know(place, said)]
    if junk.repeated is not None:
        found.append(junk.repeated)
    alike = _nearly_identical(seen)
    told = [_with_counts(finding, alike) for finding in in_order(found)]
    alarms = tuple(_alarm(place, finding, model_names or {}) for finding in told)
    if progress is not None:
        progress("alarms", 1, 1)
    checks = (*_checks(seen), *same.checks)
    return Alarms(alarms, checks, _camps(place, seen.questions))


@dataclass(frozen=True)
class _Places:
    """Codes of a run and the rows and ids that they stand for."""

    worker: Integers
    question: Integers
    workers: list[Any]
    questions: list[Any]
    row_of: dict[tuple[int, int], int]
    model_rows: dict[Any, dict[int, int]]

    @classmethod
    def of(cls, aqer: AQER, answers: GradedAnswers) -> _Places:
        workers, questions = aqer.workers_.tolist(), aqer.questions_.tolist()
        of_worker = {label: code for code, label in enumerate(workers)}
        of_question = {label: code for code, label in enumerate(questions)}
        worker = np.array([of_worker[label] for label in answers.workers], dtype=np.int64)
        question = np.array([of_question[label] for label in answers.questions], dtype=np.int64)
        model_rows: dict[Any, dict[int, int]] = {}
        spoken = answers.models
        for row in range(0 if spoken is None else len(spoken.models)):
            assert spoken is not None
            code = of_question.get(spoken.questions[row])
            if code is not None and spoken.statuses[row] is AnswerStatus.TEXT:
                model_rows.setdefault(spoken.models[row], {}).setdefault(code, row)
        keys = zip(worker.tolist(), question.tolist(), strict=True)
        rows = range(len(worker)) if answers.rows is None else answers.rows
        row_of = dict(zip(keys, rows, strict=True))
        return cls(worker, question, workers, questions, row_of, model_rows)


def _speech(place: _Places, models: ModelColumns | None) -> list[ModelSpeech]:
    if models is None:
        return []
    return [
        ModelSpeech(
            label, models.vectors[list(rows.values())], np.array(list(rows), dtype=np.int64)
        )
        for label, rows in place.model_rows.items()
    ]


def _other_raw(
    parameters: AqerParameters, aqer: AQER, answers: GradedAnswers
) -> tuple[Floats | None, str]:
    """Return raw scores by words alone, workers in the order of the run, or why there are none.

    Those vote who vote in the run, and it starts where that started.
    """
    if parameters.embedder == OTHER_GRADER:
        return None, "graded_by_words_already"
    try:
        vectors = LexicalEmbedder(OTHER_GRADER).fit_embed(answers.texts)
    except BackendError:
        return None, "no_words"
    other = replace(
        parameters.without_remedies(),
        similarity="cosine",
        aggregation="mean",
        init="equal",
        nli=None,
        bootstrap=0,
    ).estimator()
    codes = codes_of(np.array(answers.workers, dtype=object))[0]
    asked = codes_of(np.array(answers.questions, dtype=object))[0]
    votes = aqer.fitted_.crowd.rules.electorate
    other.fit(vectors, codes, asked, electorate=replace(votes, cap=None))
    return other.raw_, ""


def _dont_know(place: _Places, said: Booleans) -> list[Finding]:
    m = len(place.workers)
    times = np.bincount(place.worker[said], minlength=m)
    share = times / np.maximum(np.bincount(place.worker, minlength=m), 1)
    found = np.flatnonzero((share >= DONT_KNOW) & (times >= FEWEST_DONT_KNOW))
    if not len(found):
        return []
    rows = np.flatnonzero(said & np.isin(place.worker, found))[:SHOWN]
    exhibits = np.stack([place.worker[rows], np.full(len(rows), -1), place.question[rows]], axis=1)
    return [
        Finding(
            "dont_know",
            "notice",
            "workers",
            float(share[found].max()),
            DONT_KNOW,
            workers=found,
            exhibits=exhibits,
        )
    ]


def _nearly_identical(seen: Survey) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return of each group's pairs of answers how many are nearly identical, and how many."""
    pairs, found = seen.pairs, {}
    for group in seen.kinship.groups:
        inside = np.zeros(pairs.n_workers, dtype=bool)
        inside[group.members] = True
        here = (inside[pairs.left] & inside[pairs.right])[pairs.pair]
        alike = int((pairs.cosine[here] >= NEARLY).sum())
        found[tuple(group.members.tolist())] = (alike, int(here.sum()))
    return found


def _with_counts(finding: Finding, alike: Mapping[tuple[int, ...], tuple[int, int]]) -> Finding:
    """Return a finding about a group with numbers that a person can check."""
    counts = alike.get(tuple(finding.workers.tolist()))
    if counts is None or finding.kind not in ("copies", "clique"):
        return finding
    n_alike, n_pairs = counts
    more = {"n_alike": n_alike, "n_pairs": n_pairs, "mostly_alike": 2 * n_alike >= n_pairs}
    return replace(finding, figures={**finding.figures, **more})


def _alarm(place: _Places, finding: Finding, model_names: Mapping[Any, str]) -> Alarm:
    if finding.kind == "model_like":
        exhibits = _beside_model(place, finding)
    else:
        exhibits = [
            SideBySide(
                place.questions[question],
                place.row_of[left, question],
                None if right < 0 else place.row_of[right, question],
            )
            for left, right, question in finding.exhibits.tolist()
        ]
    return Alarm(
        finding.kind,
        finding.severity,
        finding.statistic,
        finding.threshold,
        tuple(place.workers[code] for code in finding.workers[:NAMED].tolist()),
        tuple(place.questions[code] for code in finding.questions[:NAMED].tolist()),
        _message(finding, model_names),
        tuple(exhibits),
    )


def _message(finding: Finding, model_names: Mapping[Any, str]) -> Message:
    """Return what an alarm says; it names no worker and no question."""
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


def _beside_model(place: _Places, finding: Finding) -> list[SideBySide]:
    rows = place.model_rows[finding.figures["model"]]
    found = [
        SideBySide(place.questions[question], place.row_of[worker, question], None, row)
        for question, row in rows.items()
        for worker in finding.workers.tolist()
        if (worker, question) in place.row_of
    ]
    return found[:SHOWN]


def _camps(place: _Places, found: QuestionCamps) -> dict[Any, CampedAnswers]:
    camps = {
        place.questions[code]: CampedAnswers(known_separation(value))
        for code, value in enumerate(found.separation.tolist())
        if not np.isnan(value)
    }
    for code, (larger, smaller), (one, other) in zip(
        found.listed.tolist(), found.camps, found.nearest, strict=True
    ):
        question = place.questions[code]
        camps[question] = replace(
            camps[question],
            sizes=(len(larger), len(smaller)),
            nearest=(place.row_of[one, code], place.row_of[other, code]),
        )
    return camps


def _checks(seen: Survey) -> list[Looked]:
    found = [
        Looked(
            "two_camps",
            seen.camps.statistic,
            seen.camps.threshold,
            seen.camps.rings,
            seen.camps.reason,
        ),
        Looked(
            "two_camps_of_questions",
            seen.questions.statistic,
            seen.questions.threshold,
            seen.questions.rings,
            seen.questions.reason,
        ),
        Looked(
            "copies",
            seen.kinship.statistic,
            seen.kinship.threshold,
            bool(seen.kinship.groups),
            seen.kinship.reason,
        ),
    ]
    for name, check in (
        ("leverage", seen.leverage),
        ("grader_disagreement", seen.disagreement),
        ("concentrated_weight", seen.concentration),
        ("unstable_ranking", seen.stability),
    ):
        found.append(Looked(name, check.statistic, check.threshold, check.rings, check.reason))
    if seen.starts is not None:
        starts = seen.starts
        found.append(
            Looked(
                "agreement_of_starts",
                starts.statistic,
                starts.threshold,
                starts.rings,
                starts.reason,
            )
        )
    return found
