"""Findings of an evaluation and their result tables.

Similarities are cosines of vectors of replies, within a set and across the languages of an item.
The submission format is that of the lab of 2025: one document for each system and language.

Result tables of ELOQUENT, each declared once for files, downloads and pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from annotations.exchange.reading.prompt_replies import NO_ANSWER
from evaluation.consensus.inputs import Progress, build_truncation_warning
from evaluation.core.backends import Embedder, EmbedderInfo, get_embedder
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.inference.comparison import Comparison
from evaluation.core.text.quality import find_language_warning
from evaluation.eloquent.methods import (
    JudgeAgreement,
    compute_set_similarity,
    compute_similarity_across_languages,
)
from evaluation.eloquent.options import EloquentParameters
from evaluation.eloquent.run.judging import Judgement
from evaluation.eloquent.run.replies import Reply
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.flow.stored import StudyTable

SetKey = tuple[str, str, str]
"""System, item and language of a set of replies."""


class SetRow(NamedTuple):
    """Result of a reply set: one system's replies to all wordings of an item in a language.

    `reason` is set without a score, `similarity_reason` without a similarity.
    """

    system: str
    item: str
    language: str
    variation: str
    n_prompts: int
    n_replies: int
    n_no_answer: int
    score: float | None
    spread: float | None
    n_judges: int
    n_scores: int
    human_score: float | None
    similarity: float | None
    similarity_answered: float | None
    n_answered: int
    reason: str | None
    similarity_reason: str | None

    @property
    def key(self) -> SetKey:
        """Key of the reply set: system, item and language."""
        return self.system, self.item, self.language


class ItemRow(NamedTuple):
    """A row of items.csv: scores and similarity of one system on one item, over languages.

    `score` is the mean and `sum` the sum over its `n` scored languages, `languages` how many have
    two prompts; `language_range` is the highest less the lowest score of a language.
    """

    item: str
    system: str
    variation: str
    languages: int
    n_prompts: int
    n_replies: int
    n_no_answer: int
    score: float | None
    sum: float | None
    n: int
    spread: float | None
    human_score: float | None
    similarity: float | None
    similarity_answered: float | None
    similarity_across_languages: float | None
    language_range: float | None
    reason: str | None


@dataclass(frozen=True)
class Findings:
    """Results of an ELOQUENT evaluation: reply sets, items, metrics, judgements, comparisons.

    Attributes
    ----------
    systems : in the order of their first occurrence.
    sets : in the order of systems, items and languages.
    items : a row for each item and system.
    judges : names of models and people that judged.
    agreements : a row for every two judges.
    comparisons : a row for every two systems, paired by item.
    embedding : how vectors were computed; None without replies.
    """

    systems: tuple[str, ...]
    sets: tuple[SetRow, ...]
    items: tuple[ItemRow, ...]
    metrics: tuple[MetricRow, ...]
    judgements: tuple[Judgement, ...]
    judges: tuple[str, ...]
    agreements: tuple[JudgeAgreement, ...]
    comparisons: tuple[Comparison, ...]
    replies: tuple[Reply, ...]
    embedding: EmbedderInfo | None = None
    warnings: Sequence[Message] = field(default_factory=tuple)

    def find_metric(self, system: str, metric: str, group: str = "") -> MetricRow | None:
        """Return a system's metric in a group of items; None if missing."""
        for row in self.metrics:
            if (row.system, row.group, row.metric) == (system, group, metric):
                return row
        return None


@dataclass(frozen=True)
class ReplySimilarity:
    """Mean cosines of replies within reply sets, and across the languages of an item.

    Attributes
    ----------
    of_sets : similarity of all replies of a set, and of the answered ones; None if undefined.
    across : similarity of replies in different languages, by system and item.
    info : how vectors were computed; None without an answer.
    warnings : about truncated texts and unknown languages.
    """

    of_sets: Mapping[SetKey, tuple[float | None, float | None]]
    across: Mapping[tuple[str, str], float | None]
    info: EmbedderInfo | None = None
    warnings: Sequence[Message] = field(default_factory=tuple)

    @classmethod
    def from_findings(cls, findings: Findings) -> ReplySimilarity:
        """Return the similarities contained in stored findings."""
        return cls(
            {row.key: (row.similarity, row.similarity_answered) for row in findings.sets},
            {(row.system, row.item): row.similarity_across_languages for row in findings.items},
            findings.embedding,
            findings.warnings,
        )


