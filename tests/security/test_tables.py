"""The tables of findings and licences in SECURITY.md are true, and everything in them is judged."""

import re
from collections import Counter

import pytest

from tests.security import findings, licences
from tests.security.document import DOCUMENT, FINDINGS, LICENCES, ROOT, VERDICTS, put

TEXT = DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.long
def test_everything_that_bandit_finds_is_judged_and_stands_in_the_document():
    pytest.importorskip("bandit", reason="bandit is not installed")
    missing = findings.unjudged(findings.found_in(ROOT), VERDICTS["findings"])
    assert not missing, "judge it in tests/security/verdicts.toml, then make security"
    assert put(TEXT, FINDINGS, findings.table(VERDICTS["findings"])) == TEXT, "make security"


@pytest.mark.slow
def test_every_licence_of_a_running_site_is_judged_and_stands_in_the_document():
    pytest.importorskip("piplicenses", reason="pip-licenses is not installed")
    found = licences.licences_of(licences.needed("crowdgrade"))
    assert {"django", "psycopg", "psycopg-binary", "redis", "torch"} <= found.keys()
    assert not {"pytest", "bandit", "mypy"} & found.keys(), "what tests need is no part of a site"
    assert not licences.unjudged(found, VERDICTS["licences"]), "judge it, then make security"
    rows = [row for row in licences.table(found, VERDICTS["licences"]).splitlines() if row]
    assert put(TEXT, LICENCES, "\n".join(rows) + "\n") == TEXT, "make security"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({("B1", "a.py"): 9, ("B2", "a.py"): 1}, []),
        ({("B1", "a.py"): 9, ("B2", "a.py"): 2}, ["B2 in a.py: 2 found, 1 judged"]),
        ({("B1", "a.py"): 9}, ["B2 in a.py: 0 found, 1 judged"]),
        (
            {("B2", "a.py"): 1, ("B3", "b.py"): 1},
            ["B3 in b.py: 1 found, 0 judged", "B1: judged, and found nowhere"],
        ),
    ],
)
def test_what_is_not_judged_or_is_gone_is_told(found, told):
    verdicts = [{"rule": "B1"}, {"rule": "B2", "where": {"a.py": 1}}]
    assert findings.unjudged(Counter(found), verdicts) == told


def test_a_licence_of_several_is_judged_part_by_part():
    verdicts = [{"name": "MIT"}, {"name": "MPL-2.0", "called": ["Mozilla (MPL 2.0)"]}]
    of = {"one": "MIT AND MPL-2.0", "two": "Mozilla (MPL 2.0); MIT", "three": "(MIT OR GPL-3.0)"}
    assert licences.unjudged(of, verdicts) == ["three: (MIT OR GPL-3.0)"]


def test_every_point_of_the_hostile_test_names_tests_that_there_are():
    points = TEXT.split("## First attack test", 1)[1].split("\n## ", 1)[0]
    rows = [row.split("|")[1:-1] for row in points.splitlines() if row.startswith("|")][2:]
    assert [int(row[0]) for row in rows if row[0].strip()] == list(range(1, 15))
    for number, _, _, shown in rows:
        files = re.findall(r"`(tests/[^`]+)`", shown)
        assert files, number
        assert not [file for file in files if not (ROOT / file).is_file()]
        attacks = re.findall(r"attack ([a-z-]+)", shown)
        assert all(f"**{name}**" in TEXT for name in attacks), attacks
