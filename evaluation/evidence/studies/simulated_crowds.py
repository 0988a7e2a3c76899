"""Measure AQER on simulated crowds: how it fails step by step, and what remedies repair.

Stress AQER with simulated crowds that get worse step by step (app. F).

Each setting is a simulated crowd with the right truth; the same with "-script" behind it is
compared with the truth as the authors' script defines it (`SimulatedCrowd.compute_script_quality`).

Measure what AQER's remedies repair, on crowds that AQER alone ranks wrongly.

Simulated crowds in which weak workers err together (Yahav et al. 2025, appendix F.1): six answers
graded by an expert settle which camp is right. Dealt crowds of graded answers in which four of
twenty workers paste one answer, or edit it lightly: they become one voter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.inputs import Progress, embed
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.core.charts.chart import Chart, Series, build_line_chart
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.simulation import (
    SimulatedCrowd,
    WorkerGroup,
    build_biased_groups,
    build_correlated_weak_groups,
    build_few_worker_groups,
    build_noisy_groups,
    compute_actual_correlation,
    simulate_crowd,
)
from evaluation.evidence.data_sets import CROWD, MOHLER, GradedAnswers, assign_answers, load_mohler
from evaluation.evidence.tables import (
    Correlations,
    EvidenceRequest,
    EvidenceRow,
    StudyTable,
    build_study_table,
    compute_correlations,
    write_evidence,
    write_table,
)
from evaluation.grading.crowd import RemedyInputs
from evaluation.grading.remedies.run import grade_with_remedies

# A method holds at a level if it agrees with the truth at least so well.
HOLDS = 0.9
SCRIPT = "-script"
BREAKS = ("test", "truth", "method", "holds_up_to", "breaks_at", "pearson_there", "inverted_at")


@dataclass(frozen=True)
class StressTest:
    """A series of simulated crowds that gets worse from level to level.

    Attributes
    ----------
    name : quantity that changes. levels : its values, from harmless to harmful.
    crowd : function from a level to the groups of workers.
    """

    name: str
    levels: Sequence[float]
    crowd: Callable[[float], list[WorkerGroup]]
    n_questions: int = 10
    dimension: int = 300

    def format_setting(self, level: float) -> str:
        """Return the name of a level's setting in the table, such as "noise=2"."""
        return f"{self.name}={level:g}"


TESTS = (
    StressTest(
        "workers",
        (90, 60, 48, 39, 30, 21, 12, 9, 6, 3),
        lambda level: build_few_worker_groups(int(level)),
    ),
    StressTest(
        "noise",
        (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5),
        build_noisy_groups,
        n_questions=20,
        dimension=512,
    ),
    StressTest("rho", (0, 0.3, 0.5, 0.6, 0.65, 0.7, 0.8, 0.9), build_correlated_weak_groups),
    StressTest(
        "weak_share_at_rho_0.7",
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
        lambda level: build_correlated_weak_groups(0.7, level),
    ),
    StressTest("biased", (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), build_biased_groups),
)


def _keep_vectors(x: Floats) -> Floats:
    """Return the vectors unchanged: the choice of no preprocessing."""
    return x


def scale_to_unit_length(x: Floats) -> Floats:
    """Return the vectors with each row scaled to length 1."""
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def remove_mean(x: Floats) -> Floats:
    """Return the vectors minus their mean, which removes part of a shared bias."""
    return np.asarray(x - x.mean(axis=0))


METHODS: dict[str, tuple[dict[str, object], Callable[[Floats], Floats]]] = {
    "aqer": ({}, _keep_vectors),
    "question_contrast": ({"question_contrast": True}, _keep_vectors),
    "aqer_one_pass": ({"max_iterations": 1}, _keep_vectors),
    "leave_one_out": ({"leave_one_out": True}, _keep_vectors),
    "unit_length": ({}, scale_to_unit_length),
    "mean_removed": ({}, remove_mean),
}


def reproduce_simulation(request: EvidenceRequest, progress: Progress | None = None) -> StudyTable:
    """Write and return the table of AQER on simulated crowds; breaks.csv has breaking levels."""
    with OutputFolder(request.output) as folder:
        rows: list[EvidenceRow] = []
        for done, (test, level) in enumerate(LEVELS):
            rows += measure_level(test, level, request.seeds)
            if progress is not None:
                progress("simulation", done + 1, len(LEVELS))
        break_rows = list(find_breaking_levels(rows))
        write_table(folder, "breaks", BREAKS, break_rows)
        write_evidence(
            folder,
            rows,
            {
                "study": "simulation",
                "repetitions": request.repetitions,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "holds": f"mean Pearson correlation of at least {HOLDS}",
                "tests": {
                    test.name: {"questions": test.n_questions, "dimension": test.dimension}
                    for test in TESTS
                },
                "actual_correlation": {
                    str(rho): compute_actual_correlation(rho, 3.0) for rho in _find_levels("rho")
                },
                "versions": collect_versions(),
            },
            [_build_chart(test, rows) for test in TESTS],
        )
    return build_study_table(rows)


