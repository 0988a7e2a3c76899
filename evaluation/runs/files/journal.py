"""Store every reply of a model as a line of the folder's journal, requests.jsonl.

Lines are only appended, each in one write, so that a reply stored by `store_reply` survives any
end of the process; a second later it is on the disk as well. An incomplete last line is cut off
when the journal is opened again. A line of its own rejects an earlier reply.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotations.exchange import AnswerStatus, InputError
from annotations.exchange.model_replies import split_model_reply
from annotations.exchange.thinking import join_thinking
from evaluation.core.backends.chat.contract import ChatModel
from evaluation.runs.files.problem_messages import build_error
from evaluation.runs.flow.asking.plan import PlannedRequest, Prompt, RecordedReply

NAME = "requests.jsonl"
SYNC_SECONDS = 1.0


@dataclass(frozen=True)
class Configuration:
    """A model with its prompt and parameters, as the journal stores it under one name.

    `wanted` is the requested name, `name` the name in use; they differ if another configuration of
    the same folder has the requested name.
    """

    name: str
    wanted: str
    backend: str
    address: str
    model: str
    strategy: str
    system: str
    template: str
    prompt_hash: str
    parameters: dict[str, Any]
    seed: int | None

    @classmethod
    def from_model(
        cls,
        model: ChatModel,
        prompt: Prompt,
        parameters: dict[str, Any],
        seed: int | None,
        wanted: str,
    ) -> Configuration:
        """Return the configuration of a model, prompt and parameters under the requested name."""
        return cls(
            wanted,
            wanted,
            model.kind,
            model.address,
            model.model,
            prompt.strategy,
            prompt.system,
            prompt.template,
            prompt.hash,
            parameters,
            seed,
        )

    def collect_settings(self) -> dict[str, Any]:
        """Return all settings in which two configurations may differ, by name."""
        values = {
            name: getattr(self, name)
            for name in ("backend", "address", "model", "strategy", "system", "template", "seed")
        }
        return {**values, **self.parameters}

    @property
    def id(self) -> str:
        """Identifier: hash of 16 digits over all facts and the requested name."""
        both = json.dumps([self.wanted, self.collect_settings()], sort_keys=True)
        return hashlib.sha256(both.encode()).hexdigest()[:16]

    def describe_difference(self, other: Configuration) -> str:
        """Return the settings that differ from another configuration's, such as "temperature=1"."""
        own_facts, other_facts = self.collect_settings(), other.collect_settings()
        differences = []
        for name in [*own_facts, *(name for name in other_facts if name not in own_facts)]:
            if own_facts.get(name) == other_facts.get(name):
                continue
            value = own_facts.get(name)
            if name in {"system", "template", "address"}:
                value = hashlib.sha256(str(value).encode()).hexdigest()[:8]
            differences.append(f"{name}={value if isinstance(value, str) else json.dumps(value)}")
        return ", ".join(differences)[:150]


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """The latest reply to a question and sample: one row of model_answers.csv.

    `thinking` is the thinking part that was separated from the reply.
    """

    configuration: str
    question: str
    sample: int
    place: int
    key: str
    answer: str
    status: AnswerStatus
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    attempts: int
    cost: float
    seed: int | None
    error: str
    message: str
    thinking: str = ""

    def build_table_row(self, keep_thinking: bool) -> ReplyRow:
        """Return the row for the table; if `keep_thinking`, with the thinking before the answer."""
        if not keep_thinking or not self.thinking:
            return self
        return replace(self, answer=join_thinking(self.answer, self.thinking))


ROW = tuple(name for name in ReplyRow.__dataclass_fields__ if name not in ("status", "thinking"))


