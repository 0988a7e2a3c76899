"""What of the asked addresses carries the claim, and what is only told."""

from tests.benchmarks.pages import RequestedPage, _remarks, _rows

ASKED = [
    RequestedPage("quick", "text/html", 200, [0.1, 0.2, 0.3], 7, 20_000),
    RequestedPage("slow", "application/json", 200, [0.5, 0.1, 0.4], 3, 10),
    RequestedPage("file", "text/csv", 200, [2.0], 4, 3_000_000),
    RequestedPage("posted", "", 405, [0.1], 1, 0),
]


def test_pages_are_judged_by_their_median_and_files_are_not_judged():
    *pages, largest = _rows("large", ASKED)
    assert [(row.what, row.median, row.verdict) for row in pages] == [
        ("quick, 7 queries", 0.2, "met"),
        ("slow, 3 queries", 0.4, "not met"),
    ]
    assert (largest.median, largest.unit) == (20.0, "kB")


def test_what_was_not_measured_is_told():
    file, others, skipped = _remarks(ASKED, ["admin:uploaded (token)"])
    assert file == "file, a file of 3.0 MB as text/csv: 2.00 s, 4 queries"
    assert others.partition(": ")[2] == "posted (405)"
    assert skipped.partition(": ")[2] == "admin:uploaded (token)"
