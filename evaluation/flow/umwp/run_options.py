"""What a run over the database is asked beside the evaluation: who is asked, in which forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.flow.asking.options import MODEL_SENTENCES, OF_REPLIES
from evaluation.flow.crowd_parameters import EXCLUDED, EXCLUDED_SENTENCES
from evaluation.flow.umwp.asking import DIRECT, IN_CONTEXT, INSTRUCTION
from evaluation.flow.umwp.parameters import UmwpParameters
from evaluation.options import (
    Problem,
    Switch,
    option,
    problem,
)
from evaluation.options.declaration import BASIC, DATABASE


@dataclass(frozen=True)
class UmwpRunOptions(UmwpParameters):
    """Commands on files take these from their own arguments, or need none of them."""

    sentences: ClassVar[Mapping[str, str]] = {
        **UmwpParameters.sentences,
        **MODEL_SENTENCES,
        **EXCLUDED_SENTENCES,
        "no_form": "choose at least one way to put the questions",
        "no_questions": "the version has no question with a text",
    }

    models: tuple[str, ...] = option(
        (),
        replace(
            OF_REPLIES["models"], help="Each question is put to them in the ways chosen below."
        ),
    )
    direct: bool = option(
        True,
        Switch(
            label="Put the question alone",
            help="Nothing is said but the question.",
            group=BASIC,
            places=(DATABASE,),
            negatable=True,
        ),
    )
    instruction: bool = option(
        True,
        Switch(
            label="Say before that some questions have no answer",
            help="An instruction names why there may be none, and what to write then.",
            group=BASIC,
            places=(DATABASE,),
            negatable=True,
        ),
    )
    in_context: bool = option(
        True,
        Switch(
            label="Show eight worked examples before",
            help="Four with an answer, four without.",
            group=BASIC,
            places=(DATABASE,),
            negatable=True,
        ),
    )
    exclude_workers: tuple[str, ...] = option((), EXCLUDED)
    budget: float | None = option(None, OF_REPLIES["budget"])
    temperature: float = option(0.0, OF_REPLIES["temperature"])
    max_tokens: int = option(256, OF_REPLIES["max_tokens"])

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which the questions are put."""
        chosen = ((DIRECT, self.direct), (INSTRUCTION, self.instruction))
        return tuple(form for form, on in (*chosen, (IN_CONTEXT, self.in_context)) if on)

    def contradictions(self) -> Iterator[Problem]:
        """Yield what is wrong with the options together."""
        yield from super().contradictions()
        if not self.forms:
            yield problem("no_form")

    def evaluation(self) -> UmwpParameters:
        """Return how replies are evaluated, without how they were asked for."""
        return UmwpParameters(**{name: getattr(self, name) for name in UmwpParameters.options()})
