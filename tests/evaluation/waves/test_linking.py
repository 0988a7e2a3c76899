"""Two sets that are linked as waves afterwards: matched, linked, copied from, and by whom."""

from types import SimpleNamespace

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse
from django.utils.text import capfirst

from annotations.answering.waves import WaveError, find_link_error, link_waves, remove_wave_link
from annotations.exchange.importing import import_answers
from annotations.models import Membership, QuestionSet, Team
from evaluation.models import LanguageModel, LLMAnswerScore, LLMResponse
from evaluation.waves import storage as waves
from evaluation.waves.report.comparison import build_waves_report
from tests.annotations import world
from tests.api.conftest import Api
from tests.evaluation import fact_world
from tests.evaluation.fact_world import graded, written
from tests.evaluation.grading.facts.test_views import html
from tests.evaluation.site.handles import element_text, notices, numbers, states
from tests.evaluation.waves import wave_world
from tests.evaluation.waves.test_comparison import address, text_of

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


@pytest.mark.medium
def test_last_months_models_against_this_months_people_by_command(months):
    march, april = months
    call_command("link_wave", april.name, earlier=march.version.question_set.name, with_models=True)
    after = graded(april)
    models = build_waves_report(march, after).models
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


@pytest.mark.medium
def test_sets_are_linked_compared_and_unlinked_on_a_page(months, site):
    march, april = months
    of_march = march.version.question_set
    place = reverse("admin:link-wave", args=[april.public_id])
    of_april = reverse("admin:question-set", args=[april.public_id])
    assert f'href="{place}"' in html(site, of_april)
    sent = {"earlier": str(of_march.public_id), "with_models": "on"}
    page = site.post(place, {**sent, "do": "match"}).content.decode()
    # 2 questions of both, 2 with the same text.
    assert numbers(element_text(page, "wave-match")) == [2, 2]
    for code, name in (("only_later", "tides"), ("only_earlier", "ship")):
        only = element_text(page, code)
        assert numbers(only) == [1]
        assert only.endswith(f": {name}.")
    # 2 answers of 2 models.
    assert numbers(element_text(page, "replies_to_copy")) == [2, 2]
    april.refresh_from_db()
    assert april.earlier_wave is None
    done = site.post(place, {**sent, "do": "link"}, follow=True)
    (linked, copied) = notices(done)
    assert (linked[0], copied[0]) == ("success", "success")
    assert "“cables”" in linked[1]
    assert numbers(copied[1]) == [2, 2]  # answers, of so many models
    april.refresh_from_db()
    assert april.earlier_wave == of_march
    assert {"linked", "replies_copied"} <= set(states(done.content.decode()))
    after = graded(april)
    page = html(site, address(after))
    # 2 of both, 1 only in the earlier wave, 1 only in this one.
    assert numbers(element_text(page, "common-questions")) == [2, 1, 1]
    assert "of_common_questions" in states(page)
    assert states(page).count("answers_same") == 2
    wrong = site.post(reverse("admin:link-wave", args=[of_march.public_id]),
                      {"earlier": str(april.public_id), "do": "link"})  # fmt: skip
    assert wrong.status_code == 400
    circle = find_link_error(of_march, april)
    assert circle.field == "earlier"
    assert wrong.context["form"].errors["earlier"] == [f"{capfirst(str(circle))}."]
    done = site.post(place, {"do": "unlink"}, follow=True)
    ((level, notice),) = notices(done)
    assert (level, "“cables”" in notice) == ("success", True)
    april.refresh_from_db()
    assert april.earlier_wave is None
    again = site.post(place, {"do": "unlink"})
    assert again.status_code == 400
    with pytest.raises(WaveError) as refused:
        remove_wave_link(april)
    assert again.context["error"] == capfirst(str(refused.value))
    assert "nothing_changed" in states(again.content.decode())


@pytest.mark.medium
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


@pytest.mark.medium
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
    link_waves(april, march.version.question_set)
    user = world.user("tara", is_staff=True)
    Membership.objects.create(team=april.team, user=user)
    return user


