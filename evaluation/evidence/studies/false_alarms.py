"""Measure how often each alarm is raised in crowds without planted copies, by crowd size.

Raise alarms on samples of a crowd's workers, in parallel processes.

The crowds are random samples of the workers of real crowds, with all their answers, and student
answers dealt to simulated workers. Nothing is planted. Real people may have copied all the same, so
the rates are upper bounds of the false alarm rates.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from annotations.exchange import OutputFolder
from evaluation.consensus.inputs import Progress
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.core.stats.grams import Vectors
from evaluation.core.stats.statistics.descriptive import wilson_interval
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import (
    BEETLE,
    CROWD,
    MOHLER,
    assign_answers,
    list_crowdwsa_files,
    load_beetle,
    load_crowdwsa,
    load_mohler,
)
from evaluation.evidence.tables import EvidenceRequest, StudyTable, write_table
from evaluation.grading.alarms.messages import IN_PART, OF_QUESTIONS, choose_alarm_case
from evaluation.grading.alarms.run.detection import Alarms, GradedAnswers, detect_alarms

# Alarms in the order of the table, and the check that tells whether the statistic was computed;
# None if it always is.
ALARMS: dict[str, str | None] = {
    "copies": "copies",
    "clique": "copies",
    "two_camps": "two_camps",
    OF_QUESTIONS: OF_QUESTIONS,
    "leverage": "leverage",
    "grader_disagreement": "grader_disagreement",
}
NOTICES: dict[str, str | None] = {
    IN_PART: "copies",
    "dont_know": None,
    "concentrated_weight": "concentrated_weight",
    "unstable_ranking": "unstable_ranking",
    "no_convergence": None,
}
# Draws of questions, for `unstable_ranking`; a median of agreements needs no more.
DRAWS = 50


@dataclass(frozen=True)
class RealCrowd:
    """Answers of a real crowd with their workers, questions and vectors.

    Attributes
    ----------
    workers : (N,) codes from 0. questions : (N,) labels. embedder : SPEC of the vectors (N, d).
    """

    texts: Sequence[str]
    workers: NDArray[np.int64]
    questions: NDArray[np.str_]
    vectors: Vectors
    embedder: str

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return int(self.workers.max()) + 1

    def draw_rows(self, size: int, seed: int) -> NDArray[np.int64]:
        """Return the rows of all answers of `size` randomly drawn workers."""
        chosen = np.random.default_rng(seed).choice(self.n_workers, size, replace=False)
        return np.flatnonzero(np.isin(self.workers, chosen))


@dataclass(frozen=True)
class CrowdSample:
    """Sample of a crowd's answers (rows), with the workers assigned to them; None for their own."""

    crowd: str
    rows: NDArray[np.int64]
    workers: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class SampleInspection:
    """Kinds of alarms raised in a resample, and kinds whose check had enough answers."""

    raised: frozenset[str]
    inspected: frozenset[str]

    @classmethod
    def from_alarms(cls, alarms: Alarms) -> SampleInspection:
        """Create the object from a grading's alarms and checks."""
        computed = {check.check for check in alarms.checks if check.statistic is not None}
        return cls(
            frozenset(
                choose_alarm_case(alarm.kind, alarm.severity, bool(alarm.workers))
                for alarm in alarms.found
            ),
            frozenset(
                case
                for case, check in (ALARMS | NOTICES).items()
                if check is None or check in computed
            ),
        )


def inspect_resample(crowd: RealCrowd, resample: CrowdSample) -> SampleInspection:
    """Grade a resample and return its alarms."""
    rows = resample.rows
    workers = crowd.workers[rows] if resample.workers is None else resample.workers
    questions, vectors = crowd.questions[rows], crowd.vectors[rows]
    parameters = AqerParameters(embedder=crowd.embedder, bootstrap=DRAWS)
    aqer = parameters.build_estimator().fit(vectors, workers, questions)
    texts = [crowd.texts[row] for row in rows.tolist()]
    answers = GradedAnswers(texts, workers.tolist(), questions.tolist(), vectors)
    return SampleInspection.from_alarms(detect_alarms(parameters, aqer, answers))


def inspect_resamples(
    crowds: dict[str, RealCrowd], resamples: Iterable[CrowdSample]
) -> Iterator[SampleInspection]:
    """Yield the alarms of the resamples in order, computed in one process per core."""
    # "spawn", because a fork of a process with threads may hang.
    with ProcessPoolExecutor(
        os.cpu_count(), get_context("spawn"), _start_process, (crowds,)
    ) as processes:
        yield from processes.map(_inspect_in_process, resamples, chunksize=10)


_crowds: dict[str, RealCrowd] = {}


def _start_process(crowds: dict[str, RealCrowd]) -> None:
    """Store the crowds in a new process and limit it to one thread."""
    _crowds.update(crowds)
    # There is a process per core already; threads of each would compete for them.
    threadpool_limits(1)


def _inspect_in_process(resample: CrowdSample) -> SampleInspection:
    """Return the alarms of a resample, in a process that `_start_process` has prepared."""
    return inspect_resample(_crowds[resample.crowd], resample)


HEADER = (
    *("crowd", "workers", "alarm", "severity"),
    *("resamples", "looked_at", "rang", "share", "low", "high", "rang_in_first"),
)
SIZES = (5, 10, 20, 40)
# Answers of a question are dealt to pairs of workers of about the same quality.
TIER = 2
DEALT = "mohler"
ANY = "any"
# Resamples that `rang_in_first` counts, so that a shorter run can be compared with the table.
FIRST = 5


