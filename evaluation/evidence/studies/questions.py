"""Measure how many questions grades need, on the crowds of the worker-grading study.

The crowds are those of setting 10x2; each repetition draws its questions anew, and fewer of them
are always among the more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus.vectors import Progress
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.lines import Series, draw_lines
from evaluation.evidence.answer_assignment import AnswerAssignment, assign_answers
from evaluation.evidence.baselines import Crowd, list_methods
from evaluation.evidence.corpus import GradedCorpus
from evaluation.evidence.methods_table import Trial, compare_methods, find_best_baselines
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import EvidenceRow, build_study_table, write_evidence

# The paper goes from 3 to 30 questions (appendix E).
COUNTS = (3, 5, 10, 20, 30, 60, 87)
TIER = 2
# Lines of the picture; the table has all methods.
CHARTED = ("aqer", "leave_one_out", "tfidf_char", "tfidf_char+discrimination", "bleu4", "mean_vote")


def reproduce_questions(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the study's table; setting questions=N has N questions.

    Counts beyond the data's are left out. Raises `InputError` and `BackendError`.
    """
    methods_used = list_methods(core=request.core)
    with OutputFolder(request.output) as folder:
        data = GradedCorpus.load(request, progress)
        counts = [count for count in COUNTS if count <= data.corpus.n_questions]
        done, total = 0, len(counts) * len(methods_used)

        def report_step() -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress("methods", done, total)

        rows: list[EvidenceRow] = []
        for count in counts:
            trials = [build_trial(data, count, seed) for seed in request.seeds]
            rows += compare_methods(
                f"questions={count}", trials, methods_used, request.seed, report_step
            )
        summary = data.summary("questions", request)
        charts = [_draw_chart(rows, counts)] if counts else []
        write_evidence(
            folder, rows, {**summary, "best_baseline": find_best_baselines(rows)}, charts
        )
    return build_study_table(rows)


def build_trial(data: GradedCorpus, count: int, seed: int) -> Trial:
    """Return a seed's crowd on `count` random questions, with true values on these."""
    assignment = assign_answers(data.graded, TIER, seed)
    # A stream of its own: the crowd is that of the other studies.
    order = np.random.default_rng([seed, 1]).permutation(data.corpus.n_questions)
    keep = np.isin(data.corpus.question[assignment.rows], order[:count])
    kept_answers = AnswerAssignment(assignment.rows[keep], assignment.workers[keep])
    crowd = Crowd(data.corpus, kept_answers.rows, kept_answers.workers, seed=seed)
    return Trial(crowd, kept_answers.compute_true_grades(data.graded.grades))


def _draw_chart(rows: Sequence[EvidenceRow], counts: Sequence[int]) -> Chart:
    """Return the chart of correlations by number of questions, a line for each method."""
    row_by_key = {(row.setting, row.method): row for row in rows}

    def find_points(method: str) -> list[tuple[float, float | None]]:
        found = [row_by_key.get((f"questions={count}", method)) for count in counts]
        means = [None if row is None else row.cells()[2] for row in found]
        return [
            (count, mean if isinstance(mean, float) else None)
            for count, mean in zip(counts, means, strict=True)
        ]

    return draw_lines(
        name="questions",
        title="Agreement with experts by the number of questions",
        explanation="Mean correlation of 20 simulated workers' scores with their mean grades.",
        axes=("questions", "Pearson's r"),
        series=[Series(method, find_points(method)) for method in CHARTED],
    )
