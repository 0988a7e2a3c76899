"""Who is left out more often than others: shares, ratios, four fifths, and groups too small."""

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from annotations.models import Decision, Response, Submission
from evaluation.core.options import TERMINAL
from evaluation.core.stats.inference.intervals import compare_selection_rates
from evaluation.payments.storage.fairness import (
    TOO_FEW,
    compare_groups,
    find_age_band,
    format_group_rates,
)
from tests.annotations import world
from tests.numbers import numbers_in
from tests.sentences import terminal_sentence

REASON = "The answer repeats the question " + "." * 68


def test_shares_ratios_and_their_intervals_are_those_of_the_formulas():
    # 24 of 40 (.6) and 12 of 40 (.3): ratio .5, se of its log sqrt(1/12 - 1/40 + 1/24 - 1/40)
    # = sqrt(.075) = .27386; times 1.95996 = .53676; exp = 1.71045: .5 / and x that.
    found = compare_selection_rates([24, 12, 1], [40, 40, 9])
    assert found.best == 0
    assert found.ratio[1] == pytest.approx(0.5)
    assert found.ratio_low[1] == pytest.approx(0.5 / 1.71045, abs=1e-4)
    assert found.ratio_high[1] == pytest.approx(0.5 * 1.71045, abs=1e-4)
    assert found.unfair.tolist() == [False, True, False]
    assert found.small.tolist() == [False, False, True]
    assert np.isnan(found.ratio[2])


def test_four_fifths_itself_is_fair_and_one_large_group_is_compared_with_nobody():
    assert compare_selection_rates([20, 16], [20, 20]).unfair.tolist() == [False, False]
    # 15 of 20: the interval ends at .75 x exp(1.96 sqrt(1/15 - 1/20)) = .966.
    assert compare_selection_rates([20, 15], [20, 20]).unfair.tolist() == [False, True]
    assert compare_selection_rates([20, 0], [20, 9]).best == -1
    assert not compare_selection_rates([0, 0], [20, 20]).unfair.any()
    with pytest.raises(ValueError, match="from 0 to n"):
        compare_selection_rates([3], [2])


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
    by_language, by_counting, _ = compare_groups(version, keys.values(), well, "are not rejected")
    # 18 of 20 and 12 of 20: .6 / .9 = .667, below four fifths.
    assert [(one.name, one.hit, one.n) for one in by_language.groups] == [
        *(("Deutsch", 12, 20), ("English", 18, 20)),
    ]
    assert by_language.groups[0].ratio == pytest.approx(2 / 3)
    (warning,) = by_language.warnings
    assert warning.values["group"] == "Deutsch"
    off = by_counting.groups[1]
    assert (off.name, off.n, off.small, off.ratio) == ("switched off", 1, True, None)
    assert [TOO_FEW in line for line in format_group_rates([by_counting])] == [False, True]


def test_where_it_turns_out_the_same_for_all_there_is_nothing_to_compare(forty):
    version, keys, _ = forty
    assert compare_groups(version, keys.values(), keys.values(), "") == []
    assert compare_groups(version, keys.values(), [], "") == []


def by(comparisons, what):
    (found,) = [one for one in comparisons if one.what == what]
    return found


def test_devices_are_compared_and_where_none_is_known_nothing_is_said_of_them(forty):
    version, keys, bad = forty
    well = set(keys.values()) - {keys[name] for name in bad}
    told = compare_groups(version, keys.values(), well, "are not rejected")
    assert "device" not in {one.what for one in told}
    phones = [f"en{n:02}" for n in range(2)] + [f"de{n:02}" for n in range(10)]
    Submission.objects.filter(worker__external_id__in=phones).update(device="phone")
    Submission.objects.exclude(worker__external_id__in=phones).update(device="computer")
    Submission.objects.filter(worker__external_id="en19").update(device="several")
    devices = by(compare_groups(version, keys.values(), well, "are not rejected"), "device")
    # All ten who are rejected have phones: 2 of 12 beside 27 of 27.
    assert [(one.name, one.hit, one.n, one.small) for one in devices.groups] == [
        *(("computer", 27, 27, False), ("phone", 2, 12, False), ("several kinds", 1, 1, True)),
    ]
    (warning,) = devices.warnings
    assert TERMINAL.format_message(warning).startswith(
        "Phone (device): 2 of 12 are not rejected; computer: 27 of 27. That is 0.17 times as often "
    )


