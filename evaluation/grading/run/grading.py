"""The steps of a grading: from answers to grades, scores, alarms, facts and warnings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any

import numpy as np

from annotations.exchange import AnswerStatus
from evaluation.consensus import AQER, ModelScores
from evaluation.consensus.inputs import (
    EmbeddedAnswers,
    EmbedTexts,
    GradingInput,
    ModelAnswers,
    Progress,
    compute_entailment_scores,
    embed,
    embed_graded_answers,
)
from evaluation.consensus.methods.fixed_point import scale_to_grades
from evaluation.consensus.methods.resampling import DrawStore
from evaluation.consensus.signatures import build_aqer_signature, collect_versions
from evaluation.core.backends.cross_encoder import ContradictionModel
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Floats
from evaluation.core.text.quality import find_short_answer_warning
from evaluation.grading.alarms.run.detection import (
    Alarms,
    GradedAnswers,
    choose_alarm_crowd,
    detect_alarms,
)
from evaluation.grading.crowd import ModelColumns, RemedyInputs
from evaluation.grading.facts.run import CrowdFacts, add_entailment_verdicts, find_crowd_facts
from evaluation.grading.remedies.run import RemedyReport
from evaluation.grading.run.fitting import GradedWithRemedies, grade_vectors
from evaluation.grading.run.length import build_length_warning, compute_length_effect
from evaluation.grading.run.outcomes import DetectionInputs, add_outcomes
from evaluation.grading.run.results import GradeChanges, Results, build_grades_and_ranks
from evaluation.grading.summary import LengthEffect

GROUPS_SHOWN = 10
"""Groups whose sizes a warning names."""


@dataclass(frozen=True)
class Grading:
    """Result of grading a crowd, with the inputs, vectors, alarms and facts.

    Attributes
    ----------
    inputs : the graded answers and the options. embedded : vectors with the embedding model.
    graded : fitted estimators and effects of remedies. alarms : alarms and checks of the crowd.
    known_facts : facts that a model extracted; None where the rules extract them on demand.
    """

    inputs: GradingInput
    embedded: EmbeddedAnswers
    graded: GradedWithRemedies
    alarms: Alarms
    known_facts: CrowdFacts | None = None

    def build_results(self) -> Results:
        """Return the rows of the result tables; each table can be iterated once."""
        return Results(self.inputs, self.graded)

    @cached_property
    def facts(self) -> CrowdFacts | None:
        """Facts in the answers and the values that workers agree on; None if switched off.

        Workers vote with their weights in the exemplary answers. Excluded workers do not vote;
        their facts are judged. Facts change no grade.
        """
        if self.known_facts is not None or not self.inputs.parameters.facts:
            return self.known_facts
        inputs = self.inputs
        return find_crowd_facts(
            inputs.wordings, inputs.answered, inputs.models, self.votes, frozenset(inputs.excluded)
        )

    @cached_property
    def length(self) -> LengthEffect:
        """Correlation of the workers' raw scores with the length of their answers."""
        answered = self.inputs.answered
        return compute_length_effect(self.graded.aqer, answered.texts, answered.workers)

    @property
    def votes(self) -> dict[Any, float] | None:
        """Voting weight of each worker; None for equal weights if no worker is ranked."""
        aqer = self.graded.aqer
        if aqer.reason_ == "fewer_than_3_workers":
            return None
        weights = zip(aqer.workers_.tolist(), aqer.weights_.tolist(), strict=True)
        return {worker: 0.0 if math.isnan(weight) else weight for worker, weight in weights}

    @property
    def nearest(self) -> dict[Any, int]:
        """By question, the row of the worker's answer nearest to the exemplary answer."""
        aqer = self.graded.aqer
        columns = (aqer.questions_, aqer.nearest_, aqer.n_workers_of_question_)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        row_of_question = {question: row for question, row, n in rows if n}
        return {
            question: row_of_question[question]
            for question in self.inputs.questions
            if question in row_of_question
        }

    def compute_changes(self) -> GradeChanges | None:
        """Return the changes of grades against the run without remedies; None without remedies."""
        if self.graded.plain is None:
            return None
        before, after = (
            build_grades_and_ranks(self.graded.plain),
            build_grades_and_ranks(self.graded.aqer),
        )
        return GradeChanges.from_gradings(self.inputs.workers, before, after)

    def build_signature(self, input_hash: str) -> str:
        """Return the run's signature: method, version, options, embedding model and input hash."""
        info = self.embedded.info
        return build_aqer_signature(
            self.inputs.parameters, info.model, info.revision, info.precision, input_hash
        )

    @property
    def warnings(self) -> list[Message]:
        """Messages that a reader needs to know before trusting the tables."""
        inputs, graded = self.inputs, self.graded
        return [
            *self.embedded.warnings,
            *build_grading_warnings(
                graded.aqer,
                graded.models,
                inputs.n_empty,
                inputs.n_repeated,
                inputs.answered.texts,
                inputs.parameters.embedder,
                inputs.n_rejected,
                0 if inputs.models is None else len(inputs.models.find_models_only_cut_off()),
            ),
            *filter(None, [build_length_warning(self.length)]),
            *build_model_warnings(inputs.models),
            *(build_remedy_warnings(graded.remedies) if graded.remedies else []),
        ]

    def build_summary(self) -> dict[str, Any]:
        """Return the part of summary.json on iterations, ceiling, embedding, checks, versions."""
        aqer, info = self.graded.aqer, self.embedded.info
        return {
            "iterations": aqer.n_iter_,
            "converged": aqer.converged_,
            "trace": aqer.trace_,
            "ceiling": asdict(aqer.ceiling_),
            "embedding": {k: value for k, value in info.as_dict().items() if k != "versions"},
            "alarm_checks": self.alarms.convert_checks(),
            "length": asdict(self.length),
            "versions": collect_versions(info.versions),
        }


