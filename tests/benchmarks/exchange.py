"""Case: 100,000 answers from a file into the database and back, on SQLite and PostgreSQL.

``python -m tests.benchmarks.exchange`` measures on the SQLite file of DATABASE_URL
or on a PostgreSQL database beside that one, made for it and removed, and prints one JSON object.
The peers move the same rows without a check: the csv module with `bulk_create`, the csv module
over a plain query, and Django's `dumpdata`.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from tests.benchmarks import memory
from tests.benchmarks.child import measured_by
from tests.benchmarks.results import (
    Claim,
    FailedError,
    Figure,
    Findings,
    figure,
    timed,
)
from tests.benchmarks.timing import Timing, elapsed

WORKERS, QUESTIONS = 500, 200
RUNS = 3
VARIABLE = "BENCHMARK_DATABASE_URL"

IMPORT_TIME = Claim("at most", 30, "s")
EXPORT_TIME = Claim("at most", 10, "s")
MEMORY = Claim("at most", 0.5, "GB")
KEPT_OUT = Claim("at most", 0.4, "of the import")

IMPORT, EXPORT = "import_answers, CSV", "export of answers, CSV"
PROCESSOR = "processor time of this process"
LOCK = "of that, the transaction (SQLite: blocks other writers)"
BULK = "csv module and bulk_create, nothing checked"
PLAIN = "csv module over a plain query, raw"
DUMP = "Django's dumpdata of the same rows"


@dataclass
class Measured:
    """Seconds of each run by what was run, and bytes at the peak of ours.

    `processor` is this process's own time, which hardly depends on what else the machine does;
    what a database server spends is not in it. `one_writer` says that the transaction keeps all
    others from writing.
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)
    processor: dict[str, list[float]] = field(default_factory=dict)
    import_peak: int = 0
    export_peak: int = 0
    file_bytes: int = 0
    same_file: bool = False
    n: int = 0
    one_writer: bool = False


def moved() -> Findings:
    """Measure on SQLite, and on the PostgreSQL of BENCHMARK_DATABASE_URL if it is set."""
    rows: list[Figure] = []
    remarks = []
    with tempfile.TemporaryDirectory() as folder:
        databases = {"SQLite": f"sqlite:///{Path(folder).resolve() / 'benchmark.sqlite3'}"}
        if os.environ.get(VARIABLE):
            databases["PostgreSQL"] = os.environ[VARIABLE]
        else:
            remarks.append(f"no PostgreSQL: {VARIABLE} names none")
        for name, url in databases.items():
            found = _in_child(url)
            rows += _rows(f"{found.n:,} answers, {name}", found)
            again = "the same file" if found.same_file else "ANOTHER FILE"
            remarks.append(
                f"{name}: {WORKERS} workers x {QUESTIONS} questions; the file has "
                f"{found.file_bytes / 1e6:.1f} MB; exported, imported and exported it is {again}"
            )
            if not found.same_file:
                raise FailedError(f"{name}: export, import, export is another file")
    return Findings(rows, remarks)


def _rows(setting: str, found: Measured) -> list[Figure]:
    times = {name: Timing(seconds) for name, seconds in found.seconds.items()}
    return [
        timed(setting, IMPORT, times[IMPORT], claim=IMPORT_TIME),
        timed(setting, f"{IMPORT}: {PROCESSOR}", Timing(found.processor[IMPORT])),
        timed(
            setting,
            LOCK,
            times[LOCK],
            own=times[IMPORT],
            claim=KEPT_OUT if found.one_writer else None,
        ),
        timed(setting, BULK, times[BULK], own=times[IMPORT]),
        figure(setting, "peak of the import, whole process", _gb(found.import_peak), "GB", MEMORY),
        timed(setting, EXPORT, times[EXPORT], claim=EXPORT_TIME),
        timed(setting, f"{EXPORT}: {PROCESSOR}", Timing(found.processor[EXPORT])),
        timed(setting, PLAIN, times[PLAIN], own=times[EXPORT]),
        timed(setting, DUMP, times[DUMP], own=times[EXPORT]),
        *(timed(setting, f"export of answers, {kind}", times[kind]) for kind in ("jsonl", "xlsx")),
        figure(setting, "peak of the export, whole process", _gb(found.export_peak), "GB", MEMORY),
    ]


def _gb(size: int) -> float:
    return size / memory.GIGABYTE


def _in_child(url: str) -> Measured:
    # On the command line it could be read by everybody on the machine, and it may hold a password.
    environment = os.environ | {"DATABASE_URL": url}
    how = {"process": "the measuring process", "environment": environment}
    return Measured(**measured_by("exchange", **how))


@contextmanager
def scratch_database() -> Iterator[None]:
    """A database of its own for the block: on PostgreSQL test_NAME, made and removed."""
    from django.core.management import call_command
    from django.db import connection

    if connection.vendor == "sqlite":  # the file is ours already
        call_command("migrate", verbosity=0)
        yield
        return
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def answer_to(worker: int, question: int) -> str:
    """A text of about 120 characters, here and there one that is defused, or with a line break."""
    begin = ("=", "I think ", "'", "well,\n", "", "é ")[(worker + question) % 6]
    words = f"river {question} runs north past the town and meets the sea, says {worker}; "
    return begin + (words * 2)[: 80 + (worker * 7 + question * 3) % 80]


