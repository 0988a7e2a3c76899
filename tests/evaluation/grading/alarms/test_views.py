"""Alarms where grades are shown, and the page of each with its texts."""

import csv
import io
import re

import pytest
from django.urls import reverse
from django.utils.html import escape

from annotations.models import Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.reasons import describe_missing_statistic
from evaluation.core.options.parameters import LABELS
from evaluation.grading.alarms.messages import (
    OF_QUESTIONS,
    SEVERITIES,
    format_statistic,
    get_alarm_title,
    get_short_statement,
)
from evaluation.grading.remedies.report import NAMES
from evaluation.models import Run
from evaluation.site.overview import find_attention_items
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm, answer, looked
from tests.evaluation.site.handles import element_text, numbers, states

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script> {{ 7*7 }} שלום \u202eevil\u202c"


def at(name, run, **ids):
    return reverse(f"admin:{name}", kwargs={"run": run.public_id, **ids})


def get(site, name, run, query="", **ids):
    response = site.get(at(name, run, **ids) + query)
    assert response.status_code == 200
    return response.content.decode()


def worker_of(run, name):
    return {"worker": Worker.objects.get(owner=run.owner, external_id=name).public_id}


def question_of(run, name):
    return {"question": run.version.questions.get(external_id=name).public_id}


@pytest.fixture
def run(rana):
    return world.finished(owner=rana, n_workers=14, n_questions=12)


def test_a_run_without_alarms_says_what_that_does_not_mean(site, run):
    looked(run)
    for name in ("results-people", "results-models", "results-alarms"):
        said = get(site, name, run)
        assert "alarms_none" in states(said)
        assert "does not prove" in element_text(said, "alarms_none")


def test_a_run_that_never_looked_is_not_called_silent(site, run):
    said = get(site, "results-people", run)
    assert "alarms_none" not in states(said)
    assert "alarms_not_looked" in states(said)


@pytest.mark.medium
def test_an_alarm_stands_where_those_it_names_are_shown(site, run):
    alarm(run, workers=["w001", "w002"])
    alarm(run, kind="two_camps", questions=["r3"], statistic=0.25, threshold=0.15)
    alarm(run, kind="dont_know", severity="notice", workers=["w003"], threshold=0.2)
    on_run = get(site, "results-people", run)
    cases = ("copies", OF_QUESTIONS, "dont_know")
    titles = [escape(get_alarm_title(case)) for case in cases]
    places = [on_run.index(title) for title in titles]
    assert places == sorted(places)
    # In full on the page of alarms alone; one line elsewhere.
    in_full = get(site, "results-alarms", run)
    for case, statistic, threshold in (("copies", 0.9, 0.5), (OF_QUESTIONS, 0.25, 0.15)):
        assert format_statistic(case, statistic, threshold) in in_full
        assert format_statistic(case, statistic, threshold) not in on_run
    for name in ("results-people", "results-models"):
        assert "alarms_line" in states(get(site, name, run))
    assert titles[0] in get(site, "results-worker", run, **worker_of(run, "w002"))
    assert titles[0] not in get(site, "results-worker", run, **worker_of(run, "w003"))
    assert titles[1] in get(site, "results-question", run, **question_of(run, "r3"))
    assert titles[1] not in get(site, "results-question", run, **question_of(run, "r4"))
    assert "alarms_hold_for_models" in states(get(site, "results-models", run))
    assert "alarms_hold_for_models" not in states(on_run)


def test_severity_is_a_word_and_a_sign_not_only_a_colour(site, run):
    for severity in ("alarm", "notice", "info"):
        alarm(run, kind="too_few", severity=severity)
    said = get(site, "results-alarms", run)
    for severity, word in (("alarm", "Alarm"), ("notice", "Notice"), ("info", "Information")):
        assert f'trust-{severity}">' in said
        assert f"</span>{word}</p>" in said


def test_lists_count_what_rings_and_the_overview_leads_to_it(site, rana, run):
    alarm(run, workers=["w001"])
    alarm(run, kind="leverage", workers=["w002"])
    alarm(run, kind="dont_know", severity="notice")
    link = at("results-alarms", run)
    badge = rf'href="{link}"[^>]*>([^<]*)</a>'
    assert numbers(re.search(badge, site.get(reverse("admin:runs")).content.decode())[1]) == [2]
    [item] = [item for item in find_attention_items(rana) if item.link == link]
    assert (item.level, numbers(item.text)) == ("bad", [2])
    later = Run.objects.get(pk=run.pk)
    later.pk = later.public_id = None
    later._state.adding = True
    later.public_id = Run().public_id
    later.save()  # only the newest run counts
    assert not [item for item in find_attention_items(rana) if item.link == link]


