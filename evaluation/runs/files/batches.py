"""Write and read the batch files of providers: requests and responses in JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from annotations.exchange import AnswerStatus, InputError
from evaluation.core.backends.chat.completion import build_failed_reply, parse_reply
from evaluation.core.backends.chat.contract import ChatModel, Fault, Reply
from evaluation.core.backends.chat.openai import PATH
from evaluation.core.backends.server import FaultError, classify_failure
from evaluation.runs.files.problem_messages import build_error
from evaluation.runs.flow.asking.asker import End, Outcome
from evaluation.runs.flow.asking.budget import Budget
from evaluation.runs.flow.asking.plan import Planned, group_by_key
from evaluation.runs.flow.asking.store import KeptReply, Store


def write_batch(path: Path, model: ChatModel, waiting: Sequence[Planned]) -> int:
    """Write one JSON line per request (custom_id, method, url, body); return their number.

    The custom_id is the key of the reply. Raises InputError: the model is not behind an
    OpenAI-compatible address, or the file cannot be written or is there already.
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
                    "body": model.body(group[0].request),
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        raise InputError.single(
            str(path), f"it cannot be written: {error.strerror}", "Choose another file."
        ) from error
    return len(groups)


def read_batch(path: Path, planned: Sequence[Planned], store: Store, budget: Budget) -> Outcome:
    """Store the replies in a provider's batch file; requests without one remain to be sent.

    Raises InputError: it is no file of responses, or none of them is to these requests.
    """
    replies = _read_responses(path)
    outcome = Outcome(n_planned=len(planned))
    unanswered = [one for one in planned if not store.has(one)]
    outcome.n_stored = len(planned) - len(unanswered)
    n_known = 0
    try:
        for group in group_by_key(unanswered):
            reply = replies.get(group[0].key)
            if store.known(group[0].key):
                outcome.n_stored += len(group)
            elif reply is not None:
                n_known += 1
                _store_reply(group.pop(0), reply, store, budget, outcome)
                outcome.statuses[reply.status] += len(group)
            for one in group:
                if store.known(one.key):
                    store.copy(one)
                elif reply is not None:
                    store.keep(one, KeptReply(reply))
    except OSError as error:
        outcome.end = End.STORE
        outcome.reason = f"the replies cannot be stored ({error.strerror or error})"
    if replies and not n_known and not any(one.key in replies for one in planned):
        raise build_error(str(path), "batch_of_others")
    return outcome


def _store_reply(
    planned: Planned, reply: Reply, store: Store, budget: Budget, outcome: Outcome
) -> None:
    """Store one reply with its cost, and count it in `outcome`."""
    budget.reserve(0.0)
    cost = budget.settle(0.0, planned.request, reply)
    store.keep(planned, KeptReply(reply, 1, 0.0, cost))
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
            return key, Reply.failed(Fault(code, message), entry)
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
