"""Options of crowd size trials and of answer plans."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import ClassVar

from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import OF_GRADING, CrowdParameters
from evaluation.core.options import Choice, Parameters, Real, Text, Whole, declare_option
from evaluation.core.options.declaration import ADVANCED, BASIC, NOT_SIGNED
from evaluation.runs.flow.forecast import WITHIN


@dataclass(frozen=True)
class CrowdSizeParameters(CrowdParameters):
    """Options of a crowd size trial: grading, number of random subsets, bootstrap draws."""

    repetitions: int = declare_option(
        50,
        Whole(
            label="Draws of each size",
            help="Random parts of the crowd for each number of workers and of questions.",
            group=BASIC,
            lowest=2,
            highest=1000,
        ),
    )
    bootstrap: int = declare_option(
        400,
        Whole(
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
        Real(
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
        Text(
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
        Real(
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
        Real(
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
        Real(
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
        Whole(
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
        Choice(
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

    def cost(self, answers: int) -> float | None:
        """Return the cost of `answers` answers, rounded to cents; None without pay."""
        price = self.price
        if price is None:
            return None
        # Decimal rounds a half cent to the even cent by default.
        return float((price * answers).quantize(CENT, ROUND_HALF_UP))


OF_WISHES = PlanTargets.options()


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

    def wishes(self) -> PlanTargets:
        """Return only the options of the plan, without those of grading."""
        return PlanTargets(**{name: getattr(self, name) for name in OF_WISHES})

    def grading(self) -> AqerParameters:
        """Return only the options of grading, with bootstrap intervals."""
        own = {name: getattr(self, name) for name in self.options() if name in OF_GRADING}
        return AqerParameters(**own)