@dataclass
class Journal:
    """The journal of one folder, read on entry and locked against other commands until exit.

    Raises InputError if the file is no journal, another command writes into it, or the folder is
    not writable. With `read_only` nothing is created or locked.
    """

    folder: Path
    read_only: bool = False
    configurations: dict[str, Configuration] = field(default_factory=dict)
    rows: dict[tuple[str, str, int], ReplyRow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the empty indices of replies; the file is read on entry."""
        self.path = self.folder / NAME
        self._by_key: dict[str, ReplyRow] = {}
        self._dropped: list[ReplyRow] = []
        self._places: dict[str, int] = {}
        self._file: int | None = None
        self._size = 0
        self._synced = time.monotonic()
        self._syncing: asyncio.Future[None] | None = None

    def __enter__(self) -> Journal:
        try:
            if not self.read_only:
                self.folder.mkdir(parents=True, exist_ok=True)
                # Unbuffered: a line that the kernel has survives the end of the process.
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
                # Non-blocking: a second command fails with a message instead of waiting.
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read_lines()
        except BlockingIOError as error:
            self._close_file()
            raise build_error(str(self.path), "journal_busy") from error
        except (OSError, ValueError) as error:
            self._close_file()
            cause = getattr(error, "strerror", None) or str(error)
            raise InputError.single(
                str(self.folder),
                f"the folder cannot be used: {cause}",
                "Check the place, or choose another.",
            ) from error
        except BaseException:
            self._close_file()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close_file()

    def _close_file(self) -> None:
        """Flush the journal's file to the disk and close it."""
        if self._file is not None:
            with suppress(OSError):  # a device, or a disk that has complained before
                os.fsync(self._file)
            os.close(self._file)
            self._file = None

    def _read_lines(self) -> None:
        """Load all lines of the journal; cut off an incomplete last line."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):  # torn
                    if self._file is not None:
                        os.ftruncate(self._file, self._size)
                    break
                self._size += len(line)
                self._load_line(number, line)

    def _load_line(self, number: int, line: bytes) -> None:
        """Load one line into the indices. Raises InputError for a line of another form."""
        try:
            entry = json.loads(line)
            if "described" in entry:
                described = Configuration(**entry["described"])
                self.configurations[described.id] = described
            cells = {name: entry[name] for name in ROW}
            row = ReplyRow(status=AnswerStatus(entry["status"]), **cells)
            if entry.get("rejected"):
                self._discard_row(row)
            elif "thinking" in entry:
                self._index_row(replace(row, thinking=entry["thinking"]))
            else:
                self._index_row(_upgrade_row(row))
            # A copy has no raw answer of its own; that of the key stays in the first line.
            if not entry.get("copied"):
                self._places[cells["key"]] = self._size - len(line)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError.single(
                str(self.path),
                "this is no line of an asking",
                "Choose another folder, or remove the line.",
                line=number,
            ) from error

    def _index_row(self, row: ReplyRow) -> None:
        """Index a row as the latest reply of its question and sample."""
        self.rows[row.configuration, row.question, row.sample] = row
        if row.status is not AnswerStatus.ERROR:
            # The first reply of a key stays: copies come after it.
            self._by_key.setdefault(row.key, row)

    def _discard_row(self, row: ReplyRow) -> None:
        """Remove a rejected reply from the indices; its cost remains counted."""
        place = row.configuration, row.question, row.sample
        if place in self.rows:
            self._dropped.append(self.rows.pop(place))
        self._by_key.pop(row.key, None)

    def find_or_name_configuration(self, wanted: Configuration) -> Configuration:
        """Return the stored configuration, or the wanted one under a name not used in the folder.

        The first configuration keeps the wanted name; to a later one the differences are appended,
        such as "small (temperature=1)".
        """
        known = self.configurations.get(wanted.id)
        if known is not None:
            return known
        others_by_name = {other.name: other for other in self.configurations.values()}
        name = wanted.wanted
        if name in others_by_name:
            name = f"{name} ({wanted.describe_difference(others_by_name[name])})"
        number = 1
        unique_name = name
        while unique_name in others_by_name:
            number += 1
            unique_name = f"{name} #{number}"
        return replace(wanted, name=unique_name)

    def open_reply_store(self, model: ChatModel, configuration: Configuration) -> JournalStore:
        """Return the reply store of one configuration and its model."""
        return JournalStore(self, model, configuration)

    def find_reply(self, key: str) -> ReplyRow | None:
        """Return the reply to a request key, of any configuration; None without a usable one."""
        return self._by_key.get(key)

    def find_raw_reply(self, key: str) -> Any:
        """Return the server's raw answer to the latest request with this key; None without one."""
        place = self._places.get(key)
        if place is None:
            return None
        with self.path.open("rb") as lines:
            lines.seek(place)
            return json.loads(lines.readline()).get("reply")

    def append_reply(
        self, configuration: Configuration, row: ReplyRow, aside: dict[str, Any]
    ) -> None:
        """Append a reply's row, with further fields `aside`. Raises OSError; the file stays whole.

        The first row of a configuration also describes the configuration.
        """
        entry: dict[str, Any] = {"model": configuration.name, "status": row.status.value}
        entry |= {name: getattr(row, name) for name in (*ROW, "thinking")} | aside
        if row.configuration not in self.configurations:
            entry["described"] = asdict(configuration)
        place = self._size
        self._append_line(entry)
        if not aside.get("copied"):
            self._places[row.key] = place
        self.configurations[row.configuration] = configuration
        self._index_row(row)

    def reject_reply(self, row: ReplyRow) -> None:
        """Record that a reply is unusable, so that its request is sent again. Raises OSError."""
        cells = {name: getattr(row, name) for name in (*ROW, "thinking")}
        name = self.configurations[row.configuration].name
        self._append_line({"model": name, "status": row.status.value, **cells, "rejected": True})
        self._discard_row(row)

    def sum_costs(self, configuration: Configuration) -> float:
        """Return the cost of all replies of a configuration, rejected ones included."""
        which = configuration.id
        # A rejected reply was paid for, too.
        rows = (*self.rows.values(), *self._dropped)
        return sum(row.cost for row in rows if row.configuration == which)

    def _append_line(self, entry: dict[str, Any]) -> None:
        """Write one JSON line; cut it off again if the write fails. Raises OSError."""
        assert self._file is not None
        try:
            text = json.dumps(entry, ensure_ascii=False, allow_nan=False)
        except ValueError:  # NaN in a server's answer is no JSON
            text = json.dumps({**entry, "reply": repr(entry.get("reply"))}, ensure_ascii=False)
        # Half characters of a server's answer have no bytes in UTF-8.
        line = text.encode("utf-8", "replace") + b"\n"
        try:
            written = 0
            # A write may take only a part of the bytes.
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:
            with suppress(OSError):  # no file but a device
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)
        self._start_sync()

    def _start_sync(self) -> None:
        """Flush the journal to the disk in a thread, at most once a second."""
        now = time.monotonic()
        # fsync may take long on a slow disk, so it runs in a thread, and one at a time.
        if now - self._synced < SYNC_SECONDS or (self._syncing and not self._syncing.done()):
            return
        self._synced = now
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        # A duplicate: the journal may be closed before the thread has run.
        self._syncing = loop.run_in_executor(None, _sync_file, os.dup(self._file or 0))


