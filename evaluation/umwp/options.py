"""Options of UMWP: for evaluating files, for asking models, and for extracting templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.consensus.parameters import SEED_OF_DRAWS, build_draws_option
from evaluation.consensus.signatures import EXCLUDED, EXCLUDED_SENTENCES
from evaluation.core.backends import BackendError, parse_embedder_spec
from evaluation.core.options import (
    ChoiceOption,
    FloatOption,
    IntegerOption,
    Parameters,
    Problem,
    SwitchOption,
    TextOption,
    build_problem,
    declare_option,
)
from evaluation.core.options.declaration import BASIC, DATABASE
from evaluation.runs.flow.asking.options import MODEL_SENTENCES, OF_REPLIES
from evaluation.umwp.methods.texts import FIXED, PAPER
from evaluation.umwp.prompts import DIRECT, IN_CONTEXT, INSTRUCTION


def _find_encoder_problem(spec: str) -> Problem | None:
    """Return the problem if the named text encoder cannot be used; None if it can."""
    try:
        parsed = parse_embedder_spec(spec)
    except BackendError as error:
        return build_problem("unreadable", "encoder", reason=str(error))
    if parsed.kind == "precomputed":
        return build_problem(
            "unreadable", "encoder", reason="windows of replies have no made vectors"
        )
    return None


@dataclass(frozen=True)
class UmwpParameters(Parameters):
    """Options of classifying replies as unanswerable, and of the bootstrap.

    With `threshold` None the threshold of the encoder is tuned on labelled replies.
    """

    rules: str = declare_option(
        FIXED,
        ChoiceOption(
            label="Rules",
            help="How numbers and expressions in replies are read.",
            choices={
                FIXED: "fixed: reads decimals, thousands, units and names",
                PAPER: "as the published script behaves",
            },
        ),
    )
    encoder: str = declare_option(
        "minilm",
        TextOption(
            label="Encoder",
            help="Makes vectors of windows and templates.",
            test=_find_encoder_problem,
            metavar="SPEC",
        ),
    )
    threshold: float | None = declare_option(
        None,
        FloatOption(
            label="Threshold",
            help="A reply is unanswerable if the similarity of a window of its words to a template "
            "is above this. Empty: the threshold that is best on labelled replies.",
            optional=True,
            lowest=-1.0,
            highest=1.0,
        ),
    )
    bootstrap: int = declare_option(400, build_draws_option("problems"))
    seed: int = declare_option(0, SEED_OF_DRAWS)
    sentences: ClassVar[Mapping[str, str]] = {"unreadable": "{reason}"}


@dataclass(frozen=True)
class MiningParameters(UmwpParameters):
    """Options of extracting new templates from labelled replies."""

    least: int = declare_option(
        4,
        IntegerOption(
            label="Least replies",
            help="Number of replies without an answer that contain a wording before it is a "
            "candidate.",
            lowest=2,
            highest=1_000_000,
        ),
    )
    precision: float = declare_option(
        0.9,
        FloatOption(
            label="Least precision",
            help="Share of the replies with a wording that have no answer: with its words, and "
            "with what is like it.",
            lowest=0.5,
            highest=1.0,
        ),
    )
    most: int = declare_option(
        60,
        IntegerOption(
            label="Most candidates",
            help="Candidates that are tried, those that separate best first.",
            lowest=1,
            highest=1000,
        ),
    )


@dataclass(frozen=True)
class UmwpRunOptions(UmwpParameters):
    """Options of a UMWP run, which asks models; commands on files have arguments instead."""

    sentences: ClassVar[Mapping[str, str]] = {
        **UmwpParameters.sentences,
        **MODEL_SENTENCES,
        **EXCLUDED_SENTENCES,
        "no_form": "choose at least one prompt form",
        "no_questions": "the version has no question with a text",
    }

    models: tuple[str, ...] = declare_option(
        (),
        replace(
            OF_REPLIES["models"], help="Each question is asked in the prompt forms chosen below."
        ),
    )
    direct: bool = declare_option(
        True,
        SwitchOption(
            label="Prompt form: direct",
            help="The question alone.",
            group=BASIC,
            places=(DATABASE,),
            negatable=True,
        ),
    )
    instruction: bool = declare_option(
        True,
        SwitchOption(
            label="Prompt form: instruction",
            help="An instruction before the question explains that some questions have no "
            "answer, why, and what to write then.",
            group=BASIC,
            places=(DATABASE,),
            negatable=True,
        ),
    )
    in_context: bool = declare_option(
        True,
        SwitchOption(
            label="Prompt form: in-context",
            help="Eight worked examples before the question: four answerable, four unanswerable.",
            group=BASIC,
            places=(DATABASE,),
            negatable=True,
        ),
    )
    exclude_workers: tuple[str, ...] = declare_option((), EXCLUDED)
    budget: float | None = declare_option(None, OF_REPLIES["budget"])
    temperature: float = declare_option(0.0, OF_REPLIES["temperature"])
    max_tokens: int = declare_option(256, OF_REPLIES["max_tokens"])

    @property
    def forms(self) -> tuple[str, ...]:
        """Names of the chosen prompt forms."""
        chosen = ((DIRECT, self.direct), (INSTRUCTION, self.instruction))
        return tuple(form for form, on in (*chosen, (IN_CONTEXT, self.in_context)) if on)

    def find_conflicts(self) -> Iterator[Problem]:
        """Yield a problem for each conflict between options, such as no prompt form."""
        yield from super().find_conflicts()
        if not self.forms:
            yield build_problem("no_form")

    def build_evaluation_parameters(self) -> UmwpParameters:
        """Return only the options of evaluating replies, without those of asking models."""
        return UmwpParameters(
            **{name: getattr(self, name) for name in UmwpParameters.get_options()}
        )
