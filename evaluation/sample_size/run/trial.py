"""Crowd size trial: score with random subsets of a crowd, and find which sizes are enough."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from importlib import metadata
from typing import Any, ClassVar

import numpy as np

from evaluation.consensus.inputs import (
    EmbeddedAnswers,
    EmbedTexts,
    GradingInput,
    Progress,
    embed,
    embed_graded_answers,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import OF_GRADING, CrowdParameters
from evaluation.core.messages.message import Message
from evaluation.core.options import (
    ChoiceOption,
    FloatOption,
    IntegerOption,
    Parameters,
    TextOption,
    build_signature_parts,
    declare_option,
)
from evaluation.core.options.declaration import ADVANCED, BASIC, NOT_SIGNED
from evaluation.core.options.parameters import SHORT
from evaluation.runs.flow.forecast import WITHIN
from evaluation.runs.flow.stored import RunSummary
from evaluation.sample_size.methods import (
    BY_CROWD,
    FEWEST_VOTERS,
    Agreements,
    CrowdSize,
    SizePoint,
    SizeVerdict,
)


@dataclass(frozen=True)
class CrowdSizeParameters(CrowdParameters):
    """Options of a crowd size trial: grading, number of random subsets, bootstrap draws."""

    repetitions: int = declare_option(
        50,
        IntegerOption(
            label="Draws of each size",
            help="Random parts of the crowd for each number of workers and of questions.",
            group=BASIC,
            lowest=2,
            highest=1000,
        ),
    )
    bootstrap: int = declare_option(
        400,
        IntegerOption(
            label="Bootstrap draws",
            help="Draws of questions for the interval of the whole crowd's agreement.",
            lowest=2,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = declare_option(0, OF_GRADING["seed"])


CENT = Decimal("0.01")


@dataclass(frozen=True)
class PlanTargets(Parameters):
    """Options of an answer plan: pay per answer, interval width, consensus error, limits."""

    pay: float | None = declare_option(
        None,
        FloatOption(
            label="Pay for an answer",
            help="What one answer costs you, without the panel's fee; nothing is counted in money "
            "without it.",
            group=BASIC,
            optional=True,
            lowest=0,
            highest=1_000_000,
            signed_as=NOT_SIGNED,
        ),
    )
    currency: str | None = declare_option(
        None,
        TextOption(
            label="Currency",
            help="Shown before each amount, such as USD or €.",
            group=BASIC,
            optional=True,
            max_length=12,
            signed_as=NOT_SIGNED,
        ),
    )
    fee: float = declare_option(
        0.0,
        FloatOption(
            label="Fee of the panel, in percent",
            help="What the panel takes on top of the pay.",
            group=ADVANCED,
            lowest=0,
            highest=1000,
            empty_is_default=True,
            signed_as=NOT_SIGNED,
        ),
    )
    width: float = declare_option(
        0.1,
        FloatOption(
            label="Width of a score's interval",
            help="From the lower to the upper end of the 95% interval of a worker's or a model's "
            "score.",
            group=BASIC,
            above=0,
            highest=2,
            empty_is_default=True,
        ),
    )
    within: float = declare_option(
        WITHIN,
        FloatOption(
            label="How far off a consensus may be",
            help="Distance from the consensus of very many people: 0 has the same meaning, 1 "
            "has nothing in common. A smaller number costs more answers.",
            group=BASIC,
            above=0,
            highest=0.9,
            empty_is_default=True,
        ),
    )
    most: int = declare_option(
        20,
        IntegerOption(
            label="Most further answers to a question",
            help="A question that would need more gets no answers and is listed: review it "
            "instead.",
            group=ADVANCED,
            lowest=1,
            highest=10_000,
            empty_is_default=True,
        ),
    )

    narrow: str = declare_option(
        "workers",
        ChoiceOption(
            label="Whose intervals",
            help="For whose scores further questions are planned.",
            group=ADVANCED,
            choices={
                "workers": "workers",
                "models": "models",
                "both": "workers and models",
            },
        ),
    )

    groups: ClassVar = {ADVANCED: "Fee, limits, whose intervals"}

    @property
    def price(self) -> Decimal | None:
        """Cost of one answer including the panel's fee; None without pay."""
        if self.pay is None:
            return None
        # By way of text: Decimal(0.1) would hold the binary fraction 0.1000000000000000055...
        return Decimal(str(self.pay)) * (1 + Decimal(str(self.fee)) / 100)

    def compute_cost(self, answers: int) -> float | None:
        """Return the cost of `answers` answers, rounded to cents; None without pay."""
        price = self.price
        if price is None:
            return None
        # Decimal rounds a half cent to the even cent by default.
        return float((price * answers).quantize(CENT, ROUND_HALF_UP))


