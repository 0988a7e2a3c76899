"""A grading, from answers to everything that is said of them."""

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
from evaluation.backends.nli import ContradictionModel
from evaluation.consensus import AQER, ModelScores
from evaluation.consensus.inputs import GradingInput, ModelAnswers
from evaluation.consensus.methods.resampling import KeptDraws
from evaluation.consensus.signatures import aqer_signature, versions
from evaluation.consensus.vectors import (
    Embedded,
    EmbedTexts,
    Progress,
    embed,
    entailment_scores,
    vectors_of,
)
from evaluation.grading.alarms.run.detection import (
    Alarms,
    GradedAnswers,
    alarms_of,
    choose_crowd,
)
from evaluation.grading.crowd import ModelColumns, OutsideInformation
from evaluation.grading.facts.run import CrowdFacts, crowd_facts, with_meaning
from evaluation.grading.remedies.run import RemedyReport
from evaluation.grading.run.fitting import Graded, grade
from evaluation.grading.run.grade_changes import GradeChanges, standings_of
from evaluation.grading.run.outcomes import Look, with_outcomes
from evaluation.grading.run.results import Results
from evaluation.texts.short import short_answers_warning
from evaluation.words.message import Message

GROUPS_SHOWN = 10
"""Groups whose sizes a warning names."""


@dataclass(frozen=True)
class Grading:
    """What came of a grading.

    Attributes
    ----------
    given : what it was made from. embedded : the vectors, and how they were made.
    graded : the fitted estimators and what remedies did. alarms : what to know before trusting it.
    known_facts : what a model had to be asked for; None where facts are read when they are wanted.
    """

    given: GradingInput
    embedded: Embedded
    graded: Graded
    alarms: Alarms
    known_facts: CrowdFacts | None = None

    def results(self) -> Results:
        """Return the rows of the tables, to be taken once."""
        return Results(self.given, self.graded)

    @cached_property
    def facts(self) -> CrowdFacts | None:
        """What the crowd agrees on fact by fact; None where nobody wants to know.

        Workers vote with the weights that they have in the exemplary answers; those who are left
        out of these are only judged. Nothing of it goes back into a grade.
        """
        if self.known_facts is not None or not self.given.parameters.facts:
            return self.known_facts
        given = self.given
        return crowd_facts(
            given.wordings, given.answered, given.models, self.votes, frozenset(given.excluded)
        )

    @property
    def votes(self) -> dict[Any, float] | None:
        """Weights of the workers' votes by id; None, for equal ones, where nobody is ranked."""
        aqer = self.graded.aqer
        if aqer.reason_ == "fewer_than_3_workers":
            return None
        found = zip(aqer.workers_.tolist(), aqer.weights_.tolist(), strict=True)
        return {worker: 0.0 if math.isnan(one) else one for worker, one in found}

    @property
    def nearest(self) -> dict[Any, int]:
        """The row of the exemplary answer by question, of those that somebody answered."""
        aqer = self.graded.aqer
        columns = (aqer.questions_, aqer.nearest_, aqer.n_workers_of_question_)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        known = {question: row for question, row, n in rows if n}
        return {question: known[question] for question in self.given.questions if question in known}

    def changes(self) -> GradeChanges | None:
        """Return what remedies changed against the plain run; None without any."""
        if self.graded.plain is None:
            return None
        before, after = standings_of(self.graded.plain), standings_of(self.graded.aqer)
        return GradeChanges.between(self.given.workers, before, after)

    def signature(self, input_hash: str) -> str:
        """Return the line that says how the numbers were made."""
        info = self.embedded.info
        return aqer_signature(
            self.given.parameters, info.model, info.revision, info.precision, input_hash
        )

    @property
    def warnings(self) -> list[Message]:
        """What somebody should know before trusting the tables."""
        given, graded = self.given, self.graded
        return [
            *self.embedded.warnings,
            *grading_warnings(
                graded.aqer,
                graded.models,
                given.n_empty,
                given.n_repeated,
                given.answered.texts,
                given.parameters.embedder,
                given.n_rejected,
                0 if given.models is None else len(given.models.only_cut_off()),
            ),
            *model_warnings(given.models),
            *(remedy_warnings(graded.remedies) if graded.remedies else []),
        ]

    def summary(self) -> dict[str, Any]:
        """Return how the numbers were made and what was checked, as plain values."""
        aqer, info = self.graded.aqer, self.embedded.info
        return {
            "iterations": aqer.n_iter_,
            "converged": aqer.converged_,
            "trace": aqer.trace_,
            "ceiling": asdict(aqer.ceiling_),
            "embedding": {k: value for k, value in info.as_dict().items() if k != "versions"},
            "alarm_checks": self.alarms.checks_as_dicts(),
            "versions": versions(info.versions),
        }


