"""From answers of people and models to panels, what is between them, and a row a question."""

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
from evaluation.flow.alarms import GradedAnswers, alarms_of
from evaluation.flow.fitting import ModelColumns, labels_of
from evaluation.flow.inputs import GradingInput
from evaluation.flow.panels.parameters import PanelsParameters
from evaluation.flow.panels.summary import (
    VERSION,
    Alikeness,
    Distance,
    PanelAbout,
    PanelsSummary,
    Standing,
)
from evaluation.flow.signatures import versions
from evaluation.flow.vectors import Embedded, EmbedTexts, Progress, embed, vectors_of
from evaluation.methods.cells import Floats
from evaluation.methods.inference.comparison import compare_models, significant_ranks
from evaluation.methods.inference.paired import bootstrap_mean_difference, permutation_p_value
from evaluation.methods.panels import (
    BOTH,
    HALVES,
    MODELS,
    PEOPLE,
    UNFLAGGED,
    Panel,
    PanelPair,
    Speeches,
    pair_of_panels,
    panels_of,
    row_cosines,
)
from evaluation.methods.undefined import or_none
from evaluation.options import signed
from evaluation.options.parameters import SHORT
from evaluation.words.message import Message

# The alarm by which workers are flagged as answering like a model.
MODEL_LIKE = "model_like"
SHOWN = (PEOPLE, MODELS, BOTH)


class NoModelsError(ValueError):
    """No model has answered a question with a text, so there is no panel of models."""


