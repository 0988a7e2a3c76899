"""Evidence for the reasons that a panel takes is counted, and a draft says what was counted."""

import pytest

from annotations.exchange.prolific import CATEGORIES, count_visible_characters, find_decision_faults
from annotations.models import Collection, PanelStatus, Translation
from evaluation.payments.messages import draft_rejection
from evaluation.payments.report import PaymentRecords
from evaluation.payments.storage.evidence import collect_evidence, load_times_on_task
from tests.annotations import world
from tests.evaluation.payments.crowd import rivers

pytestmark = pytest.mark.django_db


@pytest.fixture
def crowd(db):
    return rivers(world.user("rana", is_staff=True))


def categories(crowd, name):
    version, people = crowd
    return [(one.category, one.offered) for one in collect_evidence(version)[people[name].pk]]


def test_each_reason_has_its_count_and_who_gave_no_cause_has_none(crowd):
    assert categories(crowd, "ada") == []
    assert categories(crowd, "ben") == [("FAILED_CHECK", True)]  # 1 of 1
    assert categories(crowd, "cy") == [("LOW_EFFORT", True)]  # 3 of 4 empty
    assert categories(crowd, "di") == [("LOW_EFFORT", True)]  # "no idea" in 3 of 4
    assert categories(crowd, "gus") == [("NO_DATA", True)]
    assert categories(crowd, "hal") == []  # still writing: drafts are nobody's business


def test_far_too_fast_is_less_than_a_third_of_the_median(crowd):
    # Nine people with times: eight of 600 seconds and one of 60; a third of 600 is 200.
    version, people = crowd
    times = load_times_on_task(version)
    assert len(times) == 9
    assert times[people["fay"].pk] == pytest.approx(60)
    (fast,) = collect_evidence(version, [people["fay"].pk])[people["fay"].pk]
    assert fast.category == "TOO_QUICKLY"
    assert fast.said.values == pytest.approx({"minutes": 1, "median": 10, "timed": 9})


def test_who_ran_out_of_time_on_the_panel_makes_nobody_look_fast(crowd):
    version, people = crowd
    version.submissions.update(started_at=None)  # as of people who came in a file
    for number, one in enumerate(people.values()):
        status, seconds = ("AWAITING REVIEW", 600) if number < 5 else ("TIMED-OUT", 3600)
        PanelStatus.objects.create(
            submission=one, status=status, session_id=f"s{number}", seconds=seconds
        )
    # Of all ten the median is 2,100 seconds, a third of it 700; of who handed in it is 600.
    assert sorted(load_times_on_task(version).values()) == [600] * 5
    assert categories(crowd, "ada") == []
    # What came last counts: of who was approved after all the time is known.
    PanelStatus.objects.create(submission=people["joe"], status="APPROVED", session_id="s9")
    assert load_times_on_task(version)[people["joe"].pk] == 3600


def test_a_check_is_right_in_the_language_in_which_it_was_read(crowd):
    version, people = crowd
    check = version.questions.get(external_id="check")
    check.kind, check.choices = "free", []
    check.save()
    version.languages = ["de"]
    version.save()
    texts = {"text": "Schreiben Sie: oft.", "accepted_answers": ["oft"]}
    Translation.objects.create(version=version, language="de", question=check, texts=texts)
    people["ben"].responses.filter(question=check).update(text="oft")
    people["ada"].responses.filter(question=check).update(text="oft")
    assert categories(crowd, "ben") == []  # read in German
    assert categories(crowd, "ada") == [("FAILED_CHECK", True)]  # read in English
    people["ben"].responses.filter(question=check).update(text="nie")
    (one,) = collect_evidence(version, [people["ben"].pk])[people["ben"].pk]
    (failed,) = one.checks
    assert (failed.text, failed.answer, failed.right) == ("Schreiben Sie: oft.", "nie", "oft")


def test_without_five_people_with_times_nobody_was_too_fast(crowd):
    version, people = crowd
    version.submissions.exclude(worker__external_id__in=["ada", "ben", "cy", "fay"]).update(
        started_at=None
    )
    assert collect_evidence(version, [people["fay"].pk])[people["fay"].pk] == []


