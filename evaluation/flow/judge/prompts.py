"""What a judge is told: one answer to score, or two to compare; versions are named by a hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.backends.chat.contract import Message
from evaluation.flow.asking.prompts import PASSAGE, TemplateError, prompt_hash, template_parts

LOWEST, HIGHEST = 0.0, 5.0
SCORE_FIELDS = ("question", "answer", PASSAGE)
COMPARE_FIELDS = ("question", "first", "second", PASSAGE)


@dataclass(frozen=True)
class JudgePrompt:
    """A template, and what a judge is told once more where its reply said nothing.

    `{passage}` stands for the text that a question is about, with a line of its own, or nothing.
    A brace itself is written twice. Raises TemplateError: an unknown field, or one but the passage
    that is missing.
    """

    template: str
    again: str
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        used = [name for _, name in template_parts(self.template) if name is not None]
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
        """SHA-256 of what the judge is told, the second time too: the version of the prompt."""
        return prompt_hash(self.again, self.template)

    def messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the conversation; a field that is not given is empty."""
        given = dict(values)
        if given.get(PASSAGE):
            given[PASSAGE] = f"Text: {given[PASSAGE]}\n\n"
        content = "".join(
            text + (given.get(name, "") if name else "")
            for text, name in template_parts(self.template)
        )
        return ({"role": "user", "content": content},)

    def asked_again(self, messages: tuple[Message, ...], reply: str) -> tuple[Message, ...]:
        """Return the conversation that goes on after a reply that said nothing."""
        more: Message = {"role": "user", "content": self.again}
        if not reply.strip():  # servers refuse an empty turn
            return (*messages[:-1], {**messages[-1], "content": _both(messages[-1], self.again)})
        return (*messages, {"role": "assistant", "content": reply}, more)


def _both(message: Message, again: str) -> str:
    return f"{message['content']}\n\n{again}"


SCORE = JudgePrompt(
    "Grade an answer to a question.\n\n"
    "{passage}Question: {question}\n\n"
    "Answer: {answer}\n\n"
    "How good is the answer, from 0 (wrong, or no answer) to 5 (right and complete)? "
    "Reply with one number and nothing else.",
    "Reply with one number from 0 to 5 and nothing else.",
    SCORE_FIELDS,
)
COMPARE = JudgePrompt(
    "Compare two answers to a question.\n\n"
    "{passage}Question: {question}\n\n"
    "Answer A: {first}\n\n"
    "Answer B: {second}\n\n"
    "Which answer is better? Reply with A, B or tie and nothing else.",
    "Reply with A, B or tie and nothing else.",
    COMPARE_FIELDS,
)