@pytest.mark.medium
def test_what_models_said_in_a_wave_that_somebody_does_not_see_is_not_copied(months, tara, client):
    march, april = months
    of_march = march.version.question_set
    client.force_login(tara)
    assert client.get(reverse("admin:question-set", args=[of_march.public_id])).status_code == 404
    place = reverse("admin:link-wave", args=[april.public_id])
    assert "linked_unseen" in states(html(client, place))
    done = client.post(place, {"do": "replies"})
    assert done.status_code == 400
    with pytest.raises(WaveError) as refused:
        waves.copy_visible_replies(SimpleNamespace(user=tara), april)
    assert done.context["error"] == capfirst(str(refused.value))
    assert "nothing_changed" in states(done.content.decode())
    rest = Api(tara).post(f"/api/v1/question-sets/{april.public_id}/earlier-wave/replies/")
    assert (rest.status_code, rest.json()["code"]) == (409, "conflict")
    assert "cables," not in text_of(done) + rest.content.decode()
    assert not LLMResponse.objects.filter(question__version__question_set=april).exists()


@pytest.mark.medium
def test_who_judges_the_wave_before_blindly_gets_nothing_of_what_models_said(months, tara, client):
    march, april = months
    march.version.question_set.shares.create(user=tara, role="expert")
    client.force_login(tara)
    place = reverse("admin:link-wave", args=[april.public_id])
    page = html(client, place)
    assert "cables" in element_text(page, "linked")
    # How the questions match is shown, and nothing of replies, nor the button that copies them.
    assert numbers(element_text(page, "wave-match")) == [2, 2]
    assert not [state for state in states(page) if "replies" in state]
    assert 'value="replies"' not in page
    assert client.post(place, {"do": "replies"}).status_code == 400
    rest = Api(tara).post(f"/api/v1/question-sets/{april.public_id}/earlier-wave/replies/")
    assert rest.status_code == 409
    assert not LLMResponse.objects.filter(question__version__question_set=april).exists()
    # Who may look at what came back may copy it.
    march.version.question_set.shares.update(role="viewer")
    ((level, notice),) = notices(client.post(place, {"do": "replies"}, follow=True))
    assert (level, numbers(notice)) == ("success", [2, 2])


@pytest.mark.medium
def test_the_name_of_a_wave_that_somebody_does_not_see_is_not_told(months, tara, client):
    _, april = months
    mine = world.version(april.owner, "May").question_set
    QuestionSet.objects.filter(pk=mine.pk).update(team=april.team)
    client.force_login(tara)
    place = reverse("admin:link-wave", args=[april.public_id])
    done = client.post(place, {"earlier": str(mine.public_id), "do": "link"})
    assert done.status_code == 400
    april.refresh_from_db()
    already = find_link_error(april, mine)
    assert done.context["error"] == capfirst(str(already))
    rest = Api(tara).ask(
        "PUT", f"/api/v1/question-sets/{april.public_id}/earlier-wave/",
        {"earlier_wave": str(mine.public_id)},
    )  # fmt: skip
    assert str(already) in rest.json()["detail"]
    gone = client.post(place, {"do": "unlink"}, follow=True)
    april.refresh_from_db()
    assert april.earlier_wave is None
    assert [level for level, _ in notices(gone)] == ["success"]
    assert "“cables”" not in text_of(done) + rest.content.decode() + text_of(gone)


@pytest.mark.medium
def test_who_links_two_sets_that_somebody_else_links_meanwhile_is_told(months, site, monkeypatch):
    march, april = months
    of_march = march.version.question_set
    here = waves.link_and_copy_replies

    def raced(later, earlier, **how):
        # Theirs comes first, on rows of their own.
        link_waves(*QuestionSet.objects.filter(pk__in=[later.pk, earlier.pk]).order_by("-pk"))
        return here(later, earlier, **how)

    monkeypatch.setattr("evaluation.waves.storage.link_and_copy_replies", raced)
    place = reverse("admin:link-wave", args=[april.public_id])
    done = site.post(place, {"earlier": str(of_march.public_id), "do": "link"})
    assert done.status_code == 400
    april.refresh_from_db()
    assert done.context["error"] == capfirst(str(find_link_error(april, of_march)))
    page = done.content.decode()
    assert "“cables”" in element_text(page, "nothing_changed")
    assert "cables" in element_text(page, "linked")


@pytest.mark.medium
def test_a_model_without_a_scored_answer_to_a_common_question_is_not_the_same(months, site):
    march, april = months
    link_waves(april, march.version.question_set)
    # Big answers in April what March did not ask.
    big = LanguageModel.objects.get(name="Big")
    LLMResponse.objects.create(
        model=big, question=april.latest_version().questions.get(external_id="tides"),
        text="They came late, said ada", status="text", request="q",
    )  # fmt: skip
    after = graded(april)
    (row,) = build_waves_report(march, after).models.rows
    assert (row.n_same, row.n_answers) == (0, 0)
    page = html(site, address(after))
    assert [state for state in states(page) if state.startswith("answers_")] == [
        "answers_not_common"
    ]
