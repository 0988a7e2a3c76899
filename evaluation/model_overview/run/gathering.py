"""Combine measures of models from several runs into one array of values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import IntegerOption, Parameters, declare_option
from evaluation.core.stats.cells import Booleans, Floats
from evaluation.runs.flow.stored import Aspect, Measure, MeasuredObservation

Reasons = dict[tuple[int, int, int], str]


@dataclass(frozen=True)
class ComparedRun:
    """The run or folder from which measures of models were read.

    Attributes
    ----------
    kind, title : name of the kind of run, and what people call it.
    run : public id of the run, or the folder. signature : how its numbers were made.
    """

    kind: str
    title: str
    run: str
    signature: str


@dataclass(frozen=True)
class ModelValue:
    """A model's overall value in a measure of whole models, or the reason why it is missing."""

    view: str
    model: str
    value: float | None
    reason: str


class NoObservationsError(Exception):
    """Error: no source contains a value for any model's answer."""


@dataclass(frozen=True, eq=False)
class AlignedMetrics:
    """Values of all measures in one array by measure, model and question; NaN if missing.

    Attributes
    ----------
    views : V views of answers and of questions with any number, in the order of their sources.
    source_of : (V,) index of each view's source.
    values : (V, M, Q) numbers, NaN for none; a view of questions has the same row for every model.
    reasons : why a number is missing that a source has a row for, by view, model and question.
    of_models : values of views of whole models. model_views : these views, with the index of their
        source. repeated : number of rows that repeat an earlier one; they do not count.
    """

    sources: tuple[ComparedRun, ...]
    views: tuple[Measure, ...]
    source_of: tuple[int, ...]
    models: tuple[str, ...]
    questions: tuple[str, ...]
    values: Floats
    reasons: Reasons
    model_views: tuple[tuple[Measure, int], ...] = ()
    of_models: tuple[ModelValue, ...] = ()
    repeated: int = 0

    @cached_property
    def known(self) -> Booleans:
        """Whether a value is known, by measure, model and question."""
        return ~np.isnan(self.values)

    @cached_property
    def index_by_name(self) -> Mapping[str, int]:
        """Index of each measure, by the measure's name."""
        return {view.name: index for index, view in enumerate(self.views)}

    def find_main_measure(self, side: Aspect) -> int | None:
        """Return the index of the main measure of an aspect; None if there is none."""
        for index, view in enumerate(self.views):
            if view.side == side and view.of == "answer" and view.better:
                return index
        return None

    @property
    def dispersion(self) -> int | None:
        """Index of the measure of how much workers disagree on a question; None if missing."""
        for index, view in enumerate(self.views):
            if view.side == Aspect.CROWD and view.of == "question":
                return index
        return None

    @property
    def sides(self) -> list[int]:
        """Indices of the main measures of all aspects, in the order of the aspects."""
        return [index for index in map(self.find_main_measure, Aspect) if index is not None]

    def get_oriented_values(self, view: int) -> Floats:
        """Return a measure's values, negated if smaller is better; one row per model."""
        sign = -1.0 if self.views[view].better == "lower" else 1.0
        return np.asarray(sign * self.values[view], dtype=np.float64)

    def compute_hash(self) -> str:
        """Return the SHA-256 of all values; it does not depend on their sources."""
        made = hashlib.sha256()
        made.update(json.dumps([self.models, self.questions]).encode())
        for view, values in zip(self.views, self.values, strict=True):
            made.update(view.name.encode())
            # NaN has many bit patterns, and -0.0 differs from 0.0: each is made one.
            made.update(np.where(np.isnan(values), np.nan, values + 0.0).astype("<f8").tobytes())
        for number in self.of_models:
            made.update(json.dumps([number.view, number.model, number.value]).encode())
        return made.hexdigest()


