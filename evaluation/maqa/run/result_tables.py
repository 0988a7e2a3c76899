"""Result tables of MAQA, each declared once for files, runs, downloads and pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from evaluation.maqa.run.small_samples import SampleRow
from evaluation.maqa.run.study import MaqaStudy
from evaluation.maqa.run.tables import (
    AnswerRow,
    BinRow,
    CurveRow,
    GoldCountRow,
    ItemRow,
    PairRow,
    PositionRow,
)
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.flow.stored import StudyTable


class ReplyRow(NamedTuple):
    """One stored reply of a system to a question, with its confidence and meaning cluster.

    `confidence` is the stated one, 0 to 100. `meaning` is the number of the reply's cluster among
    the system's replies to the question, from 0; None for a single reply.
    """

    item: str
    system: str
    sample: int
    question: str
    reply: str
    status: str
    confidence: float | None
    meaning: int | None
    precision: float | None


def build_reply_rows(study: MaqaStudy) -> Iterator[ReplyRow]:
    """Yield a row for each reply of a study, by system and question."""
    for system, replies in study.judged.items():
        for item, judged in replies.items():
            meanings = study.clusters.labels.get((system, item))
            for number, result in enumerate(judged):
                reply = result.reply
                yield ReplyRow(
                    *(item, system, reply.sample, study.right[item].question.text),
                    *(reply.text, reply.status.value, result.confidence),
                    None if meanings is None else int(meanings[number]),
                    None if result.score is None else result.score.precision,
                )


SCORES = {
    "precision": "share of the answers that are right, 0 to 1",
    "recall": "share of the right answers that are given, 0 to 1",
    "f1": "F1 of precision and recall, 0 to 1",
    "exact_set": "1 where exactly the right answers are given, else 0; a mean of these",
}
FIRST_TOKEN = {
    "max_softmax": "greatest probability at the first token of an answer, 0 to 1",
    "entropy": "entropy at the first token, in nats; lower end if not all tokens are known",
    "margin": "greatest less second greatest probability at the first token, 0 to 1",
}
GOLD_ANSWERS = {"gold_answers": "how many right answers the question has"}
MEASURE = {"measure": "measure of confidence"}
SAMPLE = {"sample": "number of the reply to the question"}

METRICS: StudyTable[MaqaStudy, MetricRow] = StudyTable(
    "metrics", MetricRow, "metrics.csv", lambda study: study.metrics
)
ITEMS = StudyTable(
    "items",
    ItemRow,
    "items.csv",
    MaqaStudy.build_item_rows,
    help={
        "replies": "how many replies there are",
        "answers": "how many answers the replies hold",
        **GOLD_ANSWERS,
        **{name: f"mean over the replies: {text}" for name, text in SCORES.items()},
        **{name: f"mean over the answers: {text}" for name, text in FIRST_TOKEN.items()},
        "verbalised": "confidence that the model states, 0 to 100; mean over the replies",
        "consistency": "mean similarity of two replies, 0 to 1",
        "semantic_entropy": "entropy over the meanings of the replies, in nats",
        "semantic_entropy_weighted": "the same, weighted by the probabilities of the replies",
        "meanings": "clusters of replies with the same meaning",
        "semantic_entropy_coverage": "semantic entropy corrected for unseen meanings, in nats",
        "meanings_estimated": "estimated number of meanings, seen and unseen",
        "kernel_entropy": "von Neumann entropy of the replies' cosines, in nats",
    },
)
ANSWERS = StudyTable(
    "answers",
    AnswerRow,
    "answers.csv",
    MaqaStudy.build_answer_rows,
    help={
        **SAMPLE,
        "position": "place in the reply, from 1",
        "right": "whether it is a right answer; empty where none is known",
        "gold_answer": "the right answer that it is",
        **FIRST_TOKEN,
        "entropy_high": "upper end of the entropy, in nats",
    },
)
POSITIONS = StudyTable(
    "positions",
    PositionRow,
    "positions.csv",
    MaqaStudy.build_position_rows,
    help={
        "position": "place of the answers in their replies, from 1",
        "n": "how many answers",
        "accuracy": "share that is right, 0 to 1",
        "n_distributions": "answers with probabilities",
        **{name: f"mean over these: {text}" for name, text in FIRST_TOKEN.items()},
    },
)
GOLD_COUNTS = StudyTable(
    "gold-counts",
    GoldCountRow,
    "gold_counts.csv",
    MaqaStudy.build_gold_count_rows,
    help={**GOLD_ANSWERS, "n": "how many questions", **SCORES},
)
CURVES: StudyTable[MaqaStudy, CurveRow] = StudyTable(
    "curves",
    CurveRow,
    "curves.csv",
    lambda study: study.curves,
    help={
        **MEASURE,
        "false_alarms": "false positive rate, 0 to 1",
        "found": "true positive rate, 0 to 1",
    },
)
CALIBRATION: StudyTable[MaqaStudy, BinRow] = StudyTable(
    "calibration",
    BinRow,
    "calibration.csv",
    lambda study: study.bins,
    help={
        **MEASURE,
        "start": "lower end of the bin of confidence, 0 to 1",
        "end": "upper end of the bin, 0 to 1",
        "confidence": "mean confidence in the bin, 0 to 1",
        "accuracy": "share that is right, 0 to 1",
        "n": "how many cases",
        "questions": "how many questions these are of",
    },
)
COMPARISONS: StudyTable[MaqaStudy, PairRow] = StudyTable(
    "comparisons",
    PairRow,
    "comparisons.csv",
    lambda study: study.comparisons,
    help={
        "system_a": "the first of two models",
        "system_b": "the second of two models",
        "measure": "f1, or auroc_ and a measure of confidence",
        "n": "questions of both",
    },
)
SMALL_SAMPLES: StudyTable[MaqaStudy, SampleRow] = StudyTable(
    "semantic-samples",
    SampleRow,
    "semantic_samples.csv",
    lambda study: study.small_samples,
    help={
        "samples": "replies to each question: the first 3, 5 or 10",
        "measure": "semantic_entropy (plug-in), semantic_entropy_coverage or kernel_entropy",
        "mean": "mean over the questions, in nats",
        "auroc": "how often the entropy is lower for a right question than for a wrong one",
        "difference": "AUROC less that of semantic_entropy, on the same questions",
        "difference_low": "lower end of the 95% interval of the difference",
        "difference_high": "upper end of the 95% interval of the difference",
        "n": "how many questions",
    },
)
# Without a file: ``study maqa`` writes the replies in the format that ``evaluate maqa`` reads.
REPLIES = StudyTable(
    "replies",
    ReplyRow,
    "",
    build_reply_rows,
    help={
        **SAMPLE,
        "question": "its text",
        "reply": "what the model replied",
        "confidence": "confidence that the model states, 0 to 100",
        "meaning": "cluster of replies with the same meaning, from 0",
        "precision": SCORES["precision"],
    },
)

STUDY_TABLES: tuple[StudyTable[MaqaStudy, Any], ...] = (
    *(METRICS, ITEMS, ANSWERS, POSITIONS, GOLD_COUNTS, CURVES, CALIBRATION, COMPARISONS, REPLIES),
    SMALL_SAMPLES,
)
"""All tables of a study, in the order in which they are written."""