OF_WISHES = PlanTargets.get_options()


@dataclass(frozen=True)
class PlanParameters(CrowdParameters):
    """Options of ``evaluate plan``: those of grading the answers, and of the plan."""

    pay: float | None = declare_option(None, OF_WISHES["pay"])
    currency: str | None = declare_option(None, OF_WISHES["currency"])
    fee: float = declare_option(0.0, OF_WISHES["fee"])
    width: float = declare_option(0.1, OF_WISHES["width"])
    within: float = declare_option(WITHIN, OF_WISHES["within"])
    most: int = declare_option(20, OF_WISHES["most"])
    narrow: str = declare_option("workers", OF_WISHES["narrow"])
    bootstrap: int = declare_option(400, OF_GRADING["bootstrap"])
    seed: int = declare_option(0, OF_GRADING["seed"])

    sentences: ClassVar = CrowdParameters.sentences

    def get_plan_targets(self) -> PlanTargets:
        """Return the options that are targets of the plan, without those of grading."""
        return PlanTargets(**{name: getattr(self, name) for name in OF_WISHES})

    def build_grading_parameters(self) -> AqerParameters:
        """Return the options that are those of grading, with bootstrap intervals."""
        own = {name: getattr(self, name) for name in self.get_options() if name in OF_GRADING}
        return AqerParameters(**own)


class TooFewWorkersError(ValueError):
    """Error: fewer than 3 workers answered, so no smaller crowd can be evaluated."""


@dataclass(frozen=True)
class CrowdSizeTrial:
    """Result of a crowd size trial: inputs, their embedding, and the fitted estimator."""

    inputs: GradingInput
    parameters: CrowdSizeParameters
    embedded: EmbeddedAnswers
    estimator: CrowdSize

    @property
    def n_workers(self) -> int:
        """Number of workers with at least one answer."""
        return len(set(self.inputs.answered.workers))

    @property
    def n_questions(self) -> int:
        """Number of questions with at least one answer."""
        return len(set(self.inputs.answered.questions))

    @property
    def warnings(self) -> list[Message]:
        """Warnings about the embedding of the answers."""
        return self.embedded.warnings

    def build_signature(self, input_hash: str) -> str:
        """Return the trial's signature: options, embedding, input hash, and version."""
        info = self.embedded.info
        parts = {
            **build_signature_parts(self.parameters),
            # The parameters name what was asked for; `info` names what was used.
            "embedder": info.model,
            "revision": info.revision,
            "precision": info.precision,
            "inputs": input_hash[:SHORT],
            "version": metadata.version("crowdgrade"),
        }
        return "|".join(["crowd-size", *(f"{name}:{value}" for name, value in parts.items())])


def try_smaller_crowds(
    parameters: CrowdSizeParameters,
    inputs: GradingInput,
    grades: Mapping[Any, float],
    embed_texts: EmbedTexts | None = None,
    progress: Progress | None = None,
    computed: MutableMapping[str, Agreements] | None = None,
) -> CrowdSizeTrial:
    """Embed the answers and compare scores by random subsets of the crowd; return the trial.

    Parameters
    ----------
    inputs : answers selected with `build_grading_parameters()`, without models' answers.
    grades : experts' mean grades by key of the answer; empty for none.
    embed_texts : returns the vectors; None takes the embedder of the parameters.
    progress : called with stage, number done, and total.
    computed : results of an earlier call, as in `CrowdSize.fit`.

    Raises
    ------
    TooFewWorkersError
        Fewer than 3 workers answered.
    BackendError
        The answers cannot be embedded.
    """
    answers = inputs.answered
    if len(set(answers.workers)) < FEWEST_VOTERS:
        raise TooFewWorkersError
    grading = parameters.build_grading_parameters()
    embedded = embed_graded_answers(
        inputs, embed_texts or partial(embed, grading, progress=progress)
    )
    estimator = CrowdSize(
        parameters.repetitions,
        parameters.bootstrap,
        parameters.seed,
        similarity=parameters.similarity,
        leave_one_out=parameters.leave_one_out,
        difficulty=parameters.difficulty,
        discrimination=parameters.discrimination,
    )
    estimator.fit(
        embedded.answers,
        answers.workers,
        answers.questions,
        np.array([grades.get(key, np.nan) for key in answers.keys]),
        progress and (lambda done, total: progress("trying", done, total)),
        computed,
    )
    return CrowdSizeTrial(inputs, parameters, embedded, estimator)


