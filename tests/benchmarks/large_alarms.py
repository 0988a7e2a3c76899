"""Case: the alarms on a million answers, in a process of its own, beside what a script would do.

``python -m tests.benchmarks.large_alarms FOLDER`` measures, with the texts of
`FOLDER`, and prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np

from annotations.exchange import InputError
from evaluation.consensus import AQER
from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.cells import Cells
from evaluation.evidence.data_sets import load_mohler
from evaluation.grading.alarms.methods import Pairs
from evaluation.grading.alarms.run.detection import GradedAnswers, detect_alarms
from tests.benchmarks import memory
from tests.benchmarks.child import measured_by
from tests.benchmarks.crowds import BenchmarkCrowd, crowd
from tests.benchmarks.large import DIMENSION, EACH, MILLION, PROCESSOR, WORKERS
from tests.benchmarks.peers import pair_sums
from tests.benchmarks.results import Claim, Findings, figure, not_applicable, timed
from tests.benchmarks.timing import Timing

RUNS = 3
TIME = Claim("at most", 30, "s")
MEMORY = Claim("at most", 4, "GB")
TIMES = Claim("at least", 5, "times")
# The peer keeps to the vectors' float32.
SAME = Claim("at most", 1e-5)

ALARMS = "all alarms, grading by words included"
PAIRS = "mean cosine of every pair of workers, from vectors"
PEER = "the same by scikit-learn's cosine_similarity, one question at a time"

T = TypeVar("T")


@dataclass
class Spent:
    """Seconds, seconds of processor time, and bytes at the peak above what was held before."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    above: list[int] = field(default_factory=list)

    def on(self, run: Callable[[], T]) -> T:
        """Run something once more, and return what it returns."""
        before = memory.resident()
        memory.forget_peak()
        begin, used = perf_counter(), process_time()
        found = run()
        self.seconds.append(perf_counter() - begin)
        self.processor.append(process_time() - used)
        self.above.append(memory.peak() - before)
        return found


@dataclass(frozen=True)
class Measured:
    """What the child process found out: what each of the three spent, and how far the two differ.

    `told` are the kinds of alarms that it told of.
    """

    alarms: Spent
    pairs: Spent
    peer: Spent
    difference: float
    told: list[str]


def of_a_million(data: Path) -> Findings:
    """Time the alarms of 1,000,000 graded answers with texts, and their memory above these."""
    setting = "alarms on the same, with texts"
    try:
        load_mohler(data)
    except InputError as error:
        return Findings([not_applicable(setting, ALARMS, TIME, str(error))])
    found = measured_by("large_alarms", data, process="the measuring process")
    alarms, pairs, peer = (Spent(**found[name]) for name in ("alarms", "pairs", "peer"))
    own = Timing(pairs.seconds)
    told = ", ".join(found["told"]) or "nothing"
    return Findings(
        [
            timed(setting, ALARMS, Timing(alarms.seconds), claim=TIME),
            timed(setting, PROCESSOR, Timing(alarms.processor)),
            figure(setting, "peak above data and fit", _peak(alarms), "GB", MEMORY),
            timed(setting, PAIRS, own),
            figure(setting, f"peak above the data: {PAIRS}", _peak(pairs), "GB"),
            timed(setting, PEER, Timing(peer.seconds), own=own, claim=TIMES),
            figure(setting, "peak above the data: scikit-learn", _peak(peer), "GB"),
            figure(setting, "greatest difference of a mean cosine", found["difference"], "", SAME),
        ],
        [f"alarms: told of this crowd: {told}. No package was found that looks for the same"],
    )


def _peak(spent: Spent) -> float:
    return max(spent.above) / memory.GIGABYTE


def measure(data: Path, runs: int = RUNS, answers: int = MILLION) -> Measured:
    """Look for alarms, and take the cosines of pairs both ways, in turns; the peer once."""
    made = crowd(min(WORKERS, answers), answers // EACH, DIMENSION, answers=EACH)
    corpus = load_mohler(data).texts
    texts = [f"{corpus[row % len(corpus)]} {row}" for row in range(len(made))]
    who, asked = made.workers.tolist(), made.questions.tolist()
    parameters = AqerParameters(bootstrap=0)
    aqer = AQER(n_draws=0).fit(made.vectors, made.workers, made.questions)
    graded = GradedAnswers(texts, who, asked, made.vectors)
    alarms, pairs, peer, difference = Spent(), Spent(), Spent(), 0.0
    told: set[str] = set()
    for turn in range(runs):
        found = alarms.on(lambda: detect_alarms(parameters, aqer, graded))
        told.update(one.kind for one in found.found)
        del found
        own = pairs.on(lambda: _pairs(made))
        if not turn:
            sums, counts = peer.on(lambda: pair_sums(made.vectors, made.workers, made.questions))
            at = (own.left, own.right)
            theirs = np.asarray(sums[at]) / np.asarray(counts[at])
            difference = float(np.abs(theirs.ravel() - own.total / own.shared).max())
            del sums, counts, theirs
        del own
    return Measured(alarms, pairs, peer, difference, sorted(told))


def _pairs(made: BenchmarkCrowd) -> Pairs:
    """Return the cosines with their sums by pair of workers."""
    cells = Cells.from_codes(made.workers, made.questions, made.n_workers, made.n_questions)
    found = Pairs.from_vote(MeanVote.from_vectors(made.vectors, cells, "cosine"))
    found.total, found.shared  # noqa: B018 - computed when they are asked for
    return found


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Path(sys.argv[1])))))
