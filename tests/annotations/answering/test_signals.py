"""Signals: counted once whatever comes twice, off for who wants it, never at an answer's cost."""

import json
import re
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from annotations.answering import collecting, signals
from annotations.answering.errors import BegunError
from annotations.answering.links import build_submission_token
from annotations.exchange import facts
from annotations.exchange.importing import import_answers
from annotations.exchange.problems import InputError
from annotations.models import COUNTERS, OtherText, QuestionSet, Response, Submission
from annotations.models.signals import ACTIVE_SECONDS
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published
from tests.problems import check_problem, faults

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]
ONE, TWO = "page-one", "page-two"


@pytest.fixture
def book(tides):
    return published(tides, protocol="open", questions_per_worker=1)


def begun(made, **more):
    """Ada, who has agreed; `more` is what she ticked besides."""
    browser = Browser(made)
    browser.get(browser.link)
    browser.post(browser.link, {"agree": "yes", "do": "agree", **more})
    return browser


@pytest.fixture
def ada(book):
    return begun(book)


def counts(**some):
    return dict.fromkeys(COUNTERS, 0) | some


def sent(page=ONE, **some):
    return json.dumps({page: counts(**some)})


def draft(browser, text, signals="", revision=0):
    """Save a draft as the script of a page does."""
    submission = Submission.objects.get()
    question = submission.assignments.get().question
    return Client().post(
        f"/answer/at/{build_submission_token(submission)}/draft/",
        {
            "question": str(question.public_id),
            "text": text,
            "revision": str(revision),
            "tab": "t",
            "signals": signals,
        },
    )


def stored(*names):
    response = Response.objects.get()
    return tuple(getattr(response, name) for name in names)


def test_what_a_page_counted_is_stored_with_its_draft_and_again_with_the_form(ada):
    said = draft(ada, "north", sent(typed_characters=5, keystrokes=5, active_seconds=3))
    assert said.json() == {"saved": True, "revision": 1}
    assert stored("signals", "typed_characters", "paste_count") == ("counted", 5, 0)
    question = Submission.objects.get().assignments.get().question
    last = sent(typed_characters=5, keystrokes=5, paste_count=1, pasted_characters=200)
    ada.get(ada.address)
    ada.press("north and more", **{f"signals-{question.public_id}": last})
    assert "/review/" in ada.address
    assert stored("typed_characters", "pasted_characters", "active_seconds") == (5, 200, 3)
    ada.press()
    # Handed in: the sums stay, the pages they came from are not needed any more.
    assert stored("state", "signals", "pasted_characters") == ("submitted", "counted", 200)
    assert Response.objects.get().signal_pages == {}


def test_a_request_that_comes_twice_or_late_counts_nothing_twice(ada):
    for typed, revision in ((5, 0), (5, 0), (9, 1), (5, 0)):
        draft(ada, "north"[: revision + 4], sent(typed_characters=typed), revision)
    assert stored("typed_characters") == (9,)


def test_two_windows_and_devices_add_up(ada):
    draft(ada, "north", sent(ONE, typed_characters=5, blur_count=1))
    other = draft(ada, "south", sent(TWO, typed_characters=7, pasted_characters=3))
    assert other.status_code == 409
    assert OtherText.objects.get().text == "south"
    draft(ada, "north!", sent(ONE, typed_characters=6, blur_count=1), 1)
    # 6 of the one and 7 of the other.
    assert stored("typed_characters", "pasted_characters", "blur_count") == (13, 3, 1)


def test_pages_of_one_answer_are_bounded(ada):
    for number in range(signals.MAX_PAGES + 5):
        pages = {f"page-{number:04}": counts(paste_count=1)}
        known = signals.merge_page_counts(Response(signal_pages={}).signal_pages, pages)
        assert len(known) == 1
    full = {f"page-{number:04}": counts(paste_count=1) for number in range(signals.MAX_PAGES)}
    more = signals.merge_page_counts(full, {"page-more": counts(paste_count=1)})
    assert more == full
    # One that is known goes on counting.
    assert signals.merge_page_counts(full, {"page-0000": counts(paste_count=4)})[
        "page-0000"
    ] == counts(paste_count=4)
    assert sum(signals.MAX_COUNT for _ in full) < 2**31  # the column of a sum


