"""A model over several sets, and the other versions of its family."""

import html

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import Share
from evaluation.language_models.report import build_model_history
from evaluation.models import LanguageModel, LLMScore
from tests.evaluation.runs.reports.across.world import graded_set
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db


@pytest.fixture
def rana(client):
    user = User.objects.create_user("rana", is_staff=True)
    client.force_login(user)
    return user


@pytest.fixture
def models(rana):
    """Version 1 falls from set to set; version 2 was scored in the last two, .2 better."""
    made = [
        LanguageModel.objects.create(owner=rana, name=f"rill-{v}", family="rill", version=str(v))
        for v in (1, 2)
    ]
    for at in range(5):
        run = graded_set(rana, f"set {at}", {"ada": [0.5, 0.6]}, month=at)
        score = 0.7 - at / 10
        LLMScore.objects.create(
            run=run, model=made[0], score=score, n=2, n_answered=2, percentile=90 - 10 * at
        )
        if at >= 3:
            LLMScore.objects.create(run=run, model=made[1], score=score + 0.2, n=2, n_answered=2)
    return made


def test_a_model_has_a_history_a_trend_and_its_family_on_common_sets(rana, models):
    history = build_model_history(rana, models[0])
    assert [entry.set_name for entry in history.sets] == [f"set {at}" for at in range(5)]
    assert (history.scores.direction, history.standing.direction) == ("falls", "falls")
    assert [message.code for message in history.told] == ["trend.falls", "standing.with"]
    (other,) = history.related
    assert (other.name, other.n_sets, other.better) == ("rill-2", 2, 2)
    assert other.difference == pytest.approx(0.2)


def test_the_page_shows_it_with_a_picture_and_a_viewer_sees_one_set_of_it(client, rana, models):
    shown = client.get(reverse("admin:model", args=[models[0].public_id])).content.decode()
    trend = build_model_history(rana, models[0]).told[0]
    assert (trend.code, trend.values["n"]) == ("trend.falls", 5)
    assert trend.values["change"] == pytest.approx(0.1)
    assert html.unescape(site_sentence(trend.code, **trend.values)) in html.unescape(shown)
    assert "Other versions of rill" in shown
    picture = client.get(reverse("admin:model-history", args=[models[0].public_id]))
    assert b"set 4" in picture.content
    few = client.get(reverse("admin:model-history", args=[models[1].public_id]))
    assert few.status_code == 200
    vera = User.objects.create_user("vera")
    first = LLMScore.objects.filter(model=models[0]).earliest("pk").run
    Share.objects.create(question_set=first.version.question_set, user=vera, role="viewer")
    assert [entry.set_name for entry in build_model_history(vera, models[0]).sets] == ["set 0"]
