"""What a run found beside grades: alarms, models pair by pair, trust, another run, the planner."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.models import Share
from evaluation.core.messages.reasons import WHY_UNCHECKED
from evaluation.core.options import API
from evaluation.grading.methods.check_results import CHECK_NAMES
from evaluation.grading.results.report.against import build_run_comparison
from evaluation.grading.results.report.comparisons import build_comparisons_report
from evaluation.models import Alarm, LanguageModel, Run
from evaluation.runs.reports.planner import build_planner_report
from evaluation.sample_size.report import build_run_plan
from evaluation.sample_size.run.trial import PlanTargets
from evaluation.trust.report import build_trust_report
from tests.api.conftest import problem
from tests.desk.routes import other_run
from tests.evaluation.grading.results import world as graded
from tests.evaluation.grading.results.alarm_world import alarm

pytestmark = pytest.mark.django_db
PAIRS = [("r1", "w001", "w002"), ("r2", "w001", "model 0"), ("r3", "w002", None)]


@pytest.fixture
def run(rana):
    return graded.finished(n_workers=9, n_questions=8, n_models=3, owner=rana)


@pytest.fixture
def results(run):
    return f"runs/{run.public_id}/results/"


def another(run):
    found = other_run(SimpleNamespace(owner=run.owner, run=run))
    return Run.objects.select_related("version__question_set").get(public_id=found)


def addresses(run):
    first, second = LanguageModel.objects.filter(owner=run.owner).order_by("pk")[:2]
    ends = (
        "alarms/",
        "alarms/no-0/",
        "comparisons/",
        f"comparisons/{first.public_id}/{second.public_id}/",
        "trust/",
        f"against/{another(run).public_id}/",
        "planner/",
        "plan/",
    )
    return [f"runs/{run.public_id}/results/{end}" for end in ends]


def test_an_alarm_says_what_rang_on_whom_and_by_how_much(api, rana, run, results):
    asking = api(rana)
    alarm(run, workers=["w001", "w002"], questions=["r1"], pairs=PAIRS)
    alarm(run, kind="dont_know", severity="notice", workers=["w003"])
    sent = asking.get(f"{results}alarms/").json()
    assert (sent["looked"], sent["counts"]) == (True, {"alarm": 1, "notice": 1})
    checks = {check["name"]: check for check in sent["checks"]}
    assert list(checks) == list(CHECK_NAMES)
    assert {name: (one["rings"], one["result"], one["needed"]) for name, one in checks.items()} == {
        **dict.fromkeys(CHECK_NAMES, (False, "not_applicable", None)),
        "two_camps": (True, "problem", None),
        "leverage": (False, "not_enough_data", 5),
        # Of checks that the run did not store, those that raised an alarm.
        "copies": (True, "problem", None),
        "dont_know": (True, "problem", None),
    }
    assert checks["leverage"]["why"] == WHY_UNCHECKED["fewer_than_5_questions"]
    assert checks["repeated"]["why"] == WHY_UNCHECKED["not_recorded"]
    for address in ("trust/", "decision/"):
        assert asking.get(f"{results}{address}").json()["checks"] == sent["checks"]
    copies, _ = sent["alarms"]["results"]
    assert (copies["place"], copies["kind"], copies["severity"]) == (0, "copies", "alarm")
    assert (copies["statistic"], copies["threshold"]) == (0.9, 0.5)
    assert copies["message"] == "Read (collapse_copies)."  # as the key of the API
    assert [worker["name"] for worker in copies["workers"]] == ["w001", "w002"]
    question = run.version.questions.get(external_id="r1")
    assert copies["questions"] == [{"id": str(question.public_id), "name": "r1"}]
    w003 = asking.get(f"{results}workers/?alarm=1").json()["results"][0]["worker"]
    [named] = asking.get(f"{results}alarms/?worker={w003}").json()["alarms"]["results"]
    assert named["kind"] == "dont_know"


def test_a_run_that_never_looked_is_not_called_silent(api, rana, results):
    sent = api(rana).get(f"{results}alarms/").json()
    assert (sent["looked"], sent["alarms"]["results"]) == (False, [])


def test_the_evidence_is_texts_side_by_side(api, rana, run, results):
    asking = api(rana)
    alarm(run, workers=["w001", "w002"], questions=["r1"], pairs=PAIRS)
    sent = asking.get(f"{results}alarms/no-0/").json()
    people, of_model, alone = sent["pairs"]["results"]
    assert people["left"]["text"] == "river r1 runs north, says w001"
    assert people["right"]["text"] == "river r1 runs north, says w002"
    assert people["right"]["is_named"]
    assert of_model["right"] == {
        "name": "model 0",
        "text": "model 0 on r2",
        "worker": None,
        "is_named": False,
        "grade": None,
        "is_model": True,
    }
    assert (alone["right"], alone["is_pair"]) == (None, False)
    assert [row["name"] for row in sent["workers"]["results"]] == ["w001", "w002"]
    assert [row["name"] for row in sent["questions"]["results"]] == ["r1"]
    problem(asking.get(f"{results}alarms/no-1/"), 404, "not-found")


def followed(asking, address, inside):
    """All rows of a list inside of a report, a page at a time."""
    rows = []
    while address:
        page = asking.get(address).json()
        page = page.get(inside, page)
        rows += page["results"]
        address = page["next"]
    return rows


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_long_lists_in_reports_are_followed_to_their_end(api, rana, run, results, limit):
    names = [f"w{i:03}" for i in range(1, 6)]
    asked = ["r1", "r2", "r3", "r4"]
    alarm(run, workers=names, questions=asked, pairs=[(q, "w001", "w002") for q in asked])
    for _ in range(4):
        alarm(run, kind="leverage", workers=["w001"])
    asking = api(rana)
    for address, inside, key, expected in (
        ("alarms/", "alarms", "place", [0, 1, 2, 3, 4]),
        ("alarms/no-0/", "pairs", "question_name", asked),
        ("alarms/no-0/", "workers", "name", names),
        ("alarms/no-0/", "questions", "name", asked),
    ):
        rows = followed(asking, f"{results}{address}?limit={limit}", inside)
        assert [row[key] for row in rows] == expected, address


def test_workers_of_two_runs_are_followed_to_their_end(api, rana, run, results):
    other = another(run)
    for row in run.worker_grades.all():
        row.pk, row.run = None, other
        row.save(force_insert=True)
    rows = followed(api(rana), f"{results}against/{other.public_id}/?limit=4", "workers")
    assert [row["name"] for row in rows] == [
        w.name for w in build_run_comparison(run, other).workers
    ]
    assert len(rows) == 9


def test_models_are_compared_as_on_the_page(api, rana, run, results):
    asking, expected = api(rana), build_comparisons_report(run)
    sent = asking.get(f"{results}comparisons/").json()
    assert (sent["n_pairs"], sent["of"], len(sent["pairs"])) == (3, None, 3)
    values = [pair.difference.value for pair in expected.pairs]
    assert [pair["difference"]["value"] for pair in sent["pairs"]] == values
    assert {pair["better"] for pair in sent["pairs"]} == {""}  # p after correction is .4
    last = sent["models"][-1]["model"]
    turned = asking.get(f"{results}comparisons/?model={last}").json()
    assert {pair["first"] for pair in turned["pairs"]} == {last}
    assert len(turned["pairs"]) == 2
    pair = sent["pairs"][0]
    two = asking.get(f"{results}comparisons/{pair['first']}/{pair['second']}/").json()
    assert two["pair"] == pair
    assert two["first_better"][0]["first_text"].startswith(pair["first_name"])
    for end in (f"?model={run.public_id}", f"{last}/{last}/"):
        problem(asking.get(f"{results}comparisons/{end}"), 404, "not-found")


def test_trust_and_planner_are_those_of_the_pages(api, rana, run, results):
    asking = api(rana)
    sent, report = asking.get(f"{results}trust/").json(), build_trust_report(run)
    assert sent["verdict"]["headline"] == API.format_message(report.verdict.headline)
    assert [(f["name"], f["level"], f["word"], f["todo"]) for f in sent["facts"]] == [
        (fact.name, fact.level, fact.word, API.format_message(fact.todo)) for fact in report.facts
    ]
    assert [(fact["result"], fact["needed"]) for fact in sent["facts"]] == [
        (fact.result, fact.needed) for fact in report.facts
    ]
    keys = {"name", "level", "title", "said", "meaning", "todo", "word", "result", "needed"}
    assert keys == sent["facts"][0].keys()
    sent, plan = asking.get(f"{results}planner/").json(), build_planner_report(run)
    assert sent["similarity"] == pytest.approx(plan.similarity)
    assert sent["more"]["workers"] == sent["now"]["workers"] + 10
    assert "curve" not in sent


def test_a_plan_is_that_of_the_page_and_its_rows_are_a_file(api, rana, run, results):
    asking = api(rana)
    found = build_run_plan(run, PlanTargets(pay=0.2, within=0.01, most=1000))
    wishes = "?pay=0.2&within=0.01&most=1000"
    sent = asking.get(f"{results}plan/{wishes}").json()
    assert (sent["total_answers"], sent["total_cost"]) == (
        found.plan.total_answers,
        found.plan.total_cost,
    )
    assert sent["said"] == API.format_messages(found.messages)
    file = asking.get(f"{results}plan/questions/{wishes}&format=csv")
    lines = b"".join(file.streaming_content).decode("utf-8-sig").splitlines()
    assert len(lines) == 1 + len(found.questions)
    assert problem(asking.get(f"{results}plan/?pay=-1"), 400, "invalid")
    assert problem(asking.get(f"{results}plan/?wages=1"), 400, "invalid")
    problem(asking.get(f"{results}plan/models/"), 404, "not-found")


def test_a_run_is_set_against_another_one_of_its_set_only(api, rana, otto, run, results):
    asking, other = api(rana), another(run)
    Run.objects.filter(pk=other.pk).update(parameters={"embedder": "bow"})
    sent = asking.get(f"{results}against/{other.public_id}/").json()
    assert (sent["before"]["run"], sent["after"]["run"]) == (
        str(run.public_id),
        str(other.public_id),
    )
    assert {"what": "embedder", "before": "minilm", "after": "bow"} in sent["parameters"]
    elsewhere = graded.finished(owner=otto)
    for wrong in (run, elsewhere):
        problem(asking.get(f"{results}against/{wrong.public_id}/"), 404, "not-found")
    Run.objects.filter(pk=other.pk).update(state="queued", finished_at=None)
    problem(asking.get(f"{results}against/{other.public_id}/"), 409, "no-results")


def test_a_run_that_is_not_done_has_none_of_it(api, rana, run):
    asked = addresses(run)
    Run.objects.filter(pk=run.pk).update(state="queued", finished_at=None)
    asking = api(rana)
    for address in asked:
        response = asking.get(address)
        problem(response, 409, "no-results")
        assert response.headers["Retry-After"] == "2"


def test_viewers_read_it_and_for_experts_it_is_not_there(api, run):
    alarm(run)
    vera, ed = (User.objects.create_user(name) for name in ("vera", "ed"))
    for user, role in ((vera, "viewer"), (ed, "expert")):
        Share.objects.create(question_set=run.version.question_set, user=user, role=role)
    viewer, expert = api(vera), api(ed)
    for address in addresses(run):
        assert viewer.get(address).status_code == 200, address
        problem(expert.get(address), 404, "not-found")


@pytest.mark.parametrize("query", ["alarm=x", "alarm=-1", "alarm=1.5", "alarm=123456789"])
def test_the_place_of_an_alarm_is_a_number(api, rana, results, query):
    asking = api(rana)
    for name in ("workers", "questions"):
        problem(asking.get(f"{results}{name}/?{query}"), 400, "invalid")
        problem(asking.get(f"{results}{name}/?alarm=7"), 404, "not-found")


def test_no_address_overflows_the_database(api, rana, results):
    problem(api(rana).get(f"{results}alarms/no-{10**30}/"), 404, "not-found")


def test_cursors_that_no_page_handed_out_and_bad_limits_are_400(api, rana, run):
    asking = api(rana)
    alarm(run, pairs=PAIRS)
    for address in (a for a in addresses(run) if "alarms" in a or "against" in a):
        problem(asking.get(f"{address}?limit=0"), 400, "invalid")
        for cursor in ("x", "WyJhbGFybXMiLCAiLTEiXQ", "WyJwYWlycyIsIDNd"):  # alarms "-1", pairs 3
            problem(asking.get(f"{address}?cursor={cursor}"), 400, "bad-cursor")


def test_it_asks_the_database_the_same_number_of_times_however_much_there_is(api, rana, otto):
    few = graded.finished(n_workers=3, n_questions=2, n_models=2, owner=otto)
    many = graded.finished(n_workers=9, n_questions=8, n_models=6, owner=rana)
    alarm(few, workers=["w001"], questions=["r1"], pairs=PAIRS[:2])
    alarm(many, workers=["w001", "w002", "w003"], questions=["r1", "r2"], pairs=PAIRS * 5)
    for _ in range(5):
        alarm(many, workers=["w001", "w002"])

    def counts(user, run):
        asking, found = api(user), []
        asked = addresses(run)
        asking.get("runs/")  # notes the token's first use
        for address in asked:
            with CaptureQueriesContext(connection) as queries:
                assert asking.get(address).status_code == 200
            found.append(len(queries))
        return found

    assert counts(otto, few) == counts(rana, many)
    assert Alarm.objects.filter(run=many).count() == 6
