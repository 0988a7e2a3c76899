"""Measure what AQER's remedies repair, on crowds that AQER alone ranks wrongly.

Simulated crowds in which weak workers err together (Yahav et al. 2025, appendix F.1): six answers
graded by an expert settle which camp is right. Dealt crowds of graded answers in which four of
twenty workers paste one answer, or edit it lightly: they become one voter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.consensus.vectors import Progress, embed
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.simulation import build_correlated_weak_groups, simulate
from evaluation.evidence.answer_assignment import CROWD, assign_answers
from evaluation.evidence.data_sets import MOHLER, GradedAnswers, load_mohler
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import compute_correlations, write_table
from evaluation.grading.crowd import OutsideInformation
from evaluation.grading.remedies.run import grade_with_remedies

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


def reproduce_remedies(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return remedies.csv: one row per setting.

    plain_mean and mean are of the measure without and with the remedy, lowest the worst repetition,
    reached the share of repetitions at the goal or above; named the share in which camps rang, or
    in which exactly the copying workers were named. Raises `InputError` and `BackendError`.
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
                lambda seed, r=rho, s=share: run_anchored(r, s, seed),  # type: ignore[misc]
            )


def run_anchored(rho: float, share: float, seed: int, count: int = ANCHORS) -> Outcome:
    """Return r with the true quality, plain and with anchors, and 1.0 if an alarm was raised.

    An expert grades the suggested answers: 5 times the cosine to the truth, and noise.
    """
    crowd = simulate(build_correlated_weak_groups(rho, share), *SIMULATED, seed)
    columns = (crowd.vectors, crowd.workers, crowd.questions)
    suggesting = AqerParameters(bootstrap=0, leave_one_out=True, suggest_anchors=count)
    first = grade_with_remedies(suggesting, *columns, OutsideInformation())
    assert first.report.suggested is not None
    assert first.report.candidates is not None
    rows = first.report.suggested
    x, y = crowd.vectors[rows], crowd.truth[crowd.questions[rows]]
    expert_cosines = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    noise = np.random.default_rng([seed, 1]).normal(0.0, EXPERT_NOISE, len(rows))
    grades = np.clip(5 * expert_cosines + noise, 0.0, 5.0)
    outside = OutsideInformation(anchor_rows=rows.tolist(), anchor_grades=grades.tolist())
    anchoring = AqerParameters(bootstrap=0, leave_one_out=True, anchors=True)
    settled = grade_with_remedies(anchoring, *columns, outside).aqer
    quality = crowd.quality()
    return (
        compute_correlations(sort_raw_by_worker(first.aqer), quality)[0],
        compute_correlations(sort_raw_by_worker(settled), quality)[0],
        float(first.report.candidates.alarm.rings),
    )


def sort_raw_by_worker(aqer: AQER) -> Floats:
    """Return the raw scores sorted by worker number."""
    raw = np.empty(len(aqer.workers_))
    raw[aqer.workers_.astype(np.int64)] = aqer.raw_
    return raw


def _list_copy_settings(corpus: GradedAnswers, request: Request) -> Iterator[Setting]:
    """Yield the settings with copiers, repaired by giving each group of copies one vote."""
    for kind, edit in (("pasted", None), ("lightly edited", edit_text)):
        crowds = CopyingCrowds(corpus, request, edit)
        for count in QUESTIONS:
            asked = len(set(corpus.questions.tolist())) if count is None else count
            name = f"{COPYING} of {CROWD} workers, {kind}, {asked} questions"
            measure = "spearman of the others to the run without the copies"
            yield (
                *(name, "collapsed, quarter vote", measure, ALIKE),
                lambda seed, c=crowds, n=asked: c.run(seed, n),  # type: ignore[misc]
            )


class CopyingCrowds:
    """Crowds of simulated workers in which four workers submit one worker's answers."""

    def __init__(
        self,
        corpus: GradedAnswers,
        request: Request,
        edit: Callable[[str, np.random.Generator], str] | None,
    ) -> None:
        self._corpus, self._edit = corpus, edit
        texts: dict[str, None] = dict.fromkeys(corpus.texts)
        for seed in request.seeds:
            texts |= dict.fromkeys(self.draw_answers(seed)[2])
        self._row = {text: row for row, text in enumerate(texts)}
        self._vectors = embed(AqerParameters(embedder=request.embedder), list(texts), None).answers

    def draw_answers(self, seed: int) -> tuple[Integers, NDArray[np.generic], list[str], Integers]:
        """Return workers, questions, texts and the four copiers of one seed's crowd."""
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

    def run(self, seed: int, n_questions: int) -> Outcome:
        """Return Spearman's r, plain and collapsed, and 1.0 if exactly the copiers are named."""
        workers, questions, texts, copiers = self.draw_answers(seed)
        distinct = list(dict.fromkeys(questions.tolist()))
        chosen = np.random.default_rng([seed, 3]).permutation(len(distinct))[:n_questions]
        rows = np.flatnonzero(np.isin(questions, [distinct[at] for at in chosen]))
        x: Vectors = self._vectors[[self._row[texts[row]] for row in rows]]
        workers_used, questions_used = workers[rows], questions[rows]
        parameters = AqerParameters(bootstrap=0, leave_one_out=True, collapse_copies=True)
        outside = OutsideInformation(texts=[texts[row] for row in rows])
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
        truth = [raw_without_copies[worker] for worker in others.tolist()]
        groups = [
            np.sort(remedied.report.workers[group.members].astype(np.int64)).tolist()
            for group in remedied.report.groups
            if group.is_collapsed
        ]
        return (
            compute_correlations(sort_raw_by_worker(plain)[others], truth)[1],
            compute_correlations(sort_raw_by_worker(remedied.aqer)[others], truth)[1],
            float(groups == [copiers.tolist()]),
        )


def edit_text(text: str, rng: np.random.Generator) -> str:
    """Return the text with one word dropped, one letter doubled and one ending changed."""
    words = text.split()
    if len(words) > 3:
        del words[int(rng.integers(len(words)))]
    at = int(rng.integers(len(words)))
    if words[at]:
        letter = int(rng.integers(len(words[at])))
        words[at] = words[at][: letter + 1] + words[at][letter:]
    return " ".join(words).rstrip(" .") + ("." if rng.random() < 0.5 else " !")