def test_evidence_stands_side_by_side_and_texts_stay_texts(site, run):
    Response.objects.filter(pk=answer(run, "w001", "r1").pk).update(text=HOSTILE)
    made = alarm(run, workers=["w001", "w002"], pairs=[("r1", "w001", "w002")])
    said = get(site, "results-alarm", run, place=made.place)
    assert "&lt;script&gt;" in said
    assert "<script>alert" not in said
    assert 'dir="auto">&lt;script&gt;' in said
    assert "river r1 runs north, says w002" in said
    assert "--collapse-copies" not in said  # in the words of the form
    assert f"“{LABELS['collapse_copies']}”" in said


@pytest.mark.medium
def test_many_texts_come_in_pages(site, run):
    questions = [f"r{i}" for i in range(1, 13)]
    made = alarm(run, workers=["w001"], pairs=[(q, "w001", "model 0") for q in questions])
    first = get(site, "results-alarm", run, place=made.place)
    second = get(site, "results-alarm", run, "?texts=2", place=made.place)
    assert first.count("Model <bdi>model 0</bdi>") == 10
    assert second.count("Model <bdi>model 0</bdi>") == 2
    assert numbers(element_text(first, "texts-page")) == [1, 2, 12]
    for bad in ("?texts=3", "?texts=0", "?texts=x", "?texts=²"):
        assert site.get(at("results-alarm", run, place=made.place) + bad).status_code == 404
    assert site.get(at("results-alarm", run, place=9)).status_code == 404


def test_a_withdrawn_answer_leaves_its_place(site, run):
    made = alarm(run, workers=["w001", "w002"], pairs=[("r1", "w001", "w002")])
    answer(run, "w002", "r1").delete()
    assert states(get(site, "results-alarm", run, place=made.place)).count("withdrawn") == 1


def test_camps_are_told_apart_and_a_camp_is_never_called_copies(site, run):
    message = "These two write alike. (--suggest-anchors)"
    made = alarm(run, kind="clique", workers=["w001", "w002"], message=message)
    said = get(site, "results-alarm", run, place=made.place)
    main = said[said.index("<h1") :]
    assert get_alarm_title("clique") in main
    assert "These two write alike." in main
    assert "copies" not in main.lower()
    camps = alarm(run, kind="two_camps", workers=["w001"], pairs=[("r1", "w001", "w002")])
    said = get(site, "results-alarm", run, place=camps.place)
    assert said.index('w001</bdi></a> <span class="cg-badge">this camp') < said.index(
        'w002</bdi></a> <span class="cg-badge">the other camp'
    )


def test_a_remedy_opens_the_form_with_its_option_and_the_runs_own_settings(site, run):
    stored = AqerParameters(embedder="tfidf-char", seed=7).as_dict()
    Run.objects.filter(pk=run.pk).update(parameters=stored)
    made = alarm(run, workers=["w001", "w002"])
    response = site.get(at("results-alarm", run, place=made.place))
    remedy, _ = response.context_data["remedies"]
    runs = Run.objects.count()
    form = site.get(remedy.link).context_data["form"]
    assert Run.objects.count() == runs  # a link starts nothing
    assert (form["seed"].initial, form["embedder"].initial) == (7, "tfidf-char")
    assert form["collapse_copies"].initial == "on"
    assert form.list_field_groups()[-1].is_open
    assert not form.list_field_groups()[0].is_open


def test_an_address_presets_parameters_and_nothing_else(site, run):
    link = reverse("admin:grade", kwargs={"set_id": run.version.question_set.public_id})
    form = site.get(
        f"{link}?weight_cap=0.1&other_embedder=openai:x&nonsense=1&like=x"
    ).context_data["form"]
    assert form.preset == {"weight_cap": "0.1"}


def test_viewers_are_offered_no_remedy(client, run):
    from django.contrib.auth.models import User

    from annotations.models import Share

    vera = User.objects.create(username="vera")
    Share.objects.create(question_set=run.version.question_set, user=vera, role="viewer")
    made = alarm(run, workers=["w001"])
    client.force_login(vera)
    response = client.get(at("results-alarm", run, place=made.place))
    assert response.status_code == 200
    assert response.context_data["remedies"] == []


