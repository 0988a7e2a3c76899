"""Comparison of panels: fit them on answers of workers and models, and summarize the differences.

It has no database access: a run and a command on files both call `compute_comparison`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import (
    EmbeddedAnswers,
    EmbedTexts,
    GradingInput,
    Progress,
    embed,
    embed_graded_answers,
)
from evaluation.consensus.signatures import OF_GRADING, CrowdParameters, collect_versions
from evaluation.core.messages.message import Message
from evaluation.core.options import IntegerOption, build_signature_parts, declare_option
from evaluation.core.options.parameters import SHORT
from evaluation.core.stats.cells import Floats, convert_nan_to_none
from evaluation.core.stats.inference.comparison import compare_models, rank_by_significance
from evaluation.core.stats.inference.paired import (
    compute_bootstrap_mean_difference,
    compute_permutation_test,
)
from evaluation.crowd_vs_llm.methods import (
    BOTH,
    HALVES,
    MODELS,
    PEOPLE,
    UNFLAGGED,
    Panel,
    PanelAnswers,
    PanelPair,
    compare_panel_pair,
    compute_panels,
    compute_row_cosines,
)
from evaluation.crowd_vs_llm.run.summary import (
    VERSION,
    AgreementDifference,
    PanelDistance,
    PanelModelScore,
    PanelNumbers,
    PanelsSummary,
)
from evaluation.grading.alarms.run.detection import GradedAnswers, detect_alarms
from evaluation.grading.crowd import ModelColumns, build_labels


@dataclass(frozen=True)
class PanelsParameters(CrowdParameters):
    """Options of a comparison of panels: grading of each panel, and bootstrap draws."""

    bootstrap: int = declare_option(
        400,
        IntegerOption(
            label="Bootstrap draws",
            help="Draws of questions for the intervals.",
            lowest=2,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = declare_option(0, OF_GRADING["seed"])


# Workers of this kind of alarm are left out of the panel of unflagged people.
MODEL_LIKE = "model_like"
PANEL_ORDER = (PEOPLE, MODELS, BOTH)


class NoModelsError(ValueError):
    """Error: no model answered a question with a text, so there is no panel of models."""


@dataclass(frozen=True)
class QuestionRow:
    """Panels' results on one question; None if a panel has no answer to it.

    `people_and_models`, `people_and_both` and `models_and_both` are cosines of two panels'
    exemplary answers. `nearest_...` are the keys of each panel's best response; `nearest_both` is
    the key of a model's answer if `nearest_both_is_model`, else of a worker's.
    """

    question: Any
    n_people: int
    n_models: int
    people_and_models: float | None
    people_and_both: float | None
    models_and_both: float | None
    dispersion_people: float | None
    dispersion_models: float | None
    dispersion_both: float | None
    nearest_people: Any
    nearest_models: Any
    nearest_both: Any
    nearest_both_is_model: bool


@dataclass(frozen=True)
class PanelComparison:
    """Panels of workers, models and both over one set of answers, compared.

    Attributes
    ----------
    inputs : the answers of workers and models.
    panels : by name.
    pairs : comparisons of every two panels of interest.
    respondents : ids of `n_people` workers, then of models, by code.
    questions : ids of the questions, by code.
    rows : whether each embedded answer is a model's, and its position among those.
    flagged : ids of the workers with the alarm that they answer like a model.
    """

    inputs: GradingInput
    parameters: PanelsParameters
    embedded: EmbeddedAnswers
    panels: Mapping[str, Panel]
    pairs: list[PanelPair]
    respondents: list[Any]
    n_people: int
    questions: list[Any]
    rows: list[tuple[bool, int]]
    flagged: list[Any]

    @property
    def warnings(self) -> list[Message]:
        """Warnings about the embedding and the limits of panels of models."""
        return [*self.embedded.warnings, *self.build_summary().cautions]

    def build_signature(self, input_hash: str) -> str:
        """Return the signature of a run: options, embedding, input hash, and version."""
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
        return "|".join(["panels", *(f"{name}:{value}" for name, value in parts.items())])

    def build_summary(self) -> PanelsSummary:
        """Return the summary of the comparison to store, with model ids as text."""
        models = self.inputs.models
        info = self.embedded.info
        return PanelsSummary(
            version=VERSION,
            answers=len(self.inputs.answered),
            workers=self.n_people,
            questions=len(self.questions),
            models=len(self.respondents) - self.n_people,
            model_answers=0 if models is None else len(models),
            flagged=len(self.flagged),
            panels=tuple(_describe_panel(panel, self.n_people) for panel in self.panels.values()),
            distances=tuple(self._summarize_pair(pair) for pair in self.pairs),
            standings=tuple(self._rank_models()),
            alikeness=self._compare_agreement(),
            embedding={key: v for key, v in info.as_dict().items() if key != "versions"},
            versions=collect_versions(info.versions),
        )

    def build_question_rows(self) -> list[QuestionRow]:
        """Return the panels' results per question, the least similar exemplary answers first."""
        people, models, both = (self.panels[name] for name in PANEL_ORDER)
        cosines = [
            _compare_exemplars(first, second)
            for first, second in ((people, models), (people, both), (models, both))
        ]
        # Questions without a cosine come last.
        order = np.argsort(np.where(np.isnan(cosines[0]), np.inf, cosines[0]), kind="stable")
        return [
            QuestionRow(
                self.questions[index],
                int(people.n_answers[index]),
                int(models.n_answers[index]),
                convert_nan_to_none(cosines[0][index]),
                convert_nan_to_none(cosines[1][index]),
                convert_nan_to_none(cosines[2][index]),
                convert_nan_to_none(people.dispersion[index]),
                convert_nan_to_none(models.dispersion[index]),
                convert_nan_to_none(both.dispersion[index]),
                self._find_best_response(people, index)[1],
                self._find_best_response(models, index)[1],
                self._find_best_response(both, index)[1],
                self._find_best_response(both, index)[0],
            )
            for index in order.tolist()
        ]

    def _find_best_response(self, panel: Panel, question: int) -> tuple[bool, Any]:
        """Return whether the answer nearest to a panel's consensus is a model's, and its key."""
        row = int(panel.nearest[question])
        if row < 0:
            return False, None
        is_model, position = self.rows[row]
        answers = self.inputs.models if is_model else self.inputs.answered
        assert answers is not None
        return is_model, answers.keys[position]

    def _summarize_pair(self, pair: PanelPair) -> PanelDistance:
        """Return the comparison of two panels to store, with the interval of the mean cosine."""
        known = pair.cosines[~np.isnan(pair.cosines)]
        # Against zeros, the mean difference is the mean cosine.
        mean = compute_bootstrap_mean_difference(
            known, np.zeros(len(known)), None, self.parameters.bootstrap, 0.95, self.parameters.seed
        )
        return PanelDistance(
            first=pair.first,
            second=pair.second,
            questions=len(known),
            cosine=mean.difference,
            # The bootstrap interval is symmetric and can exceed the range of a cosine.
            low=None if mean.low is None else max(-1.0, mean.low),
            high=None if mean.high is None else min(1.0, mean.high),
            median=float(np.median(known)) if len(known) else None,
            least=float(known.min()) if len(known) else None,
            spearman_models=pair.spearman_models,
            kendall_models=pair.kendall_models,
            swapped=pair.swapped,
            models=pair.n_models,
            spearman_people=pair.spearman_people,
            people=pair.n_people,
            swapped_beyond_chance=pair.swapped_beyond_chance,
        )

    def _rank_models(self) -> list[PanelModelScore]:
        """Return each model's score and rank under each panel, without the half panels.

        A model has no rank without a score or with an answer that could not be fetched.
        """
        standings: list[PanelModelScore] = []
        names = [str(respondent) for respondent in self.respondents[self.n_people :]]
        with_error = _find_models_with_errors(self.inputs)
        for panel in self.panels.values():
            if panel.name in HALVES:
                continue
            scores = panel.scores[self.n_people :]
            means = panel.compute_means()[self.n_people :]
            ranked = [
                index
                for index, name in enumerate(names)
                if not np.isnan(means[index]) and name not in with_error
            ]
            ranked_names = [names[index] for index in ranked]
            # Ranks need no intervals: 0 draws skip the bootstrap.
            pairs = compare_models(
                scores[ranked], ranked_names, n_draws=0, seed=self.parameters.seed
            )
            ranks = {rank.model: rank for rank in rank_by_significance(pairs, ranked_names)}
            for index, name in enumerate(names):
                rank = ranks.get(name)
                reason = rank.reason if rank else "missing_answers"
                if np.isnan(means[index]):
                    reason = "no_exemplar"
                n = int(np.count_nonzero(~np.isnan(scores[index])))
                score, place = convert_nan_to_none(means[index]), rank.rank if rank else None
                standings.append(PanelModelScore(panel.name, name, score, n, place, reason))
        return standings

    def _compare_agreement(self) -> AgreementDifference:
        """Return the models' agreement minus the workers', averaged over questions, with a test."""
        a, b = self.panels[MODELS].agreement, self.panels[PEOPLE].agreement
        seed = self.parameters.seed
        mean = compute_bootstrap_mean_difference(a, b, None, self.parameters.bootstrap, 0.95, seed)
        test = compute_permutation_test(a, b, seed=seed)
        return AgreementDifference(mean.difference, mean.low, mean.high, test.p_value, mean.n)


