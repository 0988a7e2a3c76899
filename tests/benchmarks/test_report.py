import json
import re

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from tests.benchmarks import command
from tests.benchmarks.cases import CASES as CASES_OF_ALL
from tests.benchmarks.embedding import against_bare_encode
from tests.benchmarks.results import (
    Claim,
    FailedError,
    Findings,
    SkippedError,
    figure,
    not_applicable,
    timed,
)
from tests.benchmarks.timing import Timing

OWN = Timing([2.0, 1.0, 3.0])
SLOW = Timing([20.0, 30.0, 40.0])


def kept(_):
    return Findings(
        [
            timed("small", "ours", OWN),
            timed("small", "peer", SLOW, own=OWN, claim=Claim("at least", 15, "times")),
            figure("small", "peak", 0.5, "GB", Claim("at most", 1, "GB")),
            not_applicable("small", "elsewhere", Claim("at least", 2), "no such processor"),
        ],
        ["a remark"],
    )


def missed(_):
    return Findings([timed("small", "ours", OWN, claim=Claim("at most", 1.5, "s"))])


def skipped(_):
    raise SkippedError("no data")


def broken(_):
    raise FailedError("the child ended with -9")


CASES = {"kept": kept, "missed": missed, "skipped": skipped, "broken": broken}


@pytest.fixture(name="benchmark")
def fake_benchmark(tmp_path, monkeypatch, capsys):
    """Run the command on fake cases: its exit code, the report as JSON and what was printed."""
    monkeypatch.setattr(command, "CASES", CASES)

    def run(*names):
        code, said = 0, ""
        try:
            call_command("benchmark", output=tmp_path / "out", only=list(names))
        except CommandError as error:
            code, said = error.returncode, str(error)
        report = json.loads((tmp_path / "out/benchmark.json").read_text())
        return code, report, capsys.readouterr().out + said

    return run


def test_ratio_is_of_medians_and_a_claim_judges_it():
    row = timed("small", "peer", SLOW, own=OWN, claim=Claim("at least", 15.1, "times"))
    # median 30 over median 2
    assert (row.median, row.low, row.high, row.ratio) == (30.0, 20.0, 40.0, 15.0)
    assert row.verdict == "not met"
    assert row.claim == "at least 15.1 times"


def test_a_kept_claim_gives_exit_0_and_a_report_with_every_field(benchmark, tmp_path):
    code, report, printed = benchmark("kept")
    assert code == 0
    assert set(report) == {"date", "environment", "cases", "missed"}
    known = report["environment"]
    assert {"python", "processor", "cores", "blas", "versions"} <= set(known)
    assert {"numpy", "scipy", "torch"} <= set(known["versions"])
    (case,) = report["cases"]
    assert {"name", "seconds", "load_before", "load_after", "skipped", "failed"} <= set(case)
    ours, peer, peak, elsewhere = case["rows"]
    assert ours["values"] == [2.0, 1.0, 3.0]
    assert (ours["runs"], ours["median"], ours["low"], ours["high"]) == (3, 2.0, 1.0, 3.0)
    assert (ours["ratio"], ours["claim"], ours["verdict"]) == (None, None, None)
    assert (peer["ratio"], peer["claim"], peer["verdict"]) == (15.0, "at least 15 times", "met")
    assert (peak["unit"], peak["verdict"]) == ("GB", "met")
    assert elsewhere["verdict"] == "not applicable"
    assert elsewhere["reason"] == "no such processor"
    assert "not applicable: no such processor" in printed
    assert "kept: a remark" in printed
    markdown = (tmp_path / "out/benchmark.md").read_text()
    assert "| kept | small | peer | s | 3 | 30.00 | 20.00 | 40.00 | 15.00 |" in markdown


def test_a_missed_claim_gives_exit_1_and_is_named(benchmark):
    code, report, printed = benchmark("kept", "missed")
    assert code == 1
    assert report["missed"] == ["missed, small, ours: at most 1.5 s, measured 2"]
    assert report["missed"][0] in printed


def test_a_case_that_broke_off_is_a_missed_claim_and_the_others_are_run(benchmark):
    code, report, _ = benchmark("broken", "kept")
    assert code == 1
    assert report["missed"] == ["broken: the child ended with -9"]
    assert [case["name"] for case in report["cases"]] == ["kept", "broken"]


def test_a_skipped_case_says_why_and_is_no_failure(benchmark):
    code, report, printed = benchmark("skipped")
    assert code == 0
    assert report["cases"][0]["skipped"] == "no data"
    assert "skipped: no data" in printed


def test_mohler_is_skipped_without_the_data(tmp_path):
    with pytest.raises(SkippedError, match="cannot be read"):
        against_bare_encode(tmp_path)


def test_an_unknown_case_is_refused():
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("benchmark", "--only", "nothing")


def test_every_case_is_told_in_the_documentation():
    document = (settings.ROOT / "platform/docs/benchmarks.md").read_text(encoding="utf-8")
    (only,) = re.findall(r"\| `--only NAME \.\.\.` \| (.*) \|", document)
    assert re.findall(r"`([a-z-]+)`", only) == list(CASES_OF_ALL)
    assert all(f"\n**{name}.** " in document for name in CASES_OF_ALL)
