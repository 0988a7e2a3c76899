"""The packages that `make mutants` changes, and their tests, are where `tests/mutants.py` says."""

from fnmatch import fnmatch

import pytest

from tests.conftest import ROOT
from tests.mutants import ROOMS

MODULES = [str(path.relative_to(ROOT)) for path in ROOT.glob("[ae]*/**/*.py")]


@pytest.mark.parametrize("name", ROOMS)
def test_each_pattern_names_modules_and_each_test_is_there(name):
    room = ROOMS[name]
    assert all(any(fnmatch(one, pattern) for one in MODULES) for pattern in room.files)
    assert all((ROOT / test).exists() for test in room.tests)
    assert room.files
    assert room.tests
