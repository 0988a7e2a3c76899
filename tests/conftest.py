"""What all tests share."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings
from hypothesis import settings as hypothesis_settings

from evaluation.core.messages.catalogue import Catalogue
from evaluation.core.messages.message import Message
from tests.evaluation.runs.background.scratch import Scratch
from tests.services import address_of

ROOT = Path(__file__).resolve().parents[1]

# How long an example takes says how busy the machine is.
hypothesis_settings.register_profile("crowdgrade", deadline=None)
hypothesis_settings.load_profile("crowdgrade")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the number of requests that the contract test sends to each operation of the API."""
    parser.addoption("--examples", type=int, default=5, metavar="N")


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a key and a home of their own: they leave no local state in the checkout.

    Processes beside each other have a home each, and compute on one core each: with all cores for
    each of them they would only wait for each other.
    """
    if config.getoption("numprocesses", None):
        # Inherited by the processes, before they load what reads it.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    settings.SECRET_KEY = "a key that only the tests use, and nobody else"
    settings.HOME = Path(tempfile.mkdtemp(prefix="crowdgrade-tests-"))
    settings.CACHES["default"]["LOCATION"] = str(settings.HOME / "cache")
    settings.METRICS_FOLDER = settings.HOME / "metrics"
    # A password that is slow to guess is slow to make, a third of a second for each user.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # A test's own transaction is seen by nobody else, its heartbeat in another thread included: to
    # that the run would be lost at the first beat, and stay "running". So no turn has one.
    settings.LEASE_SECONDS = 3600
    database = settings.DATABASES["default"]
    if "sqlite" in database["ENGINE"]:
        # Said aloud, for pytest-django knows Django's own engine only, and would make a file of
        # every process, in a folder `test_`.
        database.setdefault("TEST", {})["NAME"] = ":memory:"


def pytest_unconfigure() -> None:
    """Take the home away."""
    shutil.rmtree(settings.HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of public data sets; it never enters the project."""
    folder = Path(os.environ.get("CROWDGRADE_DATA", ROOT / ".." / "shared" / "data")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder}: set CROWDGRADE_DATA to the folder that holds them")
    return folder


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an installation on SQLite whose tables migrations made; only to be copied."""
    site = Scratch(tmp_path_factory.mktemp("migrated") / "home", None, None)
    site.manage("migrate", "--verbosity=0")
    return site.home


@pytest.fixture
def sqlite_home(migrated: Path, tmp_path: Path) -> Path:
    """The home of a new installation on SQLite, with its tables."""
    return Path(shutil.copytree(migrated, tmp_path / "home"))


@contextmanager
def new_database(copied: str = "template1") -> Iterator[str]:
    """The address of a new database on PostgreSQL, a copy of another one; dropped afterwards."""
    service, name = address_of("DATABASE_URL"), f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(service, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{copied}"')
    try:
        yield urlunsplit(urlsplit(service)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(service, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def migrated_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a database on PostgreSQL whose tables migrations made; only to be copied."""
    with new_database() as address:
        site = Scratch(tmp_path_factory.mktemp("postgres"), address, None)
        site.manage("migrate", "--verbosity=0")
        yield address


@pytest.fixture
def postgres_database(migrated_postgres: str) -> Iterator[str]:
    """The address of a new database on PostgreSQL, with its tables; dropped afterwards."""
    with new_database(urlsplit(migrated_postgres).path[1:]) as address:
        yield address


@pytest.fixture
def rendered_messages(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The messages (code and values) that were turned into sentences since the test began."""
    rendered: list[Message] = []
    format_message = Catalogue.format_message

    def record(catalogue: Catalogue, message: Message | Mapping[str, Any] | str) -> str:
        rendered.append(Message.from_stored(message))
        return format_message(catalogue, message)

    monkeypatch.setattr(Catalogue, "format_message", record)
    return rendered


DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "admin_client"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the database, so that it can be run again on another one."""
    for item in items:
        if item.get_closest_marker("alone"):
            item.add_marker("long")
        uses = DATABASE_FIXTURES & set(getattr(item, "fixturenames", ()))
        if uses or item.get_closest_marker("django_db"):
            item.add_marker("database")
