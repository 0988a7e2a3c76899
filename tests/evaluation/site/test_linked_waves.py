"""Two sets that are linked as waves afterwards: matched, linked, copied from, and by whom."""

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse

from annotations.answering.waves import link
from annotations.exchange.importing import import_answers
from annotations.models import Membership, QuestionSet, Team
from evaluation import waves
from evaluation.models import LanguageModel, LLMAnswerScore, LLMResponse
from evaluation.reports.waves import waves_report
from tests.annotations import world
from tests.api.conftest import Api
from tests.evaluation import fact_world, wave_world
from tests.evaluation.fact_world import graded, written
from tests.evaluation.site.test_facts import shown
from tests.evaluation.site.test_waves import address, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept():
    """No test was kept by other tests."""
    cache.clear()


@pytest.fixture
def months(rana, tmp_path):
    """March with its models, graded, and April: two files that were imported as sets of their own.

    April lacks the question of the ship and has one more.
    """
    march = fact_world.asked(rana, tmp_path)
    april = QuestionSet(owner=rana, name="cables in April")
    rows = [row for row in wave_world.rows() if row[1] != "ship"]
    rows += [(name, "tides", f"They came late, said {name}") for name in wave_world.CAME]
    header = ("worker", "question", "answer")
    import_answers(april, written(tmp_path / "april.csv", header, rows), create_questions=True)
    return graded(march), april


def test_last_months_models_against_this_months_people_by_command(months):
    march, april = months
    call_command("link_wave", april.name, earlier=march.version.question_set.name, with_models=True)
    after = graded(april)
    models = waves_report(march, after).models
    # Of the cable only: April did not ask for the ship, and no model answered why.
    assert [(one.name, one.n_same, one.n_answers) for one in models.rows] == [
        (models.rows[0].name, 1, 1), (models.rows[1].name, 1, 1),
    ]  # fmt: skip
    assert models.of_common
    for one in models.rows:
        for run, found in ((march, one.before), (after, one.after)):
            (score,) = LLMAnswerScore.objects.filter(
                run=run, llm_response__model__name=one.name,
                llm_response__question__external_id="cable",
            ).values_list("score", flat=True)  # fmt: skip
            assert (found.value, found.low) == (pytest.approx(score), None)
    # Big said what March said; April says another year, which neither did.
    ranks = {one.name: (one.rank_before, one.rank_after) for one in models.rows}
    assert ranks["Big"][0] == 1
    assert ranks["Small"][0] == 2


def test_sets_are_linked_compared_and_unlinked_on_a_page(months, site):
    march, april = months
    of_march = march.version.question_set
    place = reverse("admin:link-wave", args=[april.public_id])
    of_april = reverse("admin:question-set", args=[april.public_id])
    assert "Link it with an earlier wave" in shown(site, of_april)
    sent = {"earlier": str(of_march.public_id), "with_models": "on"}
    said = text_of(site.post(place, {**sent, "do": "match"}))
    assert "2 questions of both, by their ids; 2 with the same text." in said
    assert "1 only in this set (left out of the comparison): tides." in said
    assert "1 only in the other set (left out of the comparison): ship." in said
    assert "2 answers of 2 language models can come along" in said
    april.refresh_from_db()
    assert april.earlier_wave is None
    said = text_of(site.post(place, {**sent, "do": "link"}, follow=True))
    assert "This set is a later wave of “cables” now." in said
    assert "2 answers of 2 models came along." in said
    assert "The models' answers are here already." in said
    after = graded(april)
    said = shown(site, address(after))
    assert "2 questions of both; 1 only in the earlier wave, 1 only in this one." in said
    assert "Scores and ranks are those of the questions of both waves." in said
    assert "the same as then" in said
    wrong = site.post(reverse("admin:link-wave", args=[of_march.public_id]),
                      {"earlier": str(april.public_id), "do": "link"})  # fmt: skip
    assert wrong.status_code == 400
    assert "is itself a later wave of “cables”" in wrong.content.decode()
    said = text_of(site.post(place, {"do": "unlink"}, follow=True))
    assert "“cables” is not the wave before any more." in said
    again = site.post(place, {"do": "unlink"})
    assert again.status_code == 400
    assert "It is no later wave of another set." in text_of(again)


def test_rest_links_copies_and_unlinks(months, rana):
    march, april = months
    rest = Api(rana)
    place = f"/api/v1/question-sets/{april.public_id}/earlier-wave/"
    assert rest.get(place).json()["earlier_wave"] is None
    assert rest.post(f"{place}replies/").status_code == 409
    wrong = rest.ask("PUT", place, {"earlier_wave": str(april.public_id)})
    assert (wrong.status_code, "itself" in wrong.content.decode()) == (400, True)
    told = rest.ask("PUT", place, {"earlier_wave": str(march.version.question_set.public_id)})
    assert told.json() == {
        "earlier_wave": str(march.version.question_set.public_id),
        "same": ["cable", "why"], "other_text": [], "only_later": ["tides"],
        "only_earlier": ["ship"], "brought": {"replies": 0, "models": 0, "there": 0},
    }  # fmt: skip
    assert rest.post(f"{place}replies/").json() == {"replies": 2, "models": 2, "there": 0}
    assert rest.post(f"{place}replies/").json() == {"replies": 0, "models": 0, "there": 2}
    assert rest.get(place).json()["same"] == ["cable", "why"]
    assert rest.ask("DELETE", place).status_code == 204
    assert rest.ask("DELETE", place).status_code == 409


