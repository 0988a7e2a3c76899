"""The first page of a run: whom to keep, whom to look at, which model is best, what next."""

import html
import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import Response, Share, Worker
from evaluation.core.messages.message import Message
from evaluation.core.options import API, SITE
from evaluation.grading.alarms.messages import get_short_statement
from evaluation.models import LLMComparison, LLMScore, Run, WorkerGrade
from evaluation.models.runs import make_official
from evaluation.runs.result_pages import build_tabs
from evaluation.runs.run_types import get_kind
from evaluation.trust.report.decision import RecommendedStep, build_decision
from evaluation.trust.report.facts import Verdict
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm, looked
from tests.evaluation.site.conftest import FOR_THE_READER
from tests.evaluation.site.handles import element_text, states
from tests.sentences import api_sentence, site_sentence

pytestmark = pytest.mark.django_db


def at(name, run, **ids):
    return reverse(f"admin:{name}", kwargs={"run": run.public_id, **ids})


def shown(site, run, name="results-run"):
    response = site.get(at(name, run))
    assert response.status_code == 200
    return response.content.decode()


def worker_of(run, name):
    return Worker.objects.get(owner=run.owner, external_id=name).public_id


def names(people):
    return [person.row.name for person in people]


@pytest.fixture
def run(rana):
    """20 workers, w001 the best; w020 has no rank, so 19 are ranked; ranks may be one off."""
    return looked(world.finished(owner=rana, n_workers=20, n_questions=12))


def test_the_best_are_those_of_the_highest_ranks(run):
    assert names(build_decision(run).best) == ["w001", "w002", "w003", "w004", "w005"]


def test_somebody_at_rank_one_whom_an_alarm_names_is_to_be_looked_at_and_not_best(run):
    alarm(run, workers=["w001", "w003"])
    found = build_decision(run)
    assert names(found.best) == ["w002", "w004", "w005", "w006", "w007"]
    assert names(found.look_at)[:2] == ["w001", "w003"]
    assert [mark.case for mark in found.look_at[0].marks] == ["copies"]


def test_the_page_draws_the_best_and_those_to_look_at_with_their_intervals(site, run):
    alarm(run, workers=["w003"])
    response = site.get(at("results-run", run))
    assert response.context["chart"].name == "decision"
    link = reverse("admin:results-chart", kwargs={"run": run.public_id, "name": "decision"})
    sent = site.get(link)
    assert sent["Content-Type"].startswith("image/svg+xml")
    picture = b"".join(sent).decode()
    found = build_decision(run)
    drawn = names(found.best) + [one.row.name for one in found.look_at if one.row.grade.value]
    assert all(f">{name}<" in picture for name in drawn)
    assert picture.count("chart-whisker") >= len(names(found.best))


def test_what_people_disagree_about_has_a_page_and_a_tab_of_its_own(site, run):
    response = site.get(at("results-disagreement", run))
    values = [row.dispersion for row in response.context["questions"]]
    assert values == sorted(values, reverse=True)
    assert values
    tab = at("results-disagreement", run)
    (group,) = (one for one in response.context["tabs"] if one.is_here)
    assert (group.address, len(group.pages)) == (tab, 1)


def test_ranks_that_are_missing_before_the_best_are_told(run):
    assert build_decision(run).above is None
    alarm(run, workers=["w001", "w003"])
    # w002 is the first that is left, so rank 1 is missing before the list; rank 3 is within it.
    assert build_decision(run).above == Message("best.above", {"above": 1})
    alarm(run, workers=["w002"])
    # Ranks 1, 2 and 3 are named by an alarm: w004 is the first.
    assert build_decision(run).above == Message("best.above", {"above": 3})


def test_a_notice_marks_the_best_but_does_not_take_them_from_the_list(run):
    alarm(run, kind="dont_know", severity="notice", workers=["w002"])
    found = build_decision(run)
    assert names(found.best)[1] == "w002"
    assert [mark.case for mark in found.best[1].marks] == ["dont_know"]
    assert names(found.look_at)[0] == "w002"


def test_an_alarm_about_the_whole_crowd_marks_nobody(run):
    alarm(run, kind="two_camps", workers=[f"w{i:03}" for i in range(1, 11)])
    found = build_decision(run)
    assert names(found.best)[0] == "w001"
    assert not any(person.marks for person in found.look_at)