def measure(runs: int = RUNS, workers: int = WORKERS, questions: int = QUESTIONS) -> Measured:
    """Import, export, import the export, and let the peers do the same; Django is set up."""
    from annotations.exchange.importing.rows import has_one_writer

    found = Measured(n=workers * questions, one_writer=has_one_writer())
    with tempfile.TemporaryDirectory() as name, scratch_database():
        folder = Path(name)
        _write_file(folder / "answers.csv", workers, questions)
        _measure_ours(found, folder, runs)
        _measure_peers(found, folder, runs)
    return found


def _write_file(path: Path, workers: int, questions: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["worker", "question", "answer"])
        writer.writerows(
            [f"w{worker:04}", f"q{question:04}", answer_to(worker, question)]
            for worker in range(workers)
            for question in range(questions)
        )


def _measure_ours(found: Measured, folder: Path, runs: int) -> None:
    from annotations.exchange.importing import answers as importing
    from evaluation.runs import exports

    held: list[float] = []
    transaction = importing.open_unless_dry_run  # type: ignore[attr-defined]

    @contextmanager
    def measured(dry_run: bool) -> Iterator[None]:
        begin = perf_counter()
        with transaction(dry_run):
            yield
        if not dry_run:
            held.append(perf_counter() - begin)

    importing.open_unless_dry_run = measured  # type: ignore[attr-defined]
    exported = folder / "exported.csv"

    def bring(path: Path, name: str) -> Any:
        question_set = _new_set(name)
        importing.import_answers(question_set, path, create_questions=True)
        return question_set.latest_version()

    memory.forget_peak()
    for run in range(runs):
        _note(found, IMPORT, lambda run=run: bring(folder / "answers.csv", f"run {run}"))  # type: ignore[misc]
    importing.open_unless_dry_run = transaction  # type: ignore[attr-defined]
    found.import_peak = memory.peak()
    found.seconds[LOCK] = held[:]
    version = _version_of("run 0")
    memory.forget_peak()
    for _ in range(runs):
        _note(
            found, EXPORT, lambda: exports.build_answers_export(version).write_file(exported, "csv")
        )
        for kind in ("jsonl", "xlsx"):
            target = folder / f"exported.{kind}"
            _note(
                found, kind, partial(exports.build_answers_export(version).write_file, target, kind)
            )
    found.export_peak = memory.peak()
    found.file_bytes = exported.stat().st_size
    copy = bring(exported, "copy")
    exports.build_answers_export(copy).write_file(folder / "again.csv", "csv")
    found.same_file = (folder / "again.csv").read_bytes() == exported.read_bytes()


def _measure_peers(found: Measured, folder: Path, runs: int) -> None:
    from django.core import serializers

    from annotations.models import Response, Submission, Worker

    version = _version_of("run 0")
    rows = Response.objects.filter(submission__version=version).order_by("pk")

    def bulk(run: int) -> None:
        question_set = _new_set(f"bulk {run}")
        draft = question_set.draft()
        keys = dict(version.questions.values_list("external_id", "position"))
        questions = {
            name: draft.questions.create(external_id=name, position=position)
            for name, position in keys.items()
        }
        people = {worker.external_id: worker for worker in Worker.objects.all()}
        places = {
            name: Submission.objects.create(version=draft, worker=worker, source="imported")
            for name, worker in people.items()
        }
        with (folder / "answers.csv").open(encoding="utf-8", newline="") as file:
            Response.objects.bulk_create(
                (
                    Response(
                        submission=places[row["worker"]],
                        question=questions[row["question"]],
                        text=row["answer"],
                        status="text",
                        state="submitted",
                    )
                    for row in csv.DictReader(file)
                ),
                batch_size=2000,
            )

    def plain() -> None:
        names = ("submission__worker__external_id", "question__external_id", "text", "status")
        with (folder / "plain.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows.values_list(*names).iterator(2000))

    def dump() -> None:
        with (folder / "dump.json").open("w", encoding="utf-8") as file:
            serializers.serialize("json", rows.iterator(2000), stream=file)

    for run in range(runs):
        _note(found, BULK, lambda run=run: bulk(run))  # type: ignore[misc]
        _note(found, PLAIN, plain)
    _note(found, DUMP, dump)


def _new_set(name: str) -> Any:
    from django.contrib.auth.models import User

    from annotations.models import QuestionSet

    owner, _ = User.objects.get_or_create(username="benchmark")
    return QuestionSet.objects.create(owner=owner, name=name)


def _version_of(name: str) -> Any:
    from annotations.models import QuestionSetVersion

    return QuestionSetVersion.objects.get(question_set__name=name)


def _note(found: Measured, name: str, run: Callable[[], object]) -> None:
    begin = process_time()
    found.seconds.setdefault(name, []).append(elapsed(run))
    found.processor.setdefault(name, []).append(process_time() - begin)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdgrade.settings")
    import django

    with redirect_stdout(sys.stderr):
        django.setup()
        measured = measure()
    print(json.dumps(asdict(measured)))
