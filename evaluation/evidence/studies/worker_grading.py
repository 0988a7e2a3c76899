"""Measure how well AQER's grades agree with experts', and how many questions grades need.

The graded answers of Mohler et al. carry no student, so workers are dealt from them as in the
paper's Table 2: of each question's 20 best answers, ties at random, the first tier of workers gets
the best ones, the next tier the next. A worker's true grade is the mean grade of these answers.

Settings: 10x2 and 5x4, tiers of two and of four workers. 10x2-noisy: normal noise of standard
deviation 1 (of 5 points) is added to the grades that the dealing goes by, not to the truth, so
that tiers overlap (the paper's appendix N adds noise before dealing; how much could not be read).
10x2-heldout and 5x4-heldout: the questions not used to choose a method.

Measure how many questions grades need, on the crowds of the worker-grading study.

The crowds are those of setting 10x2. Each repetition draws its own questions; smaller samples are
subsets of larger ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.inputs import Progress
from evaluation.core.charts.chart import Chart, Series, build_line_chart
from evaluation.core.stats.cells import Booleans
from evaluation.core.stats.grams import Vectors
from evaluation.evidence.baselines import (
    WITH_ENTAILMENT,
    Corpus,
    Crowd,
    Method,
    list_methods,
)
from evaluation.evidence.corpus import GradedCorpus
from evaluation.evidence.data_sets import CROWD, AnswerAssignment, GradedAnswers, assign_answers
from evaluation.evidence.entailment.table import (
    EntailmentRow,
    block_trained_model,
    build_entailment_rows,
    describe_differences_from_aqer,
    flag_untrained_questions,
    write_entailment_table,
)
from evaluation.evidence.labelled_crowd import Trial, compare_methods, find_best_baselines
from evaluation.evidence.method_comparison import (
    MethodChoice,
    build_method_charts,
    choose_method,
    draw_choosing_half,
    write_choice_table,
)
from evaluation.evidence.tables import (
    Correlations,
    EvidenceRequest,
    EvidenceRow,
    StudyTable,
    build_study_table,
    write_evidence,
)

# Name of the setting: workers in a tier.
SETTINGS = {"10x2": 2, "5x4": 4}
NOISY = "10x2-noisy"
NOISE = 1.0
HELD_OUT = "-heldout"


def correlate_with_truth(
    method: AQER, vectors: Vectors, corpus: GradedAnswers, tier: int, seeds: range
) -> Correlations:
    """Return the correlations of a method's raw scores with the truth, over seeded crowds."""
    correlations = Correlations.build_empty()
    for seed in seeds:
        dealt = assign_answers(corpus, tier, seed)
        method.fit(vectors[dealt.rows], dealt.workers, corpus.questions[dealt.rows])
        raw = np.empty(CROWD)
        raw[method.workers_.astype(int)] = method.raw_
        correlations.add_repetition(raw, dealt.compute_true_grades(corpus.grades))
    return correlations


def reproduce_worker_grading(
    request: EvidenceRequest, progress: Progress | None = None
) -> StudyTable:
    """Write and return the table of methods by their agreement with experts' grades of workers.

    Raises `InputError` and `BackendError`.
    """
    with OutputFolder(request.output) as folder:
        data = GradedCorpus.load(request, progress)
        deals = _SimulatedCrowds(data.graded, data.corpus, request.seeds)
        gain_rows: list[EntailmentRow] = []
        if request.nli is not None:
            untrained = flag_untrained_questions(data.corpus, request.nli)
            gain_rows = _compare_entailment_with_aqer(deals, untrained, request, progress)
            write_entailment_table(folder, gain_rows)
            deals = replace(deals, corpus=block_trained_model(data.corpus, untrained))
        rows, choice = _compare_all_settings(deals, request, progress)
        write_evidence(
            folder,
            rows,
            {
                **data.build_summary("worker-grading", request),
                "noise": {NOISY: NOISE},
                "best_baseline": find_best_baselines(rows),
                "heldout": choice.describe(),
            },
            _build_charts(rows),
        )
        write_choice_table(folder, choice)
    by_setting = [
        describe_differences_from_aqer([row for row in gain_rows if row.setting == setting])
        for setting in SETTINGS
    ]
    return replace(build_study_table(rows), said="\n\n".join(filter(None, by_setting)))