def test_who_stays_in_the_lowest_quarter_on_whatever_questions_is_to_be_looked_at(run):
    # 19 ranks; the lowest quarter begins after .75 x 19 = 14.25. The best rank of the worker at
    # rank r is r - 1, so r = 16 (15 at best) is the first.
    found = build_decision(run)
    assert names(found.look_at) == ["w019", "w018", "w017", "w016"]
    values = {"first": 18, "last": 20, "ranked": 19}
    assert found.look_at[0].why == Message("look.lowest", values)
    assert found.n_look_at == 4


def test_the_marked_come_first_and_nobody_twice(run):
    alarm(run, workers=["w018"])
    found = build_decision(run)
    assert names(found.look_at) == ["w018", "w019", "w017", "w016"]
    assert found.n_look_at == 4


def test_of_many_to_look_at_eight_are_named_and_all_are_counted(run):
    alarm(run, workers=[f"w{i:03}" for i in range(1, 11)])
    found = build_decision(run)
    assert len(found.look_at) == 8
    assert found.n_look_at == 10 + 4


def test_how_sure_the_first_place_is(run):
    # w001 has the ranks 1 to 2; w002 may be first (max(1, 1)), w003 second, w004 third at best.
    assert build_decision(run).best_said == Message("best.lead", {"alike": 3})
    WorkerGrade.objects.filter(run=run, rank=1).update(rank_high=1)
    assert build_decision(run).best_said == Message("best.lead", {"alike": 2})
    WorkerGrade.objects.filter(run=run, rank=2).update(rank_low=2)
    assert build_decision(run).best_said == Message("best.lead", {"alike": 1})
    WorkerGrade.objects.filter(run=run).update(rank_low=None, rank_high=None)
    assert build_decision(run).best_said.code == "best.no_intervals"


def test_without_ranks_nobody_is_best_and_it_says_why(site, run):
    WorkerGrade.objects.filter(run=run).update(
        rank=None, rank_low=None, rank_high=None, support=False
    )
    found = build_decision(run)
    assert found.best == found.look_at == []
    assert found.best_said.code == "best.nobody"
    assert found.step is RecommendedStep.ASK_PEOPLE
    assert f'href="{at("results-planner", run)}"' in shown(site, run)


@pytest.mark.parametrize(
    ("n_questions", "step"), [(4, RecommendedStep.ASK_QUESTIONS), (5, RecommendedStep.ASK_PEOPLE)]
)
def test_with_fewer_than_five_graded_questions_the_next_step_adds_questions(
    site, rana, n_questions, step
):
    run = world.finished(owner=rana, n_questions=n_questions)
    WorkerGrade.objects.filter(run=run).update(rank=None, support=False)
    assert build_decision(run).step is step
    editor = reverse("admin:editor", args=[run.version.question_set.public_id])
    is_next = f'<a class="cg-button cg-primary" href="{editor}"' in shown(site, run)
    assert is_next == (step is RecommendedStep.ASK_QUESTIONS)


def test_who_answered_too_little_is_counted(run):
    assert build_decision(run).without_rank == Message("look.without_rank", {"without_rank": 1})


def test_models_that_cannot_be_told_apart_are_not_called_best(site, run):
    said = build_decision(run).models_said
    assert (said.code, said.values["alike"]) == ("comparison.leads_none", "“model 1”")
    LLMComparison.objects.update(difference=0.2, low=0.1, high=0.3, p_value=0.001)
    LLMComparison.objects.update(adjusted_p_value=0.001)
    said = build_decision(run).models_said
    assert (said.code, said.values["leader"]) == ("comparison.leads_all", "model 0")
    assert said.values["difference"] == 0.2
    assert SITE.format_message(said) in shown(site, run)


def test_a_step_is_the_first_that_there_is_reason_for(run):
    assert build_decision(run).step is RecommendedStep.TAKE_AWAY
    LLMScore.objects.filter(run=run).delete()
    assert build_decision(run).step is RecommendedStep.ASK_MODELS
    alarm(run, workers=["w001"])
    assert build_decision(run).step is RecommendedStep.READ_ALARMS
    Response.objects.filter(submission__worker__external_id="w005").delete()
    assert build_decision(run).step is RecommendedStep.GRADE_AGAIN


