"""Case: the Python interface beside the command, and how long importing it takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.crowds import crowd
from tests.benchmarks.results import (
    Claim,
    FailedError,
    Figure,
    Findings,
    figure,
    not_applicable,
    timed,
)
from tests.benchmarks.timing import Contestant, Timing, take_turns

RUNS = 5
DRAWS = 400
AS_FAST = Claim("at most", 1.1, "times")
SOON = Claim("at most", 0.3, "s")
COMMAND, FUNCTION, IMPORT = "evaluate aqer", "crowdgrade.grade", "import crowdgrade"
FIT = "crowdgrade.estimators.AQER"
EMBEDDERS = ("minilm", "tfidf-word")

GRADE = """
import sys
import pandas as pd
import crowdgrade
answers, output, embedder, draws = sys.argv[1:]
crowdgrade.grade(pd.read_csv(answers), embedder=embedder, bootstrap=int(draws)).to_csv(output)
"""
LOADED = "import sys, crowdgrade; print(len({'torch', 'numpy', 'django'} & set(sys.modules)))"
EMPTY = "pass"


def beside_command(root: Path) -> Findings:
    """Time grading the demo's answers by both, each in a process of its own, and the import."""
    answers = root / "annotations" / "demo" / "answers.csv"
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for one in EMBEDDERS for row in _compare(root, answers, Path(folder), one)]
    return Findings(
        [*rows, *_time_import(root), *beside_crowd_kit()],
        [
            "both are whole processes: start, reading the file, grading, writing the tables; the "
            "files of both are equal, which is checked",
            "the import is the time of a process that imports the package less that of one that "
            "imports nothing",
            "RASA, HRRASA and AQER get the same DataFrame; HRRASA also compares words, by GLEU. "
            "They are other methods with the same output, so no numbers are compared",
        ],
    )


def _compare(root: Path, answers: Path, folder: Path, embedder: str) -> list[Figure]:
    """Return the rows of the command and of the function with one embedder."""
    by_command, by_function = folder / f"command-{embedder}", folder / f"function-{embedder}"
    options = ["--embedder", embedder, "--bootstrap", str(DRAWS), "--output", str(by_command)]
    command = ["manage.py", "evaluate", "aqer", str(answers), *options]
    function = ["-c", GRADE, str(answers), str(by_function), embedder, str(DRAWS)]
    timings = take_turns(
        [
            Contestant(COMMAND, lambda: run_python(root, command), runs=RUNS),
            Contestant(FUNCTION, lambda: run_python(root, function), runs=RUNS),
        ]
    )
    for path in by_command.iterdir():
        if path.read_bytes() != (by_function / path.name).read_bytes():
            raise FailedError(f"{path.name} differs between the command and the function")
    setting = f"the demo's answers, {embedder}"
    return [
        timed(setting, COMMAND, timings[COMMAND]),
        timed(setting, FUNCTION, timings[FUNCTION], own=timings[COMMAND], claim=AS_FAST),
    ]


def _time_import(root: Path) -> list[Figure]:
    """Return the rows of the import: its time, and how many heavy libraries it loads."""
    timings = take_turns(
        [
            Contestant("empty", lambda: run_python(root, ["-c", EMPTY]), runs=RUNS),
            Contestant(IMPORT, lambda: run_python(root, ["-c", "import crowdgrade"]), runs=RUNS),
        ]
    )
    pairs = zip(timings[IMPORT].seconds, timings["empty"].seconds, strict=True)
    difference = Timing([max(0.0, seconds - empty) for seconds, empty in pairs])
    loaded = float(run_python(root, ["-c", LOADED]))
    return [
        timed("a fresh process", IMPORT, difference, claim=SOON),
        figure(
            "a fresh process", "of torch, numpy and Django loaded", loaded, "", Claim("at most", 0)
        ),
    ]


def beside_crowd_kit(n_workers: int = 20, n_questions: int = 87, runs: int = 3) -> list[Figure]:
    """Return the times of `fit_predict` of AQER and of crowd-kit's RASA and HRRASA; no claim."""
    import pandas as pd

    from crowdgrade.estimators import AQER

    made = crowd(n_workers, n_questions, 384)
    texts = [f"answer {row} of a worker" for row in range(len(made))]
    columns = {"task": made.questions, "worker": made.workers, "output": texts}
    data = pd.DataFrame({**columns, "embedding": list(made.vectors.astype(float))})
    setting = f"{n_workers} workers x {n_questions} questions x 384, a DataFrame"
    try:
        from crowdkit.aggregation import HRRASA, RASA
    except ImportError as error:
        return [not_applicable(setting, FIT, Claim("at least", 0), str(error))]
    contestants = [
        Contestant(FIT, lambda: AQER().fit_predict(data), runs=runs),
        Contestant("crowd-kit's RASA", lambda: RASA().fit_predict(data.copy()), runs=runs),
        Contestant(
            "crowd-kit's HRRASA", lambda: HRRASA().fit_predict(data.copy()), runs=1, warm_up=False
        ),
    ]
    timings = take_turns(contestants)
    own = timings[FIT]
    return [
        timed(setting, name, timing, own=None if timing is own else own)
        for name, timing in timings.items()
    ]


def run_python(root: Path, arguments: list[str]) -> str:
    """Run Python in the checkout and return what it prints. Raises `FailedError`."""
    path = os.pathsep.join([str(root), str(root / "platform")])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FailedError(f"python {arguments[0]} ended with {done.returncode}: {last}")
    return done.stdout
