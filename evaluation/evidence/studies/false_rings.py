"""How often alarms ring in crowds of which nothing is known to be amiss, by alarm and size.

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
from evaluation.consensus.signatures import combined_hash, file_hash, versions
from evaluation.consensus.vectors import Progress
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import (
    BEETLE,
    MOHLER,
    crowdwsa_files,
    load_beetle,
    load_crowdwsa,
    load_mohler,
)
from evaluation.evidence.dealing import CROWD, deal
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.studies.resampled_crowds import (
    ALARMS,
    DRAWS,
    NOTICES,
    Heard,
    RealCrowd,
    Resample,
    heard_in_all,
)
from evaluation.evidence.tables import write_table
from evaluation.methods.statistics.proportions import wilson_interval

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
    """Resamples of one size of one crowd; all workers of a real crowd can be taken only once."""

    crowd: str
    size: int
    seeds: Sequence[int]


def reproduce_false_rings(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table: a row for each crowd, size and alarm.

    `looked_at` resamples had enough answers for the statistic; `share` of them rang, with Wilson's
    95% interval, which is for samples of this crowd, not for crowds. "any" is any of the alarms,
    notices not among them.
    """
    with OutputFolder(request.output) as folder:
        crowds = _crowds(request, progress)
        settings = _settings(crowds, request.seeds)
        heard = heard_in_all(crowds, _resamples(crowds, settings, request))
        total, done = sum(len(one.seeds) for one in settings), 0
        rows: list[tuple[object, ...]] = []
        for setting in settings:
            seen = []
            for _ in setting.seeds:
                seen.append(next(heard))
                done += 1
                if progress is not None:
                    progress("false rings", done, total)
            rows += rows_of(setting, seen)
        write_table(folder, "table", HEADER, rows)
        sources = [BEETLE, MOHLER, *crowdwsa_files("T1")[:1], *crowdwsa_files("T2")[:1]]
        folder.write_json(
            "summary.json",
            {
                "study": "false-rings",
                "repetitions": request.repetitions,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "embedder": request.embedder,
                "draws": DRAWS,
                "input_hash": combined_hash(file_hash(Path(request.data) / one) for one in sources),
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
                "versions": versions(),
            },
        )
    return StudyTable(HEADER, rows)


def rows_of(setting: Setting, heard: Sequence[Heard]) -> list[tuple[object, ...]]:
    """Return the rows of a setting, alarms before notices; cells as in `HEADER`."""
    cases = [(case, "alarm") for case in ALARMS] + [(ANY, "alarm")]
    cases += [(case, "notice") for case in NOTICES]
    rows: list[tuple[object, ...]] = []
    for case, severity in cases:
        some = set(ALARMS) if case == ANY else {case}
        looked = [bool(some & one.looked) for one in heard]
        rang = [bool(some & one.rang) for one in heard]
        n, k = sum(looked), sum(rang)
        share = k / n if n else None
        low, high = map(float, wilson_interval(share, n)) if share is not None else (None, None)
        first = sum(rang[:FIRST])
        place = (setting.crowd, setting.size, case, severity)
        rows.append((*place, len(heard), n, k, share, low, high, first))
    return rows


def _crowds(request: Request, progress: Progress | None) -> dict[str, RealCrowd]:
    """Read the corpora and embed each of them once."""
    beetle, mohler = load_beetle(request.data), load_mohler(request.data)
    found = {"beetle": (beetle.texts, beetle.workers, beetle.questions)}
    for name in ("T1", "T2"):
        real = load_crowdwsa(request.data, name)
        found[f"crowdwsa {name}"] = (real.texts, real.workers, real.sentences)
    # Nobody knows who wrote which of these: workers are dealt to them.
    found[DEALT] = (mohler.texts, np.zeros(len(mohler.texts), dtype=str), mohler.questions)
    return {
        name: RealCrowd(
            texts,
            np.unique(workers, return_inverse=True)[1],
            questions,
            CorpusVectors(texts, progress).of(request.embedder),
            request.embedder,
        )
        for name, (texts, workers, questions) in found.items()
    }


def _settings(crowds: dict[str, RealCrowd], seeds: Sequence[int]) -> list[Setting]:
    found = []
    for name, crowd in crowds.items():
        most = CROWD if name == DEALT else crowd.n_workers
        found += [Setting(name, size, seeds) for size in SIZES if size < most]
        found.append(Setting(name, most, seeds if name == DEALT else seeds[:1]))
    return found


def _resamples(
    crowds: dict[str, RealCrowd], settings: Sequence[Setting], request: Request
) -> Iterator[Resample]:
    mohler = load_mohler(request.data)
    for setting in settings:
        for seed in setting.seeds:
            if setting.crowd != DEALT:
                rows = crowds[setting.crowd].sample(setting.size, seed)
                yield Resample(setting.crowd, rows)
                continue
            dealt = deal(mohler, TIER, seed)
            some = np.random.default_rng(seed).choice(CROWD, setting.size, replace=False)
            kept = np.isin(dealt.workers, some)
            yield Resample(DEALT, dealt.rows[kept], dealt.workers[kept])
