"""A door's words for every code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.words.across import ACROSS
from evaluation.words.alarms import ALARMS
from evaluation.words.comparing import COMPARING
from evaluation.words.crowd_size import CROWD_SIZE
from evaluation.words.decision import DECISION
from evaluation.words.facts import FACTS
from evaluation.words.failures import FAILURES
from evaluation.words.graded import GRADED
from evaluation.words.judge import JUDGE
from evaluation.words.message import SENTENCE, Message, Sentence, filled
from evaluation.words.multiqa import MULTIQA
from evaluation.words.outcomes import OUTCOMES
from evaluation.words.panels import PANELS
from evaluation.words.paying import PAYING
from evaluation.words.plan import PLAN
from evaluation.words.remedies import FAILED, REMEDIES
from evaluation.words.signals import SIGNALS
from evaluation.words.triage import TRIAGE
from evaluation.words.trust import TRUST
from evaluation.words.umwp import UMWP
from evaluation.words.views import VIEWS
from evaluation.words.warnings import WARNINGS

COMMON: Mapping[str, Sentence] = {
    **ACROSS,
    **WARNINGS,
    **ALARMS,
    **OUTCOMES,
    **TRUST,
    **REMEDIES,
    **FAILED,
    **FAILURES,
    **CROWD_SIZE,
    **COMPARING,
    **DECISION,
    **TRIAGE,
    **PAYING,
    **SIGNALS,
    **FACTS,
    **JUDGE,
    **PANELS,
    **PLAN,
    **MULTIQA,
    **VIEWS,
    **UMWP,
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
