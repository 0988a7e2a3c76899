"""Options and prompts of the LLM judge.

An ambiguous reply gives no score. A missing score is never replaced by a number such as 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import EXCLUDED, EXCLUDED_SENTENCES
from evaluation.core.options import IntegerOption, Parameters, RegisteredModelOption, declare_option
from evaluation.core.options.declaration import ADVANCED, BASIC
from evaluation.runs.flow.asking.options import OF_REPLIES
from evaluation.runs.flow.asking.plan import PASSAGE
from evaluation.runs.flow.asking.reading import PromptWithReminder

_AQER_OPTIONS = AqerParameters.get_options()
MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class JudgeParameters(Parameters):
    """Options of an LLM judge run: model, repetitions, pairs, budget, and AQER's embedding."""

    judge: str | None = declare_option(
        None,
        RegisteredModelOption(
            label="Judge",
            help="It is asked about every answer.",
            group=BASIC,
            optional=True,
            needed="no_judge",
        ),
    )
    repeats: int = declare_option(
        2,
        IntegerOption(
            label="Times each answer is scored",
            help="Twice or more shows how far the judge agrees with itself.",
            group=BASIC,
            lowest=1,
            highest=20,
        ),
    )
    pairs: int = declare_option(
        2,
        IntegerOption(
            label="Pairs to compare of each question",
            help="Each pair is shown in both orders, which shows whether the judge prefers a "
            "place; 0 for none.",
            group=BASIC,
            lowest=0,
            highest=1000,
        ),
    )
    budget: float | None = declare_option(
        None,
        replace(
            OF_REPLIES["budget"],
            help="Spend no more than this; needs the prices of the model.",
        ),
    )
    embedder: str = declare_option("minilm", _AQER_OPTIONS["embedder"])
    precision: str = declare_option("float32", _AQER_OPTIONS["precision"])
    include_rejected: bool = declare_option(False, _AQER_OPTIONS["include_rejected"])
    exclude_workers: tuple[str, ...] = declare_option((), EXCLUDED)
    bootstrap: int = declare_option(
        400,
        IntegerOption(
            label="Bootstrap draws",
            help="Draws of questions for the 95% intervals.",
            lowest=2,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = declare_option(
        0,
        IntegerOption(
            label="Seed",
            help="Of the requests, the choice of pairs and the draws: the same seed gives the same "
            "numbers again, if the judge does.",
            highest=MOST_SEED,
        ),
    )

    groups: ClassVar = {ADVANCED: "More settings"}
    sentences: ClassVar = {
        "unreadable": AqerParameters.sentences["unreadable"],
        **EXCLUDED_SENTENCES,
        "no_judge": "choose a registered language model as the judge",
        "unknown_judge": "there is no such model, or it is not yours to ask",
        "judge_refused": "{reason}",
        "no_prices": "{budget} needs the prices of {name}: without them the cost is unknown",
    }

    def build_grading_parameters(self) -> AqerParameters:
        """Return the AQER parameters used to score the judged answers, without intervals."""
        return AqerParameters(
            embedder=self.embedder,
            precision=self.precision,
            include_rejected=self.include_rejected,
            bootstrap=0,
            seed=self.seed,
        )


LOWEST, HIGHEST = 0.0, 5.0
SCORE_FIELDS = ("question", "answer", PASSAGE)
COMPARE_FIELDS = ("question", "first", "second", PASSAGE)


SCORE = PromptWithReminder(
    "Grade an answer to a question.\n\n"
    "{passage}Question: {question}\n\n"
    "Answer: {answer}\n\n"
    "How good is the answer, from 0 (wrong, or no answer) to 5 (right and complete)? "
    "Reply with one number and nothing else.",
    "Reply with one number from 0 to 5 and nothing else.",
    SCORE_FIELDS,
)
COMPARE = PromptWithReminder(
    "Compare two answers to a question.\n\n"
    "{passage}Question: {question}\n\n"
    "Answer A: {first}\n\n"
    "Answer B: {second}\n\n"
    "Which answer is better? Reply with A, B or tie and nothing else.",
    "Reply with A, B or tie and nothing else.",
    COMPARE_FIELDS,
)