def _compare_entailment_with_aqer(
    deals: _SimulatedCrowds,
    untrained: Booleans,
    request: EvidenceRequest,
    progress: Progress | None,
) -> list[EntailmentRow]:
    """Return the entailment model's rows in both settings; [] if it knows all questions."""
    rows: list[EntailmentRow] = []
    if not untrained.any():
        return rows
    for setting, tier in SETTINGS.items():
        trials = deals.build_trials(tier, only=untrained)
        # Grades and no labels: no answer is called contradictory.
        rows += build_entailment_rows(setting, trials, deals.graded.grades, None, request.seed)
        if progress is not None:
            progress("entailment model", len(rows), len(SETTINGS) * len(WITH_ENTAILMENT))
    return rows


@dataclass(frozen=True)
class _SimulatedCrowds:
    """Builds the simulated crowds of all repetitions, one per seed, from graded answers."""

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


def _compare_all_settings(
    deals: _SimulatedCrowds, request: EvidenceRequest, progress: Progress | None
) -> tuple[list[EvidenceRow], MethodChoice]:
    """Return the rows of all settings, and the method chosen on half of the questions."""
    chosen = list_methods(core=request.core)
    done, total = 0, (3 * len(SETTINGS) + 1) * len(chosen)

    def report_step() -> None:
        """Report that one more method is compared."""
        nonlocal done
        done += 1
        if progress is not None:
            progress("methods", done, total)

    def compare_setting(
        setting: str, trials: Sequence[Trial], methods_compared: Sequence[Method]
    ) -> list[EvidenceRow]:
        """Return the rows of the methods in a setting, and report the progress."""
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


def _build_charts(rows: Sequence[EvidenceRow]) -> list[Chart]:
    """Return a chart of methods for each setting."""
    return build_method_charts(rows, "correlation of workers' scores with the experts' grades")


# The paper goes from 3 to 30 questions (appendix E).
COUNTS = (3, 5, 10, 20, 30, 60, 87)
TIER = 2
# Lines of the picture; the table has all methods.
CHARTED = ("aqer", "leave_one_out", "tfidf_char", "tfidf_char+discrimination", "bleu4", "mean_vote")


def reproduce_questions(request: EvidenceRequest, progress: Progress | None = None) -> StudyTable:
    """Write and return the table of methods by the number of questions that workers answer.

    Setting questions=N has N questions. Counts beyond the data's are left out. Raises `InputError`
    and `BackendError`.
    """
    methods_used = list_methods(core=request.core)
    with OutputFolder(request.output) as folder:
        data = GradedCorpus.load(request, progress)
        counts = [count for count in COUNTS if count <= data.corpus.n_questions]
        done, total = 0, len(counts) * len(methods_used)

        def report_step() -> None:
            """Report that one more method is compared."""
            nonlocal done
            done += 1
            if progress is not None:
                progress("methods", done, total)

        rows: list[EvidenceRow] = []
        for count in counts:
            trials = [draw_trial(data, count, seed) for seed in request.seeds]
            rows += compare_methods(
                f"questions={count}", trials, methods_used, request.seed, report_step
            )
        summary = data.build_summary("questions", request)
        charts = [_build_chart(rows, counts)] if counts else []
        write_evidence(
            folder, rows, {**summary, "best_baseline": find_best_baselines(rows)}, charts
        )
    return build_study_table(rows)


def draw_trial(data: GradedCorpus, count: int, seed: int) -> Trial:
    """Return the trial of a seed's crowd on `count` random questions."""
    assignment = assign_answers(data.graded, TIER, seed)
    # A stream of its own: the crowd is that of the other studies.
    order = np.random.default_rng([seed, 1]).permutation(data.corpus.n_questions)
    keep = np.isin(data.corpus.question[assignment.rows], order[:count])
    kept_answers = AnswerAssignment(assignment.rows[keep], assignment.workers[keep])
    crowd = Crowd(data.corpus, kept_answers.rows, kept_answers.workers, seed=seed)
    return Trial(crowd, kept_answers.compute_true_grades(data.graded.grades))


def _build_chart(rows: Sequence[EvidenceRow], counts: Sequence[int]) -> Chart:
    """Return the chart of correlations by number of questions, a line for each method."""
    row_by_key = {(row.setting, row.method): row for row in rows}

    def find_points(method: str) -> list[tuple[float, float | None]]:
        """Return a method's points (number of questions, correlation) for the chart."""
        evidence_rows = [row_by_key.get((f"questions={count}", method)) for count in counts]
        means = [None if row is None else row.list_cells()[2] for row in evidence_rows]
        return [
            (count, mean if isinstance(mean, float) else None)
            for count, mean in zip(counts, means, strict=True)
        ]

    return build_line_chart(
        name="questions",
        title="Agreement with experts by the number of questions",
        explanation="Mean correlation of 20 simulated workers' scores with their mean grades.",
        axes=("questions", "Pearson's r"),
        series=[Series(method, find_points(method)) for method in CHARTED],
    )
