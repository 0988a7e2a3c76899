"""How many questions do grades need? Simulated workers as in worker-grading, on fewer questions.

The crowds are those of setting 10x2; each repetition draws its questions anew, and fewer of them
are always among the more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.charts.chart import Chart
from evaluation.charts.lines import Series, lines_chart
from evaluation.consensus.vectors import Progress
from evaluation.evidence.baselines import Crowd, methods
from evaluation.evidence.corpus import GradedCorpus
from evaluation.evidence.dealing import Dealt, deal
from evaluation.evidence.methods_table import Trial, best_baseline, compare
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import EvidenceRow, as_table, write_evidence

COUNTS = (10, 30, 60, 87)
TIER = 2
# Lines of the picture; the table has all methods.
CHARTED = ("aqer", "leave_one_out", "tfidf_char", "tfidf_char+discrimination", "bleu4", "mean_vote")


def reproduce_questions(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table; a setting is named questions=N.

    Counts beyond the data's are left out. Raises `InputError` and `BackendError`.
    """
    chosen = methods(core=request.core)
    with OutputFolder(request.output) as folder:
        data = GradedCorpus.load(request, progress)
        counts = [count for count in COUNTS if count <= data.corpus.n_questions]
        done, total = 0, len(counts) * len(chosen)

        def told() -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress("methods", done, total)

        rows: list[EvidenceRow] = []
        for count in counts:
            trials = [trial(data, count, seed) for seed in request.seeds]
            rows += compare(f"questions={count}", trials, chosen, request.seed, told)
        summary = data.summary("questions", request)
        charts = [_chart(rows, counts)] if counts else []
        write_evidence(folder, rows, {**summary, "best_baseline": best_baseline(rows)}, charts)
    return as_table(rows)


def trial(data: GradedCorpus, count: int, seed: int) -> Trial:
    """Return the crowd of a seed on `count` of its questions, with the truth on these."""
    dealt = deal(data.graded, TIER, seed)
    # A stream of its own: the crowd is that of the other studies.
    order = np.random.default_rng([seed, 1]).permutation(data.corpus.n_questions)
    keep = np.isin(data.corpus.question[dealt.rows], order[:count])
    some = Dealt(dealt.rows[keep], dealt.workers[keep])
    crowd = Crowd(data.corpus, some.rows, some.workers, seed=seed)
    return Trial(crowd, some.truth(data.graded.grades))


def _chart(rows: Sequence[EvidenceRow], counts: Sequence[int]) -> Chart:
    known = {(row.setting, row.method): row for row in rows}

    def points(method: str) -> list[tuple[float, float | None]]:
        found = [known.get((f"questions={count}", method)) for count in counts]
        means = [None if row is None else row.cells()[2] for row in found]
        return [
            (count, mean if isinstance(mean, float) else None)
            for count, mean in zip(counts, means, strict=True)
        ]

    return lines_chart(
        name="questions",
        title="Agreement with experts by the number of questions",
        explanation="Mean correlation of 20 simulated workers' scores with their mean grades.",
        axes=("questions", "Pearson's r"),
        series=[Series(method, points(method)) for method in CHARTED],
    )