def test_all_alarms_can_be_taken_away(site, run):
    alarm(run, workers=["w002", "w001"], message="=1+1")
    response = site.get(f"{at('results-run', run)}tables/alarms.csv")
    text = b"".join(response.streaming_content).decode().removeprefix("\ufeff")
    [row] = csv.DictReader(io.StringIO(text))
    assert (row["kind"], row["severity"], row["workers"]) == ("copies", "alarm", "w002;w001")
    assert not row["message"].startswith("=")


def test_an_id_with_a_semicolon_stays_one_in_the_file_of_alarms(site, run):
    made = alarm(run, workers=["w001", "w002"])
    made.workers.filter(external_id="w001").update(external_id="a;b\\c")
    response = site.get(f"{at('results-run', run)}tables/alarms.csv")
    text = b"".join(response.streaming_content).decode().removeprefix("\ufeff")
    [row] = csv.DictReader(io.StringIO(text))
    assert row["workers"] == "a\\;b\\\\c;w002"


def test_what_could_not_be_checked_says_why(site, run):
    looked(run)
    said = get(site, "results-alarms", run)
    assert describe_missing_statistic("fewer_than_5_questions") in said
    assert numbers(element_text(said, "check_two_camps"))[0] == 5.5


def test_the_trust_page_counts_alarms(site, run):
    alarm(run, workers=["w001"])
    report = site.get(at("results-trust", run)).context_data["report"]
    assert (report.facts[0].name, report.verdict.level) == ("alarms", "bad")


def test_alarms_stand_on_paper_and_beside_another_run(site, run):
    alarm(run, workers=["w001", "w002"])
    said = get(site, "results-summary", run)
    assert f"{SEVERITIES['alarm']}: {get_alarm_title('copies')}." in said
    assert "<bdi>w001</bdi>" in said
    other = Run.objects.get(pk=run.pk)
    other.pk, other.public_id = None, Run().public_id
    other._state.adding = True
    other.save()
    said = get(site, "results-against", other, f"?with={run.public_id.hex}")
    assert numbers(element_text(said, "alarms-here")) == []
    assert numbers(element_text(said, "alarms-there")) == [1]


def test_a_run_with_remedies_is_compared_with_the_plain_one(site, run):
    plain = AqerParameters(embedder="bow")
    Run.objects.filter(pk=run.pk).update(parameters=plain.as_dict())
    mover = {
        "worker": str(worker_of(run, "w003")["worker"]),
        "plain_grade": 1.0,
        "plain_rank": 1,
        "grade": 0.2,
        "rank": 9,
        "change": -8,
    }
    compared = {"spearman": 0.5, "n": 14, "reason": None, "movers": [mover]}
    later = Run.objects.get(pk=run.pk)
    later.pk, later.public_id = None, Run().public_id
    later._state.adding = True
    later.parameters = AqerParameters(embedder="bow", collapse_copies=True).as_dict()
    groups = [{"collapsed": True}, {"collapsed": False}]
    later.summary = run.summary | {
        "remedies": {
            "asked_for": ["collapse_copies"],
            "groups": groups,
            "compared_with_plain": compared,
        }
    }
    later.save()
    said = get(site, "results-people", later)
    assert element_text(said, "remedies-heading").endswith(NAMES["collapse_copies"])
    # Of 14 workers .50; 1 is the same order, -1 upside down.
    assert numbers(element_text(said, "remedies-agreement")) == [14, 0.5, 1, -1]
    assert "<bdi>w003</bdi></a> from 1 to 9" in said
    # 1 group votes as one, and 1 was left alone.
    assert numbers(element_text(said, "remedies-groups")) == [1, 1]
    assert f"against/?with={run.public_id.hex}" in said
    assert 'id="remedies-heading"' not in get(site, "results-people", run)
    assert NAMES["collapse_copies"] in get(site, "results-run", later)
    assert NAMES["collapse_copies"] not in get(site, "results-run", run)


def test_repeated_answers_are_a_mark_and_offer_a_run_without_their_votes(site, run):
    alarm(run, kind="repeated", workers=["w003"], pairs=[("r1", "w003", None)])
    said = get(site, "results-alarm", run, place=0)
    assert get_alarm_title("repeated") in said
    assert "exclude_workers=w003" in said
    assert get_short_statement("repeated") in get(site, "results-run", run)
