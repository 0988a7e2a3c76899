"""All cases by name, and the run of some of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from tests.benchmarks import (
    alarms,
    asking,
    contrast,
    coverage,
    embedding,
    exchange,
    facts,
    grading,
    installation,
    large,
    large_alarms,
    machine,
    pages,
    python,
    robustness,
    scale,
    studies,
    workers,
)
from tests.benchmarks.report import Report
from tests.benchmarks.results import CaseResult, FailedError, Findings, SkippedError


@dataclass(frozen=True)
class CaseOptions:
    """What cases may want to know.

    Attributes
    ----------
    data : folder of public data sets. root : the checkout.
    install : whether to make a new environment, which takes minutes.
    """

    data: Path
    root: Path
    install: bool = False


Case = Callable[[CaseOptions], Findings]

# The embedding comes last: its libraries start threads that are in nobody's way then.
CASES: dict[str, Case] = {
    "peers": lambda _: grading.against_peers(),
    "intervals": lambda _: grading.cost_of_intervals(),
    "coverage": lambda _: coverage.of_intervals(),
    "million": lambda options: large.million() + large_alarms.of_a_million(options.data),
    "ten-million": lambda _: large.ten_million(),
    "exchange": lambda _: exchange.moved(),
    "install": lambda options: installation.installed(options.root, fresh=options.install),
    "pages": lambda options: pages.every_page(options.root),
    "workers": lambda options: workers.who_answer(options.root),
    "asking": lambda _: asking.against_bare_loop(),
    "alarms": lambda options: alarms.cost_of_alarms(options.data),
    "contrast": lambda _: contrast.cost_of_contrast(),
    "robustness": lambda _: robustness.whole_volume(),
    "studies": lambda _: studies.of_answers(),
    "python": lambda options: python.beside_command(options.root),
    "scale": lambda _: scale.spread_over_processes(),
    "facts": lambda options: facts.share_of_a_run(options.data),
    "embedding": lambda options: embedding.against_bare_encode(options.data),
}


def run_cases(
    options: CaseOptions,
    names: Sequence[str],
    cases: Mapping[str, Case],
    progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Run cases in the order in which they are listed in `cases`.

    A case that is skipped or fails leaves its reason behind; the others are still run. `progress`
    is called with a name, cases done and cases in all.
    """
    date = datetime.now(UTC).isoformat(timespec="seconds")
    chosen = [name for name in cases if name in names]
    results = []
    for done, name in enumerate(chosen):
        if progress is not None:
            progress(name, done, len(chosen))
        results.append(_run(name, cases[name], options))
    return Report(date, machine.environment(), results)


def _run(name: str, case: Case, options: CaseOptions) -> CaseResult:
    before, begin = machine.load_average(), perf_counter()
    findings, skipped, failed = Findings(()), None, None
    try:
        findings = case(options)
    except SkippedError as reason:
        skipped = str(reason)
    except FailedError as reason:
        failed = str(reason)
    return CaseResult(
        name=name,
        seconds=perf_counter() - begin,
        load_before=before,
        load_after=machine.load_average(),
        rows=tuple(findings.rows),
        remarks=tuple(findings.remarks),
        skipped=skipped,
        failed=failed,
    )