@dataclass(frozen=True)
class QuestionRow:
    """A question under the panels; None where a panel has no answer to it.

    `nearest` holds the best response of people, of models and of both: the row of a worker's
    answer, or that of a model's with `is_model`.
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
class Panels:
    """What came of it, and out of what.

    Attributes
    ----------
    flagged : ids of workers that an alarm says answer like a model.
    """

    given: GradingInput
    parameters: PanelsParameters
    embedded: Embedded
    found: Mapping[str, Panel]
    pairs: list[PanelPair]
    speakers: list[Any]
    n_people: int
    questions: list[Any]
    rows: list[tuple[bool, int]]
    flagged: list[Any]

    @property
    def warnings(self) -> list[Message]:
        """What somebody should know before relying on it."""
        return [*self.embedded.warnings, *self.summary().cautions]

    def signature(self, input_hash: str) -> str:
        """Return the line that says how the numbers were made."""
        info = self.embedded.info
        parts = {
            **signed(self.parameters),
            "embedder": info.model,
            "revision": info.revision,
            "precision": info.precision,
            "inputs": input_hash[:SHORT],
            "version": metadata.version("crowdgrade"),
        }
        return "|".join(["panels", *(f"{name}:{value}" for name, value in parts.items())])

    def summary(self) -> PanelsSummary:
        """Return what is stored of it; models by their ids as text."""
        models = self.given.models
        info = self.embedded.info
        return PanelsSummary(
            version=VERSION,
            answers=len(self.given.answered),
            workers=self.n_people,
            questions=len(self.questions),
            models=len(self.speakers) - self.n_people,
            model_answers=0 if models is None else len(models),
            flagged=len(self.flagged),
            panels=tuple(_about(panel, self.n_people) for panel in self.found.values()),
            distances=tuple(self._distance(pair) for pair in self.pairs),
            standings=tuple(self._standings()),
            alikeness=self._alikeness(),
            embedding={key: v for key, v in info.as_dict().items() if key != "versions"},
            versions=versions(info.versions),
        )

    def question_rows(self) -> list[QuestionRow]:
        """Return a row for every question, those first on which people and models differ most."""
        people, models, both = (self.found[name] for name in SHOWN)
        cosines = [
            _cosines(one, other)
            for one, other in ((people, models), (people, both), (models, both))
        ]
        order = np.argsort(np.where(np.isnan(cosines[0]), np.inf, cosines[0]), kind="stable")
        return [
            QuestionRow(
                self.questions[at],
                int(people.n_answers[at]),
                int(models.n_answers[at]),
                or_none(cosines[0][at]),
                or_none(cosines[1][at]),
                or_none(cosines[2][at]),
                or_none(people.dispersion[at]),
                or_none(models.dispersion[at]),
                or_none(both.dispersion[at]),
                self._key(people, at)[1],
                self._key(models, at)[1],
                self._key(both, at)[1],
                self._key(both, at)[0],
            )
            for at in order.tolist()
        ]

    def _key(self, panel: Panel, question: int) -> tuple[bool, Any]:
        """Return whether the best response is a model's, and the caller's key of it."""
        row = int(panel.nearest[question])
        if row < 0:
            return False, None
        is_model, at = self.rows[row]
        answers = self.given.models if is_model else self.given.answered
        assert answers is not None
        return is_model, answers.keys[at]

    def _distance(self, pair: PanelPair) -> Distance:
        known = pair.cosines[~np.isnan(pair.cosines)]
        mean = bootstrap_mean_difference(
            known, np.zeros(len(known)), None, self.parameters.bootstrap, 0.95, self.parameters.seed
        )
        return Distance(
            first=pair.first,
            second=pair.second,
            questions=len(known),
            cosine=mean.difference,
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
        )

    def _standings(self) -> list[Standing]:
        found: list[Standing] = []
        names = [str(speaker) for speaker in self.speakers[self.n_people :]]
        with_error = _with_error(self.given)
        for panel in self.found.values():
            if panel.name in HALVES:
                continue
            scores = panel.scores[self.n_people :]
            means = panel.means()[self.n_people :]
            entered = [
                at
                for at, name in enumerate(names)
                if not np.isnan(means[at]) and name not in with_error
            ]
            pairs = compare_models(
                scores[entered], [names[at] for at in entered], n_draws=0, seed=self.parameters.seed
            )
            ranks = {
                rank.model: rank for rank in significant_ranks(pairs, [names[at] for at in entered])
            }
            for at, name in enumerate(names):
                rank = ranks.get(name)
                reason = rank.reason if rank else "missing_answers"
                if np.isnan(means[at]):
                    reason = "no_exemplar"
                n = int(np.count_nonzero(~np.isnan(scores[at])))
                found.append(
                    Standing(
                        panel.name, name, or_none(means[at]), n, rank.rank if rank else None, reason
                    )
                )
        return found

    def _alikeness(self) -> Alikeness:
        a, b = self.found[MODELS].agreement, self.found[PEOPLE].agreement
        seed = self.parameters.seed
        mean = bootstrap_mean_difference(a, b, None, self.parameters.bootstrap, 0.95, seed)
        test = permutation_p_value(a, b, seed=seed)
        return Alikeness(mean.difference, mean.low, mean.high, test.p_value, mean.n)


def find_panels(
    parameters: PanelsParameters,
    given: GradingInput,
    embed_texts: EmbedTexts | None = None,
    progress: Progress | None = None,
) -> Panels:
    """Make the panels out of answers of people and models.

    Parameters
    ----------
    given : chosen with `parameters.grading()`.
    embed_texts : gives the vectors; without it the embedder that the parameters name.
    progress : is told what is done, how far, of how much.

    Raises
    ------
    NoModelsError
        No model has answered with a text.
    BackendError
        The answers cannot be embedded.
    """
    if given.models is None or not len(given.models.with_text()):
        raise NoModelsError
    grading = parameters.grading()
    embedded = vectors_of(given, embed_texts or partial(embed, grading, progress=progress))
    flagged = _flagged(parameters, given, embedded, progress)
    if progress is not None:
        progress("panels", 0, 1)
    speeches, speakers, questions, rows = _speeches(given, embedded)
    n_people = speeches.n_people
    code_of = {worker: code for code, worker in enumerate(speakers[:n_people])}
    found = {
        panel.name: panel
        for panel in panels_of(
            speeches, grading.estimator, [code_of[worker] for worker in flagged], parameters.seed
        )
    }
    compared = [*combinations(SHOWN, 2), (PEOPLE, UNFLAGGED), HALVES]
    pairs = [
        pair_of_panels(found[one], found[other], n_people)
        for one, other in compared
        if one in found and other in found
    ]
    if progress is not None:
        progress("panels", 1, 1)
    return Panels(
        given, parameters, embedded, found, pairs, speakers, n_people, questions, rows, flagged
    )


def _flagged(
    parameters: PanelsParameters,
    given: GradingInput,
    embedded: Embedded,
    progress: Progress | None,
) -> list[Any]:
    """Return the workers that an alarm of a grading says answer like a model, in their order."""
    answers, spoken = given.answered, given.models
    assert spoken is not None
    assert embedded.models is not None
    grading = parameters.grading()
    aqer = grading.estimator().fit(
        embedded.answers, labels_of(answers.workers), labels_of(answers.questions)
    )
    graded = GradedAnswers(
        answers.texts,
        answers.workers,
        answers.questions,
        embedded.answers,
        ModelColumns(spoken.models, spoken.questions, spoken.statuses, embedded.models),
    )
    alarms = alarms_of(grading, aqer, graded, progress, given.model_names)
    named = {
        worker for alarm in alarms.found if alarm.kind == MODEL_LIKE for worker in alarm.workers
    }
    return [worker for worker in dict.fromkeys(answers.workers) if worker in named]


def _speeches(
    given: GradingInput, embedded: Embedded
) -> tuple[Speeches, list[Any], list[Any], list[tuple[bool, int]]]:
    """Return the answers in codes; speakers, questions, and whose answer each row is."""
    answers, spoken = given.answered, given.models
    assert spoken is not None
    assert embedded.models is not None
    people, models = list(dict.fromkeys(answers.workers)), list(dict.fromkeys(spoken.models))
    person = {worker: code for code, worker in enumerate(people)}
    model = {name: len(people) + code for code, name in enumerate(models)}
    questions = list(dict.fromkeys([*answers.questions, *spoken.questions]))
    asked = {question: code for code, question in enumerate(questions)}
    texts = [at for at, status in enumerate(spoken.statuses) if status is AnswerStatus.TEXT]
    silent = [
        at
        for at, status in enumerate(spoken.statuses)
        if status is not AnswerStatus.TEXT and not status.is_missing
    ]
    own, of_models = embedded.answers, embedded.models[np.array(texts, dtype=np.int64)]
    if isinstance(own, np.ndarray) and isinstance(of_models, np.ndarray):
        vectors: Any = np.concatenate([own, of_models])
    else:
        vectors = sparse.vstack([sparse.csr_array(own), sparse.csr_array(of_models)], format="csr")
    speaker = [person[worker] for worker in answers.workers]
    speaker += [model[spoken.models[at]] for at in texts]
    question = [asked[name] for name in answers.questions]
    question += [asked[spoken.questions[at]] for at in texts]
    speeches = Speeches(
        vectors,
        np.array(speaker, dtype=np.int64),
        np.array(question, dtype=np.int64),
        len(people),
        len(models),
        len(questions),
        np.array([model[spoken.models[at]] for at in silent], dtype=np.int64),
        np.array([asked[spoken.questions[at]] for at in silent], dtype=np.int64),
    )
    rows = [(False, at) for at in range(len(answers))] + [(True, at) for at in texts]
    return speeches, [*people, *models], questions, rows


def _about(panel: Panel, n_people: int) -> PanelAbout:
    return PanelAbout(
        name=panel.name,
        people=int(panel.members[:n_people].sum()),
        models=int(panel.members[n_people:].sum()),
        answers=int(panel.n_answers.sum()),
        questions=int(np.count_nonzero(panel.n_answers)),
        dispersion=_mean(panel.dispersion),
        agreement=_mean(panel.agreement),
        model_share=or_none(panel.model_share),
    )


def _cosines(one: Panel, other: Panel) -> Floats:
    both = (one.n_answers > 0) & (other.n_answers > 0)
    return np.where(both, row_cosines(one.exemplars, other.exemplars), np.nan)


def _with_error(given: GradingInput) -> set[str]:
    """Return the models with an answer that could not be fetched, which are not ranked."""
    spoken = given.models
    assert spoken is not None
    pairs = zip(spoken.models, spoken.statuses, strict=True)
    return {str(model) for model, status in pairs if status.is_missing}


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