def grade_answers(
    given: GradingInput,
    embed_texts: EmbedTexts | None = None,
    progress: Progress | None = None,
    kept: KeptDraws | None = None,
) -> Grading:
    """Grade the workers of some answers, score models, and look for alarms.

    Parameters
    ----------
    embed_texts : gives the vectors; without it the embedder that the parameters name.
    progress : is told what is done, how far, of how much. kept : draws that were put aside.

    Raises
    ------
    BackendError
        The answers cannot be embedded, or the entailment model cannot be had.
    RemedyError
        A remedy has no meaning for this crowd.
    """
    parameters = given.parameters
    reader = ContradictionModel.load(parameters.nli) if parameters.reads_meaning else None
    embedded = vectors_of(given, embed_texts or partial(embed, parameters, progress=progress))
    answers = _columns(given, embedded)
    outside = _outside(given, embedded)
    initial = None
    if parameters.init == "entailment":
        initial = entailment_scores(
            parameters.nli or "", answers.texts, answers.questions, progress
        )
    graded = grade(
        parameters,
        answers.vectors,
        answers.workers,
        answers.questions,
        initial,
        answers.models,
        progress,
        kept,
        outside,
    )
    crowd, theirs = choose_crowd(parameters, graded, answers, outside)
    alarms = alarms_of(parameters, crowd, theirs, progress, given.model_names, graded.aqer)
    if graded.remedies is not None:
        look = Look(parameters, graded, answers, outside, given.model_names)
        alarms = with_outcomes(alarms, look, crowd, theirs)
    grading = Grading(given, embedded, graded, alarms)
    return grading if reader is None else _with_meaning(grading, reader, progress)


def _with_meaning(
    grading: Grading, reader: ContradictionModel, progress: Progress | None
) -> Grading:
    """Have an entailment model read the answers; the grading is as it was but for its facts."""
    given = grading.given
    assert grading.facts is not None
    found = with_meaning(
        grading.facts,
        given.answered,
        given.models,
        grading.graded.aqer.final_scores_,
        grading.nearest,
        reader,
        grading.votes,
        frozenset(given.excluded),
        progress and (lambda done, total: progress("meaning", done, total)),
    )
    return replace(grading, known_facts=found)


def _columns(given: GradingInput, embedded: Embedded) -> GradedAnswers:
    answers, spoken, models = given.answered, given.models, None
    if spoken is not None:
        assert embedded.models is not None
        models = ModelColumns(spoken.models, spoken.questions, spoken.statuses, embedded.models)
    return GradedAnswers(
        answers.texts, answers.workers, answers.questions, embedded.answers, models
    )


def _outside(given: GradingInput, embedded: Embedded) -> OutsideInformation:
    return OutsideInformation(
        texts=given.answered.texts,
        excluded=given.excluded,
        collapsed=given.collapsed,
        times=_seconds(given.answered.times),
        anchor_rows=[row for row, _ in given.anchors],
        anchor_grades=[grade for _, grade in given.anchors],
        plain_vectors=embedded.plain,
        spelling=embedded.spelling,
    )


def _seconds(times: Sequence[datetime | None]) -> list[float]:
    """Return times as seconds, NaN for none; empty where nobody took any."""
    if not any(times):
        return []
    return [math.nan if time is None else time.timestamp() for time in times]