def compute_reply_similarity(
    replies: Sequence[Reply],
    parameters: EloquentParameters,
    progress: Progress | None = None,
    embedder: Embedder | None = None,
) -> ReplySimilarity:
    """Embed the answers and return their similarities; raises `BackendError`.

    `embedder` is used in place of that of the parameters, such as one with stored vectors.
    """
    vectors, info, warnings = _embed_answers(replies, parameters, progress, embedder)
    return ReplySimilarity(
        _compute_set_similarity(replies, vectors),
        _compute_similarity_across_languages(replies, vectors),
        info,
        warnings,
    )


def _embed_answers(
    replies: Sequence[Reply],
    parameters: EloquentParameters,
    progress: Progress | None,
    embedder: Embedder | None,
) -> tuple[Vectors, EmbedderInfo | None, list[Message]]:
    """Return vectors of the answers (one row each), the embedder's description, warnings."""
    texts = [reply.text for reply in replies if reply.answered]
    if not texts:
        return np.zeros((0, 1), dtype=np.float32), None, []
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = embedder or get_embedder(parameters.embedder, precision)
    embedder.fit(texts)
    report_progress = partial(progress, "embedding") if progress else None
    vectors = embedder.embed(texts, report_progress)
    info = embedder.describe()
    warnings = [
        build_truncation_warning(embedder.n_truncated_, info),
        find_language_warning(texts, info),
    ]
    return vectors, info, [warning for warning in warnings if warning is not None]


def _compute_set_similarity(
    replies: Sequence[Reply], vectors: Vectors
) -> dict[SetKey, tuple[float | None, float | None]]:
    """Return two similarities per reply set: of all replies, and of answered replies alone."""
    present = [reply for reply in replies if not reply.status.is_missing]
    keys = [(reply.system, reply.item, reply.language) for reply in present]
    codes = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    similarity = compute_set_similarity(
        vectors, [codes[key] for key in keys], [reply.answered for reply in present], len(codes)
    )
    return {
        key: (
            convert_nan_to_none(similarity.all[code]),
            convert_nan_to_none(similarity.answered[code]),
        )
        for key, code in codes.items()
    }


def _compute_similarity_across_languages(
    replies: Sequence[Reply], vectors: Vectors
) -> dict[tuple[str, str], float | None]:
    """Return the mean similarity of answers in different languages, by system and item."""
    answers = [reply for reply in replies if reply.answered]
    if not answers:
        return {}
    keys = [(reply.system, reply.item) for reply in answers]
    codes = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    names = dict.fromkeys(reply.language for reply in answers)
    languages = {name: code for code, name in enumerate(names)}
    cosines, _ = compute_similarity_across_languages(
        vectors,
        [codes[key] for key in keys],
        [languages[reply.language] for reply in answers],
        len(codes),
    )
    return {key: convert_nan_to_none(cosines[code]) for key, code in codes.items()}


LABEL = "eloquent-2025-robustness"


@dataclass(frozen=True)
class Submitter:
    """Metadata of a submission to the ELOQUENT lab, except system and language."""

    team: str = ""
    submissionid: str = "1"
    date: str = ""
    label: str = LABEL


