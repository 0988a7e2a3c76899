"""Columns and rows of what was replied and judged, the same in files and over the database."""

from __future__ import annotations

from evaluation.flow.eloquent.found import Findings
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.matching import Reply

REPLY = (
    *("system", "item", "language", "variant", "reply", "status"),
    *("prompt", "changed", "change_reason", "turns", "follow_ups"),
)
JUDGEMENT = (
    *("system", "item", "language", "judge", "repeat", "score", "reason", "notes", "judge_reply"),
    "asked",
)
AGREEMENT = (
    *("judge", "other", "n", "difference", "absolute_difference"),
    *("kappa", "pearson", "spearman", "reason"),
)


def reply_cells(one: Reply) -> tuple[object, ...]:
    """Return a row of replies; `variant` counts the wordings of the item from 1."""
    return (
        *(one.system, one.item, one.language, one.place + 1, one.text, one.status.value),
        *(one.prompt, "yes" if one.changed else "no", one.note or None, len(one.turns)),
        "\n".join(turn.question for turn in one.turns[1:]) or None,
    )


def judgement_cells(one: Judgement) -> tuple[object, ...]:
    """Return a row of judgements."""
    return (
        *(one.system, one.item, one.language or None, one.judge, one.repeat, one.score),
        *(one.reason, one.notes or None, one.reply or None, one.n_asked),
    )


def agreement_rows(findings: Findings) -> list[list[object]]:
    """Return every two judges compared."""
    return [[getattr(one, name) for name in AGREEMENT] for one in findings.agreements]
