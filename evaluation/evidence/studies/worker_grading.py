"""Measure how well AQER's grades agree with experts', on simulated workers (section 6.1).

The graded answers of Mohler et al. carry no student, so workers are dealt from them as in the
paper's Table 2: of each question's 20 best answers, ties at random, the first tier of workers gets
the best ones, the next tier the next. A worker's true grade is the mean of what it was dealt.

Settings: 10x2 and 5x4, tiers of two and of four workers. 10x2-noisy: normal noise of standard
deviation 1 (of 5 points) is added to the grades that the dealing goes by, not to the truth, so
that tiers overlap (the paper's appendix N adds noise before dealing; how much could not be read).
10x2-heldout and 5x4-heldout: the questions that `heldout` did not choose by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.vectors import Progress
from evaluation.core.charts.chart import Chart
from evaluation.core.stats.cells import Booleans
from evaluation.core.stats.grams import Vectors
from evaluation.evidence.answer_assignment import CROWD, AnswerAssignment, assign_answers
from evaluation.evidence.baselines import Corpus, Crowd, Method, list_methods
from evaluation.evidence.corpus import GradedCorpus
from evaluation.evidence.data_sets import GradedAnswers
from evaluation.evidence.heldout import (
    MethodChoice,
    choose_method,
    draw_choosing_half,
    write_choice,
)
from evaluation.evidence.methods_chart import draw_method_charts
from evaluation.evidence.methods_table import Trial, compare_methods, find_best_baselines
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import Correlations, EvidenceRow, build_study_table, write_evidence

# Name of the setting: workers in a tier.
SETTINGS = {"10x2": 2, "5x4": 4}
NOISY = "10x2-noisy"
NOISE = 1.0
HELD_OUT = "-heldout"


def correlate_with_truth(
    method: AQER, vectors: Vectors, corpus: GradedAnswers, tier: int, seeds: range
) -> Correlations:
    """Return the correlations of a method's raw scores with the truth, over seeded crowds."""
    found = Correlations.empty()
    for seed in seeds:
        dealt = assign_answers(corpus, tier, seed)
        method.fit(vectors[dealt.rows], dealt.workers, corpus.questions[dealt.rows])
        raw = np.empty(CROWD)
        raw[method.workers_.astype(int)] = method.raw_
        found.add(raw, dealt.compute_true_grades(corpus.grades))
    return found


def reproduce_worker_grading(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the study's table. Raises `InputError` and `BackendError`."""
    with OutputFolder(request.output) as folder:
        data = GradedCorpus.load(request, progress)
        deals = _SimulatedCrowds(data.graded, data.corpus, request.seeds)
        rows, choice = _compare_all(deals, request, progress)
        write_evidence(
            folder,
            rows,
            {
                **data.summary("worker-grading", request),
                "noise": {NOISY: NOISE},
                "best_baseline": find_best_baselines(rows),
                "heldout": choice.describe(),
            },
            _draw_charts(rows),
        )
        write_choice(folder, choice)
    return build_study_table(rows)


@dataclass(frozen=True)
class _SimulatedCrowds:
    """The simulated crowds of all repetitions."""

    graded: GradedAnswers
    corpus: Corpus
    seeds: range

    def build_trials(
        self, tier: int, noise: float = 0.0, only: Booleans | None = None
    ) -> list[Trial]:
        """Return the crowds with true values, on all questions or on those flagged in `only`."""
        trials = []
        for seed in self.seeds:
            assignment = assign_answers(self.graded, tier, seed, noise)
            if only is not None:
                keep = only[self.corpus.question[assignment.rows]]
                assignment = AnswerAssignment(assignment.rows[keep], assignment.workers[keep])
            crowd = Crowd(self.corpus, assignment.rows, assignment.workers, seed=seed)
            trials.append(Trial(crowd, assignment.compute_true_grades(self.graded.grades)))
        return trials


def _compare_all(
    deals: _SimulatedCrowds, request: Request, progress: Progress | None
) -> tuple[list[EvidenceRow], MethodChoice]:
    """Return the rows of all settings, and the method chosen on half of the questions."""
    chosen = list_methods(core=request.core)
    done, total = 0, (3 * len(SETTINGS) + 1) * len(chosen)

    def report_step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress("methods", done, total)

    def compare_setting(
        setting: str, trials: Sequence[Trial], methods_compared: Sequence[Method]
    ) -> list[EvidenceRow]:
        return compare_methods(setting, trials, methods_compared, request.seed, report_step)

    rows_found = []
    for setting, tier in SETTINGS.items():
        rows_found += compare_setting(setting, deals.build_trials(tier), chosen)
    rows_found += compare_setting(NOISY, deals.build_trials(SETTINGS["10x2"], NOISE), chosen)
    half = draw_choosing_half(deals.corpus.n_questions, request.seed)
    by_half: list[EvidenceRow] = []
    for setting, tier in SETTINGS.items():
        by_half += compare_setting(setting, deals.build_trials(tier, only=half), chosen)
        rows_found += compare_setting(
            setting + HELD_OUT, deals.build_trials(tier, only=~half), chosen
        )
    labels = deals.corpus.labels[half].tolist()
    return rows_found, choose_method(by_half, chosen, labels, request.seed)


def _draw_charts(rows: Sequence[EvidenceRow]) -> list[Chart]:
    """Return a chart of methods for each setting."""
    return draw_method_charts(rows, "correlation of workers' scores with the experts' grades")