def grade_answers(
    grading_input: GradingInput,
    embed_texts: EmbedTexts | None = None,
    progress: Progress | None = None,
    draw_store: DrawStore | None = None,
) -> Grading:
    """Return the grading of the workers' answers, with models' scores, alarms and facts.

    Parameters
    ----------
    embed_texts : function that returns the vectors; by default the embedder of the parameters.
    progress : called with the name of the step, the finished parts and all parts. draw_store :
        store of
        bootstrap draws, with which an interrupted run continues.

    Raises
    ------
    BackendError
        The answers cannot be embedded, or the entailment model cannot be had.
    RemedyError
        A remedy has no meaning for this crowd.
    """
    parameters = grading_input.parameters
    # Loaded first, so that a missing model fails before anything is computed.
    entailment_model = (
        ContradictionModel.load(parameters.nli) if parameters.has_contradiction_check else None
    )
    embedded = embed_graded_answers(
        grading_input, embed_texts or partial(embed, parameters, progress=progress)
    )
    answers = _build_columns(grading_input, embedded)
    outside = _build_outside(grading_input, embedded)
    initial = None
    if parameters.init == "entailment":
        initial = compute_entailment_scores(
            parameters.nli or "", answers.texts, answers.questions, progress
        )
    graded = fit_crowd(grading_input, answers, outside, initial, progress, draw_store)
    crowd, answers_of_crowd = choose_alarm_crowd(parameters, graded, answers, outside)
    alarms = detect_alarms(
        parameters, crowd, answers_of_crowd, progress, grading_input.model_names, graded.aqer
    )
    if graded.remedies is not None:
        remedy_look = DetectionInputs(
            parameters, graded, answers, outside, grading_input.model_names
        )
        alarms = add_outcomes(alarms, remedy_look, crowd, answers_of_crowd)
    grading = Grading(grading_input, embedded, graded, alarms)
    return (
        grading if entailment_model is None else _add_meaning(grading, entailment_model, progress)
    )


