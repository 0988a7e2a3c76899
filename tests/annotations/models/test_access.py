"""Rana owns a set about rivers; Tara is in her team, Vera views, Ed judges; Otto owns another."""

import itertools
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import FieldDoesNotExist
from django.db import connection

from annotations.models import (
    EDITORS,
    UNLISTED,
    VIEWERS_AND_EXPERTS,
    Access,
    Appeal,
    AppealAnswer,
    BonusPayment,
    Decision,
    Membership,
    Passage,
    QuestionSet,
    Response,
    ScopedQuerySet,
    Share,
    Team,
    Translation,
    Variant,
    Worker,
    WritingProject,
    is_requester,
    may_enter,
    may_read_answers,
    rights,
)
from annotations.models.ties import cache_queries
from evaluation.models import (
    AnswerScore,
    Exhibit,
    HumanJudgement,
    JudgementRequest,
    LanguageModel,
    LLMResponse,
    Prompt,
    PromptVersion,
    RawReply,
    Run,
    RunTask,
)
from evaluation.runs.flow.asking import plan
from evaluation.runs.steps.asking.registration import create_prompt
from tests.annotations import world as crowd

ROOMS = ("annotations", "evaluation")
MODELS = [model for model in apps.get_models() if model._meta.app_label in ROOMS]
SCOPED = [model for model in MODELS if getattr(model, "access", None) is not UNLISTED]
# What experts see, and besides them only their own shares.
BLIND = {
    *("QuestionSet", "QuestionSetVersion", "Passage", "Image", "Question", "Variant", "Share"),
    "Translation",
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_model_says_who_sees_its_rows(model):
    access = getattr(model, "access", None)
    assert access is UNLISTED or isinstance(access, Access), (
        f"{model.__name__} does not say who sees it. Derive it from annotations.models.Scoped (or "
        "Record) and write, for example, access = Access(question_set='version__question_set', "
        "readers=VIEWERS); see annotations/models/access.py. access = UNLISTED is for rows that "
        "are nobody's data and never listed."
    )
    if access is UNLISTED:
        return
    assert isinstance(model._default_manager.all(), ScopedQuerySet)
    assert access.readers <= VIEWERS_AND_EXPERTS
    assert access.question_set or access.owner, "nobody could change its rows"


@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_only_what_was_asked_is_for_experts(model):
    assert ("expert" in model.access.readers) == (model.__name__ in BLIND - {"Share"})


@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_no_way_to_a_row_doubles_it(model):
    # A join to many would; `answered_in` and `people` are looked up apart for that reason.
    ways = model.access.paths
    for path in filter(None, (*ways, model.access.owner)):
        at = model
        for step in path.split("__"):
            field = at._meta.pk if step == "pk" else at._meta.get_field(step)
            assert not field.one_to_many, f"{path} of {model.__name__} leads to many"
            assert not field.many_to_many, f"{path} of {model.__name__} leads to many"
            at = field.related_model or at
        if path in ways:
            assert at is QuestionSet
    with pytest.raises(FieldDoesNotExist):
        model._meta.get_field("owner_path")


def world_of(name, owner):
    """A set of the owner's with one row at least of every model."""
    version = crowd.version(owner, name)
    image = crowd.image(version.question_set)
    Passage.objects.create(version=version, external_id="p1", text="The river.", image=image)
    Translation.objects.create(version=version, language="ar", texts={"title": name})
    Variant.objects.create(
        question=version.questions.get(external_id="r1"), external_id="v1", text="And where?"
    )
    submission = crowd.submission(version, f"worker of {name}")
    answers = [crowd.response(submission, q, name) for q in ("r1", "r2")]
    refused = Decision.objects.create(
        submission=submission, kind="reject", reason="No.", decided_by=owner
    )
    appeal = Appeal.objects.create(decision=refused, text=name)
    AppealAnswer.objects.create(appeal=appeal, text=name, answered_by=owner)
    BonusPayment.objects.create(
        submission=submission, event="proposed", amount=1, currency="GBP", actor=owner
    )
    model = LanguageModel.objects.create(owner=owner, name=f"model of {name}")
    for question in version.questions.all():
        LLMResponse.objects.create(model=model, question=question, text=name, status="text")
    for reply in model.responses.all():
        RawReply.objects.create(response=reply, request={"model": "m"}, reply={"text": name})
    create_prompt(owner.pk, name, plan.Prompt("closed", "{question}"))
    run = Run.objects.create(owner=owner, version=version)
    RunTask.objects.create(
        run=run, run_attempt=1, number=0, kind="embedding", n_items=1, payload={"texts": [name]}
    )
    for answer in answers:
        AnswerScore.objects.create(run=run, response=answer, score=0.5)
    shown = Exhibit.objects.create(run=run, judging="x", place=0, seed=0, key=[name], shown=[])
    for judged in ({"response": answers[0]}, {"exhibit": shown}):
        JudgementRequest.objects.create(expert=owner, place=0, **judged)
        HumanJudgement.objects.create(expert=owner, grade=3, **judged)
    written_for(version, owner)
    return SimpleNamespace(set=version.question_set, version=version, worker=submission.worker)


def written_for(version, owner):
    project = WritingProject.objects.create(version=version)
    project.members.create(user=owner, role="writer")
    problem = project.problems.create(
        original=version.questions.get(external_id="r1"), author=owner, number=1, text="Where?"
    )
    problem.votes.create(validator=owner, revision=1, answerable=True)
    problem.events.create(kind="begun", by=owner, revision=1)


@pytest.fixture
def world(db):
    rana, otto, tara = (crowd.user(name, is_staff=True) for name in ("rana", "otto", "tara"))
    people = {
        "rana": rana,
        "otto": otto,
        "tara": tara,
        "tom": crowd.user("tom"),  # in the team, but no requester
        "vera": crowd.user("vera"),
        "ed": crowd.user("ed"),
        "olga": crowd.user("olga", is_superuser=True),
        "walter": crowd.user("walter"),
    }
    team = Team.objects.create(owner=rana, name="Rivers team")
    for member in ("tara", "tom"):
        Membership.objects.create(team=team, user=people[member])
    rivers, towns = world_of("rivers", rana), world_of("towns", otto)
    QuestionSet.objects.filter(pk=rivers.set.pk).update(team=team)
    for who, role in (("vera", "viewer"), ("ed", "expert")):
        Share.objects.create(question_set=rivers.set, user=people[who], role=role)
    return SimpleNamespace(**people, people=people, team=team, rivers=rivers, towns=towns)


def of_rivers(model, world):
    """The rows of Rana's, found without the rule that is tested."""
    access = model.access
    if access.paths:
        rows = [model.objects.filter(**{way: world.rivers.set.pk}) for way in access.paths]
        return {row for of_way in rows for row in of_way}
    return set(model.objects.filter(**{access.owner: world.rana.pk}))


@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_rows_are_seen_by_those_whom_the_rule_names(model, world):
    mine = of_rivers(model, world)

    def seen(who):
        rows = list(model.objects.visible_to(world.people[who]))
        assert len(rows) == len(set(rows)), "a row came twice"
        return set(rows)

    assert seen("olga") == set(model.objects.all()) >= mine
    assert seen("rana") == mine
    assert seen("walter") == set()
    assert not mine & seen("otto")
    assert list(model.objects.visible_to(AnonymousUser())) == []
    if model in (Team, Membership):
        assert seen("tara") == seen("tom") == mine
        assert seen("vera") == seen("ed") == set()
        return
    if model in (Prompt, PromptVersion):  # the owner's alone: nothing of a set hangs on them
        assert all(seen(who) == set() for who in ("tara", "tom", "vera", "ed"))
        return
    assert seen("tara") == mine
    assert seen("tom") == set(), "who is in the team, but no requester, sees nothing by it"
    for who, role in (("vera", "viewer"), ("ed", "expert")):
        if model is Share:
            assert [share.role for share in seen(who)] == [role]
        else:
            assert seen(who) == (mine if role in model.access.readers else set())


@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_rows_are_changed_by_the_owner_the_team_and_operators(model, world):
    mine = of_rivers(model, world)

    def changed(who):
        return set(model.objects.editable_by(world.people[who]))

    assert changed("olga") == set(model.objects.all())
    assert changed("rana") == mine
    for who in ("tom", "vera", "ed", "walter"):
        assert changed(who) == set()
    assert not mine & changed("otto")
    assert list(model.objects.editable_by(AnonymousUser())) == []
    by_set = model.access.question_set and not model.access.managed
    assert changed("tara") == (mine if by_set else set())
    for who in world.people:
        deletes = set(model.objects.manageable_by(world.people[who]))
        assert deletes == (changed(who) if who in ("rana", "otto", "olga") else set())


@pytest.mark.medium
def test_nobody_changes_what_they_do_not_see(world):
    for model, person in itertools.product(SCOPED, world.people.values()):
        seen = set(model.objects.visible_to(person))
        assert set(model.objects.editable_by(person)) <= seen, (model, person)


def test_who_was_a_requester_still_sees_the_own_and_changes_nothing(world):
    world.rana.is_staff = False
    assert world.rivers.set in QuestionSet.objects.visible_to(world.rana)
    assert not QuestionSet.objects.editable_by(world.rana).exists()
    assert not QuestionSet.objects.manageable_by(world.rana).exists()
    assert rights(world.rana, world.rivers.set).answers
    assert not rights(world.rana, world.rivers.set).edit


def test_who_is_not_active_sees_and_changes_nothing(world):
    for person in world.people.values():
        person.is_active = False
        for model in SCOPED:
            assert not model.objects.visible_to(person).exists()
            assert not model.objects.editable_by(person).exists()
        assert not may_enter(person)
        assert not is_requester(person)


def test_a_worker_and_a_model_are_seen_where_they_answered_and_nowhere_else(world):
    # Vera is shown Otto's towns too: now she sees his worker, and each of both once.
    Share.objects.create(question_set=world.towns.set, user=world.vera, role="viewer")
    assert {w.external_id for w in Worker.objects.visible_to(world.vera)} == {
        "worker of rivers",
        "worker of towns",
    }
    idle = Worker.objects.create(owner=world.rana, external_id="has not answered")
    assert idle not in Worker.objects.visible_to(world.tara)
    assert idle in Worker.objects.visible_to(world.rana)
    assert Worker.objects.visible_to(world.tara).count() == 1
    assert LanguageModel.objects.visible_to(world.tara).count() == 1
    assert not LanguageModel.objects.visible_to(world.ed).exists()


def test_a_share_may_be_an_experts_here_and_a_viewers_there(world):
    Share.objects.create(question_set=world.towns.set, user=world.ed, role="viewer")
    assert {r.text for r in Response.objects.visible_to(world.ed)} == {"towns"}
    assert QuestionSet.objects.visible_to(world.ed).count() == 2


def test_rights_say_what_the_querysets_say(world, django_assert_max_num_queries):
    for person in (*world.people.values(), AnonymousUser()):
        for of in (world.rivers, world.towns):
            with django_assert_max_num_queries(1):
                found = rights(person, of.set)
            one = QuestionSet.objects.filter(pk=of.set.pk)
            answers = Response.objects.filter(submission__version=of.version)
            assert found.see == one.visible_to(person).exists()
            assert found.edit == one.editable_by(person).exists()
            assert found.manage == one.manageable_by(person).exists()
            assert found.answers == answers.visible_to(person).exists()


def test_those_enter_who_may_make_a_set_or_see_one(world):
    entering = {name for name, person in world.people.items() if may_enter(person)}
    assert entering == {"rana", "otto", "tara", "vera", "ed", "olga"}


def test_those_read_answers_who_may_make_a_set_or_view_one_and_not_who_judges_blindly(world):
    reading = {name for name, person in world.people.items() if may_read_answers(person)}
    assert reading == {"rana", "otto", "tara", "vera", "olga"}
    Share.objects.create(question_set=world.towns.set, user=world.ed, role="viewer")
    assert may_read_answers(world.ed)
    assert not may_read_answers(AnonymousUser())


def test_who_leaves_a_team_takes_the_own_sets_along(world):
    hers = crowd.version(world.tara, "lakes").question_set
    QuestionSet.objects.filter(pk=hers.pk).update(team=world.team)
    assert hers in QuestionSet.objects.editable_by(world.rana)
    assert Membership.objects.get(team=world.team, user=world.tara).remove_member() == 1
    assert set(QuestionSet.objects.visible_to(world.tara)) == {hers}
    assert hers not in QuestionSet.objects.visible_to(world.rana)


def test_a_team_that_goes_leaves_its_sets_to_their_owners(world):
    world.team.delete()
    assert world.rivers.set in QuestionSet.objects.editable_by(world.rana)
    assert not QuestionSet.objects.visible_to(world.tara).exists()


def test_payments_are_for_those_who_work_on_the_set():
    assert BonusPayment.access.readers == EDITORS


@pytest.mark.medium
@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_no_rule_is_looked_up_anew_for_each_row(model, world):
    if connection.vendor != "sqlite":
        pytest.skip("SQLite says in a word that a subquery is run for each row")
    for person in (world.rana, world.tara, world.vera, world.ed):
        for rows in (model.objects.visible_to(person), model.objects.editable_by(person)):
            if rows.query.is_empty():
                continue
            assert "CORRELATED" not in rows.explain()


@pytest.mark.long
@pytest.mark.parametrize("most", [500, 1, 0], ids=["kept", "some are kept", "too many to keep"])
def test_a_page_that_asks_once_shows_what_one_that_asks_each_time_shows(world, monkeypatch, most):
    monkeypatch.setattr("annotations.models.ties.MOST_CACHED", most)
    Share.objects.create(question_set=world.towns.set, user=world.ed, role="viewer")
    hers = crowd.version(world.tara, "lakes").question_set
    Share.objects.create(question_set=hers, user=world.vera, role="viewer", pending=True)

    def told():
        return {
            (model, who): [
                sorted(rows.values_list("pk", flat=True))
                for rows in (
                    model.objects.visible_to(person),
                    model.objects.editable_by(person),
                    model.objects.manageable_by(person),
                )
            ]
            for model in SCOPED
            for who, person in world.people.items()
        }

    each_time = told()
    with cache_queries():
        assert told() == each_time
    assert told() == each_time


def test_teams_shares_and_sets_are_asked_once_for_all_lists_of_a_page(
    world, django_assert_num_queries
):
    def lists(*models):
        return [list(model.objects.visible_to(world.vera)) for model in models]

    # Vera is no requester: what binds her, the sets of her shares, and a query a list.
    with cache_queries(), django_assert_num_queries(2 + 3):
        lists(Response, Run, AnswerScore)
    with cache_queries(), django_assert_num_queries(2 + 6):
        lists(Response, Run, AnswerScore, Response, Run, AnswerScore)
    # Tara is one: her teams come with them. Of a set alone its key is not asked for.
    with cache_queries(), django_assert_num_queries(1 + 2):
        for _ in range(2):
            list(QuestionSet.objects.visible_to(world.tara))


def test_what_is_taken_away_is_gone_for_the_next_page(world):
    with cache_queries():
        assert Run.objects.visible_to(world.vera).exists()
    Share.objects.all().delete()
    with cache_queries():
        assert not Run.objects.visible_to(world.vera).exists()
    assert not Run.objects.visible_to(world.vera).exists()
