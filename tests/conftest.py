"""What all tests share."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from django.conf import settings
from hypothesis import settings as hypothesis_settings

ROOT = Path(__file__).resolve().parents[1]

# How long an example takes says how busy the machine is.
hypothesis_settings.register_profile("crowdgrade", deadline=None)
hypothesis_settings.load_profile("crowdgrade")


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


DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "admin_client"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the database, so that it can be run again on another one."""
    for item in items:
        uses = DATABASE_FIXTURES & set(getattr(item, "fixturenames", ()))
        if uses or item.get_closest_marker("django_db"):
            item.add_marker("database")
