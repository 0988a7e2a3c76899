"""Who is left out more often than others: shares, ratios, four fifths, and groups too small."""

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from annotations.models import Decision, Submission
from evaluation.methods.inference.selection_rates import selection_rates
from evaluation.paying.fairness import fairness, lines
from tests.annotations import world

REASON = "The answer repeats the question " + "." * 68


def test_shares_ratios_and_their_intervals_are_those_of_the_formulas():
    # 24 of 40 (.6) and 12 of 40 (.3): ratio .5, se of its log sqrt(1/12 - 1/40 + 1/24 - 1/40)
    # = sqrt(.075) = .27386; times 1.95996 = .53676; exp = 1.71045: .5 / and x that.
    found = selection_rates([24, 12, 1], [40, 40, 9])
    assert found.best == 0
    assert found.ratio[1] == pytest.approx(0.5)
    assert found.ratio_low[1] == pytest.approx(0.5 / 1.71045, abs=1e-4)
    assert found.ratio_high[1] == pytest.approx(0.5 * 1.71045, abs=1e-4)
    assert found.unfair.tolist() == [False, True, False]
    assert found.small.tolist() == [False, False, True]
    assert np.isnan(found.ratio[2])


def test_four_fifths_itself_is_fair_and_one_large_group_is_compared_with_nobody():
    assert selection_rates([20, 16], [20, 20]).unfair.tolist() == [False, False]
    assert selection_rates([20, 15], [20, 20]).unfair.tolist() == [False, True]
    assert selection_rates([20, 0], [20, 9]).best == -1
    assert not selection_rates([0, 0], [20, 20]).unfair.any()
    with pytest.raises(ValueError, match="from 0 to n"):
        selection_rates([3], [2])


@pytest.fixture
def forty(db):
    """Twenty read English and twenty German; two of the first and eight of the second are bad."""
    rana = world.user("rana", is_staff=True)
    version = world.version(rana)
    keys = {}
    for language in ("en", "de"):
        for number in range(20):
            one = world.submission(version, f"{language}{number:02}")
            keys[one.worker.external_id] = one.pk
    Submission.objects.filter(worker__external_id__startswith="de").update(language="de")
    Submission.objects.filter(worker__external_id__startswith="en").update(language="en")
    Submission.objects.update(state="submitted", submitted_at=rana.date_joined)
    Submission.objects.filter(pk=keys["en00"]).update(signals_off=True)
    bad = [f"en{n:02}" for n in range(2)] + [f"de{n:02}" for n in range(8)]
    return version, keys, bad


def test_groups_are_told_with_a_warning_and_small_ones_are_not_compared(forty):
    version, keys, bad = forty
    well = set(keys.values()) - {keys[name] for name in bad}
    by_language, by_counting = fairness(version, keys.values(), well, "are not rejected")
    # 18 of 20 and 12 of 20: .6 / .9 = .667, below four fifths.
    assert [(one.name, one.hit, one.n) for one in by_language.groups] == [
        *(("Deutsch", 12, 20), ("English", 18, 20)),
    ]
    assert by_language.groups[0].ratio == pytest.approx(2 / 3)
    (warning,) = by_language.warnings
    assert warning.values["group"] == "Deutsch"
    off = by_counting.groups[1]
    assert (off.name, off.n, off.small, off.ratio) == ("switched off", 1, True, None)
    assert any("too few to tell" in line for line in lines([by_counting]))


def test_where_it_turns_out_the_same_for_all_there_is_nothing_to_compare(forty):
    version, keys, _ = forty
    assert fairness(version, keys.values(), keys.values(), "") == []
    assert fairness(version, keys.values(), [], "") == []


def test_trying_a_file_of_rejections_tells_who_is_hurt(forty, tmp_path):
    _, _, bad = forty
    path = tmp_path / "decisions.csv"
    rows = "".join(f"{name},reject,OTHER,{REASON}\n" for name in bad)
    path.write_text("worker,decision,category,reason\n" + rows)
    out = StringIO()
    call_command("decide", "rivers", file=path, by="rana", dry_run=True, stdout=out)
    said = out.getvalue()
    assert "language Deutsch: 12 of 20 (60%, 95% 39% to 78%); 0.67 times as often" in said
    assert "Warning: Deutsch (language): 12 of 20 are not rejected; English: 18 of 20." in said
    assert not Decision.objects.exists()
