"""Facts over REST: of a run, of a question, of a worker and of a model; nothing for strangers."""

import pytest

from annotations.models import Worker
from evaluation.core.messages.reasons import WHY_EMPTY
from evaluation.models import LanguageModel
from tests.evaluation import fact_world
from tests.evaluation.grading.results import world as graded

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(rana, tmp_path):
    return fact_world.graded(fact_world.asked(rana, tmp_path))


def every_address(run):
    results = f"runs/{run.public_id}/results"
    question = run.version.questions.order_by("position").first().public_id
    worker = run.worker_grades.order_by("pk").first().worker.public_id
    model = run.llm_scores.order_by("pk").first().model.public_id
    return [
        f"{results}/facts/",
        f"{results}/questions/{question}/facts/",
        f"{results}/workers/{worker}/facts/",
        f"{results}/models/{model}/facts/",
    ]


def test_a_run_tells_what_people_state_and_on_how_many_questions_it_says_nothing(api, rana, run):
    asking = api(rana)
    found = asking.get(f"runs/{run.public_id}/results/facts/?limit=3").json()
    assert found["looked"] is True
    assert (found["questions"], found["spoken"]) == (3, 2)
    assert (found["agreed"], found["contested"]) == (1, 2)
    (silent,) = found["silent"]
    assert (silent["count"], silent["reason"]) == (1, "no_shared_slot")
    assert silent["why"] == WHY_EMPTY["no_shared_slot"]
    first, _, third = found["facts"]["results"]
    assert first.pop("question") == str(run.version.questions.get(external_id="cable").public_id)
    assert first == {
        "question_name": "cable", "slot": "year", "value": "1858", "mentions": 9,
        "n_with_value": 10, "of": 10, "state": "agreed",
    }  # fmt: skip
    rest = asking.get(found["facts"]["next"]).json()["facts"]
    assert [row["value"] for row in (third, *rest["results"])] == ["1865", "1866"]
    assert rest["next"] is None
    ship = run.version.questions.get(external_id="ship").public_id
    only = asking.get(f"runs/{run.public_id}/results/facts/?question={ship}").json()["facts"]
    assert [row["question_name"] for row in only["results"]] == ["ship", "ship"]


def test_a_question_tells_what_is_agreed_and_contested_or_why_nothing_is_said(api, rana, run):
    asking = api(rana)

    def facts(name):
        question = run.version.questions.get(external_id=name).public_id
        return asking.get(f"runs/{run.public_id}/results/questions/{question}/facts/").json()

    assert [fact["value"] for fact in facts("cable")["agreed"]] == ["1858"]
    assert [fact["value"] for fact in facts("ship")["contested"]] == ["1866", "1865"]
    why = facts("why")
    assert (why["agreed"], why["contested"]) == ([], [])
    assert why["reason"] == "no_shared_slot"
    assert why["why"] == WHY_EMPTY["no_shared_slot"]


def test_a_worker_and_a_model_tell_each_fact_with_its_sentence(api, rana, run):
    asking = api(rana)
    joe = Worker.objects.get(external_id="joe").public_id
    found = asking.get(f"runs/{run.public_id}/results/workers/{joe}/facts/").json()
    assert found["standing"] == {
        "facts": 2, "agreement": {"value": None, "low": None, "high": None}, "questions": 2,
        "contradicted": 2,
    }  # fmt: skip
    said = [row["fact"]["said"] for row in found["facts"]["results"]]
    assert said == [
        "states 1857; 9 of 9 others state 1858",
        "states 1866; 7 of 9 others state 1865",
    ]
    assert found["facts"]["results"][0]["fact"]["spans"] == [[10, 14]]
    big = LanguageModel.objects.get(name="Big").public_id
    found = asking.get(f"runs/{run.public_id}/results/models/{big}/facts/").json()
    assert [row["fact"]["verdict"] for row in found["facts"]["results"]] == ["agrees", "open"]


def test_a_run_without_facts_says_so_and_is_no_error(api, rana):
    run = graded.finished(owner=rana)
    addresses = every_address(run)
    bodies = [api(rana).get(address).json() for address in addresses]
    assert bodies[0]["looked"] is False
    assert bodies[0]["facts"] == {"results": [], "next": None}
    assert bodies[1] == {"looked": False, "agreed": [], "contested": [], "reason": "", "why": ""}
    for body in bodies[2:]:
        assert body["standing"]["questions"] is None
        assert body["facts"]["results"] == []


def test_who_does_not_see_the_run_sees_none_of_it(api, otto, run):
    for address in every_address(run):
        assert api(otto).get(address).status_code == 404
        assert api().get(address).status_code == 401


def test_an_unknown_question_worker_or_model_is_not_found(api, rana, run):
    of_another = every_address(graded.finished(owner=rana))[1:]
    ours = f"runs/{run.public_id}/"
    for address in of_another:
        own = ours + address.split("/", 2)[2]
        assert api(rana).get(own).status_code == 404
