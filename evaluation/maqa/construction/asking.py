"""Requests of a construction run: read each reply, ask once more, and reject what failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.maqa.construction.prompts import (
    Generated,
    ModelVerdict,
    parse_batch,
    parse_verdict,
)
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.reading import PromptWithReminder
from evaluation.runs.steps.asking.stored_replies import StoredReply
from evaluation.runs.steps.asking.study_asking import Round, StudyAsker
from evaluation.runs.steps.checkpoints import Turn

AGAIN = "asking again"
Reader = Callable[[str], Any]
"""Returns what a reply holds; None if it cannot be read."""


@dataclass(frozen=True)
class ParsedReply:
    """Last reply to a request, after how many attempts, with what was read out of it."""

    reply: StoredReply
    attempts: int
    value: Any


def read_batch(reply: str) -> list[Generated] | None:
    """Return the questions in a reply; None if there is none."""
    return parse_batch(reply) or None


@dataclass(frozen=True)
class VerdictReader:
    """Reads the verdict of the verifying model on a candidate with so many answers."""

    n_answers: int

    def __call__(self, reply: str) -> ModelVerdict | None:
        """Return the verdict in a reply; None if it cannot be read."""
        return parse_verdict(reply, self.n_answers)


def ask_readable(
    asking: StudyAsker,
    step: str,
    round_: Round,
    prompt: PromptWithReminder,
    readers: Mapping[str, Reader],
) -> tuple[dict[str, ParsedReply], list[Round]]:
    """Return what was read from each reply, by item, and the requests that failed.

    A request is sent once more where nothing could be read, or no reply came. The second request
    has the reminder in its conversation, so it is another request than the one that failed.
    """
    first = _read_replies(asking, step, round_, readers, 1)
    failed = _select_failed(round_, first)
    if not failed or asking.reason_given_up(round_.model):
        return first, [replace(round_, items=failed)]
    again = [
        Item(item.id, prompt.asked_again(item.messages, first[item.id].reply.text))
        for item in failed
    ]
    second_round = replace(round_, items=again)
    second = _read_replies(asking, f"{step}, {AGAIN}", second_round, readers, 2)
    return first | second, [
        replace(round_, items=failed),
        replace(round_, items=_select_failed(second_round, second)),
    ]


def _select_failed(round_: Round, read: Mapping[str, ParsedReply]) -> Sequence[Item]:
    """Return the items of a round whose replies could not be read."""
    return [item for item in round_.items if read[item.id].value is None]


def _read_replies(
    asking: StudyAsker, step: str, round_: Round, readers: Mapping[str, Reader], attempts: int
) -> dict[str, ParsedReply]:
    """Return the replies to a round with what their readers find, by item."""
    replies = asking.ask(step, [round_])[0]
    return {
        item: ParsedReply(
            reply, attempts, None if reply.status.is_missing else readers[item](reply.text)
        )
        for (item, _), reply in replies.items()
    }


def reject_unreadable(asking: StudyAsker, turn: Turn, failed: Sequence[Round]) -> None:
    """Mark replies that could not be read, so that a later run sends their requests again."""
    with turn.fenced():
        for round_ in failed:
            if round_.items:
                asking.reject(round_)
