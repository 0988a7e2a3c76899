"""Define prompts: a system text and a template with named fields, identified by a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

from evaluation.core.backends.chat.contract import Message

SYSTEM = "You answer questions in one or two short sentences."
CLOSED = "closed"
PASSAGE = "passage"
TEMPLATES = {
    CLOSED: "Question: {question}{choices}\nAnswer in one or two short sentences.",
    PASSAGE: (
        "Read this text.\n\n{passage}\n\nQuestion: {question}{choices}\n"
        "Answer in one or two short sentences."
    ),
}
FIELDS = {
    CLOSED: ("question", "choices", "category", "language"),
    PASSAGE: ("question", "choices", "category", "language", "passage", "title"),
}
NEEDED = {CLOSED: ("question",), PASSAGE: ("question", "passage")}


def hash_prompt(system: str, template: str) -> str:
    """Return the SHA-256 of a system text and a template, as hexadecimal digits."""
    # As a JSON list, so that moving text from one part to the other changes the hash.
    both = json.dumps([system, template], ensure_ascii=False)
    return hashlib.sha256(both.encode()).hexdigest()


class TemplateError(ValueError):
    """A prompt template cannot be used; the message says why and what to do.

    `code` and `values` say the same to other doors than the terminal: "braces", "bare" (a field
    with more than its name), "unknown", "of_passage" (a field that only a passage has), "missing".
    """

    def __init__(self, message: str, code: str, **values: str) -> None:
        super().__init__(message)
        self.code, self.values = code, values


@dataclass(frozen=True)
class Prompt:
    """A prompt: system text ("" for none), template, and strategy ("closed" or "passage").

    A template is text with names in braces, `{question}`; a brace itself is written twice. Raises
    TemplateError: a name that the strategy does not have or a needed one that is missing, braces
    that do not match.
    """

    strategy: str
    template: str
    system: str = SYSTEM

    def __post_init__(self) -> None:
        """Raise TemplateError for an unknown field, or a required one that is missing."""
        known, used = FIELDS[self.strategy], [name for _, name in parse_template(self.template)]
        for name in used:
            if name is None or name in known:
                continue
            elsewhere = name in FIELDS[PASSAGE]
            raise TemplateError(
                f"the field {{{name}}} "
                + (f"needs the strategy {PASSAGE}" if elsewhere else "is unknown")
                + f": the template may use {', '.join(f'{{{field}}}' for field in known)}",
                "of_passage" if elsewhere else "unknown",
                field=f"{{{name}}}",
                known=", ".join(f"{{{field}}}" for field in known),
            )
        for name in NEEDED[self.strategy]:
            if name not in used:
                raise TemplateError(
                    f"the field {{{name}}} is missing, which the strategy {self.strategy} needs",
                    "missing",
                    field=f"{{{name}}}",
                )

    @property
    def hash(self) -> str:
        """Version of the prompt: SHA-256 of the system text and the template."""
        return hash_prompt(self.system, self.template)

    def messages(self, fields: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the conversation about one item, fields filled in; missing ones are empty."""
        content = "".join(
            text + (fields.get(name, "") if name else "")
            for text, name in parse_template(self.template)
        )
        user = {"role": "user", "content": content}
        return ({"role": "system", "content": self.system}, user) if self.system else (user,)


def build_item_fields(
    question: str,
    choices: Sequence[str] = (),
    category: str = "",
    language: str = "",
    passage: str = "",
    title: str = "",
) -> dict[str, str]:
    """Return the template fields of a question; choices as lines below the question."""
    return {
        "question": question,
        "choices": "".join(["\nChoices:", *(f"\n- {one}" for one in choices)] if choices else ""),
        "category": category,
        "language": language,
        "passage": passage,
        "title": title,
    }


def parse_template(template: str) -> list[tuple[str, str | None]]:
    """Return a template's literal texts, each with the name of the next field, or None."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise TemplateError(
            f"the braces of the template do not match ({error}): write {{{{ for a brace", "braces"
        ) from error
    for _, name, form, conversion in parts:
        if form or conversion:
            raise TemplateError(
                f"the field {{{name}}} may hold its name only", "bare", field=f"{{{name}}}"
            )
    return [(text, name) for text, name, _, _ in parts]