def compute_comparison(
    parameters: PanelsParameters,
    inputs: GradingInput,
    embed_texts: EmbedTexts | None = None,
    progress: Progress | None = None,
) -> PanelComparison:
    """Return the panels fitted on the answers of workers and models, and compared.

    Parameters
    ----------
    inputs : answers selected with `parameters.build_grading_parameters()`.
    embed_texts : returns the vectors; None takes the embedder of the parameters.
    progress : called with stage, number done, and total.

    Raises
    ------
    NoModelsError
        No model answered with a text.
    BackendError
        The answers cannot be embedded.
    """
    if inputs.models is None or not len(inputs.models.select_with_text()):
        raise NoModelsError
    grading = parameters.build_grading_parameters()
    embedded = embed_graded_answers(
        inputs, embed_texts or partial(embed, grading, progress=progress)
    )
    flagged = _find_flagged_workers(parameters, inputs, embedded, progress)
    if progress is not None:
        progress("panels", 0, 1)
    answers, respondents, questions, rows = _encode_answers(inputs, embedded)
    n_people = answers.n_people
    codes = {worker: code for code, worker in enumerate(respondents[:n_people])}
    panels = {
        panel.name: panel
        for panel in compute_panels(
            answers, grading.build_estimator, [codes[worker] for worker in flagged], parameters.seed
        )
    }
    compared = [*combinations(PANEL_ORDER, 2), (PEOPLE, UNFLAGGED), HALVES]
    pairs = [
        compare_panel_pair(panels[first], panels[second], n_people)
        for first, second in compared
        if first in panels and second in panels
    ]
    if progress is not None:
        progress("panels", 1, 1)
    return PanelComparison(
        inputs, parameters, embedded, panels, pairs, respondents, n_people, questions, rows, flagged
    )