def grading_warnings(
    aqer: AQER,
    models: ModelScores | None,
    n_empty: int,
    n_repeated: int = 0,
    texts: Sequence[str] = (),
    embedder: str = "minilm",
    n_rejected: int = 0,
    n_only_cut_off: int = 0,
) -> list[Message]:
    """Return the warnings that follow from numbers and texts; an empty list if there are none.

    `texts` are the answers that were graded, `embedder` the SPEC of what made their vectors;
    `n_rejected` counts the answers left out because they were refused where they were collected,
    `n_only_cut_off` the models without a rank that lack no answer but replies that were cut off.
    """
    found = []
    if aqer.reason_ == "fewer_than_3_workers":
        found.append(Message("too_few_workers", {"workers": len(aqer.workers_)}))
    elif aqer.converged_ is False:
        found.append(Message("not_converged", {"iterations": aqer.n_iter_}))
    if aqer.reason_ == "disconnected":
        found.append(Message("disconnected"))
    elif aqer.groups_.any():
        sizes = list(map(str, np.bincount(aqer.groups_)[1:].tolist()))
        more = ["..."] if len(sizes) > GROUPS_SHOWN else []
        values = {"groups": len(sizes), "sizes": ", ".join([*sizes[:GROUPS_SHOWN], *more])}
        found.append(Message("unlinked_groups", values))
    excluded = sum(reason is not None for reason in aqer.out_of_ranking_)
    found += _counted(
        Message("excluded_workers", {"count": excluded}),
        Message("single_answers", {"count": int((aqer.n_workers_of_question_ == 1).sum())}),
        Message("repeated_rows", {"count": n_repeated}),
        Message("rejected_answers", {"count": n_rejected}),
        Message("empty_answers", {"count": n_empty}),
        Message("unranked_workers", {"count": int((~aqer.supported_).sum())}),
    )
    if short := short_answers_warning(texts, embedder):
        found.append(short)
    if models is not None:
        alone = sum(reason == "no_exemplar" for reason in models.answer_reasons)
        missing = sum(why == "missing_answers" for why in models.reasons)
        found += _counted(
            Message("model_answers_to_nobody", {"count": alone}),
            Message("models_with_errors", {"count": missing - n_only_cut_off}),
        )
    return found


def model_warnings(spoken: ModelAnswers | None) -> list[Message]:
    """Return the warnings about replies of models that hold no answer."""
    if spoken is None:
        return []
    statuses = Counter(spoken.statuses)
    cut_off = {"count": statuses[AnswerStatus.CUT_OFF]}
    cut_off["models"] = len(spoken.with_status(AnswerStatus.CUT_OFF))
    return list(
        _counted(
            Message("model_replies_cut_off", cut_off),
            Message("model_replies_empty", {"count": statuses[AnswerStatus.EMPTY]}),
        )
    )


def remedy_warnings(report: RemedyReport) -> list[Message]:
    """Return what remedies could not do."""
    found = []
    if report.choice is not None and report.choice.reason is not None:
        found.append(Message("anchors_changed_nothing", {"reason": report.choice.reason}))
    if report.suggested is not None and not len(report.suggested) and report.candidates:
        reason = report.candidates.reason or "no_camps"
        found.append(Message("no_anchors_suggested", {"reason": reason}))
    if report.candidates and report.candidates.reason is None and report.choice is None:
        found.append(Message("several_rankings", {"count": len(report.candidates.found)}))
    kept = sum(not group.is_collapsed for group in report.groups)
    found += _counted(Message("groups_not_collapsed", {"count": kept}))
    if "collapse_copies" in report.names and not report.groups:
        found.append(Message("no_copies_of_workers") if report.left else Message("no_copies"))
    if report.questions is not None and not report.questions:
        found.append(Message("no_question_camps"))
    return found


def _counted(*messages: Message) -> Iterator[Message]:
    """Yield the messages about something that is there at all."""
    return (message for message in messages if message.values["count"])
