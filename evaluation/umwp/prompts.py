"""Prompt forms of word problems, and the built-in templates of unanswerable replies.

A model is asked in three forms, each in a new conversation. Templates are sentences that say that
a problem has no answer, in the project's own wording. The arguments of commands import this module,
so it must not import scipy, as `problems` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from annotations.exchange import InputError
from annotations.exchange.reading.decoding import open_text
from evaluation.core.backends.chat.contract import Message
from evaluation.umwp.methods.texts import normalize_sentence

CLOSING = "This problem cannot be answered."
"""Last sentence of the worked examples without an answer; it is a template, too."""


@cache
def load_built_in_templates() -> tuple[str, ...]:
    """Return the built-in templates, with the closing sentence of the prompt's examples."""
    text = Path(__file__).with_name("templates.txt").read_text("utf-8")
    return parse_templates(text + CLOSING)


def parse_templates(text: str) -> tuple[str, ...]:
    """Return the templates in a text, one per line, without blank and repeated lines."""
    templates: dict[str, str] = {}
    for line in text.splitlines():
        if normalize_sentence(line):
            templates.setdefault(normalize_sentence(line), line.strip())
    return tuple(templates.values())


DIRECT, INSTRUCTION, IN_CONTEXT = "direct", "instruction", "in-context"
FORMS = (DIRECT, INSTRUCTION, IN_CONTEXT)

INSTRUCTION_TEXT = (
    "Solve the math word problem and give the result as a number. Some problems cannot be "
    "answered, because a fact is missing, is not exact, contradicts another one, or has nothing to "
    f'do with what is asked. If this is one of them, write: "{CLOSING}"'
)

# Worked examples in our own wording: four with an answer, four without.
EXAMPLES: Sequence[tuple[str, str]] = (
    (
        "A baker makes 12 rolls in the morning and twice as many at noon. How many rolls are that?",
        "At noon it is 2 * 12 = 24 rolls. Together it is 12 + 24 = 36 rolls. The answer is 36.",
    ),
    (
        "A baker makes some rolls in the morning and 24 at noon. How many rolls are that?",
        f"How many rolls there are in the morning is not said. {CLOSING}",
    ),
    (
        "Nia has 45 beads and makes bracelets of 9 beads each. How many bracelets are that?",
        "She makes 45 / 9 = 5 bracelets. The answer is 5.",
    ),
    (
        "Nia has 45 beads and makes bracelets of 9 beads each. How many rings does she make?",
        f"Rings are asked for, and only bracelets are told of. {CLOSING}",
    ),
    (
        "A ticket costs 3.50 dollars. How much do 4 tickets cost?",
        "They cost 4 * 3.50 = 14 dollars. The answer is 14.",
    ),
    (
        "A ticket costs less than 4 dollars. How much do 4 tickets cost?",
        f"The price of a ticket is not exact. {CLOSING}",
    ),
    (
        "There are 20 children in a bus. At the first stop 6 get off and 2 get on. How many are in "
        "it then?",
        "It is 20 - 6 + 2 = 16 children. The answer is 16.",
    ),
    (
        "There are 20 children in a bus. At the first stop 26 of them get off. How many are in it "
        "then?",
        f"More children cannot get off than there are. {CLOSING}",
    ),
)


def build_conversation(problem: str, form: str) -> tuple[Message, ...]:
    """Return the messages that ask a problem in the prompt form `form`.

    Raises
    ------
    ValueError : an unknown form.
    """
    if form == DIRECT:
        return ({"role": "user", "content": problem},)
    if form == INSTRUCTION:
        return (
            {"role": "system", "content": INSTRUCTION_TEXT},
            {"role": "user", "content": problem},
        )
    if form != IN_CONTEXT:
        raise ValueError(f"unknown form {form!r}")
    worked = [
        message
        for question, answer in EXAMPLES
        for message in (
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer},
        )
    ]
    return (*worked, {"role": "user", "content": problem})


def build_prompt_template(form: str) -> str:
    """Return the text of a prompt form with the placeholder {problem}, to store with a run."""
    messages = build_conversation("{problem}", form)
    lines = (f"{message['role']}: {message['content']}" for message in messages)
    return "\n".join(lines)


def read_templates(path: Path) -> tuple[tuple[str, ...], str]:
    """Return the unanswerable-reply templates of a file, one per line, and its SHA-256.

    Raises `InputError` if the file has no template.
    """
    text = open_text(path)
    templates = parse_templates("".join(text.iterate_lines("")))
    if not templates:
        raise InputError.single(
            text.name, "there is no template", "Write one sentence a line, as a reply would say it."
        )
    return templates, text.sha256