def fit_crowd(
    grading_input: GradingInput,
    answers: GradedAnswers,
    outside: RemedyInputs,
    initial_scores: Floats | None = None,
    progress: Progress | None = None,
    draw_store: DrawStore | None = None,
) -> GradedWithRemedies:
    """Return the crowd graded by the vectors of its answers, with models' scores; no alarms."""
    return grade_vectors(
        grading_input.parameters,
        answers.vectors,
        answers.workers,
        answers.questions,
        initial_scores,
        answers.models,
        progress,
        draw_store,
        outside,
        _list_question_groups(grading_input),
    )


def prepare_bootstrap(
    grading_input: GradingInput, embed_texts: EmbedTexts, draw_store: DrawStore
) -> None:
    """Fit the crowd of a grading as far as its bootstrap, and pass that to `draw_store`.

    Fits the crowd as `grade_answers` does, but does not support initialisation by entailment.
    """
    embedded = embed_graded_answers(grading_input, embed_texts)
    answers = _build_columns(grading_input, embedded)
    outside = _build_outside(grading_input, embedded)
    fit_crowd(grading_input, answers, outside, draw_store=draw_store)


def _add_meaning(
    grading: Grading, entailment_model: ContradictionModel, progress: Progress | None
) -> Grading:
    """Return the grading with an entailment model's verdicts added to its facts."""
    inputs = grading.inputs
    assert grading.facts is not None
    facts = add_entailment_verdicts(
        grading.facts,
        inputs.answered,
        inputs.models,
        grading.graded.aqer.final_scores_,
        grading.nearest,
        entailment_model,
        grading.votes,
        frozenset(inputs.excluded),
        progress and (lambda done, total: progress("meaning", done, total)),
    )
    return replace(grading, known_facts=facts)


def _build_columns(grading_input: GradingInput, embedded: EmbeddedAnswers) -> GradedAnswers:
    """Return the answers of workers and models with their vectors, as columns."""
    answers, model_answers, models = grading_input.answered, grading_input.models, None
    if model_answers is not None:
        assert embedded.models is not None
        models = ModelColumns(
            model_answers.models, model_answers.questions, model_answers.statuses, embedded.models
        )
    return GradedAnswers(
        answers.texts, answers.workers, answers.questions, embedded.answers, models
    )


def _list_question_groups(grading_input: GradingInput) -> list[str] | None:
    """Return the group of each answer's question ("" for none); None without groups."""
    groups = grading_input.question_groups
    return (
        [groups.get(question, "") for question in grading_input.answered.questions]
        if groups
        else None
    )


def _build_outside(grading_input: GradingInput, embedded: EmbeddedAnswers) -> RemedyInputs:
    """Return the inputs of the remedies: texts, times, excluded workers and experts' grades."""
    return RemedyInputs(
        texts=grading_input.answered.texts,
        excluded=grading_input.excluded,
        collapsed=grading_input.collapsed,
        times=_convert_to_seconds(grading_input.answered.times),
        anchor_rows=[row for row, _ in grading_input.anchors],
        anchor_grades=[grade for _, grade in grading_input.anchors],
        plain_vectors=embedded.plain,
        spelling=embedded.spelling,
    )


def _convert_to_seconds(times: Sequence[datetime | None]) -> list[float]:
    """Return the times as seconds since 1970, NaN for None; empty if no answer has a time."""
    if not any(times):
        return []
    return [math.nan if time is None else time.timestamp() for time in times]


def has_equal_raw_scores(aqer: AQER) -> bool:
    """Return whether all raw scores are equal, so that every grade is 1."""
    known = aqer.raw_[~np.isnan(aqer.raw_)]
    return bool((scale_to_grades(known[:, None]) == 1.0).all()) if len(known) else False


