"""How answers were written: said beside alarms, compared with others, and in no grade."""

import re
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils.html import escape

from annotations.models import COUNTERS, Response, Worker
from evaluation.grading.results.report.evidence import read_signals
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm
from tests.features import FEATURES
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[4]
FIFTY = "x" * 50  # characters of every answer


@pytest.fixture
def run(rana):
    """Eight people with six answers each."""
    return world.finished(owner=rana, n_workers=8, n_questions=6, text=FIFTY)


def count(worker, n=6, **some):
    """Let something be counted of the first n answers of a worker."""
    rows = Response.objects.filter(submission__worker__external_id=worker).order_by("pk")
    typed = {"typed_characters": 50} | some
    rows = Response.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[:n]))
    rows.update(signals="counted", **(dict.fromkeys(COUNTERS, 0) | typed))


def told(run, worker, **how):
    """The codes and values of what is said of a worker."""
    found = read_signals(run, [of(worker)], **how).get(of(worker))
    return found and [(one.code, dict(one.values)) for one in found.said]


def compared(code, below, same, above):
    """The code and values of a comparison with others."""
    others = below + same + above
    return code, {"others": others, "below": below, "same": same, "above": above}


def of(worker):
    return Worker.objects.get(external_id=worker).public_id


@pytest.fixture
def counted(run):
    """Worker 1 pasted four of six answers and left the page; worker 2 one; five others none."""
    for number in range(1, 8):
        count(f"w{number:03}")
    count("w001", n=4, typed_characters=3, paste_count=1, pasted_characters=47, blur_count=2,
          away_seconds=45, active_seconds=15)  # fmt: skip
    count("w002", n=1, paste_count=2, pasted_characters=500, typed_characters=0)
    return run


def test_what_was_pasted_is_said_with_what_others_did(counted):
    assert told(counted, "w001") == [
        # 4 x 47 of 4 x 50 characters.
        ("signals.pasted", {"n": 6, "pasted": 4, "share": pytest.approx(0.94)}),
        # Worker 2 pasted into 1 of 6, the five others into none.
        compared("signals.pasted_more", below=6, same=0, above=0),
        compared("signals.left_more", below=6, same=0, above=0),
        # 4 x 2 times, 4 x 45 s, 4 x 15 s.
        ("signals.away", {"left": 8, "away": 180, "active": 60}),
    ]
    assert told(counted, "w003")[:2] == [
        ("signals.pasted", {"n": 6, "pasted": 0, "share": None}),
        compared("signals.pasted_more", below=0, same=4, above=2),
    ]


def test_more_than_an_answer_holds_is_not_more_than_all_of_it(counted):
    assert told(counted, "w002")[0] == ("signals.pasted", {"n": 6, "pasted": 1, "share": 1})


def test_one_worker_is_told_of_with_the_answer_of_which_least_was_typed(counted):
    least = {"typed": 3, "length": 50, "question": "r1", "pasted": 47}
    assert told(counted, "w001", in_full=True)[1] == ("signals.typed", least)
    assert "signals.typed" not in dict(told(counted, "w003", in_full=True))
    count("w003", n=1, typed_characters=10)
    least |= {"typed": 10, "pasted": 0}
    assert told(counted, "w003", in_full=True)[1] == ("signals.typed", least)


def test_nobody_is_compared_with_a_handful(run):
    for number in (1, 2, 3):
        count(f"w{number:03}")
    assert told(run, "w001")[1] == ("signals.few", {"others": 2})


def test_not_measured_and_switched_off_are_no_zeros(counted):
    assert told(counted, "w008") == [("signals.none", {})]
    Response.objects.filter(submission__worker__external_id="w008").update(signals="off")
    assert told(counted, "w008") == [("signals.off", {})]


def test_where_nothing_was_counted_nothing_is_said_by_one_query(run, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert read_signals(run, [of_one.public_id for of_one in ()]) == {}
    assert told(run, "w001") is None


def test_it_takes_one_query(counted, django_assert_num_queries):
    everybody = list(Worker.objects.values_list("public_id", flat=True))
    with django_assert_num_queries(1):
        assert len(read_signals(counted, everybody)) == len(everybody)
    pasting = of("w001")
    with django_assert_num_queries(1):
        read_signals(counted, [pasting], in_full=True)


def test_the_pages_show_it_beside_the_alarm_with_what_it_does_not_prove(client, rana, counted):
    client.force_login(rana)
    alarm(counted, workers=["w001", "w002"])
    ids = {"run": counted.public_id}
    one = {**ids, "worker": of("w001")}
    for address in (
        reverse("admin:results-worker", kwargs=one),
        reverse("admin:results-triage-worker", kwargs=one),
        reverse("admin:results-alarm", kwargs={**ids, "place": 0}),
    ):
        page = " ".join(client.get(address).content.decode().split())
        assert site_sentence("signals.pasted", n=6, pasted=4, share=0.94) in page
        assert escape(site_sentence("signals.limits")) in page


def test_the_pages_of_a_set_that_was_not_counted_do_not_speak_of_it(client, rana, run):
    client.force_login(rana)
    alarm(run, workers=["w001"])
    ids = {"run": run.public_id}
    for address in (
        reverse("admin:results-worker", kwargs={**ids, "worker": of("w001")}),
        reverse("admin:results-alarm", kwargs={**ids, "place": 0}),
    ):
        page = client.get(address).content.decode()
        assert 'id="written"' not in page
        assert escape(site_sentence("signals.limits")) not in page


def test_a_stranger_sees_nothing_of_it(client, django_user_model, counted):
    client.force_login(django_user_model.objects.create_user("sam", is_staff=True))
    address = reverse(
        "admin:results-worker", kwargs={"run": counted.public_id, "worker": of("w001")}
    )
    assert client.get(address).status_code == 404


def test_nothing_that_grades_rings_admits_or_pays_reads_a_count():
    folders = [
        *("evaluation/core/stats", "evaluation/runs/flow", "evaluation/runs/steps"),
        *("evaluation/runs/run_types", "evaluation/runs/files", "evaluation/runs/background"),
        *("evaluation/consensus", "evaluation/grading/alarms", "evaluation/grading/run"),
        *("evaluation/grading/alarms/report", "evaluation/models"),
    ]
    folders += [f"evaluation/{name}" for name in FEATURES]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    files += [ROOT / f"annotations/answering/{name}.py" for name in ("places", "order", "practice")]
    assert len(files) > 200
    names = re.compile("|".join(COUNTERS))
    assert [path.name for path in files if names.search(path.read_text())] == []