def hash_trial_input(inputs: GradingInput, grades: Mapping[Any, float]) -> str:
    """Return the SHA-256 of a trial's answers and grades, to detect a change of its input."""
    digest = hashlib.sha256(inputs.compute_hash().encode())
    for key, grade in grades.items():
        # repr keeps all digits of a float.
        digest.update(f"{key}\x1f{grade!r}\x1e".encode())
    return digest.hexdigest()


VERSION = 1


@dataclass(frozen=True)
class CrowdSizeSummary(RunSummary):
    """Stored summary of a crowd size trial: counts, agreement by size, and verdicts.

    Attributes
    ----------
    answers, workers, questions : number of each.
    judged, judged_workers : number of answers that experts graded, and of their workers.
    measure, points, verdicts : as in `CrowdSize`.
    """

    answers: int = 0
    workers: int = 0
    questions: int = 0
    judged: int = 0
    judged_workers: int = 0
    repetitions: int = 0
    seed: int = 0
    measure: str = BY_CROWD
    points: tuple[SizePoint, ...] = ()
    verdicts: tuple[SizeVerdict, ...] = ()

    @classmethod
    def from_trial(cls, trial: CrowdSizeTrial) -> CrowdSizeSummary:
        """Return the summary to store for a trial."""
        estimator = trial.estimator
        return cls(
            VERSION,
            len(trial.inputs.answered),
            trial.n_workers,
            trial.n_questions,
            estimator.n_judged_,
            estimator.n_judged_workers_,
            trial.parameters.repetitions,
            trial.parameters.seed,
            estimator.measure_,
            tuple(estimator.points_),
            tuple(estimator.verdicts_),
        )

    def get_shown_counts(self) -> dict[str, int]:
        """Return the input counts that the run's page shows, by label."""
        return {
            "answers": self.answers,
            "workers": self.workers,
            "questions": self.questions,
            "judged answers": self.judged,
        }

    @property
    def messages(self) -> list[Message]:
        """Messages: how many workers and questions suffice, and the data used."""
        return [*_list_verdict_messages(self.verdicts, self.measure), _build_basis_message(self)]


def _list_verdict_messages(verdicts: Sequence[SizeVerdict], measure: str) -> Iterator[Message]:
    """Yield messages on how many workers and questions suffice by one measure."""
    for verdict in verdicts:
        if verdict.measure == measure:
            yield build_verdict_message(verdict)


def build_verdict_message(verdict: SizeVerdict) -> Message:
    """Return the message of a verdict; its code ends in "enough" or the reason for none."""
    values = {
        "by": verdict.by,
        "measure": verdict.measure,
        "full": verdict.full_size,
        "correlation": verdict.full.value,
        "enough": verdict.enough,
        "plateau": verdict.plateau,
    }
    return Message(f"crowd_size.{verdict.reason or 'enough'}", values)


def _build_basis_message(summary: CrowdSizeSummary) -> Message:
    """Return the message on what scores are compared with: grades or the whole crowd."""
    values = {
        "judged": summary.judged,
        "judged_workers": summary.judged_workers,
        "workers": summary.workers,
    }
    return Message(f"crowd_size.by_{summary.measure}", values)


COLUMNS = ("by", "size", "measure", "pearson", "low", "high", "spearman", "draws")


def build_trial_rows(summary: CrowdSizeSummary) -> Iterator[tuple[object, ...]]:
    """Yield a table row for each size and measure of agreement."""
    for point in summary.points:
        yield (
            *(point.by, point.size, point.measure, point.pearson, point.low, point.high),
            *(point.spearman, point.n_draws),
        )
