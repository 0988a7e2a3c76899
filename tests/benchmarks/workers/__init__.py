"""Case: fifty people who answer at once, and how much a small server takes.

`site` starts the site on a database of its own, `bare` the peer, `people` answers as people do,
without a browser, by the forms of the pages (`pages`).
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.benchmarks.results import Claim, Figure, Findings, figure, middle_of
from tests.benchmarks.workers import people
from tests.benchmarks.workers.site import BareSite, Server, Site

PEOPLE = 50
SECONDS = 60.0
CLIENTS = 8
SLICE, SLICES = 6.0, 5
KILLS = 3
QUICK = Claim("at most", 0.15, "s")
NONE = Claim("at most", 0)
A_THIRD = Claim("at least", 1 / 3, "of its rate")


def who_answer(
    root: Path,
    n_people: int = PEOPLE,
    seconds: float = SECONDS,
    slices: int = SLICES,
    kills: int = KILLS,
) -> Findings:
    """Measure on SQLite, and on PostgreSQL where one is reachable."""
    rows: list[Figure] = []
    has_postgres = _reachable()
    notes = [
        f"{n_people} people for {seconds:.0f} s, each a draft every 3 s and a page of two answers "
        "every 20 s, by the clock and not by the answers of the server: what it is late counts. "
        "Every text that was acknowledged is looked for in the database afterwards.",
        f"{CLIENTS} clients hand in pages as fast as they are taken, {slices} times in turn with a "
        "bare Django endpoint that has a session, checks CSRF and commits one row; with each POST "
        "goes the page after it. A page of ours has two answers, one of the peer's has one: the "
        "claim is about answers, the ratio by pages stands beside it, both of neighbouring turns; "
        "agreeing and looking through all answers count as time of ours. The clients run beside "
        "the server, on the same cores.",
    ]
    databases = [("SQLite", _sqlite), ("PostgreSQL", _postgres)]
    for name, database in databases if has_postgres else databases[:1]:
        with database() as address, _site(root, address) as site:
            loaded = people.by_the_clock(site.link, n_people, seconds)
            rows += _of_load(name, loaded, site)
            notes += [f"{name}: {error}" for error in loaded.errors[:5]]
            killed = people.by_the_clock(
                site.link, n_people, seconds, first=n_people, kills=_times(seconds, kills, site)
            )
            lost = _lost(killed, site)
            rows.append(
                figure(name, f"acknowledged texts missing after {kills} kill -9", lost, "", NONE)
            )
            rows.append(figure(name, "texts acknowledged in that time", len(killed.texts), ""))
            with database() as other, _bare(root, other) as bare:
                rows += _in_turns(name, site, bare, slices)
    if not has_postgres:
        notes.append("PostgreSQL was not reachable.")
    return Findings(rows, notes)


def _of_load(name: str, loaded: people.Load, site: Site) -> Iterator[Figure]:
    yield figure(name, "requests", len(loaded.seconds), "")
    yield figure(name, "errors", len(loaded.errors), "", NONE)
    yield figure(name, "acknowledged texts missing or doubled", _lost(loaded, site), "", NONE)
    yield figure(name, "median of a request", loaded.quantile(0.5), "s")
    yield figure(name, "95% of the requests within", loaded.quantile(0.95), "s", QUICK)


def _lost(loaded: people.Load, site: Site) -> int:
    """How many acknowledged texts are not the stored ones, or are stored twice."""
    stored = site.stored()
    lost = 0
    for (worker, question), text in loaded.texts.items():
        found = stored.get(worker, {}).get(question, [])
        # What was sent last may be stored without its acknowledgement having arrived.
        sent = loaded.sent.get((worker, question), text)
        lost += len(found) != 1 or found[0] not in (text, sent)
    return lost


def _in_turns(name: str, site: Site, bare: BareSite, slices: int) -> Iterator[Figure]:
    own: list[_Slice] = []
    other: list[_Slice] = []
    for number in range(slices):
        own.append(
            _slice(site, partial(people.as_fast_as_taken, site.link, prefix=f"fast{number}"))
        )
        other.append(_slice(bare, partial(people.at_the_bare_endpoint, bare.address)))
    pages = [one.rate.pages for one in own]
    bares = [one.rate.pages for one in other]
    answers = [one.rate.answers for one in own]
    yield middle_of(name, "pages handed in", pages, "a second")
    yield middle_of(name, "answers handed in", answers, "a second")
    yield middle_of(name, "answers at the bare endpoint", bares, "a second")
    # Of neighbours in time, so that what else the machine does meets both.
    by_pages = [a / b for a, b in zip(pages, bares, strict=True)]
    by_answers = [a / b for a, b in zip(answers, bares, strict=True)]
    yield middle_of(name, "pages by the bare endpoint's", by_pages, "")
    yield middle_of(name, "answers by the bare endpoint's", by_answers, "", A_THIRD)
    if all(one.processor for one in (*own, *other)):
        of_ours = [one.processor for one in own]
        of_bare = [one.processor for one in other]
        yield middle_of(name, "processor time of the server for a page", of_ours, "s")
        yield middle_of(name, "processor time of the bare endpoint for one", of_bare, "s")


@dataclass(frozen=True, slots=True)
class _Slice:
    """What was handed in while one server was asked, and its processor time for a page."""

    rate: people.Rate
    processor: float


def _slice(server: Server, ask: Callable[..., people.Rate]) -> _Slice:
    before = server.processor_seconds()
    rate = ask(clients=CLIENTS, seconds=SLICE)
    return _Slice(rate, (server.processor_seconds() - before) / (rate.pages * SLICE))


def _times(seconds: float, kills: int, site: Site) -> list[tuple[float, Any]]:
    return [(seconds * (n + 1) / (kills + 1), site.kill_and_start) for n in range(kills)]


@contextmanager
def _sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="crowdgrade-answers-") as folder:
        yield f"sqlite:///{folder}/answers.sqlite3"


def _server() -> str:
    return os.environ.get("DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")


def _reachable() -> bool:
    import psycopg

    if not _server().startswith("postgres"):
        return False
    try:
        psycopg.connect(_server(), connect_timeout=3).close()
    except psycopg.Error:
        return False
    return True


@contextmanager
def _postgres() -> Iterator[str]:
    import psycopg
    from psycopg import sql

    name = f"crowdgrade_answers_{uuid4().hex[:12]}"
    with psycopg.connect(_server(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield f"{_server().rpartition('/')[0]}/{name}"
        finally:
            connection.execute(
                sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            )


@contextmanager
def _site(root: Path, database: str) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="crowdgrade-home-") as home:
        site = Site(root, Path(home), database, free_port())
        try:
            site.fill()
            site.start()
            yield site
        finally:
            site.end()


@contextmanager
def _bare(root: Path, database: str) -> Iterator[BareSite]:
    bare = BareSite(root, database, free_port())
    try:
        bare.start()
        yield bare
    finally:
        bare.end()


def free_port() -> int:
    """Return a port of loopback that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
