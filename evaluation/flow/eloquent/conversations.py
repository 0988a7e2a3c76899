"""Conversations with one system: each wording in its own, then follow-ups to what it replied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotations.exchange.reading.changed_prompts import ChangedPrompt
from annotations.exchange.reading.prompt_replies import NO_ANSWER, Turn
from annotations.exchange.reading.prompts import PromptItem, PromptVariant
from annotations.exchange.records import AnswerStatus
from evaluation.backends.chat.contract import Message
from evaluation.flow.asking.plan import Item
from evaluation.flow.eloquent.matching import Reply

Said = tuple[str, AnswerStatus]
"""What came: its text, and whether it is an answer."""


class Conversations:
    """What one system is asked, step by step, and what it replied.

    Attributes
    ----------
    wordings : item and variant by the id of the conversation: item, language and number of the
        wording in it, such as 001/en/2.
    put : the prompt of each, as it is put.
    """

    def __init__(
        self,
        items: Sequence[PromptItem],
        changed: Mapping[tuple[str, int], ChangedPrompt] | None = None,
        told: str = "",
    ) -> None:
        self.changed = changed or {}
        self.wordings = {
            f"{item.id}/{variant.language}/{_number(item, variant)}": (item, variant)
            for item in items
            for variant in item.variants
        }
        self.put = {name: self._prompt(*wording) for name, wording in self.wordings.items()}
        self._first: tuple[Message, ...] = ({"role": "system", "content": told},) if told else ()
        self._turns: dict[str, list[Turn]] = {name: [] for name in self.wordings}
        self._status: dict[str, AnswerStatus] = {}

    def begin(self) -> list[Item]:
        """Return the first questions, one of each wording."""
        return [Item(name, (*self._first, _user(prompt))) for name, prompt in self.put.items()]

    def follow_up(self, question: str) -> list[Item]:
        """Return how the conversations go on in which the last turn was answered."""
        return [
            Item(name, (*self._first, *self._said(name), _user(question)))
            for name, status in self._status.items()
            if status is AnswerStatus.TEXT
        ]

    def take(self, replies: Mapping[str, Said], question: str = "") -> None:
        """Take what came, by the id of the conversation; `question` is the follow-up, if it was.

        A refused or failed follow-up leaves the reply that there was.
        """
        for name, (text, status) in replies.items():
            self._turns[name].append(Turn(question or self.put[name], text))
            if status is AnswerStatus.TEXT or name not in self._status:
                self._status[name] = status

    def replies(self, system: str) -> list[Reply]:
        """Return the replies, in the order of the wordings."""
        return [self._reply(system, name, *wording) for name, wording in self.wordings.items()]

    def _prompt(self, item: PromptItem, variant: PromptVariant) -> str:
        other = self.changed.get((item.id, variant.place))
        return variant.prompt if other is None else other.prompt

    def _said(self, name: str) -> list[Message]:
        messages: list[Message] = []
        for turn in self._turns[name]:
            messages += [
                _user(turn.question),
                {"role": "assistant", "content": turn.answer or NO_ANSWER},
            ]
        return messages

    def _reply(self, system: str, name: str, item: PromptItem, variant: PromptVariant) -> Reply:
        turns = self._turns[name]
        other = self.changed.get((item.id, variant.place))
        return Reply(
            system,
            item.id,
            variant.language,
            variant.place,
            self.put[name],
            "\n\n".join(turn.answer for turn in turns if turn.answer),
            self._status[name],
            tuple(turns),
            other is not None,
            "" if other is None else other.reason,
        )


def _number(item: PromptItem, variant: PromptVariant) -> int:
    return item.variants_in(variant.language).index(variant) + 1


def _user(content: str) -> Message:
    return {"role": "user", "content": content}