@dataclass
class MetricsBuilder:
    """Combines numbers (by measure, model and question) from sources into one array.

    Attributes
    ----------
    questions : ids in the order of tables; others follow in the order of their first occurrence.
    """

    questions: Sequence[str] = ()
    sources: list[ComparedRun] = field(default_factory=list)
    _told: dict[str, dict[tuple[str, str], tuple[float | None, str]]] = field(default_factory=dict)
    _views: dict[str, tuple[Measure, int]] = field(default_factory=dict)
    _repeated: int = 0

    def add_source(
        self, source: ComparedRun, viewed_observations: Iterable[MeasuredObservation]
    ) -> None:
        """Add the numbers of a source; of repeated numbers the first counts."""
        self.sources.append(source)
        source_index = len(self.sources) - 1
        for view, (model, question, value, reason) in viewed_observations:
            cells = self._told.setdefault(view.name, {})
            # The first source that has a view names it in the tables.
            self._views.setdefault(view.name, (view, source_index))
            key = (model, question)
            if key in cells:
                self._repeated += 1
            else:
                cells[key] = (value, reason)

    def build_metrics(self) -> AlignedMetrics:
        """Return the combined values; raises `NoObservationsError` if no answer has a value."""
        views = [
            (view, index)
            for name, (view, index) in self._views.items()
            if view.of != "model" and any(value is not None for value, _ in self._list_values(name))
        ]
        models = list(dict.fromkeys(self._iterate_models(views)))
        if not models:
            raise NoObservationsError
        told = (question for view, _ in views for _, question in self._told[view.name])
        questions = list(dict.fromkeys(told))
        place = {question: index for index, question in enumerate(self.questions)}
        # Sorting keeps the order of those that no list names.
        questions.sort(key=lambda question: place.get(question, len(place)))
        values, reasons = self._build_arrays([view for view, _ in views], models, questions)
        return AlignedMetrics(
            tuple(self.sources),
            tuple(view for view, _ in views),
            tuple(index for _, index in views),
            tuple(models),
            tuple(questions),
            values,
            reasons,
            *self._collect_model_numbers(models),
            self._repeated,
        )

    def _list_values(self, name: str) -> Iterable[tuple[float | None, str]]:
        """Return (value, reason if missing) of every number of a measure."""
        return self._told[name].values()

    def _iterate_models(self, views: Sequence[tuple[Measure, int]]) -> Iterator[str]:
        """Yield the name of the model of each known value of an answer, measure by measure."""
        for view, _ in views:
            if view.of == "answer":
                for (model, _), (value, _) in self._told[view.name].items():
                    if value is not None:
                        yield model

    def _build_arrays(
        self, views: Sequence[Measure], models: Sequence[str], questions: Sequence[str]
    ) -> tuple[Floats, Reasons]:
        """Return the values by measure, model and question, and the reasons of missing ones."""
        row = {model: index for index, model in enumerate(models)}
        column = {question: index for index, question in enumerate(questions)}
        values = np.full((len(views), len(models), len(questions)), np.nan)
        reasons: Reasons = {}
        for index, view in enumerate(views):
            for (model, question), (value, reason) in self._told[view.name].items():
                if view.of == "question":
                    if value is not None:
                        values[index, :, column[question]] = value
                elif model in row:
                    if value is not None:
                        values[index, row[model], column[question]] = value
                    else:
                        reasons[index, row[model], column[question]] = reason
        return values, reasons

    def _collect_model_numbers(
        self, models: Sequence[str]
    ) -> tuple[tuple[tuple[Measure, int], ...], tuple[ModelValue, ...]]:
        """Return the measures of whole models, and their values for these models."""
        views = [(view, index) for view, index in self._views.values() if view.of == "model"]
        known = set(models)
        numbers = [
            ModelValue(view.name, model, value, reason)
            for view, _ in views
            for (model, _), (value, reason) in self._told[view.name].items()
            if model in known
        ]
        return tuple(views), tuple(numbers)


@dataclass(frozen=True)
class ViewsParameters(Parameters):
    """Options of the model overview: bootstrap draws of questions, and the seed."""

    bootstrap: int = declare_option(
        400,
        IntegerOption(
            label="Bootstrap draws",
            help="Draws of questions for the intervals; 0 for none.",
            lowest=0,
            highest=100_000,
            signed_as="draws",
        ),
    )
    seed: int = declare_option(0, AqerParameters.get_options()["seed"])

    sentences: ClassVar = {
        "no_views": "Nothing has been found out about a model's answers to this version yet: "
        "grade it with models' answers, or start another kind of run that compares models.",
    }
