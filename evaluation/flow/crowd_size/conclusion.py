"""What a trial of crowd sizes comes to, in messages for every door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.flow.crowd_size.trial import Trial
from evaluation.flow.stored import RunSummary
from evaluation.methods.crowd_size import OF_CROWD, SizePoint, SizeVerdict
from evaluation.words.message import Message

VERSION = 1


@dataclass(frozen=True)
class CrowdSizeSummary(RunSummary):
    """What a trial found.

    Attributes
    ----------
    answers, workers, questions : how much was tried. judged, judged_workers : answers that experts
        graded, and whose they are.
    measure : what is to go by. points, verdicts : as in `CrowdSize`.
    """

    answers: int = 0
    workers: int = 0
    questions: int = 0
    judged: int = 0
    judged_workers: int = 0
    repetitions: int = 0
    seed: int = 0
    measure: str = OF_CROWD
    points: tuple[SizePoint, ...] = ()
    verdicts: tuple[SizeVerdict, ...] = ()

    @classmethod
    def of_trial(cls, trial: Trial) -> CrowdSizeSummary:
        """Return what is stored of a trial."""
        tried = trial.tried
        return cls(
            VERSION,
            len(trial.given.answered),
            trial.n_workers,
            trial.n_questions,
            tried.n_judged_,
            tried.n_judged_workers_,
            trial.parameters.repetitions,
            trial.parameters.seed,
            tried.measure_,
            tuple(tried.points_),
            tuple(tried.verdicts_),
        )

    def shown_counts(self) -> dict[str, int]:
        """Return what the page of a run shows of what went in."""
        return {
            "answers": self.answers,
            "workers": self.workers,
            "questions": self.questions,
            "judged answers": self.judged,
        }

    @property
    def messages(self) -> list[Message]:
        """The answer to the question, and how far it carries."""
        return [*_answers(self.verdicts, self.measure), _basis(self)]


def _answers(verdicts: Sequence[SizeVerdict], measure: str) -> Iterator[Message]:
    for verdict in verdicts:
        if verdict.measure == measure:
            yield verdict_message(verdict)


def verdict_message(verdict: SizeVerdict) -> Message:
    """Return a verdict as a message."""
    values = {
        "by": verdict.by,
        "measure": verdict.measure,
        "full": verdict.full_size,
        "correlation": verdict.full.value,
        "enough": verdict.enough,
        "plateau": verdict.plateau,
    }
    return Message(f"crowd_size.{verdict.reason or 'enough'}", values)


def _basis(summary: CrowdSizeSummary) -> Message:
    """Return what it rests on."""
    values = {
        "judged": summary.judged,
        "judged_workers": summary.judged_workers,
        "workers": summary.workers,
    }
    return Message(f"crowd_size.by_{summary.measure}", values)