def assistive(version, keys, bad, said):
    """What is told of who said that they use assistive technology: code, whether they, in words."""
    Submission.objects.update(assistive=False)
    Submission.objects.filter(worker__external_id__in=said).update(assistive=True)
    well = set(keys.values()) - {keys[name] for name in bad}
    found = compare_groups(version, keys.values(), well, "are not rejected")
    one = by(found, "assistive technology")
    assert one.groups == ()
    assert not any("assistive technology " in line for line in format_group_rates([one]))
    messages = [*one.warnings, *([one.told] if one.told else [])]
    (message,) = messages
    return message.code, message.values.get("said"), TERMINAL.format_message(message)


GERMAN = [f"de{n:02}" for n in range(20)]


def test_a_low_ratio_that_may_be_chance_is_no_warning_but_too_few_to_tell(forty):
    version, keys, _ = forty
    # Three English and nine German: 17 of 20 and 11 of 20, .647, x exp(1.96 sqrt(1/11 - 1/20
    # + 1/17 - 1/20)) = 1.5482 is 1.0018.
    bad = [f"en{n:02}" for n in range(3)] + [f"de{n:02}" for n in range(9)]
    well = set(keys.values()) - {keys[name] for name in bad}
    by_language = by(compare_groups(version, keys.values(), well, "are not rejected"), "language")
    german = by_language.groups[0]
    assert (german.unfair, german.unclear, by_language.warnings) == (False, True, ())
    assert german.ratio_high == pytest.approx(1.0018, abs=1e-4)
    assert [TOO_FEW in line for line in format_group_rates([by_language])] == [True, False]
    # One more: 10 of 20, .588, x exp(1.96 sqrt(1/10 - 1/20 + 1/17 - 1/20)) = .953.
    worse = well - {keys["de09"]}
    assert by(compare_groups(version, keys.values(), worse, ""), "language").groups[0].unfair
    # 3 of 12 who use assistive technology badly, 3 of 28 others: no verdict.
    assert assistive(version, keys, ["de00", "de01", "de02", "en00"], GERMAN[:12])[0] == (
        "paying.assistive_few"
    )


def test_of_assistive_technology_there_is_a_verdict_and_no_number_of_people(forty):
    version, keys, bad = forty
    # The first 12 of the German readers: 4 of 12 beside 26 of 28.
    code, of_who_said, words = assistive(version, keys, bad, GERMAN[:12])
    assert (code, of_who_said) == ("paying.assistive_unfair", True)
    assert not {"12", "26", "28"} & set(words.split())
    # The last 12: 12 of 12 beside 18 of 28, so the others are worse off.
    code, of_who_said, _ = assistive(version, keys, bad, GERMAN[8:])
    assert (code, of_who_said) == ("paying.assistive_unfair", False)
    # Three of ten and seven of thirty.
    fair = GERMAN[:3] + [f"en{n:02}" for n in range(2, 9)]
    assert assistive(version, keys, bad, fair)[0] == "paying.assistive_fair"


def test_nobody_is_found_out_by_trying(forty):
    version, keys, bad = forty
    few = {
        # Nobody, nine, all but nine: the same words, which do not tell how many there are.
        assistive(version, keys, bad, []),
        assistive(version, keys, bad, GERMAN[:9]),
        assistive(version, keys, bad, [name for name in keys if name not in GERMAN[:9]]),
        # Ten, of whom one is rejected, or somebody else is.
        assistive(version, keys, GERMAN[:1], GERMAN[:10]),
        assistive(version, keys, ["en00"], GERMAN[:10]),
        assistive(version, keys, GERMAN[:4], GERMAN[:10]),
        assistive(version, keys, list(keys)[4:], GERMAN[:10]),
    }
    ((code, of_who_said, words),) = few
    assert (code, of_who_said) == ("paying.assistive_few", None)
    assert numbers_in(words) == ["10", "10", "5", "5"]
    assert assistive(version, keys, GERMAN[:5], GERMAN[:10])[0] == "paying.assistive_unfair"


def test_of_answers_from_a_file_nothing_is_said_of_it(forty):
    version, keys, bad = forty
    Submission.objects.update(source="imported")
    well = set(keys.values()) - {keys[name] for name in bad}
    found = compare_groups(version, keys.values(), well, "are not rejected")
    assert "assistive technology" not in {one.what for one in found}