def build_submissions(replies: Sequence[Reply], submitter: Submitter) -> Iterator[dict[str, Any]]:
    """Yield one submission form to the ELOQUENT lab per system and language.

    An entry of `questions` is the conversation about one wording. `questionid` is the item's id, a
    number if it is written as one ("12", not "012"). `turns` hold the prompt as sent and the
    follow-ups, with their answers. An empty or refused reply is "[no answer]"; failed ones are left
    out. `read_prompt_replies` and `match_replies` read the same replies again.
    """
    for system, language in dict.fromkeys((reply.system, reply.language) for reply in replies):
        replies_of_system = [
            reply
            for reply in replies
            if (reply.system, reply.language) == (system, language) and not reply.status.is_missing
        ]
        yield {
            "team": submitter.team,
            "system": system,
            "submissionid": submitter.submissionid,
            "language": language,
            "date": submitter.date,
            "label": submitter.label,
            "questions": [
                {
                    "questionid": _convert_question_id(reply.item),
                    "turns": [
                        {"question": turn.question, "answer": turn.answer or NO_ANSWER}
                        for turn in reply.turns
                    ],
                }
                for reply in replies_of_system
            ],
        }


def _convert_question_id(item: str) -> int | str:
    """Return an item's id for a submission: a number if it is written as one."""
    # `isdecimal` alone also accepts digits of other scripts.
    is_number = item.isascii() and item.isdecimal() and str(int(item)) == item
    return int(item) if is_number else item


def build_submission_file_name(form: dict[str, Any]) -> str:
    """Return the file name of a submission form, such as submission_small_en.json."""
    # Names of systems may contain slashes, and be too long for the name of a file.
    parts = [re.sub(r"[^\w.-]+", "-", str(form[name]))[:60] for name in ("system", "language")]
    return f"submission_{'_'.join(parts)}.json"


class ReplyRow(NamedTuple):
    """A row of replies.csv: one reply; `variant` numbers the wordings of an item from 1."""

    system: str
    item: str
    language: str
    variant: int
    reply: str
    status: str
    prompt: str
    changed: str
    change_reason: str | None
    turns: int
    follow_ups: str | None


class JudgementRow(NamedTuple):
    """A row of judgements.csv: one judge's score of one set of replies."""

    system: str
    item: str
    language: str | None
    judge: str
    repeat: str
    score: float | None
    reason: str | None
    notes: str | None
    judge_reply: str | None
    asked: int


def build_reply_rows(findings: Findings) -> Iterator[ReplyRow]:
    """Yield the row of replies.csv for each reply."""
    for reply in findings.replies:
        yield ReplyRow(
            *(
                reply.system,
                reply.item,
                reply.language,
                reply.place + 1,
                reply.text,
                reply.status.value,
            ),
            *(reply.prompt, "yes" if reply.changed else "no", reply.note or None, len(reply.turns)),
            "\n".join(turn.question for turn in reply.turns[1:]) or None,
        )


def build_judgement_rows(findings: Findings) -> Iterator[JudgementRow]:
    """Yield the row of judgements.csv for each judgement, with None for an empty text."""
    for judgement in findings.judgements:
        yield JudgementRow(
            *(
                judgement.system,
                judgement.item,
                judgement.language or None,
                judgement.judge,
                judgement.repeat,
                judgement.score,
            ),
            *(
                judgement.reason,
                judgement.notes or None,
                judgement.reply or None,
                judgement.n_asked,
            ),
        )


METRICS: StudyTable[Findings, MetricRow] = StudyTable(
    "metrics", MetricRow, "metrics.csv", lambda findings: findings.metrics
)
ITEMS: StudyTable[Findings, ItemRow] = StudyTable(
    "items", ItemRow, "items.csv", lambda findings: findings.items
)
SETS: StudyTable[Findings, SetRow] = StudyTable(
    "reply-sets", SetRow, "reply_sets.csv", lambda findings: findings.sets
)
REPLIES = StudyTable("replies", ReplyRow, "replies.csv", build_reply_rows)
JUDGEMENTS = StudyTable("judgements", JudgementRow, "judgements.csv", build_judgement_rows)
AGREEMENT: StudyTable[Findings, JudgeAgreement] = StudyTable(
    "agreement", JudgeAgreement, "agreement.csv", lambda findings: findings.agreements
)

STUDY_TABLES: tuple[StudyTable[Findings, Any], ...] = (
    *(METRICS, ITEMS, SETS, REPLIES, JUDGEMENTS, AGREEMENT),
)
"""The tables of a study, in the order in which a run lists them."""