@pytest.mark.medium
def test_models_that_answered_later_are_added_by_a_run_of_the_same_settings(site, run):
    run.parameters = {**run.parameters, "seed": 5}
    run.save()
    world.ask_model(run.version)
    assert build_decision(run).step is RecommendedStep.ADD_MODELS
    response = site.get(at("results-run", run))
    assert "models_added" not in states(response.content.decode())  # it is the next step
    form = site.get(response.context_data["next"].link).context_data["form"]
    assert form.initial["seed"] == 5
    people = site.get(at("results-people", run)).content.decode()
    assert "models_added" in states(people)
    assert "answers_changed" not in states(people)
    compared = site.get(f"{at('results-people', run)}?check=inputs")
    assert compared.status_code == 200
    alarm(run, workers=["w001"])
    assert build_decision(run).step is RecommendedStep.READ_ALARMS
    assert "models_added" in states(shown(site, run))


@pytest.mark.parametrize(
    ("step", "label"),
    [
        (RecommendedStep.READ_ALARMS, "Read the evidence"),
        (RecommendedStep.ASK_PEOPLE, "Plan more answers"),
        (RecommendedStep.GRADE_AGAIN, "Grade again"),
        (RecommendedStep.ADD_MODELS, "Add the models"),
        (RecommendedStep.ASK_MODELS, "Ask models"),
        (RecommendedStep.TAKE_AWAY, "Download the grades"),
    ],
)
def test_each_step_is_a_button_that_leads_somewhere(site, run, step, label, monkeypatch):
    monkeypatch.setattr("evaluation.trust.report.decision._choose_step", lambda *_: step)
    response = site.get(at("results-run", run))
    button = response.context_data["next"]
    assert button.label == label
    assert site.get(button.link).status_code == 200


@pytest.mark.parametrize(
    ("level", "label"),
    [
        ("good", "Download the grades"),
        ("unknown", "Download the grades"),
        ("care", "Download the grades"),
        ("bad", "Read the checks"),
    ],
)
def test_the_last_step_has_the_caution_of_the_verdict(site, run, level, label, monkeypatch):
    monkeypatch.setattr(
        "evaluation.trust.report.decision._choose_step", lambda *_: RecommendedStep.TAKE_AWAY
    )
    text = Message(f"verdict.{level}.text", {"count": 1, "all": 3})
    verdict = Verdict(level, Message(f"verdict.{level}.headline"), text)
    monkeypatch.setattr(Verdict, "from_facts", lambda _: verdict)
    response = site.get(at("results-run", run))
    assert (response.context_data["next"].level, response.context_data["next"].label) == (
        level,
        label,
    )
    assert f'data-level="{level}"' in response.content.decode()


def test_the_page_names_what_speaks_against_the_grades(site, run):
    alarm(run, workers=["w001", "w002"])
    page = shown(site, run)
    assert element_text(page, "verdict").endswith(site_sentence("verdict.bad.headline"))
    rings = page.index(site_sentence("alarms.ring.said", count=1))
    assert rings < page.index('id="best"') < page.index('id="models"')


# On paper somebody to look at stands on the first page and in the table.
@pytest.mark.parametrize(("name", "times"), [("results-people", 1), ("results-summary", 2)])
def test_a_mark_stands_beside_the_name_wherever_people_are_listed(site, run, name, times):
    assert get_short_statement("copies") not in shown(site, run, name)
    alarm(run, workers=["w001"])
    page = shown(site, run, name)
    assert page.count(get_short_statement("copies")) == times
    assert page.index("<bdi>w001</bdi>") < page.index(get_short_statement("copies"))


def test_a_mark_stands_beside_an_answer(site, run):
    alarm(run, workers=["w003"])
    question = run.version.questions.first().public_id
    page = site.get(at("results-question", run, question=question)).content.decode()
    assert page.count(get_short_statement("copies")) == 1
    said_of = page.index(get_short_statement("copies"))
    assert page.rindex("<bdi>w003</bdi>", 0, said_of) > page.rindex("<bdi>w002</bdi>", 0, said_of)


