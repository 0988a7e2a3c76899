"""Grading from a form, and the life of a run on its page."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from annotations.models import QuestionSet, Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.models import BackgroundWorker, Run, RunOfRecord
from evaluation.runs.background import runs
from evaluation.runs.background.leases import claim_next_run
from evaluation.runs.background.progress import format_duration
from evaluation.runs.forms import get_option_form
from evaluation.runs.run_types import UnknownKindError
from evaluation.site.overview import find_attention_items
from tests.desk.flashes import flashed
from tests.evaluation.grading.results.world import ask_model

DEFAULTS = {
    **{name: value for name, value in AqerParameters().as_dict().items() if value},
    "seed": "0",
}


@pytest.fixture
def signed_in(client, world):
    client.force_login(world.rana)
    return client


def post_grade(client, world, **changed):
    address = reverse("admin:grade", args=[world.set.public_id])
    return client.post(address, {**DEFAULTS, **changed})


def test_a_run_is_started_with_a_name_and_a_long_one_loses_nothing(signed_in, world):
    named = {"label-name": "Harder", "label-notes": "Without the copiers."}
    post_grade(signed_in, world, **named)
    run = Run.objects.latest("pk")
    assert (run.name, run.notes) == ("Harder", "Without the copiers.")
    refused = post_grade(signed_in, world, **{**named, "label-name": "x" * 121, "seed": "7"})
    assert refused.status_code == 400
    said = refused.content.decode()
    assert "at most 120 characters" in said
    assert "Without the copiers." in said
    assert 'name="seed" value="7"' in said
    assert Run.objects.latest("pk") == run


START = "python manage.py up"
"""The command that starts the site and a background process."""


def page(client, run):
    return client.get(reverse("admin:run", args=[run.public_id])).content.decode()


def test_the_forms_fields_are_the_parameters_with_their_defaults(world):
    form = get_option_form(AqerParameters)(world.rana)
    for name, value in AqerParameters().as_dict().items():
        assert (form[name].initial or None) == (value or None), name
        assert form[name].help_text, name


def test_grading_queues_a_run_and_rings_once_it_is_stored(
    signed_in, world, monkeypatch, django_capture_on_commit_callbacks
):
    rung = []
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: rung.append(True))
    with django_capture_on_commit_callbacks(execute=True):
        response = post_grade(signed_in, world, difficulty="on", bootstrap="50")
    run = Run.objects.latest("pk")
    assert response.url == reverse("admin:run", args=[run.public_id])
    assert (run.state, run.owner, run.version) == ("queued", world.rana, world.version)
    wanted = AqerParameters(difficulty=True, bootstrap=50)
    assert run.parameters == wanted.as_dict()
    assert rung == [True]


def test_parameters_that_contradict_each_other_are_explained(signed_in, world):
    before = Run.objects.count()
    response = post_grade(signed_in, world, aggregation="majority")
    assert response.status_code == 400
    codes = [error.code for error in response.context["form"].non_field_errors().as_data()]
    assert codes == ["majority_needs_bow"]
    assert "--" not in " ".join(response.context["form"].non_field_errors())
    assert post_grade(signed_in, world, init="entailment").status_code == 400
    assert post_grade(signed_in, world, bootstrap="-1").status_code == 400
    assert Run.objects.count() == before


def test_only_operators_name_files_and_machines(signed_in, world):
    for spec in ("precomputed:/etc/x.npz", "openai:m@http://127.0.0.1/v1"):
        given = {"embedder": "other", "other_embedder": spec}
        response = post_grade(signed_in, world, **given)
        assert response.status_code == 400
        found = response.context["form"].errors.as_data()
        assert [error.code for errors in found.values() for error in errors] == ["operators_only"]
    signed_in.force_login(world.ida)
    assert post_grade(signed_in, world, **given).status_code == 302


def test_without_answers_there_is_nothing_to_grade(signed_in, world):
    empty = QuestionSet.objects.create(owner=world.rana, name="empty")
    response = signed_in.get(reverse("admin:grade", args=[empty.public_id]))
    assert 'data-state="no_answers"' in response.content.decode()


def test_a_waiting_run_says_that_nobody_works_and_how_to_change_that(signed_in, world):
    run = runs.repeat_run(world.run, world.rana.pk)
    text = page(signed_in, run)
    assert 'data-run-state="queued"' in text
    assert "data-run-waiting >" in text  # it is not hidden
    assert f"<code>{START}</code>" in text
    status = signed_in.get(reverse("admin:run-status", args=[run.public_id])).json()
    assert (status["state"], status["waiting"], status["finished"]) == ("queued", True, False)
    BackgroundWorker.objects.create(name="w", seen_at=timezone.now())
    status = signed_in.get(reverse("admin:run-status", args=[run.public_id])).json()
    assert status["waiting"] is False


def test_lengths_of_time_in_words():
    assert [format_duration(seconds) for seconds in (40, 200, 3700)] == [
        "40 s",
        "3 min 20 s",
        "1 h 1 min",
    ]


def test_a_running_run_shows_how_far_it_is(signed_in, world):
    run = runs.repeat_run(world.run, world.rana.pk)
    claim_next_run("somebody")
    Run.objects.filter(pk=run.pk).update(
        stage="embedding",
        done=200,
        total=1000,
        # 200 in 1,000 s are one in five seconds, a few seconds that pass meanwhile or not.
        stage_started_at=timezone.now() - timedelta(seconds=1000),
    )
    status = signed_in.get(reverse("admin:run-status", args=[run.public_id])).json()
    assert status["percent"] == 20
    assert status["rate"] == pytest.approx(0.2, rel=0.1)
    assert status["line"].startswith("Embedding: 200 of 1,000, ")
    assert "Cancel the run" in page(signed_in, run)


def test_a_cancelled_run_is_lost_to_its_worker(signed_in, world):
    run = runs.repeat_run(world.run, world.rana.pk)
    claim = claim_next_run("somebody")
    address = reverse("admin:run-cancel", args=[run.public_id])
    assert signed_in.post(address).status_code == 302
    run.refresh_from_db()
    assert (run.state, run.finished_at is not None) == ("cancelled", True)
    assert claim.renew() is False
    assert "It was cancelled" in page(signed_in, run)
    # A second time, and for a run that is done, nothing changes.
    signed_in.post(address)
    signed_in.post(reverse("admin:run-cancel", args=[world.run.public_id]))
    world.run.refresh_from_db()
    assert world.run.state == "done"


def test_a_run_is_paused_and_resumed_from_its_page(signed_in, world):
    run = runs.repeat_run(world.run, world.rana.pk)
    assert ">Pause</button>" in page(signed_in, run)
    signed_in.post(reverse("admin:run-pause", args=[run.public_id]))
    said = page(signed_in, run)
    assert "It is paused." in said
    assert ">Resume</button>" in said
    assert ">Pause</button>" not in said
    signed_in.post(reverse("admin:run-resume", args=[run.public_id]))
    run.refresh_from_db()
    assert run.state == "queued"
    # A run that has ended stays as it is, and the page says so.
    answer = signed_in.post(reverse("admin:run-pause", args=[world.run.public_id]), follow=True)
    assert "had ended before" in answer.content.decode()


def test_running_again_opens_the_form_with_the_settings_of_the_run_and_starts_nothing(
    signed_in, world
):
    Run.objects.update(
        name="Harder",
        parameters=AqerParameters(
            embedder="openai:m@http://10.0.0.1/v1",
            leave_one_out=True,
            seed=7,
            exclude_workers=("w07", "w12"),
            weight_cap=0.5,
        ).as_dict(),
    )
    address = reverse("admin:run-again", args=[world.run.public_id])
    response = signed_in.get(address, follow=True)
    form = response.context["form"]
    for name, value in {
        "embedder": "other",
        "other_embedder": "openai:m@http://10.0.0.1/v1",
        "leave_one_out": True,
        "seed": 7,
        "weight_cap": 0.5,
    }.items():
        assert form[name].value() == value, name
    said = response.content.decode()
    assert response.context["like"].called == "Harder"
    assert "“Harder”" in said
    assert "w07\nw12</textarea>" in said
    assert Run.objects.count() == 1


def test_settings_of_another_version_of_the_platform_are_told_and_not_taken(signed_in, world):
    Run.objects.update(name="Old", parameters={"magic": 3})
    address = reverse("admin:run-again", args=[world.run.public_id])
    response = signed_in.get(address, follow=True)
    assert (response.context["like"].called, response.context["like"].unreadable) == ("", "Old")
    assert "“Old”" in response.content.decode()
    assert response.context["form"]["seed"].value() == 0
    Run.objects.update(kind="gone")
    refused = signed_in.get(address, follow=True)
    assert isinstance(refused.context["unknown"], UnknownKindError)
    assert "gone" in refused.content.decode()


def test_a_run_is_renamed_in_place_and_what_will_not_do_stays_in_the_form(signed_in, world):
    address = reverse("admin:run-label", args=[world.run.public_id])
    saved = signed_in.post(
        address, {"label-name": "Harder", "label-notes": "Two\r\nlines"}, follow=True
    )
    world.run.refresh_from_db()
    assert (world.run.name, world.run.notes) == ("Harder", "Two\nlines")
    said = saved.content.decode()
    assert "<h1>Harder</h1>" in said
    assert "Two<br>lines" in said
    refused = signed_in.post(address, {"label-name": "y" * 121, "label-notes": "kept?"})
    assert refused.status_code == 400
    said = refused.content.decode()
    assert "<h1>Harder</h1>" in said
    assert "cg-wrong" in said
    assert list(refused.context["label"].errors) == ["name"]
    assert "kept?" in said
    world.run.refresh_from_db()
    assert world.run.name == "Harder"


@pytest.mark.medium
def test_lists_and_heads_call_a_run_by_its_name_or_by_what_differs(signed_in, world):
    def shown():
        pages = {
            "list": reverse("admin:runs"),
            "overview": reverse("admin:index"),
            "set": reverse("admin:question-set", args=[world.set.public_id]),
            "results": reverse("admin:results-people", args=[world.run.public_id]),
            "printed": reverse("admin:results-summary", args=[world.run.public_id]),
            "compared": reverse("admin:compare-models", args=[world.set.public_id]),
            "exported": reverse("admin:export", args=[world.set.public_id]),
        }
        return {name: signed_in.get(page).content.decode() for name, page in pages.items()}

    parameters = AqerParameters(leave_one_out=True, seed=3, exclude_workers=("w07",)).as_dict()
    Run.objects.update(parameters=parameters)
    for name, said in shown().items():
        assert "Leave one out; seed 3; without w07" in said, name
    Run.objects.update(name="Harder", notes="Because.")
    for name, said in shown().items():
        assert "Harder" in said, name
    Run.objects.update(name="", parameters={})
    for name, said in shown().items():
        assert f"Run of {world.run.created_at:%-d %B %Y}" in said, name


def test_a_person_lets_a_run_count_and_the_pages_say_who_and_since_when(signed_in, world):
    later = runs.repeat_run(world.run, world.rana.pk)
    Run.objects.filter(pk=later.pk).update(
        name="Later",
        state="done",
        finished_at=Now(),
        started_at=Now(),
        summary=world.run.summary,
    )
    later.refresh_from_db()
    assert 'data-record="this" data-chosen="first"' in page(signed_in, world.run)
    said = page(signed_in, later)
    use = reverse("admin:run-use", args=[later.public_id])
    assert 'data-record="other" data-chosen="first"' in said
    assert f'action="{use}"' in said
    assert "later_run" in [item.code for item in find_attention_items(world.rana)]
    done = signed_in.post(use, follow=True)
    said = done.content.decode()
    assert 'data-record="this" data-chosen="person"' in said
    assert "Chosen by rana" in said
    assert "later_run" not in [item.code for item in find_attention_items(world.rana)]
    rows = signed_in.get(reverse("admin:runs")).context["runs"]
    assert (rows[0].called.title, rows[0].is_of_record) == ("Later", True)
    # It is out of date once answers change, and the pages say what that means.
    Response.objects.filter(pk=Response.objects.first().pk).update(updated_at=timezone.now())
    assert 'data-record-old="answers"' in page(signed_in, later)
    later.delete()
    assert 'data-record="this" data-chosen="none"' in page(signed_in, world.run)


def test_a_run_without_results_does_not_count(signed_in, world):
    waiting = runs.repeat_run(world.run, world.rana.pk)
    address = reverse("admin:run-use", args=[waiting.public_id])
    refused = signed_in.post(address, follow=True)
    assert flashed(refused) == ["run_not_done"]
    assert RunOfRecord.objects.get().run == world.run


def test_a_failed_run_shows_its_reason(signed_in, world):
    run = runs.repeat_run(world.run, world.rana.pk)
    Run.objects.filter(pk=run.pk).update(
        state="failed", error="The embedder did not answer.", finished_at=Now()
    )
    text = page(signed_in, run)
    assert "The embedder did not answer." in text
    assert "Run again" in text
    assert [item.level for item in find_attention_items(world.rana)] == ["bad"]


def test_a_finished_run_leads_to_its_results(signed_in, world):
    results = reverse("admin:results-run", args=[world.run.public_id])
    assert f'href="{results}"' in page(signed_in, world.run)
    assert signed_in.get(results).status_code == 200


def test_lists_are_picked_by_state(signed_in, world):
    address = reverse("admin:runs")
    assert len(signed_in.get(address, {"state": "done"}).context["page"]) == 1
    assert len(signed_in.get(address, {"state": "failed"}).context["page"]) == 0
    refused = signed_in.get(address, {"state": "nonsense"})  # said beside the field
    assert len(refused.context["page"]) == 0
    assert "Select a valid choice" in refused.content.decode()


def test_changed_answers_and_sets_without_a_run_need_attention(world):
    assert "answers_changed" not in [item.code for item in find_attention_items(world.rana)]
    ask_model(world.version)
    codes = [item.code for item in find_attention_items(world.rana)]
    assert ("models_added" in codes, "answers_changed" in codes) == (True, False)
    Response.objects.filter(pk=Response.objects.first().pk).update(updated_at=timezone.now())
    assert "answers_changed" in [item.code for item in find_attention_items(world.rana)]
    Run.objects.all().delete()
    assert [item.code for item in find_attention_items(world.rana)] == ["never_graded"]
    assert find_attention_items(world.otto) == []


def test_questions_that_somebody_skipped_need_no_attention(world):
    Run.objects.filter(pk=world.run.pk).update(warnings=["Empty: 3"])
    (item,) = (one for one in find_attention_items(world.rana) if one.code == "run_warnings")
    assert item.text == "Empty: 3"
    skipped = Message("empty_answers", {"count": 3}).as_dict()
    older = "Empty answers, which count as unanswered: 3"
    Run.objects.filter(pk=world.run.pk).update(warnings=[skipped, older])
    assert find_attention_items(world.rana) == []
    Run.objects.filter(pk=world.run.pk).update(warnings=[skipped, "Too few: 2"])
    assert [item.text for item in find_attention_items(world.rana)] == ["Too few: 2"]


def test_the_overview_lists_the_latest_runs(signed_in, world):
    text = signed_in.get(reverse("admin:index")).content.decode()
    assert "Latest runs" in text
    assert reverse("admin:run", args=[world.run.public_id]) in text


def test_the_form_takes_every_remedy(world):
    one, two = str(uuid4()), str(uuid4())
    form_of = get_option_form(AqerParameters)
    data = {name: field.initial for name, field in form_of(world.rana).fields.items()}
    data = {name: value for name, value in data.items() if value is not None}
    form = form_of(
        world.rana,
        {
            **data,
            "exclude_workers": f"{one}\r\n {two}\n",
            "collapse_copies": "on",
            "group_vote": "0.5",
            "weight_cap": "0.2",
            "camps": "on",
            "unit_length": "on",
            "spelling": "de",
        },
    )
    assert form.is_valid(), form.errors
    assert form.get_parameters() == AqerParameters(
        exclude_workers=(one, two),
        collapse_copies=True,
        group_vote=0.5,
        weight_cap=0.2,
        camps=True,
        unit_length=True,
        spelling="de",
    )
    form = form_of(world.rana, {**data, "camps": "on", "anchors": "on"})
    assert not form.is_valid()
    assert "“Several right answers”" in str(form.non_field_errors())
