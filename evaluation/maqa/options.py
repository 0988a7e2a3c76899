"""Options of MAQA: of an evaluation of files, and of a run that asks models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from evaluation.consensus.parameters import SEED_OF_DRAWS, AqerParameters, build_draws_option
from evaluation.core.options import (
    ChoiceOption,
    FloatOption,
    IntegerOption,
    Parameters,
    SwitchOption,
    TextOption,
    declare_option,
)
from evaluation.core.options.declaration import BASIC, DATABASE, NOT_SIGNED, get_model_name
from evaluation.maqa.methods.set_scores import F1, FIXED, PAPER, PRECISION, RECALL
from evaluation.maqa.methods.uncertainty import EXACT, JACCARD, OVERLAP
from evaluation.runs.flow.asking.options import MODEL_SENTENCES, OF_REPLIES

_OF_AQER = AqerParameters.get_options()


@dataclass(frozen=True)
class MaqaParameters(Parameters):
    """Evaluation options of MAQA: answer comparison, reply clustering, and bootstrap.

    The options of clustering and of labels are not signed here: `MaqaStudy` adds those that were
    used to the signature, together with the model.
    """

    rules: str = declare_option(
        FIXED,
        ChoiceOption(
            label="Rules",
            help="How an answer is compared with the right ones.",
            choices={
                FIXED: "fixed: without case, punctuation, articles; each right answer found once",
                PAPER: "as in the paper: equal but for case, repetitions count again",
            },
        ),
    )
    similarity: str = declare_option(
        EXACT,
        ChoiceOption(
            label="Similarity of two replies",
            help="For the consistency of a system that was asked several times.",
            choices={
                EXACT: "exact: the same set of answers",
                OVERLAP: "overlap: what they share, of the smaller one",
                JACCARD: "Jaccard: what they share, of all",
            },
        ),
    )
    bootstrap: int = declare_option(400, build_draws_option("questions"))
    seed: int = declare_option(0, SEED_OF_DRAWS)
    embedder: str = declare_option(
        "minilm",
        replace(
            _OF_AQER["embedder"],
            help="For the semantic entropy of repeated replies: two replies have the same meaning "
            "if every answer of each has an equivalent in the other.",
            signed_as=NOT_SIGNED,
        ),
    )
    precision: str = declare_option("float32", replace(_OF_AQER["precision"], signed_as=NOT_SIGNED))
    same_cosine: float = declare_option(
        0.80,
        FloatOption(
            label="Cosine of the same answer",
            help="Two answers are equivalent if the cosine of their vectors is above this. Answers "
            "with different numbers are never equivalent.",
            lowest=0.0,
            highest=1.0,
            signed_as=NOT_SIGNED,
        ),
    )
    calibrate_meaning: bool = declare_option(
        False,
        SwitchOption(
            label="Calibrate the cosine of the same answer",
            help="Uses the cosine that best separates spellings of one right answer from "
            "different right answers of a question, if the questions have enough spellings.",
            signed_as=NOT_SIGNED,
        ),
    )
    nli: str | None = declare_option(
        None,
        TextOption(
            label="Entailment model",
            help="Name or folder of an installed cross-encoder. Two answers are then equivalent if "
            "either entails the other; vectors are not used.",
            optional=True,
            loads=get_model_name,
            metavar="NAME",
            signed_as=NOT_SIGNED,
        ),
    )
    entailment: float = declare_option(
        0.50,
        FloatOption(
            label="Probability of entailment",
            help="With an entailment model: the smallest probability, in both directions.",
            lowest=0.0,
            highest=1.0,
            signed_as=NOT_SIGNED,
        ),
    )

    label: str = declare_option(
        PRECISION,
        ChoiceOption(
            label="Score that decides what is right",
            help="A reply, or a question asked several times, counts as right by this score: for "
            "AUROC, calibration and confident wrong answers.",
            choices={
                PRECISION: "precision: share of the reply's answers that are right",
                RECALL: "recall: share of the right answers that the reply has",
                F1: "F1: harmonic mean of precision and recall",
            },
            signed_as=NOT_SIGNED,
        ),
    )
    label_above: float = declare_option(
        0.5,
        FloatOption(
            label="Right above",
            help="A reply is right if its score is above this; with 1, if its score is 1.",
            lowest=0.0,
            highest=1.0,
            signed_as=NOT_SIGNED,
        ),
    )

    sentences: ClassVar = {"unreadable": AqerParameters.sentences["unreadable"]}


@dataclass(frozen=True)
class MaqaRunOptions(MaqaParameters):
    """Options of a MAQA run: those of the evaluation, and how models are asked.

    Commands on files have arguments of their own in place of the latter.
    """

    sentences: ClassVar = {
        **MaqaParameters.sentences,
        **MODEL_SENTENCES,
        "no_models": "choose at least one model",
        "no_text": "no question of the set has a text",
    }

    models: tuple[str, ...] = declare_option(
        (), replace(OF_REPLIES["models"], help="Each question is asked several times.")
    )
    samples: int = declare_option(
        5,
        IntegerOption(
            label="Replies to each question",
            help="Consistency and semantic entropy need at least 2; with 1 they are not computed.",
            group=BASIC,
            places=(DATABASE,),
            lowest=1,
            highest=50,
        ),
    )
    temperature: float = declare_option(
        1.0,
        replace(
            OF_REPLIES["temperature"],
            help="1 samples from the model's distribution. At 0 all replies are the same.",
        ),
    )
    max_tokens: int = declare_option(256, OF_REPLIES["max_tokens"])
    top_tokens: int = declare_option(
        0,
        IntegerOption(
            label="Likeliest words to ask for",
            help="At the beginning of each answer, with their probabilities; 0 for none. Many "
            "servers give up to 20, some refuse.",
            places=(DATABASE,),
            lowest=0,
            highest=100,
        ),
    )
    vocabulary: int | None = declare_option(
        None,
        IntegerOption(
            label="Tokens of the models",
            help="How many there are, for the upper end of the entropy; with {top_tokens}.",
            places=(DATABASE,),
            optional=True,
            lowest=1,
            highest=100_000_000,
        ),
    )
    budget: float | None = declare_option(None, OF_REPLIES["budget"])

    def build_evaluation_parameters(self) -> MaqaParameters:
        """Return only the options of evaluating replies, without those of asking models."""
        return MaqaParameters(
            **{name: getattr(self, name) for name in MaqaParameters.get_options()}
        )
