"""Ask a model about answers, and ask again if its reply cannot be parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import numpy as np

from annotations.exchange.records import AnswerStatus
from evaluation.core.backends.chat.contract import Message
from evaluation.core.stats.cells import Booleans, Integers, encode_labels
from evaluation.runs.flow.asking.plan import (
    PASSAGE,
    Item,
    TemplateError,
    hash_prompt,
    parse_template,
)


@dataclass(frozen=True)
class PromptWithReminder:
    """A prompt template, and the reminder to send after a reply that cannot be parsed.

    `{passage}` is replaced by the question's passage, as a paragraph of its own, or by nothing.
    A brace itself is written twice. Raises TemplateError: an unknown field, or one but the passage
    that is missing.
    """

    template: str
    again: str
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise TemplateError for an unknown field, or a required one that is missing."""
        used = [name for _, name in parse_template(self.template) if name is not None]
        known = ", ".join(f"{{{name}}}" for name in self.fields)
        for name in used:
            if name not in self.fields:
                raise TemplateError(
                    f"the field {{{name}}} is unknown: the template may use {known}",
                    "unknown",
                    field=f"{{{name}}}",
                    known=known,
                )
        for name in self.fields:
            if name != PASSAGE and name not in used:
                raise TemplateError(
                    f"the field {{{name}}} is missing: it needs {known}",
                    "missing",
                    field=f"{{{name}}}",
                )

    @property
    def hash(self) -> str:
        """Version of the prompt: SHA-256 of the template and the reminder."""
        return hash_prompt(self.again, self.template)

    def build_messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the messages to send about one answer; fields that are not given stay empty."""
        filled = dict(values)
        if filled.get(PASSAGE):
            filled[PASSAGE] = f"Text: {filled[PASSAGE]}\n\n"
        content = "".join(
            text + (filled.get(name, "") if name else "")
            for text, name in parse_template(self.template)
        )
        return ({"role": "user", "content": content},)

    def build_second_request(
        self, messages: tuple[Message, ...], reply: str
    ) -> tuple[Message, ...]:
        """Return the messages of a second request: the first ones, the reply and the reminder."""
        more: Message = {"role": "user", "content": self.again}
        if not reply.strip():  # servers refuse an empty turn
            return (
                *messages[:-1],
                {**messages[-1], "content": _append_reminder(messages[-1], self.again)},
            )
        return (*messages, {"role": "assistant", "content": reply}, more)


def _append_reminder(message: Message, again: str) -> str:
    """Return a message's text with the reminder below it."""
    return f"{message['content']}\n\n{again}"


class Reply(Protocol):
    """Protocol of a stored reply of a model: its text and status."""

    @property
    def answer(self) -> str:
        """Text of the reply."""

    @property
    def status(self) -> AnswerStatus:
        """Status of the reply: text, empty, refused, cut off or error."""


Replies = Mapping[tuple[str, int], Reply]
Ask = Callable[[str, PromptWithReminder, Sequence[Item]], Replies]
T = TypeVar("T")
Read = Callable[[str], tuple[T | None, str | None]]


@dataclass(frozen=True)
class AnswerColumns:
    """Answers that have a text, with their questions and authors, as columns.

    Attributes
    ----------
    authors : ids of the workers and models. people : whether each author is a worker.
    questions : ids of the questions. texts : the answers.
    wordings, passages : text and passage of each question by id; without a text, the id is the
        wording.
    """

    authors: Sequence[Any]
    people: Sequence[bool]
    questions: Sequence[Any]
    texts: Sequence[str]
    wordings: Mapping[Any, str]
    passages: Mapping[Any, str]

    def __len__(self) -> int:
        return len(self.texts)

    def build_answer_name(self, row: int) -> str:
        """Return a name of the answer in a row that is unique among these answers."""
        kind = "worker" if self.people[row] else "model"
        # Quoted, or a slash in an id could make two answers have the same name.
        return f"{quote(str(self.questions[row]), ' ')}/{kind}/{quote(str(self.authors[row]), ' ')}"

    def build_prompt_fields(self, row: int) -> dict[str, str]:
        """Return the wording and passage of the answer's question, by the field of a prompt."""
        question = self.questions[row]
        return {
            "question": self.wordings.get(question, str(question)),
            "passage": self.passages.get(question, ""),
        }

    def encode_answers(self) -> tuple[Integers, Integers, Booleans]:
        """Return the codes of the answers' questions, those of their authors, and who is a worker.

        Each has one entry for each answer; the last is True for workers and False for models.
        """
        codes = encode_labels(
            np.array([str(question) for question in self.questions], dtype=object)
        )[0]
        # With the kind in front, because a worker and a model may have the same id.
        people = [f"{int(p)}{a}" for p, a in zip(self.people, self.authors, strict=True)]
        author = encode_labels(np.array(people, dtype=object))[0]
        return codes, author, np.array(self.people, dtype=bool)


def ask_and_parse_replies(
    ask: Ask,
    step: str,
    prompt: PromptWithReminder,
    items: Sequence[Item],
    read: Read[T],
    nothing: str,
) -> tuple[dict[tuple[str, int], tuple[T | None, str | None]], int]:
    """Send requests and parse the replies; return the results and the number sent twice.

    The results are (value, reason) by item and sample; one of the two is None. If no value can be
    parsed, the model is asked once more, unless the reply is an ERROR or cut off, as it would be
    again. `nothing` is the reason code for an empty reply.
    """
    if not items:
        return {}, 0
    replies = ask(step, prompt, items)
    values = {which: _parse_reply(reply, read, nothing) for which, reply in replies.items()}
    messages = {item.id: item.messages for item in items}
    unread = [
        which
        for which, (value, _) in values.items()
        if value is None and not replies[which].status.is_missing
    ]
    if unread:
        name = {which: f"{which[0]}/again-{which[1]}" for which in unread}
        more = [
            Item(
                name[which], prompt.build_second_request(messages[which[0]], replies[which].answer)
            )
            for which in unread
        ]
        second = ask(f"{step} again", prompt, more)
        for which in unread:
            values[which] = _parse_reply(second[name[which], 0], read, nothing)
    return values, len(unread)


def _parse_reply(reply: Reply, read: Read[T], nothing: str) -> tuple[T | None, str | None]:
    """Return the (value, reason) that `read` parses from one reply; (None, reason) if no text."""
    if reply.status is AnswerStatus.TEXT:
        return read(reply.answer)
    return None, nothing if reply.status is AnswerStatus.EMPTY else reply.status.value
