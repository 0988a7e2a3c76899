"""A grading, from answers to everything that is said of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from evaluation.flow.alarms import Alarms, GradedAnswers, alarms_of, crowd_for_alarms
from evaluation.flow.embed import Embedded, Progress, embed, entailment_scores
from evaluation.flow.grade import Graded, ModelColumns, grade
from evaluation.flow.grade_changes import GradeChanges, standings_of
from evaluation.flow.inputs import GradingInput
from evaluation.flow.remedies import OutsideInformation
from evaluation.flow.results import Results
from evaluation.flow.signatures import aqer_signature, versions
from evaluation.flow.vectors import EmbedTexts, vectors_of
from evaluation.flow.warnings import grading_warnings, remedy_warnings
from evaluation.methods.aqer.resampling import KeptDraws
from evaluation.words.message import Message


@dataclass(frozen=True)
class Grading:
    """What came of a grading.

    Attributes
    ----------
    given : what it was made from. embedded : the vectors, and how they were made.
    graded : the fitted estimators and what remedies did. alarms : what to know before trusting it.
    """

    given: GradingInput
    embedded: Embedded
    graded: Graded
    alarms: Alarms

    def results(self) -> Results:
        """Return the rows of the tables, to be taken once."""
        return Results(self.given, self.graded)

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
            ),
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
        The answers cannot be embedded.
    RemedyError
        A remedy has no meaning for this crowd.
    """
    parameters = given.parameters
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
    crowd, answers = crowd_for_alarms(parameters, graded, answers, outside)
    alarms = alarms_of(parameters, crowd, answers, progress, given.model_names)
    return Grading(given, embedded, graded, alarms)


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
        anchor_rows=[row for row, _ in given.anchors],
        anchor_grades=[grade for _, grade in given.anchors],
        plain_vectors=embedded.plain,
        spelling=embedded.spelling,
    )