def test_one_empty_answer_of_four_is_told_and_not_offered(crowd):
    _, people = crowd
    people["eve"].responses.filter(question__external_id="r1").update(text="", status="empty")
    assert categories(crowd, "eve") == [("LOW_EFFORT", False)]


def test_fewer_than_a_tenth_of_the_questions_left_open_is_not_worth_a_word(crowd):
    version, people = crowd
    for number in range(7):  # 11 questions in all: 1 of 11 is below a tenth, 2 of 11 are above
        question = version.questions.create(
            external_id=f"m{number}", position=20 + number, text="?"
        )
        people["eve"].responses.create(
            question=question, text=f"so {number}", status="text", state="submitted"
        )
    answers = people["eve"].responses
    answers.filter(question__external_id="r1").update(text="", status="empty")
    assert categories(crowd, "eve") == []
    answers.filter(question__external_id="r2").update(text="", status="empty")
    assert categories(crowd, "eve") == [("LOW_EFFORT", False)]


def test_a_code_is_held_against_those_of_the_study(crowd):
    version, people = crowd
    codes = {"code_done": "DONE1234", "code_failed_checks": "FAIL1234"}
    Collection.objects.create(version=version, places=9, **codes)
    for name, code in (
        ("ada", "NOCODE"),
        ("eve", "XXXX"),
        ("ida", "DONE1234"),
        ("joe", "FAIL1234"),
    ):
        PanelStatus.objects.create(
            submission=people[name], status="AWAITING REVIEW", session_id=name, code=code
        )
    assert categories(crowd, "ada") == [("NO_CODE", True)]
    assert categories(crowd, "eve") == [("BAD_CODE", True)]
    assert categories(crowd, "ida") == categories(crowd, "joe") == []


def test_a_code_that_somebody_was_shown_is_the_study_s_also_after_it_was_changed(crowd):
    version, people = crowd
    Collection.objects.create(version=version, places=9, code_done="NEW")
    version.submissions.filter(worker__external_id="ida").update(code="OLD")
    for name in ("ida", "joe"):
        PanelStatus.objects.create(
            submission=people[name], status="AWAITING REVIEW", session_id=name, code="OLD"
        )
    assert categories(crowd, "ida") == []
    assert categories(crowd, "joe") == [("BAD_CODE", True)]


def test_every_draft_is_one_that_the_panel_takes(crowd):
    version, _ = crowd
    seen = set()
    long = "Please tick often. " * 40
    version.questions.filter(external_id="check").update(text=long)
    for found in collect_evidence(version).values():
        for one in found:
            text = draft_rejection(one.category, [(one.said.code, one.said.values)], one.checks)
            assert list(find_decision_faults("reject", one.category, text)) == []
            assert count_visible_characters(text) < 1000
            assert one.category in CATEGORIES
            seen.add(one.category)
    assert seen == {"FAILED_CHECK", "LOW_EFFORT", "TOO_QUICKLY", "NO_DATA"}
    assert draft_rejection("OTHER", []) == ""


def test_what_could_be_done_is_suggested_with_reasons_and_pastes_are_never_one(crowd):
    version, people = crowd
    people["ada"].responses.update(
        signals="counted",
        paste_count=9,
        pasted_characters=999,
        keystrokes=0,
        typed_characters=0,
        deleted_characters=0,
        blur_count=9,
        away_seconds=9,
        active_seconds=1,
    )
    desk = PaymentRecords(version)
    shown = {row.name: row.signals for row in desk.load_rows(list(desk.select_submissions()))}
    assert (shown["ada"].pasted, shown["ben"].pasted) == (4, 0)
    found = desk.suggest_actions()
    actions = {name: found[one.pk].action for name, one in people.items()}
    assert actions == {
        **dict.fromkeys(("ada", "eve", "ida", "joe"), "approve"),
        **dict.fromkeys(("ben", "cy", "di", "fay", "gus"), "reject"),
        "hal": "nothing",
    }
    assert found[people["ben"].pk].categories == ("FAILED_CHECK",)


def test_whom_the_panel_has_settled_nothing_is_suggested_for(crowd):
    version, people = crowd
    PanelStatus.objects.create(submission=people["ben"], status="RETURNED", session_id="s")
    found = PaymentRecords(version).suggest_actions()[people["ben"].pk]
    assert (found.action, found.categories) == ("nothing", ())