@dataclass(frozen=True)
class SampleSetting:
    """Setting of the study: resamples of one size of one crowd, one for each seed."""

    crowd: str
    size: int
    seeds: Sequence[int]


def reproduce_false_alarms(
    request: EvidenceRequest, progress: Progress | None = None
) -> StudyTable:
    """Write and return the table of false alarm rates by crowd, number of workers and alarm.

    `looked_at` is the number of resamples with enough answers for the statistic, and `share` the
    share of them with an alarm, with Wilson's 95% interval. The interval is for samples of this
    crowd, not for other crowds. "any" is any of the alarms, without notices.
    """
    with OutputFolder(request.output) as folder:
        crowds = _load_crowds(request, progress)
        settings = _list_settings(crowds, request.seeds)
        inspections = inspect_resamples(crowds, _draw_resamples(crowds, settings, request))
        total, done = sum(len(setting.seeds) for setting in settings), 0
        rows: list[tuple[object, ...]] = []
        for setting in settings:
            of_setting = []
            for _ in setting.seeds:
                of_setting.append(next(inspections))
                done += 1
                if progress is not None:
                    progress("false rings", done, total)
            rows += build_setting_rows(setting, of_setting)
        write_table(folder, "table", HEADER, rows)
        sources = [BEETLE, MOHLER, *list_crowdwsa_files("T1")[:1], *list_crowdwsa_files("T2")[:1]]
        folder.write_json(
            "summary.json",
            {
                "study": "false-rings",
                "repetitions": request.repetitions,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "embedder": request.embedder,
                "draws": DRAWS,
                "input_hash": combine_hashes(
                    hash_file(Path(request.data) / source) for source in sources
                ),
                "undefined": [
                    {
                        "file": "table.csv",
                        "column": column,
                        "reason": "too_few_answers_to_look",
                        "count": sum(row[index] is None for row in rows),
                        "rows": [list(row[:3]) for row in rows if row[index] is None],
                    }
                    for index, column in enumerate(HEADER)
                    if any(row[index] is None for row in rows)
                ],
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


def build_setting_rows(
    setting: SampleSetting, inspections: Sequence[SampleInspection]
) -> list[tuple[object, ...]]:
    """Return a setting's table rows, one per kind of alarm and then of notice."""
    cases = [(case, "alarm") for case in ALARMS] + [(ANY, "alarm")]
    cases += [(case, "notice") for case in NOTICES]
    rows: list[tuple[object, ...]] = []
    for case, severity in cases:
        cases_counted = set(ALARMS) if case == ANY else {case}
        was_inspected = [bool(cases_counted & inspection.inspected) for inspection in inspections]
        was_raised = [bool(cases_counted & inspection.raised) for inspection in inspections]
        n, k = sum(was_inspected), sum(was_raised)
        share = k / n if n else None
        low, high = map(float, wilson_interval(share, n)) if share is not None else (None, None)
        n_in_first = sum(was_raised[:FIRST])
        place = (setting.crowd, setting.size, case, severity)
        rows.append((*place, len(inspections), n, k, share, low, high, n_in_first))
    return rows


def _load_crowds(request: EvidenceRequest, progress: Progress | None) -> dict[str, RealCrowd]:
    """Return the real crowds by name; each corpus is embedded once."""
    beetle, mohler = load_beetle(request.data), load_mohler(request.data)
    columns = {"beetle": (beetle.texts, beetle.workers, beetle.questions)}
    for name in ("T1", "T2"):
        real = load_crowdwsa(request.data, name)
        columns[f"crowdwsa {name}"] = (real.texts, real.workers, real.sentences)
    # The data set names no authors: workers are simulated.
    columns[DEALT] = (mohler.texts, np.zeros(len(mohler.texts), dtype=str), mohler.questions)
    return {
        name: RealCrowd(
            texts,
            np.unique(workers, return_inverse=True)[1],
            questions,
            CorpusVectors(texts, progress).embed_texts(request.embedder),
            request.embedder,
        )
        for name, (texts, workers, questions) in columns.items()
    }


def _list_settings(crowds: dict[str, RealCrowd], seeds: Sequence[int]) -> list[SampleSetting]:
    """Return settings of each crowd: all sizes below its number of workers, then all workers."""
    settings = []
    for name, crowd in crowds.items():
        most = CROWD if name == DEALT else crowd.n_workers
        settings += [SampleSetting(name, size, seeds) for size in SIZES if size < most]
        settings.append(SampleSetting(name, most, seeds if name == DEALT else seeds[:1]))
    return settings


def _draw_resamples(
    crowds: dict[str, RealCrowd], settings: Sequence[SampleSetting], request: EvidenceRequest
) -> Iterator[CrowdSample]:
    """Yield the resamples of all settings, in the order of their seeds."""
    mohler = load_mohler(request.data)
    for setting in settings:
        for seed in setting.seeds:
            if setting.crowd != DEALT:
                rows = crowds[setting.crowd].draw_rows(setting.size, seed)
                yield CrowdSample(setting.crowd, rows)
                continue
            assignment = assign_answers(mohler, TIER, seed)
            sampled = np.random.default_rng(seed).choice(CROWD, setting.size, replace=False)
            keep = np.isin(assignment.workers, sampled)
            yield CrowdSample(DEALT, assignment.rows[keep], assignment.workers[keep])