def test_pages_stand_in_groups_and_what_is_not_there_is_not_offered(run):
    def groups():
        tabs = build_tabs(get_kind("aqer"), run, at("results-heat-map", run))
        return {group.title: [page.title for page in group.pages] for group in tabs}

    assert list(groups()) == ["Decide", "People", "Disagreement", "Models", "Trust", "More"]
    assert groups()["More"] == ["To print"]  # there is no other run to compare with
    other = Run.objects.get(pk=run.pk)
    other.pk, other.public_id = None, Run().public_id
    other._state.adding = True
    other.save()
    assert groups()["More"] == ["Against another run", "To print"]
    run.summary = run.summary | {"counts": run.summary["counts"] | {"models": 0}}
    assert "Models" not in groups()


def test_the_group_of_a_page_is_open_and_of_one_below_it_too(run):
    for shown_now in (at("results-heat-map", run), at("results-alarm", run, place=0)):
        tabs = build_tabs(get_kind("aqer"), run, shown_now)
        assert [group.title for group in tabs if group.is_here] == ["People"]


@pytest.mark.parametrize("n_workers", [20, 60])
def test_the_page_takes_a_constant_number_of_queries(
    site, rana, n_workers, django_assert_max_num_queries
):
    run = looked(world.finished(owner=rana, n_workers=n_workers, n_questions=12, n_models=3))
    alarm(run, workers=[f"w{i:03}" for i in range(1, n_workers // 2)])
    with django_assert_max_num_queries(31 + FOR_THE_READER):
        shown(site, run)


@pytest.mark.medium
def test_it_says_which_run_exports_use(site, run):
    def said():
        return re.search(r'data-record="([^"]+)"', shown(site, run))[1]

    assert said() == "newest"  # nobody chose, and it is the only one
    later = Run.objects.create(
        owner=run.owner, version=run.version, state=Run.State.DONE, finished_at=run.finished_at
    )
    assert said() == "other-newest"
    make_official(later, run.owner)
    assert said() == "other"
    make_official(run, run.owner)
    assert said() == "this"


def test_the_api_says_the_same(site, run):
    alarm(run, workers=["w001"])
    found = site.get(reverse("api:results-decision", args=[run.public_id])).json()
    assert [person["row"]["name"] for person in found["best"]] == [
        *("w002", "w003", "w004", "w005", "w006")
    ]
    assert found["look_at"][0]["marks"][0]["words"] == get_short_statement("copies")
    assert found["trust"]["verdict"]["headline"] == api_sentence("verdict.bad.headline")
    assert found["concerns"][0]["said"] == api_sentence("alarms.ring.said", count=1)
    assert found["step"] == "read_alarms"
    said = build_decision(run).models_said
    assert (said.code, API.format_message(said)) == ("comparison.leads_none", found["models_said"])


def grade_form(site, page):
    link = re.search(r'href="([^"]*/grade/\?[^"]*exclude_workers[^"]*)"', page)
    return site.get(html.unescape(link[1])).context_data["form"] if link else None


def test_a_person_to_look_at_is_left_out_by_a_button(site, run):
    alarm(run, workers=["w003"])
    for page in (
        shown(site, run),
        site.get(at("results-alarm", run, place=0)).content.decode(),
        site.get(at("results-worker", run, worker=worker_of(run, "w003"))).content.decode(),
    ):
        form = grade_form(site, page)
        assert form.initial["exclude_workers"] == "w003"


def test_who_was_left_out_before_stays_out(site, run):
    run.parameters = {"exclude_workers": ["w001"]}
    run.save()
    page = site.get(at("results-worker", run, worker=worker_of(run, "w003"))).content.decode()
    assert grade_form(site, page).initial["exclude_workers"] == "w001\nw003"


def test_an_id_that_reads_as_several_is_left_out_by_its_public_one(site, run):
    worker = Worker.objects.get(owner=run.owner, external_id="w003")
    Worker.objects.filter(pk=worker.pk).update(external_id="Ada, the 3rd")
    page = site.get(at("results-worker", run, worker=worker.public_id)).content.decode()
    assert grade_form(site, page).initial["exclude_workers"] == str(worker.public_id)


def test_who_may_only_read_gets_no_such_button(client, run):
    vera = User.objects.create(username="vera", is_staff=True)
    Share.objects.create(question_set=run.version.question_set, user=vera, role="viewer")
    client.force_login(vera)
    page = client.get(at("results-worker", run, worker=worker_of(run, "w003")))
    assert page.status_code == 200
    assert "Grade without" not in page.content.decode()
    assert "Grade without" not in shown(client, run)
