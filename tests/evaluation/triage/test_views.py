"""The queue: one worker after the other, with keys or buttons; back to where one was."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.html import escape
from django.utils.text import capfirst

from annotations.models import Response, Share, Worker
from evaluation.core.messages.reasons import REASONS
from evaluation.grading.alarms.messages import get_short_statement
from evaluation.models import WorkerVerdict
from evaluation.triage.storage import VERDICT_PROBLEMS, decide_on_worker
from evaluation.triage.views.exclusion import ACCEPT_PROBLEMS
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm, looked
from tests.evaluation.site.handles import element_text, error_codes, notices, numbers, states
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 2, 9, tzinfo=UTC)


def worker_of(run, name):
    return Worker.objects.get(owner=run.owner, external_id=name)


def at(run, name, **query):
    ids = {"run": run.public_id, "worker": worker_of(run, name).public_id}
    link = reverse("admin:results-triage-worker", kwargs=ids)
    return link + ("?" + "&".join(f"{key}={value}" for key, value in query.items()))


def same_as(name):
    """The sentence that all 12 answers are those of another worker."""
    return escape(site_sentence("triage.partner", read=12, same=12, other=name))


def first_in_times(me="w001", other="w002", **counts):
    """The sentence of who of two was first in 12 answers, how often; without counts: not known."""
    times = dict.fromkeys(("before", "earlier", "after", "later", "together"), 0)
    return site_sentence("triage.times", me=me, other=other, n=12, **{**times, **counts})


def rest_sentence(n, named=0, again=0, with_alarms=False):
    """The sentence of how many one press would accept, and how many stay open."""
    values = {"n": n, "named": named, "again": again, "with_alarms": with_alarms}
    return site_sentence("triage.rest", silent=0, decided=0, **values)


def queue_link(run):
    return reverse("admin:results-triage", kwargs={"run": run.public_id})


def sent(response):
    """The name of the worker that a redirect leads to; "" for another page."""
    found = re.search(r"/triage/([0-9a-f-]{36})/", response.headers["Location"])
    return Worker.objects.get(public_id=found[1]).external_id if found else ""


@pytest.fixture
def run(rana):
    """20 workers, w001 the best; w020 has no rank; w016 to w019 are the lowest."""
    return looked(world.finished(owner=rana, n_workers=20, n_questions=12))


@pytest.fixture
def copied(run):
    """w001 and w002 copy; w002 has the same text as w001 but for light edits, w003 has not."""
    alarm(run, workers=["w001", "w002"])
    for name, words in (("w001", "over the hills"), ("w002", "over the hill")):
        for response in Response.objects.filter(submission__worker__external_id=name):
            response.text = f"It springs in the east and runs {words} of {response.question}"
            response.save()
    return run


def test_the_queue_begins_with_whom_an_alarm_names_and_counts_what_is_open(site, copied):
    page = site.get(queue_link(copied)).content.decode()
    places = [page.index(f"<bdi>{name}</bdi></a>") for name in ("w001", "w002", "w019", "w016")]
    assert places == sorted(places)
    assert numbers(element_text(page, "triage-done")) == [6, 6]
    assert "undecided" in states(page)
    assert "<bdi>w005</bdi>" not in page
    assert 'id="files"' not in page  # nothing is decided


def test_everybody_is_in_the_queue_on_wish(site, copied):
    page = site.get(queue_link(copied) + "?who=everybody").content.decode()
    assert numbers(element_text(page, "triage-done")) == [20, 20]
    # Whom nothing speaks against comes last: the worst rank first, at the end who has none.
    places = [page.index(f"<bdi>{name}</bdi></a>") for name in ("w016", "w015", "w003", "w020")]
    assert places == sorted(places)


def test_a_page_says_why_somebody_is_here_and_shows_whom_the_answers_resemble(site, copied):
    page = site.get(at(copied, "w001")).content.decode()
    assert "<strong>1 of 6</strong>" in page
    assert f"{capfirst(get_short_statement('copies'))}." in page
    assert same_as("w002") in page
    assert first_in_times() in page
    assert "<mark>It springs in the east and runs over the</mark> <del>hills</del>" in page
    assert "<ins>hill</ins>" in page


def test_who_answered_first_could_not_have_copied(site, copied):
    for name, hours in (("w001", 0), ("w002", 2)):
        Response.objects.filter(submission__worker__external_id=name).update(
            started_at=START + timedelta(hours=hours),
            submitted_at=START + timedelta(hours=hours + 1),
        )
    # Seen from either, w001 was first all 12 times.
    assert first_in_times(before=12) in site.get(at(copied, "w001")).content.decode()
    said = first_in_times(me="w002", other="w001", after=12)
    assert said in site.get(at(copied, "w002")).content.decode()


def test_the_time_of_a_whole_survey_is_shown_once(site, copied):
    def shown(seconds):
        page = site.get(at(copied, "w001")).content.decode()
        return page.count('data-survey="own"'), page.count(seconds)

    answers = Response.objects.filter(submission__worker__external_id="w001")
    answers.update(
        started_at=START, submitted_at=START + timedelta(seconds=1076), work_seconds=1076
    )
    assert shown("1,076 s") == (1, 1)
    answers.filter(pk=answers.first().pk).update(work_seconds=60)
    assert shown("1,076 s")[0] == 0


def test_nobody_else_s_words_the_answers_stand_beside_the_best_response_worst_first(site, run):
    page = site.get(at(run, "w019")).content.decode()
    assert capfirst(site_sentence("look.lowest", first=18, last=20, ranked=19)) in page
    assert "The best response" in page
    assert site_sentence("triage.nothing") in page


def test_a_decision_leads_to_the_next_of_whom_nobody_decided(site, copied):
    assert sent(site.post(at(copied, "w001"), {"do": "accept"})) == "w002"
    out = {"do": "exclude", "category": "copied"}
    assert sent(site.post(at(copied, "w002"), out)) == "w019"
    assert sent(site.post(at(copied, "w016"), {"do": "look"})) == "w019"
    page = site.get(queue_link(copied)).content.decode()
    # 3 of 6 are open, and 1 is to review again.
    assert numbers(element_text(page, "triage-done")) == [3, 6, 1]
    assert f": {REASONS['copied'].briefly}</span>" in page


@pytest.mark.medium
def test_after_the_last_one_comes_the_queue(site, copied):
    for name in ("w002", "w016", "w017", "w018", "w019"):
        site.post(at(copied, name), {"do": "accept"})
    last = site.post(at(copied, "w001"), {"do": "accept"})
    assert last.headers["Location"] == queue_link(copied)
    page = site.get(queue_link(copied)).content.decode()
    assert "decided" in states(page)
    assert numbers(element_text(page, "triage-done")) == []


def test_the_key_u_takes_back_what_counts_or_the_last_one_of_another(site, copied):
    site.post(at(copied, "w001"), {"do": "accept"})
    page = site.get(at(copied, "w002")).content.decode()
    assert "Undo: <bdi>w001</bdi> accepted" in page
    seen = WorkerVerdict.objects.get().public_id
    answer = site.post(at(copied, "w001"), {"do": "undo", "seen": seen})
    assert sent(answer) == "w001"
    page = site.get(at(copied, "w001")).content.decode()
    assert ">Taken back</span>" in page
    assert "6</strong>" in page
    assert "6 open" in page
    assert [row.kind for row in WorkerVerdict.objects.order_by("pk")] == ["accept", "undo"]


@pytest.mark.parametrize(
    ("posted", "field", "code"),
    [
        ({"do": "exclude"}, "category", "required"),
        ({"do": "exclude", "category": "burnt"}, "category", "invalid_choice"),
        ({"do": "exclude", "category": "own", "reason": " "}, "reason", "reason_missing"),
        (
            {"do": "exclude", "category": "machine", "rejects": "on"},
            "rejects",
            "machine_is_no_reason",
        ),
        ({"do": "exclude", "category": "own", "reason": "x" * 601}, "reason", "max_length"),
        ({"do": "burn"}, None, "unknown_decision"),
        ({"do": "undo"}, None, "nothing_to_take_back"),
    ],
)
def test_what_cannot_be_kept_is_said_and_what_was_typed_stays(site, copied, posted, field, code):
    answer = site.post(at(copied, "w001"), {"reason": "<b>typed</b>", **posted})
    page = answer.content.decode()
    assert answer.status_code == 400
    if field is None:
        assert answer.context_data["problem"] == VERDICT_PROBLEMS[code]
        assert VERDICT_PROBLEMS[code] in page
    else:
        form = answer.context_data["form"]
        assert list(form.errors) == [field]
        assert error_codes(form.errors.as_data()[field]) == [code]
        assert escape(form.errors[field][0]) in page
    if posted.get("do") == "exclude" and "reason" not in posted:
        assert "&lt;b&gt;typed&lt;/b&gt;" in page
    assert not WorkerVerdict.objects.exists()


def test_the_second_of_two_sees_what_the_first_decided_and_loses_nothing(site, copied):
    tara = User.objects.create(username="tara", is_staff=True)
    decide_on_worker(copied, worker_of(copied, "w001"), tara, "accept")
    posted = {"do": "exclude", "category": "own", "reason": "typed by Rana", "seen": ""}
    answer = site.post(at(copied, "w001"), posted)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "tara decided meanwhile: Accepted" in page
    assert "typed by Rana" in page
    assert WorkerVerdict.objects.get().kind == "accept"
    # Having seen it, Rana may decide otherwise.
    posted["seen"] = re.search(r'name="seen" value="([^"]+)"', page)[1]
    assert site.post(at(copied, "w001"), posted).status_code == 302
    assert [row.kind for row in WorkerVerdict.objects.order_by("pk")] == ["accept", "exclude"]


def test_exclude_leads_back_to_where_one_was_on_this_site_alone(site, run):
    people = reverse("admin:results-people", kwargs={"run": run.public_id})
    out = {"do": "exclude", "category": "low_effort"}
    assert site.post(at(run, "w005", back=people), out).headers["Location"] == people
    elsewhere = (
        "https://evil.example/",
        "//evil.example",
        "javascript:alert(1)",
        "/\\evil.example",
    )
    for name, address in zip(("w006", "w007", "w008", "w009"), elsewhere, strict=True):
        answer = site.post(at(run, name, back=address), out)
        assert "evil" not in answer.headers["Location"]
        assert "javascript" not in answer.headers["Location"]


@pytest.mark.parametrize("name", ["results-people", "results-decision"])
def test_exclude_is_a_button_wherever_somebody_is_shown(site, copied, name):
    here = reverse(f"admin:{name}", kwargs={"run": copied.public_id})
    page = site.get(here).content.decode()
    link = re.search(r'class="cg-small exclude" href="([^"]+)"', page)[1].replace("&amp;", "&")
    reasons = site.get(link)
    assert reasons.status_code == 200
    assert reasons.context_data["is_open"]
    assert reasons.context_data["back"] == here


def test_who_may_only_read_sees_the_evidence_and_decides_nothing(client, copied):
    vera = User.objects.create(username="vera", is_staff=True)
    Share.objects.create(question_set=copied.version.question_set, user=vera, role="viewer")
    client.force_login(vera)
    page = client.get(at(copied, "w001")).content.decode()
    assert same_as("w002") in page
    assert 'name="do"' not in page
    assert client.post(at(copied, "w001"), {"do": "accept"}).status_code == 403
    assert not WorkerVerdict.objects.exists()


def test_texts_of_workers_are_escaped_in_every_part(site, copied):
    for response in Response.objects.filter(submission__worker__external_id="w002"):
        response.text = "<script>alert(1)</script> hills & <b>east</b>"
        response.save()
    other = worker_of(copied, "w002").public_id
    page = site.get(at(copied, "w001", **{"with": other})).content.decode()
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "&lt;" in page


@pytest.mark.parametrize("n_workers", [20, 60])
def test_the_pages_take_a_constant_number_of_queries(
    site, rana, n_workers, django_assert_max_num_queries
):
    run = looked(world.finished(owner=rana, n_workers=n_workers, n_questions=12))
    alarm(run, workers=[f"w{i:03}" for i in range(1, n_workers // 2)])
    for name in ("w001", "w002"):
        decide_on_worker(run, worker_of(run, name), rana, "accept")
    with django_assert_max_num_queries(30):
        site.get(queue_link(run))
    with django_assert_max_num_queries(36):
        site.get(at(run, "w001"))


def accept_link(run, **query):
    link = reverse("admin:results-triage-accept", kwargs={"run": run.public_id})
    return link + ("?" + "&".join(f"{key}={value}" for key, value in query.items()))


def confirmed(site, run, **query):
    """What the page of everybody else would post."""
    page = site.get(accept_link(run, **query)).content.decode()
    return {
        name: re.search(rf'type="hidden" name="{name}" value="([^"]*)"', page)[1]
        for name in ("who", "alarms", "seen")
    }


@pytest.mark.medium
def test_everybody_else_is_accepted_after_it_is_said_how_many_and_who_is_not(site, copied):
    site.post(at(copied, "w019"), {"do": "look"})
    queue = site.get(queue_link(copied)).content.decode()
    assert f'href="{accept_link(copied).rstrip("?")}"' in queue
    page = site.get(accept_link(copied)).content.decode()
    # 20 but for two whom the alarm names and one to review again.
    assert rest_sentence(n=17, named=2, again=1) in page
    left = page[page.index('id="left"') : page.index('id="accepted"')]
    for name in ("w001", "w002", "w019"):
        assert f"<bdi>{name}</bdi>" in left
    assert "Accept 17 people</button>" in page
    assert not WorkerVerdict.objects.filter(kind="accept").exists()
    answer = site.post(accept_link(copied), confirmed(site, copied))
    assert answer.headers["Location"] == queue_link(copied)
    assert WorkerVerdict.objects.filter(kind="accept").count() == 17
    queue = site.get(queue_link(copied))
    ((level, notice),) = notices(queue)
    assert (level, numbers(notice)) == ("success", [17])
    page = queue.content.decode()
    # 17 to approve, 0 to reject; in no list 1 to look at again and 2 undecided.
    assert numbers(element_text(page, "files-counts")) == [17, 0, 1, 2]
    undo = re.search(r'action="([^"]+/undo/)"', page)[1]
    assert site.post(undo).headers["Location"] == queue_link(copied)
    queue = site.get(queue_link(copied))
    ((level, notice),) = notices(queue)
    assert (level, numbers(notice)) == ("success", [17])
    assert undo not in queue.content.decode()
    n_rows = WorkerVerdict.objects.count()
    site.post(undo)  # the button of a page that was open
    assert [level for level, _ in notices(site.get(queue_link(copied)))] == ["warning"]
    assert WorkerVerdict.objects.count() == n_rows


def test_those_of_the_filter_are_accepted_and_alarms_only_on_wish(site, copied):
    queue = site.get(queue_link(copied)).content.decode()
    assert accept_link(copied, who="look") in queue
    chosen = {"who": "look", "alarms": "true"}
    page = site.get(accept_link(copied, **chosen)).content.decode()
    assert rest_sentence(n=6, named=2, with_alarms=True) in page
    assert numbers(element_text(page, "named_accepted")) == [2]
    site.post(accept_link(copied), confirmed(site, copied, **chosen))
    page = site.get(queue_link(copied)).content.decode()
    assert "decided" in states(page)
    # 6 to approve, 0 to reject, 14 of the 20 in no list.
    assert numbers(element_text(page, "files-counts")) == [6, 0, 14]


def test_a_list_that_moved_is_shown_anew_and_nobody_is_accepted(site, copied):
    posted = confirmed(site, copied)
    tara = User.objects.create(username="tara", is_staff=True)
    decide_on_worker(copied, worker_of(copied, "w005"), tara, "exclude", "copied")
    answer = site.post(accept_link(copied), posted)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert answer.context_data["problem"] == ACCEPT_PROBLEMS["moved"]
    assert ACCEPT_PROBLEMS["moved"] in page
    assert "Accept 17 people</button>" in page
    assert not WorkerVerdict.objects.filter(kind="accept").exists()


def test_where_nobody_is_left_the_page_says_so(site, copied):
    posted = confirmed(site, copied)
    site.post(accept_link(copied), posted)
    assert site.post(accept_link(copied), posted).status_code == 302  # a second press
    page = site.get(accept_link(copied)).content.decode()
    assert "none_left" in states(page)
    answer = site.post(accept_link(copied), {**posted, "seen": ""})
    assert answer.status_code == 409
    assert answer.context_data["problem"] == ACCEPT_PROBLEMS["none_left"]
    # Two whom an alarm names are open, so that the way stays open, too.
    assert (
        f'href="{accept_link(copied).rstrip("?")}"' in site.get(queue_link(copied)).content.decode()
    )
    assert site.get(accept_link(copied, who="burn")).status_code == 404
    assert site.post(accept_link(copied), {"who": "burn"}).status_code == 404


def test_who_may_only_read_accepts_nobody(client, copied):
    vera = User.objects.create(username="vera", is_staff=True)
    Share.objects.create(question_set=copied.version.question_set, user=vera, role="viewer")
    client.force_login(vera)
    page = client.get(accept_link(copied)).content.decode()
    assert rest_sentence(n=18, named=2) in page
    assert 'name="seen"' not in page
    assert client.post(accept_link(copied), {"seen": "x"}).status_code == 403
    link = accept_link(copied).rstrip("?")
    assert f'href="{link}"' not in client.get(queue_link(copied)).content.decode()


def test_the_queue_can_go_by_question_contrast_and_says_so(site, run):
    """Three contrasts are set by hand; workers without one come last, by name."""
    grades = run.worker_grades.order_by("worker__external_id")
    grades.update(contrast=None, contrast_low=None, contrast_high=None)
    given = dict(zip(list(grades)[:3], (0.3, -0.1, 0.2), strict=True))
    for grade, contrast in given.items():
        grade.contrast = contrast
        grade.save()
    first = [grade.worker.public_id for grade in sorted(given, key=given.__getitem__)]
    page = site.get(queue_link(run), {"who": "everybody", "order": "contrast"})
    workers = page.context["queue"].workers
    assert list(workers[:3]) == first
    rest = run.worker_grades.filter(contrast=None).order_by("worker__external_id")
    assert list(workers[3:]) == list(rest.values_list("worker__public_id", flat=True))
    assert 'data-order="contrast"' in page.content.decode()
    # The links to the workers keep the order, and so does the way from one to the next.
    link = reverse("admin:results-triage-worker", args=[run.public_id, first[0]])
    one = site.get(link + page.context["query"])
    assert (one.context["before"], one.context["after"]) == (None, first[1])
    # Without it the order is that of the alarms and the ranks.
    usual = site.get(queue_link(run), {"who": "everybody"}).context["queue"].workers
    assert list(usual[:3]) != first
