"""Create the chat model that a SPEC names; read scripted replies from a file.

Scripted replies are a chat model without a network, for tests and trials.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id, is_blank
from annotations.exchange.model_replies import split_model_reply
from annotations.exchange.problems import Problems
from annotations.exchange.reading.tables import open_table
from annotations.exchange.records import AnswerStatus
from evaluation.core.backends.chat.contract import ChatModel, ChatRequest, Fault, Reply
from evaluation.core.backends.errors import ChatError, split_model_at_url

if TYPE_CHECKING:
    # the help of commands imports this module, and httpx takes a third of a second
    from annotations.outgoing.connections import Vet
    from evaluation.core.backends.server import RetryRules


FORMS = "openai:MODEL@URL, local:smollm2, replies:FILE"
LOCAL = "local:"
"""Begins the SPEC of a model that computes on this machine, in a process of its own."""


def get_chat_model(
    spec: str,
    *,
    what: str = "model",
    api_key_env: str = "OPENAI_API_KEY",
    patience: RetryRules | None = None,
    vet: Vet | None = None,
) -> ChatModel:
    """Create the chat model that a SPEC names; `what` is its role in error messages.

    `api_key_env` is the name of the environment variable that holds the key. Raises ChatError for
    an unknown SPEC, an invalid address or a missing package, InputError for an invalid file of
    replies.
    """
    text = spec.strip()
    kind, _, target = text.partition(":")
    if kind == "openai":
        parts = split_model_at_url(target)
        if parts is None:
            raise ChatError(
                f"{what} {spec!r} is not of the form openai:MODEL@URL: write the server's base "
                "address after the @, such as openai:NAME@http://127.0.0.1:8080/v1"
            )
        from evaluation.core.backends.chat.openai import OpenAIChat

        return OpenAIChat(*parts, what=what, api_key_env=api_key_env, patience=patience, vet=vet)
    if text == "local:smollm2":
        from evaluation.core.backends.chat.local import LocalChat

        return LocalChat(patience)
    if kind == "replies" and target:
        return ScriptedChat(target)
    raise ChatError(f"{what} {spec!r} is unknown: choose one of {FORMS}")


COLUMNS = (
    Column("question", ("question", "id")),
    Column("reply", ("reply", "answer", "text")),
    *(
        Column(name, (name,), required=False)
        for name in ("sample", "status", "finish_reason", "delay", "failures")
    ),
)
LONGEST_DELAY = 3600.0


@dataclass(frozen=True, slots=True)
class _ScriptedReply:
    """Row of a file of scripted replies; the first `failures` attempts fail before it is given."""

    line: int
    text: str
    status: AnswerStatus
    finish_reason: str
    delay: float
    failures: int


class ScriptedChat(ChatModel):
    """Chat model that answers with a file's replies, by item id and optionally by sample.

    A row without a sample is the reply to all samples. An item without a row gets a reply of status
    ERROR. Raises InputError with every bad row.
    """

    kind = "replies"
    model = ""
    by_id = True

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        self.address = str(path.absolute())
        self.name = path.stem
        self._lines = _read_scripted_replies(path)
        self._attempts: dict[tuple[str, int], int] = {}

    @property
    def spec(self) -> str:
        """Text (SPEC) that names the file of replies on the command line."""
        return f"{self.kind}:{self.address}"

    async def reply(self, request: ChatRequest) -> Reply:
        """Return the scripted reply after its delay; a fault if the item has no row in the file."""
        # A row for this sample goes before the row for all samples.
        scripted = self._lines.get((request.id, request.sample)) or self._lines.get(
            (request.id, None)
        )
        if scripted is None:
            return Reply.from_fault(Fault("no_reply", f"no reply is scripted for {request.id}"))
        if scripted.delay:
            await asyncio.sleep(scripted.delay)
        key = (request.id, request.sample)
        self._attempts[key] = attempt = self._attempts.get(key, 0) + 1
        if attempt <= scripted.failures:
            return Reply.from_fault(Fault("scripted", "a scripted failure", again=True))
        raw = {"text": scripted.text, "status": scripted.status.value, "line": scripted.line}
        if scripted.status is AnswerStatus.ERROR:
            return Reply.from_fault(Fault("scripted", scripted.text or "a scripted error"), raw)
        read = split_model_reply(scripted.text, scripted.status, scripted.finish_reason)
        if read.status is AnswerStatus.ERROR:
            problem = f"the reply ends with an error (finish_reason {scripted.finish_reason})"
            return Reply.from_fault(Fault("error_in_reply", problem), raw)
        reason = scripted.finish_reason
        return Reply(read.text, read.status, reason, raw=raw, thinking=read.thinking)


def _read_scripted_replies(path: Path) -> dict[tuple[str, int | None], _ScriptedReply]:
    """Return a file's replies by (item id, sample); raises InputError with every bad row."""
    problems = Problems(path.name)
    table = open_table(path, COLUMNS, problems)
    lines: dict[tuple[str, int | None], _ScriptedReply] = {}
    for number, cells, _ in table.rows:
        question, text, sample, status, reason, delay, failures = cells
        question, text = clean_id(question), "" if is_blank(text) else text
        problems_before = problems.total
        if not question:
            problems.add(number, "question", "the question is missing", "Fill in the id.")
        word = status.strip().casefold() or ("text" if text else "empty")
        if word not in list(AnswerStatus):
            accepted = ", ".join(AnswerStatus)
            problems.add(number, "status", f"the status {word[:40]} is unknown: write {accepted}")
        elif (word == "empty" and text) or (word == "text" and not text):
            problems.add(number, "status", f"the status {word} does not fit the reply")
        counts = {
            name: _parse_number(problems, number, name, cell, math.inf)
            for name, cell in (("sample", sample), ("failures", failures))
        }
        seconds = _parse_number(problems, number, "delay", delay, LONGEST_DELAY)
        # Only now, so that all problems of a row are reported at once.
        if problems.total > problems_before:
            continue
        key = (question, int(counts["sample"]) if sample.strip() else None)
        line = _ScriptedReply(
            number, text, AnswerStatus(word), reason.strip(), seconds, int(counts["failures"])
        )
        first = lines.setdefault(key, line)
        if first is not line:
            sample_note = "" if key[1] is None else f", sample {key[1]},"
            problems.add(
                number,
                None,
                f"question {question}{sample_note} has a reply already in line {first.line}",
                "Keep one of the two rows, or distinguish them by the column sample.",
            )
    if not lines and not problems.total:
        problems.add(None, None, "there is no reply in it", "Write one row for each question.")
    problems.raise_if_any()
    return lines


def _parse_number(problems: Problems, line: int, name: str, cell: str, highest: float) -> float:
    """Return the number in a cell, 0 for an empty one; records a problem if it is invalid."""
    try:
        value = float(cell.strip() or 0)
    except ValueError:
        value = math.nan
    if not 0 <= value <= highest or value == math.inf or (name != "delay" and value % 1):
        problems.add(line, name, f"{cell[:40]!r} is no number that fits here")
        return 0.0
    return value
