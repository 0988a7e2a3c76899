"""Run in a process of its own: an import, and at chosen points of it somebody else.

``python -m tests.annotations.exchange.importing.beside WHAT``, on the database of DATABASE_URL,
whose tables are there; prints one JSON object.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import django

WORKERS, QUESTIONS = 60, 50
WHOLE = WORKERS * QUESTIONS


def main(what: str) -> dict[str, Any]:
    from django.contrib.auth.models import User

    from annotations.models import QuestionSet

    owner, _ = User.objects.get_or_create(username="rana")
    rivers, _ = QuestionSet.objects.get_or_create(owner=owner, name="rivers")
    if what == "others_first":
        lakes = QuestionSet.objects.create(owner=owner, name="lakes")
        tides = QuestionSet.objects.create(owner=owner, name="tides")
        return {
            "overtaken": overtaken(rivers),
            "contradicted": contradicted(lakes),
            "another_version": another_version(tides),
        }
    return {"writes": writes, "killed": killed, "again": bring}[what](rivers)


def file_of(text: str = "says") -> Any:
    from annotations.exchange.reading.source import make_bytes_source

    rows = "".join(f"w{w},q{q},w{w} {text} {q}\n" for w in range(WORKERS) for q in range(QUESTIONS))
    return make_bytes_source("a.csv", f"worker,question,answer\n{rows}".encode())


def bring(rivers: Any, text: str = "says") -> dict[str, Any]:
    from annotations.exchange.importing import import_answers

    report = import_answers(rivers, file_of(text), create_questions=True)
    return {"n_new": report.n_new, "n_unchanged": report.n_unchanged, "version": report.version}


def at(name: str, do: Callable[[], object], after: bool = False, every: int = 1) -> None:
    """Let somebody else do something at every so-manieth call of a function of the import."""
    from annotations.exchange.importing import answers, comparison, rows

    place = {"insert": rows.PreparedRows, "_find_difference": comparison}.get(name, answers)
    known, calls = getattr(place, name), iter(range(sys.maxsize))

    def called(*arguments: Any, **options: Any) -> Any:
        meant = next(calls) % every == 0
        if meant and not after:
            do()
        result = known(*arguments, **options)
        if meant and after:
            do()
        return result

    setattr(place, name, called)


def stored() -> int:
    """How many answers somebody else sees at this moment."""
    return int(_other("SELECT COUNT(*) FROM annotations_response")[0])


def writes(rivers: Any) -> dict[str, Any]:
    """Somebody else writes while rows are compared and made ready, and sees none of them."""
    seen, kept_out = [], []

    def write() -> None:
        _other("UPDATE auth_user SET first_name = 'Otto'")
        # What a row that points to the set waits for.
        _other(f"SELECT 1 FROM annotations_questionset WHERE id = {rivers.pk}", share=True)
        seen.append(stored())

    at("_build_row", write, every=100)
    at("_find_difference", write, every=100)
    at("insert", lambda: kept_out.append(_is_kept_out()), after=True)
    at("insert", lambda: seen.append(stored()), after=True)
    first = bring(rivers)
    whole, n_first = stored(), len(seen)
    second = bring(rivers)
    counts = {"first": sorted(set(seen[:n_first])), "second": sorted(set(seen[n_first:]))}
    return {
        "reports": [first, second],
        "seen": counts,
        "writes": len(seen),
        "whole": whole,
        "kept_out": kept_out,
    }


def killed(rivers: Any) -> dict[str, Any]:
    """End as a power failure does: halfway through the rows, or before all of them are there."""
    name, after, number = json.loads(os.environ["KILLED_AT"])
    calls = iter(range(1, sys.maxsize))

    def die() -> None:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    at(name, die, after)
    return bring(rivers)


def _meanwhile(do: Callable[[], object]) -> None:
    """Do it once, from another connection, when rows are being made ready."""
    left = [do]

    def once() -> None:
        if left:
            thread = threading.Thread(target=left.pop())
            thread.start()
            thread.join()

    at("_build_row", once)


def overtaken(rivers: Any) -> dict[str, Any]:
    """Another import of the same file comes in first."""
    other: list[Any] = []
    _meanwhile(lambda: other.append(bring(rivers)))
    return {"reports": [bring(rivers), *other], "whole": _of(rivers)}


def contradicted(rivers: Any) -> dict[str, Any]:
    """Another import stores other texts first."""
    from annotations.exchange import InputError

    _meanwhile(lambda: bring(rivers, "said"))
    try:
        bring(rivers)
    except InputError as error:
        return {"total": error.total, "first": str(error).splitlines()[0], "whole": _of(rivers)}
    return {"whole": _of(rivers)}


def another_version(rivers: Any) -> dict[str, Any]:
    """Somebody opens the next version while a file is compared with the one before."""
    first = bring(rivers)
    from annotations.exchange.importing import answers

    known = answers.prepare_stage

    def prepare_stage(*arguments: Any) -> None:
        known(*arguments)
        thread = threading.Thread(target=rivers.draft)
        thread.start()
        thread.join()

    answers.prepare_stage = prepare_stage
    return {"reports": [first, bring(rivers)], "whole": _of(rivers)}


def _of(question_set: Any) -> int:
    from annotations.models import Response

    return Response.objects.filter(question__version__question_set=question_set).count()


def _other(statement: str, share: bool = False) -> Any:
    """Run a statement over another connection that waits for nobody; returns its first row."""
    from django.db import connection

    if connection.vendor == "sqlite":
        import sqlite3

        name = connection.settings_dict["NAME"]
        with closing(sqlite3.connect(name, timeout=0, isolation_level=None)) as other:
            return other.execute(statement).fetchone()
    import psycopg

    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as other:
        other.execute("SET lock_timeout = '1ms'")
        done = other.execute(statement + (" FOR KEY SHARE" if share else ""))
        return done.fetchone() if done.description else None


def _is_kept_out() -> bool:
    import sqlite3

    try:
        _other("UPDATE auth_user SET first_name = 'Otto'")
    except sqlite3.OperationalError:
        return True
    return False


if __name__ == "__main__":
    django.setup()
    print(json.dumps(main(sys.argv[1])))
