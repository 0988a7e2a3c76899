"""Crowds made of graded answers: of real workers where they are known, else of dealt ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange.graded import GradedAnswer
from evaluation.consensus.methods.scale import FEWEST_QUESTIONS
from evaluation.evidence.baselines import Corpus, Crowd
from evaluation.evidence.data_sets import GradedAnswers
from evaluation.evidence.dealing import CROWD, Dealt, deal
from evaluation.evidence.labelled_crowd import LabelledCrowd
from evaluation.evidence.methods_table import FEWEST_WORKERS, Trial
from evaluation.methods.cells import Booleans, Integers, codes_of
from evaluation.words.message import Message

# Whatever compares two texts does so for all pairs of answers to a question: beyond these many,
# workers, or answers to deal from, are drawn at random.
MOST_ANSWERS = 200
MOST_TO_DEAL = 3 * CROWD
TIER = 2
SMALLEST_CROWD = 6
# Where the best answers have one grade on more than this part of the questions, as with labels of
# right and wrong, dealt workers would all be equally good.
FLAT = 0.5


class TooLittleError(ValueError):
    """No crowd can be made, or none in which workers differ; `message` says why."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.code)
        self.message = message


@dataclass(frozen=True)
class GradedCrowds:
    """Answers to be tried on, and how crowds are made of them.

    Attributes
    ----------
    answers : (N,) texts, questions, grades.
    workers : (N,) codes 0..M-1 of who gave them; None where they are dealt.
    crowd : workers in a dealt crowd; 0 for real ones. best : whether the best answers are dealt.
    notes : what was left out.
    """

    answers: GradedAnswers
    workers: Integers | None
    crowd: int
    best: bool
    notes: tuple[Message, ...]

    @classmethod
    def of(cls, given: Sequence[GradedAnswer], seed: int = 0) -> GradedCrowds:
        """Choose how crowds are made. Raises `TooLittleError`."""
        grades = np.array([one.grade for one in given])
        if len(given) and not np.ptp(grades):
            raise TooLittleError(Message("graded.one_grade"))
        if given and given[0].worker:
            return cls._named(given, seed)
        return cls._dealt(given, seed)

    @classmethod
    def _named(cls, given: Sequence[GradedAnswer], seed: int) -> GradedCrowds:
        names = sorted({one.worker for one in given})
        _, of_question = np.unique([one.question for one in given], return_counts=True)
        notes: list[Message] = []
        if of_question.max() > MOST_ANSWERS:
            share = MOST_ANSWERS / of_question.max()
            drawn = np.random.default_rng(seed).permutation(len(names))
            kept = {names[at] for at in drawn[: max(1, int(share * len(names)))]}
            given = [one for one in given if one.worker in kept]
            values = {"all": len(names), "workers": len(kept), "most": MOST_ANSWERS}
            notes.append(Message("graded.sampled_workers", values))
        workers, _ = codes_of([one.worker for one in given])
        found = cls(_answers(given), workers, 0, False, tuple(notes))
        compared = int(found._enough().sum())
        if compared < FEWEST_WORKERS:
            values = {"count": compared, "fewest": FEWEST_QUESTIONS}
            raise TooLittleError(Message("graded.few_workers", values))
        return found

    @classmethod
    def _dealt(cls, given: Sequence[GradedAnswer], seed: int) -> GradedCrowds:
        rng = np.random.default_rng(seed)
        places: dict[str, list[int]] = {}
        for at, one in enumerate(given):
            places.setdefault(one.question, []).append(at)
        counts = np.array([len(rows) for rows in places.values()])
        crowd = next(
            (n for n in range(CROWD, SMALLEST_CROWD - 1, -TIER) if (counts >= n).mean() >= FLAT), 0
        )
        if not crowd or (counts >= crowd).sum() < TIER:
            raise TooLittleError(Message("graded.few_answers", {"fewest": SMALLEST_CROWD}))
        notes: list[Message] = []
        if (counts > MOST_TO_DEAL).any():
            notes.append(Message("graded.sampled_answers", {"most": MOST_TO_DEAL}))
        if small := int((counts < crowd).sum()):
            notes.append(Message("graded.left_out_questions", {"count": small, "crowd": crowd}))
        drawn = [rng.permutation(rows)[:MOST_TO_DEAL] for rows in places.values()]
        kept = [at for rows in drawn if len(rows) >= crowd for at in sorted(rows.tolist())]
        answers = _answers([given[at] for at in kept])
        return cls(answers, None, crowd, _best_differ(answers, crowd), tuple(notes))

    @property
    def n_workers(self) -> int:
        """Number of workers, of all or of a dealt crowd."""
        return self.crowd if self.workers is None else int(self.workers.max()) + 1

    def trials(self, corpus: Corpus, seeds: range, only: Booleans | None = None) -> list[Trial]:
        """Return crowds with their true values, on all questions or on some (Q,).

        One crowd of real workers, or one dealt by each seed. A worker's true value is the mean
        grade of its answers there; NaN for a real one with fewer than 5 of them, who answers but is
        not compared.
        """
        if self.workers is not None:
            keep = None if only is None else only[corpus.question]
            trial = self._labelled(corpus).trial(keep, seeds.start)
            return [Trial(trial.crowd, np.where(self._enough(keep), trial.truth, np.nan))]
        found = []
        for seed in seeds:
            dealt = deal(self.answers, TIER, seed, crowd=self.crowd, best=self.best)
            if only is not None:
                keep = only[corpus.question[dealt.rows]]
                dealt = Dealt(dealt.rows[keep], dealt.workers[keep])
            crowd = Crowd(corpus, dealt.rows, dealt.workers, seed=seed)
            found.append(Trial(crowd, dealt.truth(self.answers.grades)))
        return found

    def _labelled(self, corpus: Corpus) -> LabelledCrowd:
        """The answers of real workers with their grades."""
        assert self.workers is not None
        return LabelledCrowd(corpus, self.workers, self.answers.grades)

    def _enough(self, keep: Booleans | None = None) -> Booleans:
        """(M,) which real workers have 5 of some answers (N,), or of all."""
        assert self.workers is not None
        some = self.workers if keep is None else self.workers[keep]
        return np.bincount(some, minlength=self.n_workers) >= FEWEST_QUESTIONS


def _answers(given: Sequence[GradedAnswer]) -> GradedAnswers:
    return GradedAnswers(
        [one.text for one in given],
        np.array([one.question for one in given]),
        np.array([one.grade for one in given]),
    )


def _best_differ(answers: GradedAnswers, crowd: int) -> bool:
    """Whether the best answers differ in grade on enough questions."""
    codes, labels = codes_of(answers.questions)
    flat = 0
    for question in range(len(labels)):
        best = np.sort(answers.grades[codes == question])[-crowd:]
        flat += best[0] == best[-1]
    return bool(flat <= FLAT * len(labels))