def test_trying_a_file_of_rejections_tells_who_is_hurt(forty, tmp_path):
    _, _, bad = forty
    path = tmp_path / "decisions.csv"
    rows = "".join(f"{name},reject,OTHER,{REASON}\n" for name in bad)
    path.write_text("worker,decision,category,reason\n" + rows)
    out = StringIO()
    call_command("decide", "rivers", file=path, by="rana", dry_run=True, stdout=out)
    said = out.getvalue()
    assert "language Deutsch: 12 of 20 (60%, 95% 39% to 78%); 0.67 times as often" in said
    few = {"done": "are not rejected", "fewest": 10, "each_way": 5}
    assert f"  {terminal_sentence('paying.assistive_few', **few)}\n" in said
    assert "Warning: Deutsch (language): 12 of 20 are not rejected; English: 18 of 20." in said
    assert not Decision.objects.exists()


def test_an_id_of_two_panels_is_told_apart_by_the_column_panel(db, tmp_path):
    rana = world.user("rana", is_staff=True)
    version = world.version(rana)
    for number in range(12):
        for panel, language in (("A", "en"), ("B", "de")):
            one = world.submission(version, f"w{number:02}", panel)
            Submission.objects.filter(pk=one.pk).update(
                language=language, state="submitted", submitted_at=rana.date_joined
            )
    path = tmp_path / "decisions.csv"
    rejected = [f"w{n:02},A,reject,OTHER,{REASON}\n" for n in range(12)]
    approved = [f"w{n:02},B,approve,,\n" for n in range(12)]
    for rows in (rejected + approved, approved + rejected):
        path.write_text("worker,panel,decision,category,reason\n" + "".join(rows))
        out = StringIO()
        call_command("decide", "rivers", file=path, by="rana", dry_run=True, stdout=out)
        # English (panel A): 0 of 12; German (panel B): 12 of 12.
        assert (
            "Warning: English (language): 0 of 12 are not rejected; Deutsch: 12 of 12."
            in out.getvalue()
        )


def give_facts(keys, facts):
    """Store facts with an answer of each worker, as an import does."""
    for name, cells in facts.items():
        answer = world.response(Submission.objects.get(pk=keys[name]))
        Response.objects.filter(pk=answer.pk).update(extra=cells)


def test_imported_facts_are_groups_with_the_same_rules_and_ages_are_bands(forty):
    version, keys, bad = forty
    well = set(keys.values()) - {keys[name] for name in bad}
    facts = {}
    for number in range(20):
        facts[f"en{number:02}"] = {"Age": "22", "Sex": "Female", "Submission id": f"a{number}"}
        facts[f"de{number:02}"] = {"Age": "41.0", "Sex": "Male", "Submission id": f"b{number}"}
    del facts["en19"]
    give_facts(keys, facts)
    found = compare_groups(version, keys.values(), well, "are not rejected")
    ages = by(found, "“Age”")
    # 12 of 20 and, without en19, 17 of 19; the last one's fact is missing.
    assert [(one.name, one.hit, one.n, one.small) for one in ages.groups] == [
        *(("35 to 44", 12, 20, False), ("18 to 24", 17, 19, False), ("not known", 1, 1, True)),
    ]
    language = by(found, "language")
    assert ages.groups[0].unfair is language.groups[0].unfair is True
    (warning,) = ages.warnings
    assert (warning.values["group"], warning.values["best"]) == ("35 to 44", "18 to 24")
    assert [one.name for one in by(found, "“Sex”").groups][:2] == ["Male", "Female"]
    # An id is no group, and was not joined with few values.
    assert not any("Submission" in one.what for one in found)


def test_many_small_groups_are_one_line_without_a_verdict(forty):
    version, keys, bad = forty
    well = set(keys.values()) - {keys[name] for name in bad}
    countries = {name: {"Country of birth": f"land {at // 2}"} for at, name in enumerate(keys)}
    give_facts(keys, countries)
    found = by(
        compare_groups(version, keys.values(), well, "are not rejected"), "“Country of birth”"
    )
    assert (len(found.groups), found.listed) == (20, ())
    rest = found.unlisted
    assert (rest.n_groups, rest.hit, rest.n) == (20, 30, 40)
    assert found.warnings == ()
    (line,) = format_group_rates([found])
    assert TOO_FEW in line
    assert numbers_in(line) == ["20", "10", "30", "40"]


@pytest.mark.parametrize(
    ("text", "band"),
    [
        ("17", "under 18"),
        ("18", "18 to 24"),
        ("24,9", "18 to 24"),
        ("65", "65 and over"),
        ("121", "121"),
        ("25-34", "25-34"),
        ("Prefer not to say", "Prefer not to say"),
    ],
)
def test_an_age_has_a_band_and_another_text_stays(text, band):
    assert find_age_band(text) == band