def build_grading_warnings(
    aqer: AQER,
    models: ModelScores | None,
    n_empty: int,
    n_repeated: int = 0,
    texts: Sequence[str] = (),
    embedder: str = "minilm",
    n_rejected: int = 0,
    n_only_cut_off: int = 0,
) -> list[Message]:
    """Return the warnings on the numbers and texts of a grading; empty without any.

    `texts` are the answers that were graded, `embedder` the SPEC of what made their vectors;
    `n_rejected` counts the answers left out because they were refused where they were collected,
    `n_only_cut_off` the models without a rank that lack no answer but replies that were cut off.
    """
    warnings = []
    if aqer.reason_ == "fewer_than_3_workers":
        warnings.append(Message("too_few_workers", {"workers": len(aqer.workers_)}))
    elif aqer.converged_ is False:
        warnings.append(Message("not_converged", {"iterations": aqer.n_iter_}))
    elif has_equal_raw_scores(aqer):
        warnings.append(Message("equal_scores", {"workers": len(aqer.workers_)}))
    if aqer.reason_ == "disconnected":
        warnings.append(Message("disconnected"))
    elif aqer.groups_.any():
        # Number 0 is no group.
        sizes = list(map(str, np.bincount(aqer.groups_)[1:].tolist()))
        ellipsis = ["..."] if len(sizes) > GROUPS_SHOWN else []
        values = {"groups": len(sizes), "sizes": ", ".join([*sizes[:GROUPS_SHOWN], *ellipsis])}
        warnings.append(Message("unlinked_groups", values))
    excluded = sum(reason is not None for reason in aqer.out_of_ranking_)
    warnings += _filter_counted(
        Message("excluded_workers", {"count": excluded}),
        Message("single_answers", {"count": int((aqer.n_workers_of_question_ == 1).sum())}),
        Message("repeated_rows", {"count": n_repeated}),
        Message("rejected_answers", {"count": n_rejected}),
        Message("empty_answers", {"count": n_empty}),
        Message("unranked_workers", {"count": int((~aqer.supported_).sum())}),
    )
    if short := find_short_answer_warning(texts, embedder):
        warnings.append(short)
    if models is not None:
        n_without_exemplar = sum(reason == "no_exemplar" for reason in models.answer_reasons)
        n_with_errors = sum(why == "missing_answers" for why in models.reasons)
        warnings += _filter_counted(
            Message("model_answers_to_nobody", {"count": n_without_exemplar}),
            Message("models_with_errors", {"count": n_with_errors - n_only_cut_off}),
        )
    return warnings


def build_model_warnings(model_answers: ModelAnswers | None) -> list[Message]:
    """Return the warnings on models' replies that were cut off or empty."""
    if model_answers is None:
        return []
    statuses = Counter(model_answers.statuses)
    cut_off = {"count": statuses[AnswerStatus.CUT_OFF]}
    cut_off["models"] = len(model_answers.find_models_with_status(AnswerStatus.CUT_OFF))
    return list(
        _filter_counted(
            Message("model_replies_cut_off", cut_off),
            Message("model_replies_empty", {"count": statuses[AnswerStatus.EMPTY]}),
        )
    )


def build_remedy_warnings(report: RemedyReport) -> list[Message]:
    """Return the warnings on remedies that had no effect."""
    warnings = []
    if report.choice is not None and report.choice.reason is not None:
        warnings.append(Message("anchors_changed_nothing", {"reason": report.choice.reason}))
    if report.suggested is not None and not len(report.suggested) and report.candidates:
        reason = report.candidates.reason or "no_camps"
        warnings.append(Message("no_anchors_suggested", {"reason": reason}))
    if report.candidates and report.candidates.reason is None and report.choice is None:
        warnings.append(Message("several_rankings", {"count": len(report.candidates.rankings)}))
    n_left = sum(not group.is_collapsed for group in report.groups)
    warnings += _filter_counted(Message("groups_not_collapsed", {"count": n_left}))
    if "collapse_copies" in report.names and not report.groups:
        warnings.append(Message("no_copies_of_workers") if report.left else Message("no_copies"))
    if report.questions is not None and not report.questions:
        warnings.append(Message("no_question_camps"))
    return warnings


def _filter_counted(*messages: Message) -> Iterator[Message]:
    """Return an iterator over the messages whose value `count` is above 0."""
    return (message for message in messages if message.values["count"])
