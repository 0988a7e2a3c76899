"""How often alarms ring falsely: the file, the table of the documentation and the page agree."""

import csv
import re
from pathlib import Path

import pytest
from django.urls import reverse

from evaluation.grading.alarms.messages import CROWDS, format_false_alarm_rates, get_alarm_title
from evaluation.grading.alarms.report import find_false_alarm_rates
from evaluation.grading.alarms.report.outcomes import FILE
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm, looked
from tests.evaluation.site.handles import element_text, element_texts, numbers

DOCUMENT = Path(__file__).resolve().parents[4] / "platform" / "docs" / "alarms.md"
HEADING = "## False alarms in real crowds"
NAMES = {"Beetle": "beetle", "T1": "crowdwsa T1", "T2": "crowdwsa T2", "dealt": "mohler"}
COLUMNS = {
    "two camps on questions": "two_camps_of_questions",
    "leverage": "leverage",
    "grader_disagreement": "grader_disagreement",
    "any alarm, of all samples": "any",
}


def stored():
    """The rows of the file by crowd, size and alarm."""
    with FILE.open(newline="") as file:
        return {(r["crowd"], int(r["workers"]), r["alarm"]): r for r in csv.DictReader(file)}


def section() -> str:
    return DOCUMENT.read_text(encoding="utf-8").split(HEADING)[1].split("\n## ")[0]


def documented():
    """The cells of the table by crowd, size and alarm, without marks of emphasis."""
    lines = [line for line in section().splitlines() if line.startswith("|")]
    header, _, *rows = [[c.strip(" *") for c in line.strip("|").split("|")] for line in lines]
    for crowd, size, *cells in rows:
        for column, cell in zip(header[2:], cells, strict=True):
            yield (NAMES[crowd], int(size), COLUMNS[column]), cell


def as_documented(row) -> str:
    if row["rang"] == "0":
        return "0"
    share, low, high = (f"{100 * float(row[name]):.1f}" for name in ("share", "low", "high"))
    return f"{share} ({low} to {high})"


@pytest.mark.parametrize(("place", "cell"), list(documented()), ids=str)
def test_a_cell_of_the_documentation_is_that_of_the_file(place, cell):
    assert cell == as_documented(stored()[place])


def test_the_documentation_leaves_out_no_alarm_that_rang():
    told = {place for place, _ in documented()}
    rang = {at for at, r in stored().items() if r["severity"] == "alarm" and r["rang"] != "0"}
    assert rang <= told


@pytest.mark.parametrize(
    ("workers", "size"),
    [(3, 5), (7, 5), (8, 10), (14, 10), (15, 20), (28, 20), (29, 40), (900, 40)],
)
def test_a_crowd_is_compared_with_groups_of_the_nearest_size(workers, size):
    assert find_false_alarm_rates(workers).size == size


def test_nobody_is_ranked_below_three():
    assert find_false_alarm_rates(2) is None


def test_the_report_holds_every_number_of_the_file():
    for size in (5, 10, 20, 40):
        for case in find_false_alarm_rates(size).cases:
            assert [rate.crowd for rate in case.rates] == [
                crowd for crowd in CROWDS if (crowd, size, case.case) in stored()
            ]
            for rate in case.rates:
                row = stored()[rate.crowd, size, case.case]
                assert (str(rate.looked), str(rate.rang)) == (row["looked_at"], row["rang"])
                assert str(rate.share or "") == (
                    "" if row["share"] in ("", "0.0") else row["share"]
                )


def test_only_leverage_rings_often_and_only_in_groups_of_ten():
    often = {
        n: [case.case for case in find_false_alarm_rates(n).frequent_cases] for n in (5, 10, 20, 40)
    }
    assert often == {5: [], 10: ["leverage"], 20: [], 40: []}


@pytest.mark.django_db
def test_the_page_of_a_small_crowd_quotes_the_file_and_warns_of_leverage(site, rana):
    run = looked(world.finished(owner=rana, n_workers=12, n_questions=6))
    page = _page(site, run)
    said = _words(page)
    for crowd in ("crowdwsa T1", "crowdwsa T2"):
        row = stored()[crowd, 10, "leverage"]
        share, low, high = (f"{100 * float(row[name]):.1f}" for name in ("share", "low", "high"))
        assert f"{share}% ({low} to {high}) of {row['looked_at']}" in said
    (often,) = element_texts(page, "alarm_often")
    assert often.startswith(f"{get_alarm_title('leverage')}:")
    assert numbers(often) == [10]
    assert "none of 1,000 (at most 0.4%)" in said


@pytest.mark.django_db
def test_a_larger_crowd_is_not_warned(site, rana):
    run = looked(world.finished(owner=rana, n_workers=20, n_questions=6))
    page = _page(site, run)
    # The workers of this crowd; 1,000 groups of 20; an interval of 95%.
    assert numbers(element_text(page, "false-rings-groups")) == [20, 1000, 20, 95]
    assert element_texts(page, "alarm_often") == []


@pytest.mark.django_db
def test_the_page_of_an_alarm_says_how_often_it_rings_falsely(site, rana):
    run = world.finished(owner=rana, n_workers=10, n_questions=6)
    alarm(run, kind="leverage", workers=["w001"], statistic=0.6, threshold=0.75)
    at = {"run": run.public_id, "place": 0}
    said = site.get(reverse("admin:results-alarm", kwargs=at)).content.decode()
    assert "translators: 38.4% (34.7 to 42.2) of 643" in said
    (leverage,) = (case for case in find_false_alarm_rates(10).cases if case.case == "leverage")
    rates = [(rate.name, rate.said) for rate in leverage.rates]
    assert element_text(said, "false-rings") == format_false_alarm_rates(10, rates, often=True)


def _page(site, run) -> str:
    url = reverse("admin:results-alarms", kwargs={"run": run.public_id})
    return site.get(url).content.decode()


def _words(page) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
