"""Forms that start a run leave out whom people excluded from the set, and say so."""

import pytest
from django.urls import reverse

from annotations.models import Worker
from evaluation.models import Run
from evaluation.runs.background.runs import repeat_run
from evaluation.runs.reports.verdicts import build_applied_context
from evaluation.sample_size.run.trial import CrowdSizeParameters
from evaluation.triage.storage import decide_on_worker, take_back_verdict
from tests.desk.test_runs import DEFAULTS

READ_PEOPLE = ("crowd-size", "panels", "umwp", "judge", "multiqa")


@pytest.fixture
def signed_in(client, world):
    client.force_login(world.rana)
    return client


@pytest.fixture
def out(world):
    """Ada, whom Rana excluded as the world's run shows her."""
    ada = Worker.objects.get(owner=world.rana, external_id__endswith="-ada")
    decide_on_worker(world.run, ada, world.rana, "exclude", "copied")
    return ada


def address(world, kind="aqer", query=""):
    key = world.set.public_id
    path = reverse("admin:grade", args=[key])
    return (path if kind == "aqer" else reverse("admin:start", args=[key, kind])) + query


def box(response):
    found = response.context_data["form"].excluded
    return None if found is None else (found.n, found.n_left_out)


def test_the_form_says_who_is_left_out_and_the_run_leaves_them_out(signed_in, world, out):
    page = signed_in.get(address(world))
    assert box(page) == (1, 1)
    assert 'data-excluded="1" data-left-out="1"' in page.content.decode()
    field = page.context_data["form"].initial["exclude_workers"]
    assert field == out.external_id
    signed_in.post(address(world), {**DEFAULTS, "exclude_workers": field})
    started = Run.objects.latest("pk")
    assert started.parameters["exclude_workers"] == [out.external_id]
    repeated = repeat_run(started, world.rana.pk)
    for run in (started, repeated):
        (why,) = build_applied_context(run)["made_by"]
        assert (why.name, why.why, why.by) == (out.external_id, "copied from others", "rana")
        assert why.made_in == world.run.public_id


def test_a_person_whose_id_is_removed_is_graded_again(signed_in, world, out):
    signed_in.post(address(world), {**DEFAULTS, "exclude_workers": ""})
    assert Run.objects.latest("pk").parameters["exclude_workers"] == []
    refused = signed_in.post(address(world), {**DEFAULTS, "exclude_workers": "", "seed": "-1"})
    assert box(refused) == (1, 0)


def test_settings_of_a_run_from_before_leave_them_out_too(signed_in, world, out):
    like = f"?like={world.run.public_id}"
    assert box(signed_in.get(address(world, query=like))) == (1, 1)
    ben = Worker.objects.get(owner=world.rana, external_id__endswith="-ben")
    both = signed_in.get(address(world, query=f"{like}&exclude_workers={ben.external_id}"))
    assert box(both) == (1, 1)
    named = both.context_data["form"].initial["exclude_workers"].splitlines()
    assert named == [ben.external_id, out.external_id]


@pytest.mark.parametrize("kind", READ_PEOPLE)
def test_every_form_of_a_run_that_reads_people_says_so(signed_in, world, out, kind):
    assert box(signed_in.get(address(world, kind))) == (1, 1)


def test_a_form_that_reads_nobody_does_not(signed_in, world, out):
    page = signed_in.get(address(world, "maqa"))
    assert box(page) is None
    assert "data-excluded" not in page.content.decode()


def test_where_nobody_is_excluded_the_field_has_its_usual_place(signed_in, world, out):
    take_back_verdict(world.run, out, world.rana)
    page = signed_in.get(address(world))
    assert box(page) is None
    groups = page.context_data["form"].list_field_groups()
    assert any(field.name == "exclude_workers" for group in groups for field in group.fields)


def test_a_trial_of_sizes_does_not_read_the_excluded(signed_in, world, out):
    settings = CrowdSizeParameters(embedder="bow", exclude_workers=(out.external_id,)).as_dict()
    kept = {name: value for name, value in settings.items() if value}
    signed_in.post(address(world, "crowd-size"), {**kept, "seed": 0})
    run = Run.objects.latest("pk")
    assert (run.kind, run.parameters["exclude_workers"]) == ("crowd-size", [out.external_id])
