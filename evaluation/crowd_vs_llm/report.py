"""Report and tables of a finished comparison of panels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from annotations.models import Question, Response
from annotations.web.texts import ANSWER_SHOWN, select_beginning, shorten_text
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import SITE
from evaluation.crowd_vs_llm.methods import BOTH, HALVES, MODELS, PEOPLE, UNFLAGGED
from evaluation.crowd_vs_llm.run.summary import (
    AgreementDifference,
    PanelDistance,
    PanelModelScore,
    PanelNumbers,
    PanelsSummary,
)
from evaluation.crowd_vs_llm.storage import QUESTIONS
from evaluation.models import LanguageModel, LLMResponse, Run, RunData
from evaluation.runs.reports.lists import Table

QUESTIONS_SHOWN = 10
PANEL_NAMES = {
    PEOPLE: "people",
    UNFLAGGED: "people who do not answer like a model",
    MODELS: "models",
    BOTH: "people and models",
    HALVES[0]: "a half of the people",
    HALVES[1]: "the other half",
}
"""Displayed names of panels."""
RANKED = (PEOPLE, MODELS, BOTH, UNFLAGGED)

PANEL_COLUMNS = (
    *("panel", "people", "models", "answers", "questions", "dispersion", "agreement"),
    "model_share",
)
DISTANCE_COLUMNS = (
    *("first", "second", "questions", "cosine", "low", "high", "median", "least"),
    *("spearman_models", "kendall_models", "swapped", "models", "spearman_people", "people"),
)
STANDING_COLUMNS = ("panel", "model", "score", "n", "rank", "reason")
QUESTION_COLUMNS = (
    *("question", "n_people", "n_models", "people_and_models", "people_and_both"),
    *("models_and_both", "dispersion_people", "dispersion_models", "dispersion_both"),
)


@dataclass(frozen=True)
class ModelPanelScores:
    """A language model's score and rank under each panel (workers, models, both)."""

    model: str
    name: str
    standings: list[PanelModelScore | None]

    @property
    def why(self) -> str:
        """Reason why a panel has no score of the model, as a phrase; "" if all panels have one."""
        reasons = [row.reason for row in self.standings if row and row.score is None]
        return describe_reason(reasons[0]) if reasons else ""


@dataclass(frozen=True)
class PanelQuestion:
    """A question with the answer nearest to each panel's consensus.

    `text` and the nearest answers (`of_people` etc.) are shortened; "" if a panel has none.
    """

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
    """Results of a comparison of panels: consensus of workers, of models, and of both.

    Attributes
    ----------
    said : messages on the results, as sentences.
    cautions : limits of a panel of models, as sentences.
    workers, flagged : number of workers, and of those flagged as answering like a model.
    panels, distances : each panel, and comparisons of two.
    ranked : names of the panels that score models.
    models : highest score under the panel of workers first.
    alikeness : difference of models' and workers' agreement.
    """

    renamed_keys: ClassVar = {"said": "messages"}

    said: list[str]
    cautions: list[str]
    workers: int
    flagged: int
    panels: list[PanelNumbers]
    distances: list[PanelDistance]
    ranked: list[str]
    models: list[ModelPanelScores]
    alikeness: AgreementDifference


def build_panels_report(run: Run) -> PanelsReport:
    """Return the report of a finished comparison of panels."""
    summary = PanelsSummary.from_json(run.summary)
    ranked = list_ranking_panels(panel.name for panel in summary.panels)
    return PanelsReport(
        said=[SITE.format_message(message) for message in summary.messages],
        cautions=[SITE.format_message(message) for message in summary.cautions],
        workers=summary.workers,
        flagged=summary.flagged,
        panels=list(summary.panels),
        distances=list(summary.distances),
        ranked=ranked,
        models=build_model_panel_scores(summary.standings, ranked, _load_model_names(summary)),
        alikeness=summary.alikeness,
    )


def list_ranking_panels(panels: Iterable[str]) -> list[str]:
    """Return the names of the panels that score models, in the order of the page."""
    known = set(panels)
    return [name for name in RANKED if name in known]


def build_model_panel_scores(
    standings: Iterable[PanelModelScore], ranked: Sequence[str], names: Mapping[str, str]
) -> list[ModelPanelScores]:
    """Return models with their scores under the `ranked` panels, the highest score first.

    `names` are the names of the models to list, by the ids of the standings.
    """
    by_place = {(row.model, row.panel): row for row in standings}
    models = [
        ModelPanelScores(model, name, [by_place.get((model, panel)) for panel in ranked])
        for model, name in names.items()
    ]
    return sorted(models, key=_build_sort_key)