def _find_flagged_workers(
    parameters: PanelsParameters,
    inputs: GradingInput,
    embedded: EmbeddedAnswers,
    progress: Progress | None,
) -> list[Any]:
    """Return the workers in the alarm for answers like a model's, in answer order.

    Alarms need a grading, so one AQER is fitted on all workers.
    """
    answers, model_answers = inputs.answered, inputs.models
    assert model_answers is not None
    assert embedded.models is not None
    grading = parameters.build_grading_parameters()
    aqer = grading.build_estimator().fit(
        embedded.answers, build_labels(answers.workers), build_labels(answers.questions)
    )
    graded = GradedAnswers(
        answers.texts,
        answers.workers,
        answers.questions,
        embedded.answers,
        ModelColumns(
            model_answers.models,
            model_answers.questions,
            model_answers.statuses,
            embedded.models,
        ),
    )
    alarms = detect_alarms(grading, aqer, graded, progress, inputs.model_names)
    flagged = {
        worker for alarm in alarms.found if alarm.kind == MODEL_LIKE for worker in alarm.workers
    }
    return [worker for worker in dict.fromkeys(answers.workers) if worker in flagged]


def _encode_answers(
    inputs: GradingInput, embedded: EmbeddedAnswers
) -> tuple[PanelAnswers, list[Any], list[Any], list[tuple[bool, int]]]:
    """Return encoded answers, respondents' ids by code, questions' ids by code, and source rows.

    A row is whether the answer is a model's, and its position among the answers of that sort.
    """
    answers, model_answers = inputs.answered, inputs.models
    assert model_answers is not None
    assert embedded.models is not None
    people, models = list(dict.fromkeys(answers.workers)), list(dict.fromkeys(model_answers.models))
    worker_codes = {worker: code for code, worker in enumerate(people)}
    model_codes = {name: len(people) + code for code, name in enumerate(models)}
    questions = list(dict.fromkeys([*answers.questions, *model_answers.questions]))
    question_codes = {question: code for code, question in enumerate(questions)}
    texts = [
        index for index, status in enumerate(model_answers.statuses) if status is AnswerStatus.TEXT
    ]
    empty = [
        index
        for index, status in enumerate(model_answers.statuses)
        if status is not AnswerStatus.TEXT and not status.is_missing
    ]
    worker_vectors, model_vectors = (
        embedded.answers,
        embedded.models[np.array(texts, dtype=np.int64)],
    )
    # TF-IDF vectors are sparse, all others dense.
    if isinstance(worker_vectors, np.ndarray) and isinstance(model_vectors, np.ndarray):
        vectors: Any = np.concatenate([worker_vectors, model_vectors])
    else:
        vectors = sparse.vstack(
            [sparse.csr_array(worker_vectors), sparse.csr_array(model_vectors)], format="csr"
        )
    respondent = [worker_codes[worker] for worker in answers.workers]
    respondent += [model_codes[model_answers.models[index]] for index in texts]
    question = [question_codes[name] for name in answers.questions]
    question += [question_codes[model_answers.questions[index]] for index in texts]
    encoded = PanelAnswers(
        vectors,
        np.array(respondent, dtype=np.int64),
        np.array(question, dtype=np.int64),
        len(people),
        len(models),
        len(questions),
        np.array([model_codes[model_answers.models[index]] for index in empty], dtype=np.int64),
        np.array(
            [question_codes[model_answers.questions[index]] for index in empty], dtype=np.int64
        ),
    )
    rows = [(False, index) for index in range(len(answers))] + [(True, index) for index in texts]
    return encoded, [*people, *models], questions, rows