def _upgrade_row(row: ReplyRow) -> ReplyRow:
    """Return a row of an older journal with thinking separated from the answer."""
    parsed = split_model_reply(row.answer, row.status, row.finish_reason)
    upgraded = replace(row, answer=parsed.text, status=parsed.status, thinking=parsed.thinking)
    if parsed.status is AnswerStatus.ERROR and row.status is not AnswerStatus.ERROR:
        problem = f"the reply ended with an error (finish_reason {row.finish_reason})"
        upgraded = replace(upgraded, answer="", error="error_in_reply", message=problem)
    return upgraded


def _sync_file(file: int) -> None:
    """Flush a duplicated file descriptor to the disk and close it."""
    try:
        os.fsync(file)
    except OSError:
        pass  # the next write says it louder
    finally:
        os.close(file)


class JournalStore:
    """The reply store of one configuration in a journal (see `flow.asking.plan.ReplyStore`)."""

    def __init__(self, journal: Journal, model: ChatModel, configuration: Configuration) -> None:
        self._journal, self._model = journal, model
        self._configuration = configuration
        self._id = configuration.id

    def has_reply(self, planned: PlannedRequest) -> bool:
        """Return whether the request has a stored reply that is not an ERROR."""
        request = planned.request
        row = self._journal.rows.get((self._id, request.id, request.sample))
        # The key as well: a question whose wording changed since has the same id, but needs a new
        # reply.
        return row is not None and row.key == planned.key and row.status is not AnswerStatus.ERROR

    def knows_key(self, key: str) -> bool:
        """Return whether a reply to this request key is stored for any configuration."""
        return self._journal.find_reply(key) is not None

    def copy_known_reply(self, planned: PlannedRequest) -> None:
        """Store a copy of the known reply to the same request key for this request, at no cost."""
        known = self._journal.find_reply(planned.key)
        assert known is not None
        cells = {name: getattr(known, name) for name in ReplyRow.__dataclass_fields__}
        cells |= self._build_key_fields(planned) | {"cost": 0.0}
        self._journal.append_reply(self._configuration, ReplyRow(**cells), {"copied": True})

    def store_reply(self, planned: PlannedRequest, kept: RecordedReply) -> None:
        """Append a reply to the journal, with its raw request and raw answer."""
        reply = kept.reply
        row = ReplyRow(
            **self._build_key_fields(planned),
            answer=reply.text,
            status=reply.status,
            finish_reason=reply.finish_reason,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            seconds=round(kept.seconds, 4),
            attempts=kept.attempts,
            cost=kept.cost,
            error=reply.fault.code if reply.fault else "",
            message=reply.fault.message if reply.fault else "",
            thinking=reply.thinking,
        )
        self._journal.append_reply(
            self._configuration,
            row,
            {
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "address": self._model.address,
                "request": self._model.build_request_body(planned.request)
                if kept.attempts
                else None,
                "reply": reply.raw,
                **({"adapted": list(changes)} if (changes := self._model.adaptations) else {}),
            },
        )

    def _build_key_fields(self, planned: PlannedRequest) -> dict[str, Any]:
        """Return the row fields that identify a planned request, by name."""
        request = planned.request
        return {
            "configuration": self._id,
            "question": request.id,
            "sample": request.sample,
            "place": planned.place,
            "key": planned.key,
            "seed": request.parameters.get("seed"),
        }