def load_panel_questions(run: Run, size: int = QUESTIONS_SHOWN) -> list[PanelQuestion]:
    """Return the questions on which workers' and models' exemplary answers differ most.

    Four queries.
    """
    rows = [row for row in _load_stored_question_rows(run) if row["people_and_models"] is not None][
        :size
    ]
    questions = {
        str(public): (name, text)
        for public, name, text in Question.objects.filter(
            version=run.version_id, public_id__in=[row["question"] for row in rows]
        ).values_list("public_id", "external_id", select_beginning("text"))
    }
    # The best response of both is a worker's or a model's, so its text is in one of two tables.
    both_is_model = {row["nearest_both"]: row["nearest_both_is_model"] for row in rows}
    people = _load_answer_texts(
        Response.objects,
        [row["nearest_people"] for row in rows]
        + [key for key, m in both_is_model.items() if not m],
    )
    models = _load_answer_texts(
        LLMResponse.objects,
        [row["nearest_models"] for row in rows] + [key for key, m in both_is_model.items() if m],
    )
    return [
        PanelQuestion(
            question=UUID(row["question"]),
            name=questions[row["question"]][0],
            text=shorten_text(questions[row["question"]][1]),
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
        if row["question"] in questions
    ]


def build_panels_table(run: Run) -> Table:
    """Return the table of panels: one row per panel, with its size and agreement."""
    panels = PanelsSummary.from_json(run.summary).panels
    return Table(PANEL_COLUMNS, (tuple(panel.__dict__.values()) for panel in panels))


def build_distances_table(run: Run) -> Table:
    """Return the table of panel comparisons: one row per pair of panels."""
    distances = PanelsSummary.from_json(run.summary).distances
    return Table(DISTANCE_COLUMNS, (tuple(distance.__dict__.values()) for distance in distances))


def build_standings_table(run: Run) -> Table:
    """Return the table of model scores: one row per model and panel."""
    summary = PanelsSummary.from_json(run.summary)
    names = _load_model_names(summary)
    return Table(
        STANDING_COLUMNS,
        (
            (row.panel, names.get(row.model, ""), row.score, row.n, row.rank, row.reason)
            for row in summary.standings
        ),
    )


def build_questions_table(run: Run) -> Table:
    """Return the table of questions: panels' cosines and best responses, least similar first."""
    return Table(QUESTION_COLUMNS, _iterate_question_cells(run))


def _iterate_question_cells(run: Run) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the question table, with the questions' external ids."""
    names = {
        str(public): name
        for public, name in Question.objects.filter(version=run.version_id).values_list(
            "public_id", "external_id"
        )
    }
    for row in _load_stored_question_rows(run):
        yield (names.get(row["question"], ""), *(row[column] for column in QUESTION_COLUMNS[1:]))


def _load_stored_question_rows(run: Run) -> list[dict[str, Any]]:
    """Return the rows on questions that are stored with the run; [] without any."""
    data = RunData.objects.filter(run=run, name=QUESTIONS).values_list("data", flat=True).first()
    return data or []


def _load_answer_texts(rows: Any, keys: list[int | None]) -> dict[int, str]:
    """Return the beginnings of answer texts by primary key, without withdrawn answers."""
    texts = rows.filter(pk__in=[key for key in keys if key is not None]).values_list(
        "pk", select_beginning("text", ANSWER_SHOWN)
    )
    return {key: shorten_text(text, ANSWER_SHOWN) for key, text in texts}


def _load_model_names(summary: PanelsSummary) -> dict[str, str]:
    """Return model names by public id, in the order of the summary, without deleted models."""
    ids = list(dict.fromkeys(row.model for row in summary.standings))
    known = LanguageModel.objects.filter(public_id__in=ids).values_list("public_id", "name")
    names = {str(public): name for public, name in known}
    return {model: names[model] for model in ids if model in names}


def _build_sort_key(model: ModelPanelScores) -> tuple[bool, float]:
    """Return a model's sort key: highest score under the first panel first, unscored last."""
    first = model.standings[0] if model.standings else None
    score = first.score if first else None
    return score is None, -(score or 0.0)
