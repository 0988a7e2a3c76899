"""Workers walk from the link to the code over HTTP without a script, as programs do."""

import csv
import io
import json
import re
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotations import demo
from annotations.answering.sentences import PUBLISHING
from annotations.exchange.importing import import_passages, import_questions
from annotations.models import Collection, Question, QuestionSet, Response, Submission
from tests.annotations.answering.conftest import TELEGRAPH, TIDES, made_set, published
from tests.annotations.answering.walker import Walker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tides(live_server):
    return made_set(User.objects.create_user("rana", is_staff=True))


def said(*arguments):
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def exported(tmp_path, name="tides"):
    path = tmp_path / "answers.csv"
    said("export_answers", name, "--output", str(path))
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["recall", "open"])
def test_a_hundred_pages_by_programs_give_the_answers_with_times(
    live_server, tides, tmp_path, protocol
):
    link = said(
        "publish", "tides", "--places", "2", "--protocol", protocol, "--base-url", live_server.url
    ).splitlines()[-1]
    codes = {who: Walker(link, who).walk() for who in ("ada", "ben")}
    assert codes["ada"] == codes["ben"] != ""
    late = Walker(link, "cy")
    assert late.walk() == ""
    assert late.page.outcome == "full"
    rows = exported(tmp_path)
    assert Counter(row["worker"] for row in rows) == {"ada": 5, "ben": 5}
    assert {row["panel"] for row in rows} == {"Prolific"}
    for row in rows:
        assert row["answer"] == f"{row['worker']} says something about it"
        assert row["started_at"] <= row["submitted_at"]
        assert row["session_state"] == "submitted"
    counts = json.loads(said("monitor", "tides", "--json"))
    assert counts["submitted"] == 2
    assert counts["open"] == counts["timed_out"] == counts["returned"] == 0
    assert (counts["places"], counts["taken"], counts["free"]) == (2, 2, 0)


@pytest.mark.medium
def test_in_recall_each_text_is_read_once_before_its_own_questions(live_server, tides):
    made = published(tides, live_server.url)
    walker = Walker(made.link, "ada")
    walker.walk()
    texts = [i for i, page in enumerate(walker.seen) if TIDES in page.words]
    cable = [i for i, page in enumerate(walker.seen) if TELEGRAPH in page.words]
    assert len(texts) == len(cable) == 1
    asked = [i for i, page in enumerate(walker.seen) if "tides do in case" in page.words]
    assert texts[0] < asked[0]


@pytest.mark.medium
def test_the_progress_bar_counts_the_pages_that_were_answered(live_server, tides):
    ada = Walker(published(tides, live_server.url, protocol="open").link, "ada")
    ada.enter()
    ada.until("page")
    seen = []
    while ada.page.form and ada.page.code == "":
        bar = re.search(r'<progress id="progress" max="(\d+)" value="(\d+)"', ada.response.text)
        seen.append(tuple(map(int, bar.groups())))
        ada.press()
    # A page for each text, then the review of all of them.
    total = len(seen) - 1
    assert total > 1
    assert seen == [(total, n) for n in range(total + 1)]


def test_in_the_open_protocol_the_text_stands_beside_its_questions(live_server, tides):
    made = published(tides, live_server.url, protocol="open")
    walker = Walker(made.link, "ada")
    walker.walk()
    for page in walker.seen:
        if page.form and page.form["texts"]:
            assert (TIDES in page.words) == ("tides do" in page.words)
            assert (TELEGRAPH in page.words) == ("cable do" in page.words)


@pytest.mark.medium
def test_the_demo_set_is_answered_too(live_server, tmp_path):
    owner = User.objects.create_user("rana", is_staff=True)
    question_set = QuestionSet.objects.create(owner=owner, name="demo")
    import_passages(question_set, demo.PASSAGES)
    import_questions(question_set, demo.QUESTIONS)
    n = Question.objects.count()
    arguments = ("--places", "3", "--answers-per-question", "2", "--base-url", live_server.url)
    link = said("publish", "demo", *arguments).splitlines()[-1]
    for who in ("ada", "ben", "cy"):
        assert Walker(link, who).walk()
    rows = exported(tmp_path, "demo")
    assert Counter(Counter(row["question"] for row in rows).values()) == {2: n}
    assert Walker(link, "dan").walk() == ""


@pytest.mark.medium
def test_the_same_link_resumes_on_another_device_and_in_another_session(live_server, tides):
    made = published(tides, live_server.url, protocol="open")
    first = Walker(made.link, "ada", more="&SESSION_ID=s1&STUDY_ID=st")
    first.enter()
    first.press()
    texts = first.page.form["texts"]
    first.press(do="save", **dict.fromkeys(texts, "half of it"))
    second = Walker(made.link, "ada", more="&SESSION_ID=s2&STUDY_ID=st")
    second.enter()
    assert second.page.form["texts"].keys() == texts.keys()
    assert {text.strip() for text in second.page.form["texts"].values()} == {"half of it"}
    submission = Submission.objects.get()
    assert list(submission.panel_sessions.values_list("session_id", flat=True)) == ["s1", "s2"]
    assert second.walk() == made.collection.code_done
    assert first.enter().code == made.collection.code_done