@pytest.mark.parametrize(
    "bad",
    [
        "x", "[]", "null", "[[[[", '"text"', "{}", '{"page-one": 5}', '{"page-one": {}}',
        '{"short": ' + json.dumps(counts()) + "}", "[" * 3000, "x" * 5000,
        sent(typed_characters=-1), sent(typed_characters="5"), sent(typed_characters=True),
        sent(typed_characters=None), sent(typed_characters=float("nan")),
        sent(typed_characters=float("inf")), sent("<script>alert(1)</script>"),
        json.dumps({"page-one": {k: v for k, v in counts().items() if k != "blur_count"}}),
    ],
)  # fmt: skip
def test_what_cannot_be_counts_is_left_out_and_the_answer_is_stored(ada, bad):
    assert draft(ada, "north", bad).json() == {"saved": True, "revision": 1}
    assert stored("text", "signals", "paste_count") == ("north", "", None)


def test_huge_and_broken_numbers_are_clipped_and_cut(ada):
    draft(ada, "north", sent(typed_characters=10**30, keystrokes=2.9, away_seconds=1e300))
    assert stored("typed_characters", "keystrokes", "away_seconds") == (
        signals.MAX_COUNT,
        2,
        signals.MAX_COUNT,
    )


def test_further_words_in_what_is_sent_are_not_stored(ada):
    said = json.dumps({ONE: counts(typed_characters=5) | {"text": "my secret", "key": "q"}})
    draft(ada, "north", said)
    assert Response.objects.get().signal_pages == {ONE: counts(typed_characters=5)}


def test_without_a_script_nothing_is_measured_and_that_is_no_zero(ada):
    ada.press("north")
    ada.press()
    assert stored("state", "signals") == ("submitted", "")
    assert stored(*COUNTERS) == (None,) * len(COUNTERS)


def test_an_answer_that_was_begun_without_a_script_is_not_half_measured(ada):
    assert "data-counts" in ada.response.content.decode()
    ada.press("nor", do="save")
    assert "data-counts" not in ada.response.content.decode()
    assert "signals.js" not in ada.response.content.decode()


def test_an_answer_that_is_counted_is_counted_on_when_its_page_is_loaded_again(ada):
    draft(ada, "nor", sent(typed_characters=3))
    ada.get(ada.address)
    assert "data-counts" in ada.response.content.decode()


def test_times_of_the_server_stand_apart(ada):
    draft(ada, "nor")
    first = Response.objects.get().first_draft_at
    assert first is not None
    draft(ada, "north", revision=1)
    ada.get(ada.address)
    ada.press("north")
    ada.press()
    response = Response.objects.get()
    assert response.started_at < response.first_draft_at < response.submitted_at
    assert response.first_draft_at == first


def test_an_answer_that_was_emptied_first_has_its_draft_from_the_first_text(ada):
    draft(ada, "")
    assert stored("first_draft_at") == (None,)
    draft(ada, "north", revision=1)
    assert Response.objects.get().first_draft_at is not None


# Off


def test_who_says_so_before_agreeing_is_never_counted(book):
    browser = begun(book, uncounted="yes")
    assert Submission.objects.get().signals_off
    html = browser.response.content.decode()
    assert "<textarea" in html
    assert "signals.js" not in html
    assert "data-counts" not in html
    said = draft(browser, "north", sent(typed_characters=5))
    assert said.json() == {"saved": True, "revision": 1, "counted": False}
    assert stored("text", "signals", "typed_characters") == ("north", "off", None)
    # On again: this answer would lack a part.
    data_page(browser, do="save")
    draft(browser, "north!", sent(typed_characters=6), 1)
    assert stored("text", "signals", "typed_characters") == ("north!", "off", None)


def test_the_tick_stays_where_the_agreement_was_forgotten(book):
    browser = Browser(book)
    response = browser.post(browser.link, {"do": "agree", "uncounted": "yes"})
    assert response.status_code == 400
    assert 'name="uncounted" value="yes" checked' in response.content.decode()


def element(html, key):
    """The text of the list or its item with this id, "" where there is none."""
    found = re.search(rf'<(ul|li) id="{key}">(.*?)</\1>', html, re.DOTALL)
    return re.sub(r"<[^>]*>", " ", found[2]).strip() if found else ""


def data_page(browser, **form):
    address = f"/answer/at/{build_submission_token(Submission.objects.get())}/data/"
    return browser.post(address, form) if form else browser.get(address)