def _describe_panel(panel: Panel, n_people: int) -> PanelNumbers:
    """Return a panel's numbers to store: members, answers, dispersion and agreement."""
    return PanelNumbers(
        name=panel.name,
        people=int(panel.members[:n_people].sum()),
        models=int(panel.members[n_people:].sum()),
        answers=int(panel.n_answers.sum()),
        questions=int(np.count_nonzero(panel.n_answers)),
        dispersion=_compute_mean(panel.dispersion),
        agreement=_compute_mean(panel.agreement),
        model_share=convert_nan_to_none(panel.model_share),
    )


def _compare_exemplars(first: Panel, second: Panel) -> Floats:
    """Return the cosine of two panels' exemplary answers per question; NaN if one is missing."""
    both = (first.n_answers > 0) & (second.n_answers > 0)
    return np.where(both, compute_row_cosines(first.exemplars, second.exemplars), np.nan)


def _find_models_with_errors(inputs: GradingInput) -> set[str]:
    """Return the models with at least one answer that failed or is missing."""
    model_answers = inputs.models
    assert model_answers is not None
    pairs = zip(model_answers.models, model_answers.statuses, strict=True)
    return {str(model) for model, status in pairs if status.is_missing}


def _compute_mean(values: Floats) -> float | None:
    """Return the mean of the values that are not NaN; None if there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