@pytest.mark.medium
def test_practice_tells_what_was_right_and_may_end_it(live_server, tides):
    version = tides.draft()
    for number in (1, 2):
        Question.objects.create(
            version=version, external_id=f"p{number}", text=f"Practice {number}: what is 1 + 1?",
            role="practice", accepted_answers=["two"], feedback="Count **again**.", position=99,
        )  # fmt: skip
    made = published(tides, live_server.url, practice_needed=1, places=1)
    wrong = Walker(made.link, "ada")
    assert wrong.walk() == ""
    told = next(page for page in wrong.seen if page.right)
    assert not any(told.right)
    assert "A right answer: two" in told.words
    assert "Count again ." in told.words
    assert made.collection.code_screened_out in wrong.page.words
    assert Submission.objects.get().state == "screened_out"
    # The place is free again, and who did not pass does not get it.
    assert Walker(made.link, "ada").enter().outcome == "screened_out"
    right = Walker(made.link, "ben", answer=lambda name: " Two ")
    assert right.walk() == made.collection.code_done
    assert any(page.right and all(page.right) for page in right.seen)


@pytest.mark.medium
def test_an_attention_check_and_choices_are_asked_among_the_others(live_server, tides):
    version = tides.draft()
    Question.objects.create(
        version=version, external_id="check", text="Choose “north”.", role="attention",
        kind="choice", choices=["south", "north"], accepted_answers=["north"], position=50,
    )  # fmt: skip
    made = published(tides, live_server.url, protocol="open", places=2, answers_per_question=1)
    for who in ("ada", "ben"):
        assert Walker(made.link, who).walk()
    answers = Response.objects.filter(question__external_id="check")
    assert [answer.text for answer in answers] == ["south", "south"]
    graded = Response.objects.exclude(question__external_id="check")
    assert graded.values("question").distinct().count() == graded.count() == 5


def test_publishing_again_says_so_changes_places_and_prints_the_same_link(live_server, tides):
    first = said("publish", "tides", "--places", "1", "--base-url", live_server.url).splitlines()
    again = said("publish", str(tides.public_id), "--places", "1").splitlines()
    more = said("publish", "tides", "--places", "4").splitlines()
    assert first[-1] == again[-1] == more[-1]
    name = "tides, version 1"
    assert PUBLISHING.text("published", version=name) in first
    assert PUBLISHING.text("unchanged", version=name) in again
    assert PUBLISHING.text("changed", version=name, names=["places"]) in more
    assert json.loads(said("monitor", "tides", "--json"))["places"] == 4


CODES = {
    "code_done": "DONE1",
    "code_no_consent": "NO1",
    "code_screened_out": "OUT1",
    "code_too_late": "LATE1",
    "code_not_chosen": "NOT1",
    "code_failed_checks": "CHECKS1",
}


@pytest.mark.medium
def test_the_panel_its_codes_and_the_way_back_are_options_and_workers_get_them(live_server, tides):
    codes = [part for name, code in CODES.items() for part in (_option(name), code)]
    link = said(
        *("publish", "tides", "--places", "1", "--base-url", live_server.url),
        *("--worker-parameter", "who", "--panel", "Ours"),
        *("--return-url", "https://panel.example/back?cc={code}", *codes),
    ).splitlines()[-1]
    walker = Walker(link, "ada", parameter="who")
    assert walker.walk() == "DONE1"
    assert "https://panel.example/back?cc=DONE1" in walker.response.text
    assert Submission.objects.get().worker.panel == "Ours"
    kept = Collection.objects.values(*CODES, "panel", "return_url").get()
    assert kept == CODES | {"panel": "Ours", "return_url": "https://panel.example/back?cc={code}"}
    late = Walker(link, "ben", parameter="who")
    late.walk()
    assert "LATE1" in late.page.words
    # Said again nothing changes; what is not said stays; empty takes the way back.
    again = said("publish", "tides", *codes)
    assert "nothing changed" in again
    assert "changed: return url" in said("publish", "tides", "--return-url", "")
    assert Collection.objects.get().code_done == "DONE1"
    with pytest.raises(CommandError) as caught:
        said("publish", "tides", "--panel", "Else")
    assert caught.value.__cause__.code == "compares_answers"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--code-done", ""], "--code-done: "),
        (["--code-no-consent", " "], "--code-no-consent: "),
        (["--code-done", "x" * 41], "--code-done: .* 40 characters"),
        (["--panel", "x" * 101], "--panel: .* 100 characters"),
        (["--return-url", "https://x/" + "y" * 500], "--return-url: .* 500 characters"),
        (["--return-url", "http://panel.example/"], "https"),
        (["--code-done", "A", "--code-too-late", "A"], "tides: "),
    ],
)
def test_what_will_not_do_of_the_panel_publishes_nothing(tides, options, says):
    with pytest.raises(CommandError, match=says) as caught:
        said("publish", "tides", "--places", "1", *options)
    assert caught.value.returncode == 2
    assert not Collection.objects.exists()
    assert not tides.latest_version().is_published


def _option(name):
    return f"--{name.replace('_', '-')}"


@pytest.mark.medium
def test_another_parameter_names_the_worker(live_server, tides):
    link = said(
        *("publish", "tides", "--places", "1", "--worker-parameter", "who"),
        *("--base-url", live_server.url),
    ).splitlines()[-1]
    assert Walker(link, "ada").enter().outcome == "id_missing"
    assert Walker(link, "ada", parameter="who").walk()
    assert Submission.objects.get().worker.panel == ""