def test_the_own_page_shows_the_counts_and_empties_them_for_good(ada):
    draft(ada, "north", sent(typed_characters=5, paste_count=2, pasted_characters=40))
    data_page(ada)
    assert ada.response.context["counted"].answers == 1
    section = element(ada.response.content.decode(), "counts")
    # Typed, deleted, by keyboard; times pasted and characters of these; the others are 0.
    assert re.findall(r"\d+", section) == ["5", "0", "0", "2", "40", "0", "0", "0"]
    data_page(ada, uncounted="yes")
    assert 'role="status"' in ada.response.content.decode()
    assert element(ada.response.content.decode(), "counts") == ""
    assert stored("text", "signals", *COUNTERS) == ("north", "off", *(None,) * len(COUNTERS))
    assert Response.objects.get().signal_pages == {}
    # A page that was open all the while sends on, and nothing of it is taken.
    assert draft(ada, "north!", sent(typed_characters=6), 1).json()["counted"] is False
    assert stored("text", "signals") == ("north!", "off")
    # On again: this answer would lack a part, so it stays without.
    data_page(ada, do="save")
    assert not Submission.objects.get().signals_off
    draft(ada, "north!!", sent(typed_characters=7), 2)
    assert stored("text", "signals", "typed_characters") == ("north!!", "off", None)


def test_it_can_be_emptied_after_the_end_too_and_withdrawing_leaves_nothing(ada):
    draft(ada, "north", sent(typed_characters=5))
    ada.get(ada.address)
    ada.press("north")
    ada.press()
    assert stored("state", "typed_characters") == ("submitted", 5)
    data_page(ada, uncounted="yes")
    assert stored("text", "state", "signals") == ("north", "submitted", "off")
    ada.get(f"/answer/at/{build_submission_token(Submission.objects.get())}/withdraw/")
    ada.press()
    assert not Response.objects.exists()


def test_a_set_that_does_not_count_neither_counts_nor_speaks_of_it(tides):
    made = published(tides, protocol="open", questions_per_worker=1, signals=False)
    browser = Browser(made)
    browser.get(browser.link)
    assert "paste" not in browser.page.words
    assert "uncounted" not in browser.response.content.decode()
    browser.press()
    assert "signals.js" not in browser.response.content.decode()
    draft(browser, "north", sent(typed_characters=5))
    assert stored("signals", "typed_characters") == ("", None)
    data_page(browser)
    assert "paste" not in browser.page.words


def test_the_consent_page_tells_what_is_counted(book):
    browser = Browser(book)
    browser.get(browser.link)
    html = browser.response.content.decode()
    assert element(html, "counted-signals")
    assert element(html, "use-of-signals")


@pytest.mark.parametrize("language", ["de", "ar"])
def test_it_tells_so_in_german_and_arabic(book, language):
    english = Browser(book)
    english.get(english.link)
    QuestionSet.objects.update(language=language)
    browser = Browser(book)
    browser.get(browser.link)
    html, before = browser.response.content.decode(), english.response.content.decode()
    for key in ("counted-signals", "use-of-signals"):
        assert "" != element(html, key) != element(before, key)


def test_counting_cannot_begin_when_somebody_was_not_told(tides):
    made = published(tides, protocol="open", signals=False)
    assert collecting.change_settings(made.collection, signals=True) == ("signals",)
    collecting.change_settings(made.collection, signals=False)
    begun(made)
    with pytest.raises(BegunError) as caught:
        collecting.change_settings(made.collection, signals=True)
    assert (caught.value.code, caught.value.field) == ("signals_not_told", "signals")
    made.collection.refresh_from_db()
    assert made.collection.signals is False


def test_it_can_stop_at_any_time_and_the_next_version_follows(tides, ada, book):
    collecting.change_settings(book.collection, signals=False)
    draft(ada, "north", sent(typed_characters=5))
    assert stored("signals") == ("",)
    assert collecting.publish_question_set(tides, places=3).collection.signals is False
    tides.draft()
    version = tides.latest_version()
    if version != book.version:
        assert collecting.publish_question_set(tides, places=3).collection.signals is False


