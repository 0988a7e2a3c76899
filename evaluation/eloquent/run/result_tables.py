"""Result tables of ELOQUENT, each declared once for files, downloads and pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from evaluation.eloquent.methods import JudgeAgreement
from evaluation.eloquent.run.findings import Findings, ItemRow, SetRow
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.flow.result_tables import StudyTable


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
