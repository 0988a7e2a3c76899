"""A door's words for every code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

from evaluation.words.across import ACROSS
from evaluation.words.failures import FAILURES
from evaluation.words.graded import GRADED
from evaluation.words.message import SENTENCE, Message, Sentence, filled
from evaluation.words.warnings import WARNINGS

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


def _sentences_of_features() -> dict[str, Sentence]:
    """Return the sentences of all features, by code."""
    found: dict[str, Sentence] = {}
    for name in OF_FEATURES:
        found |= resolve_name(name)
    return found


COMMON: Mapping[str, Sentence] = {
    **_sentences_of_features(),
    **ACROSS,
    **WARNINGS,
    **FAILURES,
    **GRADED,
}
_FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


@dataclass(frozen=True)
class Catalogue:
    """The words of one door.

    Attributes
    ----------
    option : how the door calls an option of a grading, by its name in `AqerParameters`.
    own : sentences in place of the common ones.
    """

    option: Callable[[str], str]
    own: Mapping[str, Sentence] = field(default_factory=dict)

    def said(self, message: Message | Mapping[str, Any] | str) -> str:
        """Return a message, or what is stored of one, in this door's words."""
        message = Message.of(message)
        if SENTENCE in message.values:
            return self._older(message.values[SENTENCE])
        sentence = self.own.get(message.code) or COMMON.get(message.code)
        if sentence is None:  # a newer version of the platform has stored it
            return message.code.replace("_", " ")
        return filled(sentence, message.values, self.option)

    def all_said(self, messages: Iterable[Message | Mapping[str, Any] | str]) -> list[str]:
        """Return messages in this door's words."""
        return [self.said(message) for message in messages]

    def _older(self, sentence: str) -> str:
        """Return a sentence of an older run, whose options are the command line's, as ours."""
        return _FLAG.sub(lambda flag: self.option(flag[1].replace("-", "_")), sentence)