def test_a_set_of_another_owner_is_not_offered_and_not_linked(months, site, rana):
    march, april = months
    otto = world.version(world.user("otto", is_staff=True), "lakes").question_set
    place = reverse("admin:link-wave", args=[april.public_id])
    assert "lakes" not in site.get(place).content.decode()
    done = site.post(place, {"earlier": str(otto.public_id), "do": "link"})
    assert done.status_code == 400
    body = {"earlier_wave": str(otto.public_id)}
    rest = Api(rana).ask("PUT", f"/api/v1/question-sets/{april.public_id}/earlier-wave/", body)
    assert rest.status_code == 400
    alone = reverse("admin:link-wave", args=[otto.public_id])
    assert site.get(alone).status_code == 404
    assert march.version.question_set.earlier_wave is None


@pytest.fixture
def tara(months, rana):
    """In the team of April, a later wave of March; March is Rana's alone."""
    march, april = months
    april.team = Team.objects.create(owner=rana, name="April's people")
    april.save()
    link(april, march.version.question_set)
    user = world.user("tara", is_staff=True)
    Membership.objects.create(team=april.team, user=user)
    return user


def test_what_models_said_in_a_wave_that_somebody_does_not_see_is_not_copied(months, tara, client):
    march, april = months
    of_march = march.version.question_set
    client.force_login(tara)
    assert client.get(reverse("admin:question-set", args=[of_march.public_id])).status_code == 404
    place = reverse("admin:link-wave", args=[april.public_id])
    assert "a later wave of a question set that you do not see" in shown(client, place)
    done = client.post(place, {"do": "replies"})
    assert done.status_code == 400
    assert "You do not see what came back in the wave before" in text_of(done)
    rest = Api(tara).post(f"/api/v1/question-sets/{april.public_id}/earlier-wave/replies/")
    assert (rest.status_code, rest.json()["code"]) == (409, "conflict")
    assert "cables," not in text_of(done) + rest.content.decode()
    assert not LLMResponse.objects.filter(question__version__question_set=april).exists()


def test_who_judges_the_wave_before_blindly_gets_nothing_of_what_models_said(months, tara, client):
    march, april = months
    march.version.question_set.shares.create(user=tara, role="expert")
    client.force_login(tara)
    place = reverse("admin:link-wave", args=[april.public_id])
    said = shown(client, place)
    assert "This set is a later wave of cables." in said
    assert "language model" not in said.partition("2 questions of both")[2]
    assert "Take the models' answers along" not in said
    assert client.post(place, {"do": "replies"}).status_code == 400
    rest = Api(tara).post(f"/api/v1/question-sets/{april.public_id}/earlier-wave/replies/")
    assert rest.status_code == 409
    assert not LLMResponse.objects.filter(question__version__question_set=april).exists()
    # Who may look at what came back may copy it.
    march.version.question_set.shares.update(role="viewer")
    assert "2 answers of 2 models came along." in text_of(
        client.post(place, {"do": "replies"}, follow=True)
    )


def test_the_name_of_a_wave_that_somebody_does_not_see_is_not_told(months, tara, client):
    _, april = months
    mine = world.version(april.owner, "May").question_set
    QuestionSet.objects.filter(pk=mine.pk).update(team=april.team)
    client.force_login(tara)
    place = reverse("admin:link-wave", args=[april.public_id])
    done = client.post(place, {"earlier": str(mine.public_id), "do": "link"})
    assert done.status_code == 400
    assert "It is a later wave of another set already: take that link away first." in text_of(done)
    rest = Api(tara).ask(
        "PUT", f"/api/v1/question-sets/{april.public_id}/earlier-wave/",
        {"earlier_wave": str(mine.public_id)},
    )  # fmt: skip
    assert "it is a later wave of another set already" in rest.json()["detail"]
    gone = client.post(place, {"do": "unlink"}, follow=True)
    assert "Another set is not the wave before any more." in text_of(gone)
    assert "“cables”" not in text_of(done) + rest.content.decode() + text_of(gone)


def test_who_links_two_sets_that_somebody_else_links_meanwhile_is_told(months, site, monkeypatch):
    march, april = months
    of_march = march.version.question_set
    here = waves.link

    def raced(later, earlier, **how):
        # Theirs comes first, on rows of their own.
        link(*QuestionSet.objects.filter(pk__in=[later.pk, earlier.pk]).order_by("-pk"))
        return here(later, earlier, **how)

    monkeypatch.setattr("evaluation.site.waves.waves.link", raced)
    place = reverse("admin:link-wave", args=[april.public_id])
    done = site.post(place, {"earlier": str(of_march.public_id), "do": "link"})
    assert done.status_code == 400
    assert "Nothing was changed. It is a later wave of “cables” already." in text_of(done)
    assert "This set is a later wave of cables." in text_of(done)


def test_a_model_without_a_scored_answer_to_a_common_question_is_not_the_same(months, site):
    march, april = months
    link(april, march.version.question_set)
    # Big answers in April what March did not ask.
    big = LanguageModel.objects.get(name="Big")
    LLMResponse.objects.create(
        model=big, question=april.latest_version().questions.get(external_id="tides"),
        text="They came late, said ada", status="text", request="q",
    )  # fmt: skip
    after = graded(april)
    (row,) = waves_report(march, after).models.rows
    assert (row.n_same, row.n_answers) == (0, 0)
    said = shown(site, address(after)).partition("Language models against each crowd")[2]
    assert "none scored to questions of both" in said
    assert "the same as then As CSV" not in said
