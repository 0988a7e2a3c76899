"""What a look at all views says of itself, stored with a run and written beside files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from evaluation.flow.signatures import versions
from evaluation.flow.stored import RunSummary
from evaluation.flow.views.finding import CorrelationRow, StandingRow, ViewsFound
from evaluation.flow.views.together import ModelNumber, Source
from evaluation.flow.views.view import Side, View

VERSION = 1


@dataclass(frozen=True)
class ViewAbout:
    """A view, and which of the sources tells it; `leads` whether it stands for its side."""

    view: View
    source: int
    leads: bool
    n_answers: int


@dataclass(frozen=True)
class ViewsSummary(RunSummary):
    """All views together.

    Attributes
    ----------
    sources : where the views come from. views : those of answers and questions, in their order;
        model_views : those of models over all questions, whose numbers are `of_models`.
    answers : pairs of a model and a question of which a view has a number.
    correlations, own, standings : as in `ViewsFound`.
    repeated : rows that told again what an earlier one told.
    """

    sources: tuple[Source, ...] = ()
    views: tuple[ViewAbout, ...] = ()
    model_views: tuple[ViewAbout, ...] = ()
    models: tuple[str, ...] = ()
    questions: int = 0
    answers: int = 0
    correlations: tuple[CorrelationRow, ...] = ()
    own: tuple[CorrelationRow, ...] = ()
    standings: tuple[StandingRow, ...] = ()
    of_models: tuple[ModelNumber, ...] = ()
    repeated: int = 0
    seed: int = 0
    bootstrap: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_found(cls, found: ViewsFound) -> ViewsSummary:
        """Return what is stored of what was found."""
        together = found.together
        leading = set(together.sides)
        of_answers = np.array([view.of == "answer" for view in together.views])
        told = together.known & of_answers[:, None, None]
        views = tuple(
            ViewAbout(view, source, at in leading, int(told[at].sum()))
            for at, (view, source) in enumerate(
                zip(together.views, together.source_of, strict=True)
            )
        )
        return cls(
            VERSION,
            together.sources,
            views,
            tuple(ViewAbout(view, at, False, 0) for view, at in together.model_views),
            together.models,
            len(together.questions),
            int(told.any(axis=0).sum()),
            found.correlations,
            found.own,
            found.standings,
            together.of_models,
            together.repeated,
            found.parameters.seed,
            found.parameters.bootstrap,
            versions(),
        )

    def shown_counts(self) -> dict[str, int]:
        """Return what the page of a run shows of what went in."""
        return {
            "models": len(self.models),
            "questions": self.questions,
            "views": len(self.views),
            "answers": self.answers,
        }

    def view(self, name: str) -> ViewAbout | None:
        """Return a view by its name, of whatever it is."""
        return next(
            (one for one in (*self.views, *self.model_views) if one.view.name == name), None
        )

    def leading(self, side: Side) -> ViewAbout | None:
        """Return the view that stands for a side; None where it has none."""
        return next((one for one in self.views if one.leads and one.view.side == side), None)

    @property
    def dispersion(self) -> ViewAbout | None:
        """The view of how far people disagree about questions."""
        found = (
            one for one in self.views if one.view.of == "question" and one.view.side == Side.CROWD
        )
        return next(found, None)

    @property
    def missing(self) -> list[Side]:
        """The sides from which nothing was seen."""
        return [side for side in Side if self.leading(side) is None]

    def correlation(self, one: str, other: str) -> CorrelationRow | None:
        """Return how two views go together over all models."""
        wanted = {one, other}
        return next((row for row in self.correlations if {row.view, row.other} == wanted), None)

    def own_correlation(self, model: str) -> CorrelationRow | None:
        """Return how a model's uncertainty goes with its distance from the crowd."""
        return next((row for row in self.own if row.model == model), None)

    def standing(self, model: str, view: str) -> StandingRow | None:
        """Return where a model stands in a view."""
        found = (row for row in self.standings if (row.model, row.view) == (model, view))
        return next(found, None)

    def number(self, model: str, view: str) -> ModelNumber | None:
        """Return what a view of models tells of one."""
        found = (one for one in self.of_models if (one.model, one.view) == (model, view))
        return next(found, None)
