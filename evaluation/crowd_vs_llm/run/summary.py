"""Summary of a comparison of panels: stored when a run ends, and read by reports and pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.core.messages.message import Message
from evaluation.crowd_vs_llm.methods import BOTH, HALVES, MODELS, PEOPLE, UNFLAGGED
from evaluation.runs.flow.stored import RunSummary

VERSION = 1
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class PanelNumbers:
    """A panel's numbers of members and answers, its dispersion and its agreement.

    Attributes
    ----------
    people, models : number of workers and of models in the panel.
    questions : number of questions with an answer of the panel.
    dispersion : mean over these questions; None without one.
    agreement : mean cosine of two answers to a question, over questions with two or more.
    model_share : models' share of the votes, 0 to 1.
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
class PanelDistance:
    """Comparison of two panels: mean cosine of exemplary answers, correlation of model ranks.

    Attributes
    ----------
    questions : number of questions with an exemplary answer of both.
    cosine, low, high : mean cosine of these exemplary answers, with its 95% bootstrap interval.
    median, least : median and lowest cosine.
    swapped : number of pairs of models that the panels order differently.
    swapped_beyond_chance : number of them whose difference is significant under both panels; None
        in older runs.
    models, people : number of models and of workers in the rank correlations.
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
    swapped_beyond_chance: int | None = None

    @property
    def model_pairs(self) -> int:
        """Number of pairs of the compared models."""
        return self.models * (self.models - 1) // 2


@dataclass(frozen=True)
class PanelModelScore:
    """A model's mean score under one panel, over `n` questions, and its rank by significance.

    `model` is a name in files and a public id in the database. `reason` is the code of why the
    score or the rank is missing.
    """

    panel: str
    model: str
    score: float | None
    n: int
    rank: int | None
    reason: str | None


@dataclass(frozen=True)
class AgreementDifference:
    """Agreement among models' answers minus that among workers', with interval and p-value."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    questions: int = 0


@dataclass(frozen=True)
class PanelsSummary(RunSummary):
    """Stored summary of a comparison of panels: counts, panels, comparisons, scores.

    Attributes
    ----------
    answers, workers, questions, models, model_answers : number of each.
    flagged : number of workers with the alarm that they answer like a model.
    embedding : how vectors were computed, as in a grading.
    versions : of packages that influence the numbers.
    """

    answers: int = 0
    workers: int = 0
    questions: int = 0
    models: int = 0
    model_answers: int = 0
    flagged: int = 0
    panels: tuple[PanelNumbers, ...] = ()
    distances: tuple[PanelDistance, ...] = ()
    standings: tuple[PanelModelScore, ...] = ()
    alikeness: AgreementDifference = AgreementDifference()
    embedding: Mapping[str, Any] | None = None
    versions: Mapping[str, str] | None = None

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the input counts that the run's page shows, by label."""
        names = ("answers", "workers", "questions", "models", "model_answers")
        return {name: getattr(self, name) for name in names}

    def find_panel(self, name: str) -> PanelNumbers | None:
        """Return the panel with this name; None if there is none."""
        return next((panel for panel in self.panels if panel.name == name), None)

    def find_distance(self, first: str, second: str) -> PanelDistance | None:
        """Return the comparison of two panels in either order; None if one is missing."""
        pair = {first, second}
        matches = (row for row in self.distances if {row.first, row.second} == pair)
        return next(matches, None)

    @property
    def messages(self) -> list[Message]:
        """Messages about the results; the first compares models' and workers' consensus."""
        messages: list[Message] = []
        people_and_models, halves = self.find_distance(PEOPLE, MODELS), self.find_distance(*HALVES)
        if people_and_models is not None and people_and_models.cosine is not None:
            values = {"cosine": people_and_models.cosine, "questions": people_and_models.questions}
            if halves is not None and halves.cosine is not None:
                values["halves"] = halves.cosine
                code = "closer" if people_and_models.cosine >= halves.cosine else "farther"
                messages.append(Message(f"panels.{code}_than_halves", values))
            else:
                messages.append(Message("panels.distance", values))
        if people_and_models is not None and people_and_models.spearman_models is not None:
            messages.append(_describe_order(people_and_models))
        joint, moved = self.find_panel(BOTH), self.find_distance(PEOPLE, BOTH)
        if joint is not None and moved is not None and moved.cosine is not None:
            values = {"share": joint.model_share or 0.0, "cosine": moved.cosine}
            messages.append(Message("panels.joint", values))
        return [*messages, *self._describe_flagged()]

    def _describe_flagged(self) -> list[Message]:
        """Return the message about the workers in the alarm for answers like a model's."""
        if not self.flagged:
            return [Message("panels.nobody_flagged")]
        moved = self.find_distance(PEOPLE, UNFLAGGED)
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
        """Warnings about the limits of a panel of language models, as messages."""
        people, models, alike = self.find_panel(PEOPLE), self.find_panel(MODELS), self.alikeness
        cautions = [Message("panels.models_copy")]
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
            cautions.append(Message("panels.models_alike" if more else "panels.not_alike", values))
        # Below 3 members AQER gives equal votes.
        if self.models < 3:
            cautions.append(Message("panels.few_models", {"models": self.models}))
        return cautions


def _describe_order(distance: PanelDistance) -> Message:
    """Return the message on whether two panels order the models differently beyond chance."""
    values = {
        "spearman": distance.spearman_models,
        "swapped": distance.swapped,
        "pairs": distance.model_pairs,
    }
    certain = distance.swapped_beyond_chance
    if not distance.swapped:
        return Message("panels.ranks_stay", values)
    if certain is None:
        return Message("panels.ranks_change", values)
    if certain:
        return Message("panels.ranks_change_beyond_chance", values | {"certain": certain})
    return Message("panels.ranks_within_chance", values)
