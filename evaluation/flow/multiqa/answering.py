"""The answerer: a fresh conversation for each wording, by the kind of the item."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.backends.chat.contract import Message
from evaluation.flow.multiqa.items import CHOICE, EXTRACTIVE, MultiqaItem

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SEVERAL = "several"

# By what is asked for; {context} stands before the question where the item has one.
TEMPLATES = {
    EXTRACTIVE: "Question: {question}\n\nAnswer with the words of the text that answer it, and "
    "nothing else.",
    CHOICE: "Question: {question}\n\n{choices}\n\nAnswer with the letter of the right choice, and "
    "nothing else.",
    SEVERAL: "Question: {question}\n\n{choices}\n\nOne or more choices are right. Answer with the "
    "letters of all right choices, with commas between them, and nothing else.",
    "free": "Question: {question}\n\nAnswer in one or two short sentences.",
}
CONTEXT = "Read this text.\n\n{context}\n\n"


@dataclass(frozen=True)
class Form:
    """How items of a kind are asked: `name` of the form, its template, and the text before it."""

    name: str
    template: str


def form_of(item: MultiqaItem) -> Form:
    """Return the form of an item; a choice with several right ones has a form of its own."""
    several = item.kind == CHOICE and len(item.answers) > 1
    name = SEVERAL if several else item.kind
    begin = CONTEXT if item.context else ""
    return Form(name + (" with text" if item.context else ""), begin + TEMPLATES[name])


def messages(item: MultiqaItem, wording: str) -> tuple[Message, ...]:
    """Return the conversation about a wording of an item."""
    lines = [f"{label(at)}. {choice}" for at, choice in enumerate(item.choices)]
    content = form_of(item).template.format(
        question=wording, choices="\n".join(lines), context=item.context
    )
    return ({"role": "user", "content": content},)


def label(at: int) -> str:
    """Return the letter of a choice; beyond 26 there are numbers, and replies go by the texts."""
    return LETTERS[at] if at < len(LETTERS) else str(at + 1)
