"""What all tests share."""

import os
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure() -> None:
    """Give the tests a key of their own: they leave no local state in the checkout."""
    settings.SECRET_KEY = "a key that only the tests use, and nobody else"


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
