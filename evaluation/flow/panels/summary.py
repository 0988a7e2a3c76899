"""What a comparison of panels says of itself: written by its end, read by every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.flow.stored import RunSummary
from evaluation.methods.panels import BOTH, HALVES, MODELS, PEOPLE, UNFLAGGED
from evaluation.words.message import Message

VERSION = 1
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class PanelAbout:
    """A panel: its members, its answers, and how much alike these are.

    Attributes
    ----------
    questions : with an answer of the panel. dispersion : mean over them, None without one.
    agreement : mean cosine of two answers to a question, over questions that have two.
    model_share : share of the votes that models have.
    """

    name: str
    people: int
    models: int
    answers: int
    questions: int
    dispersion: float | None
    agreement: float | None
    model_share: float | None


@dataclass(frozen=True)
class Distance:
    """How far two panels are apart, see `PanelPair`.

    Attributes
    ----------
    cosine, low, high : mean cosine of the exemplary answers over `questions`, with its 95%
        bootstrap interval. median, least : of these cosines.
    """

    first: str
    second: str
    questions: int
    cosine: float | None
    low: float | None
    high: float | None
    median: float | None
    least: float | None
    spearman_models: float | None
    kendall_models: float | None
    swapped: int
    models: int
    spearman_people: float | None
    people: int

    @property
    def model_pairs(self) -> int:
        """How many pairs of models there are."""
        return self.models * (self.models - 1) // 2


@dataclass(frozen=True)
class Standing:
    """A model under a panel: mean score, over `n` questions, and rank by significance (Holm).

    `model` is a name in files, a public id in the database.
    """

    panel: str
    model: str
    score: float | None
    n: int
    rank: int | None
    reason: str | None


@dataclass(frozen=True)
class Alikeness:
    """How much more alike the models' answers are than the people's, question by question."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    questions: int = 0


@dataclass(frozen=True)
class PanelsSummary(RunSummary):
    """The summary of a comparison of panels.

    Attributes
    ----------
    flagged : workers whose answers are flagged as a model's. embedding : as in a grading.
    """

    answers: int = 0
    workers: int = 0
    questions: int = 0
    models: int = 0
    model_answers: int = 0
    flagged: int = 0
    panels: tuple[PanelAbout, ...] = ()
    distances: tuple[Distance, ...] = ()
    standings: tuple[Standing, ...] = ()
    alikeness: Alikeness = Alikeness()
    embedding: Mapping[str, Any] | None = None
    versions: Mapping[str, str] | None = None

    def shown_counts(self) -> Mapping[str, int]:
        """Return what went in."""
        names = ("answers", "workers", "questions", "models", "model_answers")
        return {name: getattr(self, name) for name in names}

    def panel(self, name: str) -> PanelAbout | None:
        """Return the panel of that name, if there is one."""
        return next((panel for panel in self.panels if panel.name == name), None)

    def distance(self, first: str, second: str) -> Distance | None:
        """Return how far two panels are apart, if both are there."""
        wanted = {first, second}
        found = (one for one in self.distances if {one.first, one.second} == wanted)
        return next(found, None)

    @property
    def messages(self) -> list[Message]:
        """What was found, for sentences: the first says how far models are from people."""
        found: list[Message] = []
        apart, halves = self.distance(PEOPLE, MODELS), self.distance(*HALVES)
        if apart is not None and apart.cosine is not None:
            values = {"cosine": apart.cosine, "questions": apart.questions}
            if halves is not None and halves.cosine is not None:
                values["halves"] = halves.cosine
                code = "closer" if apart.cosine >= halves.cosine else "farther"
                found.append(Message(f"panels.{code}_than_halves", values))
            else:
                found.append(Message("panels.distance", values))
        if apart is not None and apart.spearman_models is not None:
            code = "ranks_change" if apart.swapped else "ranks_stay"
            ranks = {
                "spearman": apart.spearman_models,
                "swapped": apart.swapped,
                "pairs": apart.model_pairs,
            }
            found.append(Message(f"panels.{code}", ranks))
        joint, moved = self.panel(BOTH), self.distance(PEOPLE, BOTH)
        if joint is not None and moved is not None and moved.cosine is not None:
            values = {"share": joint.model_share or 0.0, "cosine": moved.cosine}
            found.append(Message("panels.joint", values))
        return [*found, *self._of_flagged()]

    def _of_flagged(self) -> list[Message]:
        if not self.flagged:
            return [Message("panels.nobody_flagged")]
        moved = self.distance(PEOPLE, UNFLAGGED)
        if moved is None or moved.cosine is None:
            return [Message("panels.all_flagged", {"workers": self.flagged})]
        values = {
            "workers": self.flagged,
            "cosine": moved.cosine,
            "swapped": moved.swapped,
            "pairs": moved.model_pairs,
        }
        return [Message("panels.without_flagged", values)]

    @property
    def cautions(self) -> list[Message]:
        """What somebody should know before trusting a panel of models."""
        people, models, alike = self.panel(PEOPLE), self.panel(MODELS), self.alikeness
        found = [Message("panels.models_copy")]
        if (
            people is not None
            and models is not None
            and people.agreement is not None
            and models.agreement is not None
            and alike.p_value is not None
            and alike.difference is not None
        ):
            more = alike.p_value < SIGNIFICANT and alike.difference > 0
            values = {"of_models": models.agreement, "of_people": people.agreement}
            found.append(Message("panels.models_alike" if more else "panels.not_alike", values))
        if self.models < 3:
            found.append(Message("panels.few_models", {"models": self.models}))
        return found