LEVELS = [(test, level) for test in TESTS for level in test.levels]


def measure_level(test: StressTest, level: float, seeds: range) -> Iterator[EvidenceRow]:
    """Yield the rows of a level of a stress test, by true quality and by the script's quality."""
    truths = {"": SimulatedCrowd.compute_quality, SCRIPT: SimulatedCrowd.compute_script_quality}
    correlations = {
        (truth, method): Correlations.build_empty() for truth in truths for method in METHODS
    }
    for seed in seeds:
        crowd = simulate_crowd(test.crowd(level), test.n_questions, test.dimension, seed)
        for method, (switches, transform) in METHODS.items():
            aqer = AQER(n_draws=0, **switches)  # type: ignore[arg-type]
            aqer.fit(transform(crowd.vectors), crowd.workers, crowd.questions)
            for truth, quality in truths.items():
                correlations[truth, method].add_repetition(aqer.raw_, quality(crowd))
    for (truth, method), agreement in correlations.items():
        yield agreement.build_row(test.format_setting(level) + truth, method)


def find_breaking_levels(rows: Sequence[EvidenceRow]) -> Iterator[tuple[object, ...]]:
    """Yield rows of breaks.csv: at which level each method holds last, breaks, and is inverted."""
    correlation_by_key = {(row.setting, row.method): row.pearson_mean for row in rows}
    for test in TESTS:
        for truth, name in (("", "right"), (SCRIPT, "script")):
            for method in METHODS:
                correlations = [
                    (level, correlation_by_key[test.format_setting(level) + truth, method])
                    for level in test.levels
                ]
                first_below = next((n for n, (_, r) in enumerate(correlations) if r < HOLDS), None)
                holds = (
                    None
                    if first_below == 0
                    else correlations[-1 if first_below is None else first_below - 1][0]
                )
                level, r = (None, None) if first_below is None else correlations[first_below]
                inverted = next((level for level, r in correlations if r < 0), None)
                yield test.name, name, method, holds, level, r, inverted


def _find_levels(name: str) -> Sequence[float]:
    """Return the levels of the named stress test."""
    return next(test.levels for test in TESTS if test.name == name)


def _build_chart(test: StressTest, rows: Sequence[EvidenceRow]) -> Chart:
    """Return the chart of a stress test: correlation by level, a line for each method."""
    correlation_by_key = {(row.setting, row.method): row.pearson_mean for row in rows}

    def build_line(method: str, truth: str) -> Series:
        """Return a method's line in the chart: correlation by level."""
        points = [
            (level, correlation_by_key[test.format_setting(level) + truth, method])
            for level in test.levels
        ]
        name = f"{method}, script's truth" if truth else method
        return Series(name, sorted(points))

    return build_line_chart(
        name=test.name.replace(".", ""),
        title=f"Agreement with the truth by {test.name}",
        explanation=(
            "Each point is the mean correlation of workers' raw scores with their true quality. "
            "1 is perfect; below 0 the ranking is upside down."
        ),
        axes=(test.name, "Pearson's r"),
        series=[*(build_line(method, "") for method in METHODS), build_line("aqer", SCRIPT)],
        heights=(-1.0, 1.0),
    )


HEADER = (
    "setting",
    "remedy",
    "measure",
    "plain_mean",
    "mean",
    "lowest",
    "goal",
    "reached",
    "named",
    "repetitions",
)
ANCHORS = 6
# Standard deviation of the expert's grades, of a scale to 5.
EXPERT_NOISE = 0.5
RHOS = (0.7, 0.8, 0.9)
SHARES = (0.5, 0.7)
SIMULATED = (10, 300)
COPYING = 4
QUESTIONS = (30, None)
ALIKE = 0.98
RIGHT = 0.9
Outcome = tuple[float, float, float]