def test_the_database_knows_no_half_counted_answer(ada):
    draft(ada, "north", sent(typed_characters=5))
    for fields in ({"paste_count": None}, {"signals": ""}, {"paste_count": -1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Response.objects.update(**fields)


def test_all_doors_know_the_same_columns():
    assert facts.COUNTERS == COUNTERS
    assert {facts.COUNTED, facts.OFF} == set(Response.Counted.values)


def test_the_script_sends_exactly_the_counters_and_waits_as_long_as_is_told():
    script = (ROOT / "platform/crowdgrade/static/worker/signals.js").read_text()
    assert all(f"{name}:" in script for name in COUNTERS)
    assert f"ACTIVE = {ACTIVE_SECONDS}000" in script
    for forbidden in ("event.key", ".code", "clipboardData", "dataTransfer", "event.data"):
        assert forbidden not in script


def test_a_draft_with_signals_takes_few_queries(ada, django_assert_max_num_queries):
    draft(ada, "north", sent(typed_characters=5))
    with django_assert_max_num_queries(12) as ran:
        draft(ada, "north!", sent(typed_characters=6), 1)
    # Three are this test's own; two of the others are for the signals, in the draft's transaction.
    of_draft = [one for one in ran if "SAVEPOINT" not in one["sql"]][3:]
    assert len(of_draft) == 6
    assert sum('"signal_pages"' in one["sql"] for one in of_draft[-2:]) == 2


def test_the_interface_for_programs_has_them_at_the_end(ada, rana, tides):
    draft(ada, "north", sent(typed_characters=5, paste_count=1))
    ada.get(ada.address)
    ada.press("north")
    ada.press()
    client = Client()
    client.force_login(rana)
    answer = Response.objects.get()
    address = f"/api/v1/question-sets/{tides.public_id}/answers/"
    row = client.get(f"{address}{answer.public_id}/").json()
    assert list(row)[-11:] == ["first_draft_at", "signals", *COUNTERS, "language"]
    assert (row["signals"], row["typed_characters"], row["away_seconds"]) == ("counted", 5, 0)
    signals.switch_signal_counting(Submission.objects.get(), off=True)
    row = client.get(f"{address}{answer.public_id}/").json()
    assert (row["signals"], row["typed_characters"]) == ("off", None)


@pytest.mark.parametrize(
    ("cells", "column", "code", "values"),
    [
        ({"signals": "perhaps"}, "signals", "signals_unknown", {"cell": "perhaps"}),
        ({"signals": "counted", "paste_count": ""}, "signals", "signals_without_counts",
         {"missing": "paste_count"}),
        *(
            ({"signals": "counted", "paste_count": cell}, "paste_count", "number_unreadable",
             {"cell": cell})
            for cell in ("-1", "1.5", "9" * 30)
        ),
        ({"signals": "", "paste_count": "1"}, "signals", "counts_without_signals", {}),
        ({"first_draft_at": "noon"}, "first_draft_at", "time_unreadable", {"cell": "noon"}),
    ],
)  # fmt: skip
def test_a_file_that_says_it_wrong_is_told_with_its_line(
    tides, tmp_path, cells, column, code, values
):
    good = {"first_draft_at": "", "signals": "counted", **dict.fromkeys(COUNTERS, "0")} | cells
    header = ["worker", "question", "answer", "crowdgrade:answers", *good]
    path = tmp_path / "answers.csv"
    path.write_text(",".join(header) + "\nada,tides1,north,1," + ",".join(good.values()) + "\n")
    with pytest.raises(InputError) as caught:
        import_answers(tides, path)
    found = next(one for one in caught.value.problems if one.column == column)
    check_problem(found, code, line=2, **values)
    assert not Response.objects.exists()


def test_a_file_without_the_columns_is_read_as_before_and_contradicts_nothing(ada, tides, tmp_path):
    draft(ada, "north", sent(typed_characters=5))
    ada.get(ada.address)
    ada.press("north")
    ada.press()
    question = Response.objects.get().question.external_id
    path = tmp_path / "answers.csv"
    path.write_text(f"worker,question,answer,crowdgrade:answers\nada,{question},north,1\n")
    report = import_answers(tides, path, panel="Prolific")
    assert (report.n_new, report.n_unchanged) == (0, 1)
    head, row = "worker,question,answer,crowdgrade:answers,signals", f"ada,{question},north,1,off"
    path.write_text(f"{head}\n{row}\n")
    with pytest.raises(InputError) as caught:
        import_answers(tides, path, panel="Prolific")
    assert faults(caught.value) == [(2, None, "stored_answer_differs")]
    assert Response.objects.get().signals == "counted"
