"""Build the sentence of each message code as an interface (terminal, site, API) words it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

from evaluation.core.messages.message import SENTENCE, Message, Sentence, fill_sentence
from evaluation.core.messages.run_sentences import ACROSS, FAILURES, GRADED, WARNINGS

# Sentences of features, which import this package.
OF_FEATURES: tuple[str, ...] = (
    "evaluation.crowd_vs_llm.messages.PANELS",
    "evaluation.grading.alarms.messages.ALARMS",
    "evaluation.grading.results.messages.COMPARING",
    "evaluation.trust.messages.DECISION",
    "evaluation.grading.facts.messages.FACTS",
    "evaluation.grading.remedies.messages.OUTCOMES",
    "evaluation.grading.remedies.messages.FAILED",
    "evaluation.grading.remedies.messages.REMEDIES",
    "evaluation.grading.results.messages.SIGNALS",
    "evaluation.trust.messages.TRUST",
    "evaluation.llm_judge.messages.JUDGE",
    "evaluation.model_overview.messages.VIEWS",
    "evaluation.multiqa.messages.MULTIQA",
    "evaluation.payments.messages.PAYING",
    "evaluation.sample_size.messages.CROWD_SIZE",
    "evaluation.sample_size.messages.PLAN",
    "evaluation.triage.messages.TRIAGE",
    "evaluation.umwp.messages.UMWP",
)


def _collect_feature_sentences() -> dict[str, Sentence]:
    """Return the sentences of all features' messages, by message code."""
    sentences: dict[str, Sentence] = {}
    for name in OF_FEATURES:
        sentences |= resolve_name(name)
    return sentences


COMMON: Mapping[str, Sentence] = {
    **_collect_feature_sentences(),
    **ACROSS,
    **WARNINGS,
    **FAILURES,
    **GRADED,
}
_FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


@dataclass(frozen=True)
class Catalogue:
    """The sentences of all message codes in the wording of one interface.

    Attributes
    ----------
    option : returns the interface's name of an option, from its name in `AqerParameters`.
    own : sentences of this interface, which replace the common ones.
    """

    option: Callable[[str], str]
    own: Mapping[str, Sentence] = field(default_factory=dict)

    def format_message(self, message: Message | Mapping[str, Any] | str) -> str:
        """Return the sentence of a message, also of one stored as JSON or text."""
        message = Message.from_stored(message)
        if SENTENCE in message.values:
            return self._format_stored_sentence(message.values[SENTENCE])
        sentence = self.own.get(message.code) or COMMON.get(message.code)
        if sentence is None:  # a newer version of the platform has stored it
            return message.code.replace("_", " ")
        return fill_sentence(sentence, message.values, self.option)

    def format_messages(self, messages: Iterable[Message | Mapping[str, Any] | str]) -> list[str]:
        """Return the sentences of several messages, in their order."""
        return [self.format_message(message) for message in messages]

    def _format_stored_sentence(self, sentence: str) -> str:
        """Return a sentence stored by an older version, its flags replaced by option names."""
        return _FLAG.sub(lambda flag: self.option(flag[1].replace("-", "_")), sentence)