def reproduce_remedies(request: EvidenceRequest, progress: Progress | None = None) -> StudyTable:
    """Write and return remedies.csv, the table of what remedies repair, one row per setting.

    plain_mean and mean are of the measure without and with the remedy, lowest the worst repetition,
    reached the share of repetitions at the goal or above; named the share in which the alarm of
    camps was raised, or in which exactly the copying workers were named. Raises `InputError` and
    `BackendError`.
    """
    with OutputFolder(request.output) as folder:
        corpus = load_mohler(request.data)
        settings = [*_list_anchor_settings(), *_list_copy_settings(corpus, request)]
        rows: list[Sequence[object]] = []
        for done, (setting, remedy, measure, goal, run) in enumerate(settings):
            found = np.array([run(seed) for seed in request.seeds])
            plain, repaired, named = found.T
            reached = float((repaired >= goal).mean())
            rows.append(
                (
                    *(setting, remedy, measure),
                    *(float(plain.mean()), float(repaired.mean()), float(repaired.min())),
                    *(goal, reached, float(named.mean()), len(found)),
                )
            )
            if progress is not None:
                progress("remedies", done + 1, len(settings))
        write_table(folder, "remedies", HEADER, rows)
        folder.write_json(
            "summary.json",
            {
                "study": "remedies",
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "embedder": request.embedder,
                "anchors": ANCHORS,
                "expert_noise": EXPERT_NOISE,
                "input_hash": combine_hashes([hash_file(request.data / MOHLER)]),
                "undefined": [],
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


Setting = tuple[str, str, str, float, Callable[[int], Outcome]]


def _list_anchor_settings() -> Iterator[Setting]:
    """Yield the settings with correlated weak workers, repaired by expert anchors."""
    for rho in RHOS:
        for share in SHARES:
            name = f"correlated {rho:g}, {share:.0%} weak"
            remedy = f"{ANCHORS} anchors"
            measure = "pearson with quality"
            yield (
                name,
                remedy,
                measure,
                RIGHT,
                lambda seed, r=rho, s=share: compare_with_anchors(r, s, seed),  # type: ignore[misc]
            )


def compare_with_anchors(rho: float, share: float, seed: int, count: int = ANCHORS) -> Outcome:
    """Return Pearson's r with true quality without and with anchors, and 1.0 if camps are alarmed.

    The expert's grade of a suggested answer is 5 times its cosine to the truth, plus noise.
    """
    crowd = simulate_crowd(build_correlated_weak_groups(rho, share), *SIMULATED, seed)
    columns = (crowd.vectors, crowd.workers, crowd.questions)
    suggesting = AqerParameters(bootstrap=0, leave_one_out=True, suggest_anchors=count)
    first = grade_with_remedies(suggesting, *columns, RemedyInputs())
    assert first.report.suggested is not None
    assert first.report.candidates is not None
    rows = first.report.suggested
    x, y = crowd.vectors[rows], crowd.truth[crowd.questions[rows]]
    expert_cosines = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    # A stream of its own, so that the noise does not depend on how the crowd was drawn.
    noise = np.random.default_rng([seed, 1]).normal(0.0, EXPERT_NOISE, len(rows))
    grades = np.clip(5 * expert_cosines + noise, 0.0, 5.0)
    outside = RemedyInputs(anchor_rows=rows.tolist(), anchor_grades=grades.tolist())
    anchoring = AqerParameters(bootstrap=0, leave_one_out=True, anchors=True)
    settled = grade_with_remedies(anchoring, *columns, outside).aqer
    quality = crowd.compute_quality()
    return (
        compute_correlations(sort_raw_scores_by_worker(first.aqer), quality)[0],
        compute_correlations(sort_raw_scores_by_worker(settled), quality)[0],
        float(first.report.candidates.alarm.is_raised),
    )


def sort_raw_scores_by_worker(aqer: AQER) -> Floats:
    """Return a fitted estimator's raw scores, sorted by worker number."""
    raw = np.empty(len(aqer.workers_))
    raw[aqer.workers_.astype(np.int64)] = aqer.raw_
    return raw


def _list_copy_settings(corpus: GradedAnswers, request: EvidenceRequest) -> Iterator[Setting]:
    """Yield the settings with copiers, repaired by giving each group of copies one vote."""
    for kind, edit in (("pasted", None), ("lightly edited", edit_text)):
        crowds = CopyingCrowds(corpus, request, edit)
        for count in QUESTIONS:
            asked = len(set(corpus.questions.tolist())) if count is None else count
            name = f"{COPYING} of {CROWD} workers, {kind}, {asked} questions"
            measure = "spearman of the others to the run without the copies"
            yield (
                *(name, "collapsed, quarter vote", measure, ALIKE),
                lambda seed, c=crowds, n=asked: c.compare_with_remedy(seed, n),  # type: ignore[misc]
            )


class CopyingCrowds:
    """Crowds of simulated workers in which four workers submit one worker's answers."""

    def __init__(
        self,
        corpus: GradedAnswers,
        request: EvidenceRequest,
        edit: Callable[[str, np.random.Generator], str] | None,
    ) -> None:
        self._corpus, self._edit = corpus, edit
        texts: dict[str, None] = dict.fromkeys(corpus.texts)
        for seed in request.seeds:
            texts |= dict.fromkeys(self.draw_answers(seed)[2])
        # Texts of all seeds are embedded at once, edited copies too, and looked up by text.
        self._row = {text: row for row, text in enumerate(texts)}
        self._vectors = embed(AqerParameters(embedder=request.embedder), list(texts), None).answers

    def draw_answers(self, seed: int) -> tuple[Integers, NDArray[np.generic], list[str], Integers]:
        """Return worker, question and text of each answer of a seed's crowd, and the copiers."""
        corpus, rng = self._corpus, np.random.default_rng([seed, 2])
        dealt = assign_answers(corpus, 2, seed)
        questions = corpus.questions[dealt.rows]
        copiers = rng.permutation(CROWD)[:COPYING]
        keys = zip(dealt.workers.tolist(), questions.tolist(), strict=True)
        text_by_key = {key: corpus.texts[row] for key, row in zip(keys, dealt.rows, strict=True)}
        texts = []
        for worker, question in text_by_key:
            text = text_by_key[worker, question]
            if worker in copiers:
                text = text_by_key[int(copiers[0]), question]
                if self._edit is not None and worker != copiers[0]:
                    text = self._edit(text, rng)
            texts.append(text)
        return dealt.workers, questions, texts, np.sort(copiers)

    def compare_with_remedy(self, seed: int, n_questions: int) -> Outcome:
        """Return Spearman's r, plain and collapsed, and 1.0 if an alarm names just the copiers."""
        workers, questions, texts, copiers = self.draw_answers(seed)
        distinct = list(dict.fromkeys(questions.tolist()))
        chosen = np.random.default_rng([seed, 3]).permutation(len(distinct))[:n_questions]
        rows = np.flatnonzero(np.isin(questions, [distinct[index] for index in chosen]))
        x: Vectors = self._vectors[[self._row[texts[row]] for row in rows]]
        workers_used, questions_used = workers[rows], questions[rows]
        parameters = AqerParameters(bootstrap=0, leave_one_out=True, collapse_copies=True)
        outside = RemedyInputs(texts=[texts[row] for row in rows])
        remedied = grade_with_remedies(parameters, x, workers_used, questions_used, outside)
        honest = ~np.isin(workers_used, copiers)
        without_copies = AQER(n_draws=0, leave_one_out=True).fit(
            x[honest], workers_used[honest], questions_used[honest]
        )
        plain = AQER(n_draws=0, leave_one_out=True).fit(x, workers_used, questions_used)
        others = np.setdiff1d(np.arange(CROWD), copiers)
        raw_without_copies = dict(
            zip(without_copies.workers_.tolist(), without_copies.raw_.tolist(), strict=True)
        )
        # The goal of the remedy: the others are scored as if the copies did not exist.
        truth = [raw_without_copies[worker] for worker in others.tolist()]
        groups = [
            np.sort(remedied.report.workers[group.members].astype(np.int64)).tolist()
            for group in remedied.report.groups
            if group.is_collapsed
        ]
        return (
            compute_correlations(sort_raw_scores_by_worker(plain)[others], truth)[1],
            compute_correlations(sort_raw_scores_by_worker(remedied.aqer)[others], truth)[1],
            float(groups == [copiers.tolist()]),
        )


def edit_text(text: str, rng: np.random.Generator) -> str:
    """Return the text lightly edited: a word dropped, a letter doubled, the final mark changed.

    Texts of 3 words or fewer keep all words.
    """
    words = text.split()
    if len(words) > 3:
        del words[int(rng.integers(len(words)))]
    index = int(rng.integers(len(words)))
    if words[index]:
        letter = int(rng.integers(len(words[index])))
        words[index] = words[index][: letter + 1] + words[index][letter:]
    return " ".join(words).rstrip(" .") + ("." if rng.random() < 0.5 else " !")
