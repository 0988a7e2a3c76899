"""Measure how often each alarm is raised in crowds without planted copies, by crowd size.

Random samples of the workers of real crowds, with all their answers, and student answers dealt to
workers. Nobody planted anything there. Real people may have copied all the same, so these are rates
of rings, false ones as far as anybody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.consensus.vectors import Progress
from evaluation.core.stats.statistics.proportions import wilson_interval
from evaluation.evidence.answer_assignment import CROWD, assign_answers
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import (
    BEETLE,
    MOHLER,
    list_crowdwsa_files,
    load_beetle,
    load_crowdwsa,
    load_mohler,
)
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.studies.resampled_crowds import (
    ALARMS,
    DRAWS,
    NOTICES,
    Inspection,
    RealCrowd,
    Resample,
    inspect_resamples,
)
from evaluation.evidence.tables import write_table

HEADER = (
    *("crowd", "workers", "alarm", "severity"),
    *("resamples", "looked_at", "rang", "share", "low", "high", "rang_in_first"),
)
SIZES = (5, 10, 20, 40)
# Answers of a question are dealt to pairs of workers of about the same quality.
TIER = 2
DEALT = "mohler"
ANY = "any"
# The resamples that `rang_in_first` counts, so that a run of as many can be held against the table.
FIRST = 5


@dataclass(frozen=True)
class Setting:
    """Setting of the study: one size of resamples of one crowd; all workers only once."""

    crowd: str
    size: int
    seeds: Sequence[int]


def reproduce_false_rings(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the study's table: false alarm rate by crowd, size and alarm.

    `looked_at` resamples had enough answers for the statistic; `share` of them rang, with Wilson's
    95% interval, which is for samples of this crowd, not for crowds. "any" is any of the alarms,
    notices not among them.
    """
    with OutputFolder(request.output) as folder:
        crowds = _load_crowds(request, progress)
        settings = _list_settings(crowds, request.seeds)
        inspections = inspect_resamples(crowds, _draw_resamples(crowds, settings, request))
        total, done = sum(len(one.seeds) for one in settings), 0
        rows: list[tuple[object, ...]] = []
        for setting in settings:
            of_setting = []
            for _ in setting.seeds:
                of_setting.append(next(inspections))
                done += 1
                if progress is not None:
                    progress("false rings", done, total)
            rows += build_rows(setting, of_setting)
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
                    hash_file(Path(request.data) / one) for one in sources
                ),
                "undefined": [
                    {
                        "file": "table.csv",
                        "column": column,
                        "reason": "too_few_answers_to_look",
                        "count": sum(row[at] is None for row in rows),
                        "rows": [list(row[:3]) for row in rows if row[at] is None],
                    }
                    for at, column in enumerate(HEADER)
                    if any(row[at] is None for row in rows)
                ],
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


def build_rows(setting: Setting, inspections: Sequence[Inspection]) -> list[tuple[object, ...]]:
    """Return the table rows of a setting, alarms before notices."""
    cases = [(case, "alarm") for case in ALARMS] + [(ANY, "alarm")]
    cases += [(case, "notice") for case in NOTICES]
    rows: list[tuple[object, ...]] = []
    for case, severity in cases:
        cases_counted = set(ALARMS) if case == ANY else {case}
        was_inspected = [bool(cases_counted & one.inspected) for one in inspections]
        was_raised = [bool(cases_counted & one.raised) for one in inspections]
        n, k = sum(was_inspected), sum(was_raised)
        share = k / n if n else None
        low, high = map(float, wilson_interval(share, n)) if share is not None else (None, None)
        n_in_first = sum(was_raised[:FIRST])
        place = (setting.crowd, setting.size, case, severity)
        rows.append((*place, len(inspections), n, k, share, low, high, n_in_first))
    return rows


def _load_crowds(request: Request, progress: Progress | None) -> dict[str, RealCrowd]:
    """Return the real crowds by name; each corpus is embedded once."""
    beetle, mohler = load_beetle(request.data), load_mohler(request.data)
    columns = {"beetle": (beetle.texts, beetle.workers, beetle.questions)}
    for name in ("T1", "T2"):
        real = load_crowdwsa(request.data, name)
        columns[f"crowdwsa {name}"] = (real.texts, real.workers, real.sentences)
    # Nobody knows who wrote which of these: workers are dealt to them.
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


def _list_settings(crowds: dict[str, RealCrowd], seeds: Sequence[int]) -> list[Setting]:
    """Return settings of each crowd: all sizes below its number of workers, then all workers."""
    settings = []
    for name, crowd in crowds.items():
        most = CROWD if name == DEALT else crowd.n_workers
        settings += [Setting(name, size, seeds) for size in SIZES if size < most]
        settings.append(Setting(name, most, seeds if name == DEALT else seeds[:1]))
    return settings


def _draw_resamples(
    crowds: dict[str, RealCrowd], settings: Sequence[Setting], request: Request
) -> Iterator[Resample]:
    """Yield the resamples of all settings, in the order of their seeds."""
    mohler = load_mohler(request.data)
    for setting in settings:
        for seed in setting.seeds:
            if setting.crowd != DEALT:
                rows = crowds[setting.crowd].sample(setting.size, seed)
                yield Resample(setting.crowd, rows)
                continue
            assignment = assign_answers(mohler, TIER, seed)
            sampled = np.random.default_rng(seed).choice(CROWD, setting.size, replace=False)
            keep = np.isin(assignment.workers, sampled)
            yield Resample(DEALT, assignment.rows[keep], assignment.workers[keep])
