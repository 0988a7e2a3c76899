"""Build crowds from expert-graded answers, with the named workers or simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange.graded import GradedAnswer
from evaluation.consensus.methods.scale import FEWEST_QUESTIONS
from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Booleans, Integers, encode_labels
from evaluation.evidence.baselines import Corpus, Crowd
from evaluation.evidence.data_sets import CROWD, AnswerAssignment, GradedAnswers, assign_answers
from evaluation.evidence.labelled_crowd import FEWEST_WORKERS, LabelledCrowd, Trial

# Most answers to a question, because methods compare all pairs of them. Above it workers, or the
# answers to deal from, are drawn at random.
MOST_ANSWERS = 200
MOST_TO_DEAL = 3 * CROWD
TIER = 2
SMALLEST_CROWD = 6
# If the best answers have equal grades on more than this share of the questions, as with labels
# right and wrong, simulated workers dealt the best answers would all be equally good.
FLAT = 0.5


class TooFewGradesError(ValueError):
    """No crowd can be built from the grades, or all workers are equal; `message` is the reason."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.code)
        self.message = message


@dataclass(frozen=True)
class GradedCrowds:
    """Expert-graded answers with the rule for building crowds: named workers or simulated ones.

    Attributes
    ----------
    answers : (N,) texts, questions, grades.
    workers : (N,) worker code 0..M-1 of each answer; None if workers are simulated.
    crowd : number of workers in a simulated crowd; 0 for real workers. best : whether simulated
        workers get the best answers, else random ones.
    notes : messages on what was left out.
    """

    answers: GradedAnswers
    workers: Integers | None
    crowd: int
    best: bool
    notes: tuple[Message, ...]

    @classmethod
    def from_answers(cls, graded: Sequence[GradedAnswer], seed: int = 0) -> GradedCrowds:
        """Create the crowds of named workers, or of simulated ones if the answers name none.

        Raises `TooFewGradesError`.
        """
        grades = np.array([answer.grade for answer in graded])
        if len(graded) and not np.ptp(grades):
            raise TooFewGradesError(Message("graded.one_grade"))
        if graded and graded[0].worker:
            return cls._from_named_workers(graded, seed)
        return cls._from_simulated_workers(graded, seed)

    @classmethod
    def _from_named_workers(cls, graded: Sequence[GradedAnswer], seed: int) -> GradedCrowds:
        """Create the crowd of the named workers, sampling questions with over 200 answers."""
        names = sorted({answer.worker for answer in graded})
        _, counts = np.unique([answer.question for answer in graded], return_counts=True)
        notes: list[Message] = []
        if counts.max() > MOST_ANSWERS:
            share = MOST_ANSWERS / counts.max()
            drawn = np.random.default_rng(seed).permutation(len(names))
            sampled = {names[index] for index in drawn[: max(1, int(share * len(names)))]}
            graded = [answer for answer in graded if answer.worker in sampled]
            values = {"all": len(names), "workers": len(sampled), "most": MOST_ANSWERS}
            notes.append(Message("graded.sampled_workers", values))
        workers, _ = encode_labels([answer.worker for answer in graded])
        crowds = cls(_collect_answers(graded), workers, 0, False, tuple(notes))
        n_compared = int(crowds._has_enough_answers().sum())
        if n_compared < FEWEST_WORKERS:
            values = {"count": n_compared, "fewest": FEWEST_QUESTIONS}
            raise TooFewGradesError(Message("graded.few_workers", values))
        return crowds

    @classmethod
    def _from_simulated_workers(cls, graded: Sequence[GradedAnswer], seed: int) -> GradedCrowds:
        """Create simulated crowds, as large as the answers to half of the questions allow."""
        rng = np.random.default_rng(seed)
        places: dict[str, list[int]] = {}
        for row, answer in enumerate(graded):
            places.setdefault(answer.question, []).append(row)
        counts = np.array([len(rows) for rows in places.values()])
        # In steps of a tier, because each tier has to be full.
        crowd = next(
            (n for n in range(CROWD, SMALLEST_CROWD - 1, -TIER) if (counts >= n).mean() >= FLAT), 0
        )
        if not crowd or (counts >= crowd).sum() < TIER:
            raise TooFewGradesError(Message("graded.few_answers", {"fewest": SMALLEST_CROWD}))
        notes: list[Message] = []
        if (counts > MOST_TO_DEAL).any():
            notes.append(Message("graded.sampled_answers", {"most": MOST_TO_DEAL}))
        if n_left_out := int((counts < crowd).sum()):
            notes.append(
                Message("graded.left_out_questions", {"count": n_left_out, "crowd": crowd})
            )
        drawn = [rng.permutation(rows)[:MOST_TO_DEAL] for rows in places.values()]
        rows_used = [row for rows in drawn if len(rows) >= crowd for row in sorted(rows.tolist())]
        answers = _collect_answers([graded[row] for row in rows_used])
        return cls(answers, None, crowd, _has_grade_spread(answers, crowd), tuple(notes))

    @property
    def n_workers(self) -> int:
        """Number of workers in a crowd, named or simulated."""
        return self.crowd if self.workers is None else int(self.workers.max()) + 1

    def build_trials(
        self, corpus: Corpus, seeds: range, only: Booleans | None = None
    ) -> list[Trial]:
        """Return the crowds with true values, on all questions or on those flagged in `only`.

        One crowd of real workers, or one simulated crowd per seed. A worker's true value is the
        mean grade of the worker's answers in the trial; NaN for a real worker with fewer than 5,
        whose answers are used but whose score is not compared.
        """
        if self.workers is not None:
            keep = None if only is None else only[corpus.question]
            trial = self._build_labelled_crowd(corpus).build_trial(keep, seeds.start)
            return [
                Trial(trial.crowd, np.where(self._has_enough_answers(keep), trial.truth, np.nan))
            ]
        trials = []
        for seed in seeds:
            assignment = assign_answers(self.answers, TIER, seed, crowd=self.crowd, best=self.best)
            if only is not None:
                keep = only[corpus.question[assignment.rows]]
                assignment = AnswerAssignment(assignment.rows[keep], assignment.workers[keep])
            crowd = Crowd(corpus, assignment.rows, assignment.workers, seed=seed)
            trials.append(Trial(crowd, assignment.compute_true_grades(self.answers.grades)))
        return trials

    def _build_labelled_crowd(self, corpus: Corpus) -> LabelledCrowd:
        """Return the answers of the named workers with their grades."""
        assert self.workers is not None
        return LabelledCrowd(corpus, self.workers, self.answers.grades)

    def _has_enough_answers(self, keep: Booleans | None = None) -> Booleans:
        """Return whether each named worker has 5 answers or more among those flagged in `keep`."""
        assert self.workers is not None
        some = self.workers if keep is None else self.workers[keep]
        return np.bincount(some, minlength=self.n_workers) >= FEWEST_QUESTIONS


def _collect_answers(graded: Sequence[GradedAnswer]) -> GradedAnswers:
    """Return the texts, questions and grades of graded answers as columns."""
    return GradedAnswers(
        [answer.text for answer in graded],
        np.array([answer.question for answer in graded]),
        np.array([answer.grade for answer in graded]),
    )


def _has_grade_spread(answers: GradedAnswers, crowd: int) -> bool:
    """Return whether the `crowd` best answers differ in grade on half of the questions or more."""
    codes, labels = encode_labels(answers.questions)
    flat = 0
    for question in range(len(labels)):
        best = np.sort(answers.grades[codes == question])[-crowd:]
        flat += best[0] == best[-1]
    return bool(flat <= FLAT * len(labels))
