"""Cases: a million answers at once and ten million block by block, each in a process of its own.

``python -m tests.benchmarks.large million`` measures and prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from time import perf_counter, process_time

import numpy as np

from evaluation.consensus import AQER
from evaluation.core.stats.cells import encode_labels
from tests.benchmarks import memory
from tests.benchmarks.child import measured_by
from tests.benchmarks.crowds import BenchmarkCrowd, blocks, crowd
from tests.benchmarks.peers import Stopping, gram_loop
from tests.benchmarks.results import Claim, Findings, figure, timed
from tests.benchmarks.timing import RUNS, Timing

DIMENSION = 384
EACH = 10
WORKERS = 20_000
MILLION = 1_000_000
BLOCK = 200_000
BLOCKS = 50
BLOCK_RUNS = 3

PROCESSOR = "processor time of the same, all cores"

GRAM = "plain numpy, Gram form"

GRAM_TIMES = Claim("at least", 0.5, "times")
SAME = Claim("at most", 1e-6)
MILLION_TIME = Claim("at most", 3, "s")
MILLION_MEMORY = Claim("at most", 1, "GB")
TEN_MILLION_TIME = Claim("at most", 60, "s")
TEN_MILLION_MEMORY = Claim("at most", 4, "GB")


@dataclass(frozen=True)
class Measured:
    """What a child process found out.

    Attributes
    ----------
    seconds : of each run. processor : seconds of processor time, all cores added, of each run;
        unlike the others they hardly depend on what else the machine does.
    making : seconds of making the data, in each run or once.
    peak, before, data : bytes at the peak, held before the runs, and of the data in them.
    forgotten : whether the peak is that of the runs, or, at worst, of making the data.
    peer : seconds of each run of a peer. difference : greatest one of a raw score to the peer's.
    """

    seconds: list[float]
    processor: list[float]
    making: list[float]
    peak: int
    before: int
    data: int
    forgotten: bool
    n_iterations: int
    converged: bool
    peer: list[float] = field(default_factory=list)
    difference: float = 0.0


def million() -> Findings:
    """Time one `fit` of 1,000,000 answers, vectors to grades, and its memory beside them."""
    found = _measured("million")
    setting = f"1,000,000 answers x {DIMENSION}, {EACH} a question, {WORKERS:,} workers"
    above = (found.peak - found.before) / memory.GIGABYTE
    own = Timing(found.seconds)
    return Findings(
        [
            timed(setting, "AQER.fit, no draws", own, claim=MILLION_TIME),
            timed(setting, PROCESSOR, Timing(found.processor)),
            figure(setting, "peak above the data", above, "GB", MILLION_MEMORY),
            timed(setting, GRAM, Timing(found.peer), own=own, claim=GRAM_TIMES),
            figure(setting, f"greatest difference: {GRAM}", found.difference, "", SAME),
        ],
        [
            f"{_rest(found)}; the data are {found.data / memory.GIGABYTE:.2f} GB in float32, the "
            f"process held {found.before / memory.GIGABYTE:.2f} GB before the fits",
        ],
    )


def ten_million() -> Findings:
    """Time `fit_blocks` on 10,000,000 answers, making them not counted, and its whole memory."""
    found = _measured("ten-million")
    setting = f"{BLOCKS} blocks of {BLOCK:,} answers x {DIMENSION}, {EACH} a question"
    making = float(np.median(found.making))
    return Findings(
        [
            timed(setting, "AQER.fit_blocks", Timing(found.seconds), claim=TEN_MILLION_TIME),
            timed(setting, PROCESSOR, Timing(found.processor)),
            figure(setting, "peak in all", found.peak / memory.GIGABYTE, "GB", TEN_MILLION_MEMORY),
        ],
        [
            f"{_rest(found)}; making the blocks took {making:.0f} s a run, which is subtracted; "
            f"{BLOCK_RUNS} runs, because of that; all vectors together would be "
            f"{found.data / memory.GIGABYTE:.1f} GB"
        ],
    )


def _rest(found: Measured) -> str:
    rests = "rests" if found.converged else "does not rest"
    upper = "" if found.forgotten else "; the peak may be that of making the data"
    return f"AQER {rests} after {found.n_iterations} rounds{upper}"


def _measured(name: str) -> Measured:
    return Measured(**measured_by("large", name, process="the measuring process"))


def measure_million(runs: int = RUNS, answers: int = MILLION) -> Measured:
    """Fit the same data again and again; the estimator of a run is gone before the next."""
    begin = perf_counter()
    made = crowd(min(WORKERS, answers), answers // EACH, DIMENSION, answers=EACH)
    making = perf_counter() - begin
    codes = encode_labels(made.workers)[0]  # in the order in which a fit tells of them
    _warm_up()
    before, forgotten = memory.resident(), memory.forget_peak()
    seconds, processor, peer, peak = [], [], [], 0
    difference = 0.0
    for _ in range(runs + 1):
        memory.forget_peak()
        begin, used = perf_counter(), process_time()
        aqer = AQER(n_draws=0).fit(made.vectors, made.workers, made.questions)
        seconds.append(perf_counter() - begin)
        processor.append(process_time() - used)
        rounds, converged = aqer.n_iter_, bool(aqer.converged_)
        raw = aqer.raw_
        peak = max(peak, memory.peak())
        del aqer
        begin = perf_counter()
        plain = gram_loop(made.vectors, codes, EACH, Stopping())
        peer.append(perf_counter() - begin)
        difference = max(difference, float(np.abs(plain.raw - raw).max()))
        del plain
    return Measured(
        seconds=seconds[1:],  # the first warms up
        processor=processor[1:],
        making=[making],
        peak=peak,
        before=before,
        data=made.vectors.nbytes,
        forgotten=forgotten,
        n_iterations=rounds,
        converged=converged,
        peer=peer[1:],
        difference=difference,
    )


def measure_ten_million(
    runs: int = BLOCK_RUNS, n_blocks: int = BLOCKS, answers: int = BLOCK
) -> Measured:
    """Feed blocks that are made on the fly, taking the time for that off."""
    _warm_up()
    before, forgotten = memory.resident(), memory.forget_peak()
    seconds, processor, making = [], [], []
    for _ in range(runs):
        feed = _Feed(
            blocks(n_blocks, min(WORKERS, answers), answers // EACH, DIMENSION, answers=EACH)
        )
        begin, used = perf_counter(), process_time()
        aqer = AQER(n_draws=0).fit_blocks(feed)
        seconds.append(perf_counter() - begin - feed.seconds)
        processor.append(process_time() - used - feed.processor)
        making.append(feed.seconds)
        rounds, converged = aqer.n_iter_, bool(aqer.converged_)
        del aqer
    return Measured(
        seconds=seconds,
        processor=processor,
        making=making,
        peak=memory.peak(),
        before=before,
        data=n_blocks * answers * DIMENSION * np.dtype(np.float32).itemsize,
        forgotten=forgotten,
        n_iterations=rounds,
        converged=converged,
    )


class _Feed:
    """Blocks for `fit_blocks`; `seconds` and `processor` say how long it took to make them."""

    def __init__(self, made: Iterator[BenchmarkCrowd]) -> None:
        self._blocks = made
        self.seconds = self.processor = 0.0

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        while True:
            begin, used = perf_counter(), process_time()
            made = next(self._blocks, None)
            self.seconds += perf_counter() - begin
            self.processor += process_time() - used
            if made is None:
                return
            yield made.vectors, made.workers, made.questions


def _warm_up() -> None:
    made = crowd(100, 100, DIMENSION, answers=EACH)
    AQER(n_draws=0).fit(made.vectors, made.workers, made.questions)


if __name__ == "__main__":
    measured = measure_million() if sys.argv[1] == "million" else measure_ten_million()
    print(json.dumps(asdict(measured)))
