"""Panels of people and of models: the report of a run that is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotations.models import Question, Response
from annotations.web.texts import ANSWER_SHOWN, beginning, shortened
from evaluation.flow.panels.summary import (
    Alikeness,
    Distance,
    PanelAbout,
    PanelsSummary,
    Standing,
)
from evaluation.methods.panels import BOTH, HALVES, MODELS, PEOPLE, UNFLAGGED
from evaluation.models import LanguageModel, LLMResponse, Run, RunData
from evaluation.options import SITE
from evaluation.reports.spreadsheet import Table
from evaluation.steps.panels import QUESTIONS
from evaluation.words.reasons import in_words

QUESTIONS_SHOWN = 10
CALLED = {
    PEOPLE: "people",
    UNFLAGGED: "people who do not answer like a model",
    MODELS: "models",
    BOTH: "people and models",
    HALVES[0]: "a half of the people",
    HALVES[1]: "the other half",
}
"""What people call a panel."""
RANKED = (PEOPLE, MODELS, BOTH, UNFLAGGED)

PANELS = (
    *("panel", "people", "models", "answers", "questions", "dispersion", "agreement"),
    "model_share",
)
DISTANCES = (
    *("first", "second", "questions", "cosine", "low", "high", "median", "least"),
    *("spearman_models", "kendall_models", "swapped", "models", "spearman_people", "people"),
)
STANDINGS = ("panel", "model", "score", "n", "rank", "reason")
ROWS = (
    *("question", "n_people", "n_models", "people_and_models", "people_and_both"),
    *("models_and_both", "dispersion_people", "dispersion_models", "dispersion_both"),
)


@dataclass(frozen=True)
class ModelUnderPanels:
    """A model with what each panel makes of it, in the order of the report's `ranked`."""

    model: str
    name: str
    standings: list[Standing | None]

    @property
    def why(self) -> str:
        """Why a number is missing, in words; "" if none is."""
        reasons = [one.reason for one in self.standings if one and one.score is None]
        return in_words(reasons[0]) if reasons else ""


@dataclass(frozen=True)
class PanelQuestion:
    """A question with the best response of each panel; texts are cut, "" for none."""

    question: UUID
    name: str
    text: str
    n_people: int
    n_models: int
    people_and_models: float | None
    dispersion_people: float | None
    dispersion_models: float | None
    of_people: str
    of_models: str
    of_both: str


@dataclass(frozen=True)
class PanelsReport:
    """How far the consensus of models, of people and of both are apart.

    Attributes
    ----------
    said : what was found, in sentences. cautions : what to know before trusting it.
    ranked : the panels under which models stand. models : by their score among people.
    alikeness : how much more alike the models' answers are than the people's.
    """

    said: list[str]
    cautions: list[str]
    workers: int
    flagged: int
    panels: list[PanelAbout]
    distances: list[Distance]
    ranked: list[str]
    models: list[ModelUnderPanels]
    alikeness: Alikeness


def panels_report(run: Run) -> PanelsReport:
    """Return what a run that is done found, by one query."""
    found = PanelsSummary.of(run.summary)
    names = _names(found)
    ranked = [name for name in RANKED if found.panel(name)]
    standing = {(one.model, one.panel): one for one in found.standings}
    models = [
        ModelUnderPanels(model, name, [standing.get((model, panel)) for panel in ranked])
        for model, name in names.items()
    ]
    models.sort(key=_by_people)
    return PanelsReport(
        said=[SITE.said(message) for message in found.messages],
        cautions=[SITE.said(message) for message in found.cautions],
        workers=found.workers,
        flagged=found.flagged,
        panels=list(found.panels),
        distances=list(found.distances),
        ranked=ranked,
        models=models,
        alikeness=found.alikeness,
    )


def panel_questions(run: Run, size: int = QUESTIONS_SHOWN) -> list[PanelQuestion]:
    """Return the questions on which people and models differ most, by four queries."""
    rows = [row for row in _rows(run) if row["people_and_models"] is not None][:size]
    asked = {
        str(public): (name, text)
        for public, name, text in Question.objects.filter(
            version=run.version_id, public_id__in=[row["question"] for row in rows]
        ).values_list("public_id", "external_id", beginning("text"))
    }
    of_both = {row["nearest_both"]: row["nearest_both_is_model"] for row in rows}
    people = _texts(
        Response.objects,
        [row["nearest_people"] for row in rows] + [key for key, m in of_both.items() if not m],
    )
    models = _texts(
        LLMResponse.objects,
        [row["nearest_models"] for row in rows] + [key for key, m in of_both.items() if m],
    )
    return [
        PanelQuestion(
            question=UUID(row["question"]),
            name=asked[row["question"]][0],
            text=shortened(asked[row["question"]][1]),
            n_people=row["n_people"],
            n_models=row["n_models"],
            people_and_models=row["people_and_models"],
            dispersion_people=row["dispersion_people"],
            dispersion_models=row["dispersion_models"],
            of_people=people.get(row["nearest_people"], ""),
            of_models=models.get(row["nearest_models"], ""),
            of_both=(models if row["nearest_both_is_model"] else people).get(
                row["nearest_both"], ""
            ),
        )
        for row in rows
        if row["question"] in asked
    ]


def panels_table(run: Run) -> Table:
    """Return the panels."""
    panels = PanelsSummary.of(run.summary).panels
    return Table(PANELS, (tuple(panel.__dict__.values()) for panel in panels))


def distances_table(run: Run) -> Table:
    """Return how far every two panels are apart."""
    distances = PanelsSummary.of(run.summary).distances
    return Table(DISTANCES, (tuple(distance.__dict__.values()) for distance in distances))


def standings_table(run: Run) -> Table:
    """Return every model under every panel."""
    found = PanelsSummary.of(run.summary)
    names = _names(found)
    return Table(
        STANDINGS,
        (
            (one.panel, names.get(one.model, ""), one.score, one.n, one.rank, one.reason)
            for one in found.standings
        ),
    )


def questions_table(run: Run) -> Table:
    """Return every question, those first on which people and models differ most."""
    return Table(ROWS, _question_cells(run))


def _question_cells(run: Run) -> Iterator[tuple[object, ...]]:
    names = {
        str(public): name
        for public, name in Question.objects.filter(version=run.version_id).values_list(
            "public_id", "external_id"
        )
    }
    for row in _rows(run):
        yield (names.get(row["question"], ""), *(row[column] for column in ROWS[1:]))


def _rows(run: Run) -> list[dict[str, Any]]:
    found = RunData.objects.filter(run=run, name=QUESTIONS).values_list("data", flat=True).first()
    return found or []


def _texts(rows: Any, keys: list[int | None]) -> dict[int, str]:
    found = rows.filter(pk__in=[key for key in keys if key is not None]).values_list(
        "pk", beginning("text", ANSWER_SHOWN)
    )
    return {key: shortened(text, ANSWER_SHOWN) for key, text in found}


def _names(found: PanelsSummary) -> dict[str, str]:
    """Return the names of the models by their ids, in the order of the summary."""
    ids = list(dict.fromkeys(one.model for one in found.standings))
    known = LanguageModel.objects.filter(public_id__in=ids).values_list("public_id", "name")
    names = {str(public): name for public, name in known}
    return {model: names[model] for model in ids if model in names}


def _by_people(model: ModelUnderPanels) -> tuple[bool, float]:
    first = model.standings[0] if model.standings else None
    score = first.score if first else None
    return score is None, -(score or 0.0)
