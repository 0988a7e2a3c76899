"""A set asked again: what comes along, what stays, and who is asked."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotations.answering import collecting, waves
from annotations.models import Image, Passage, Question, QuestionSet, Response
from evaluation.models import LanguageModel, LLMResponse
from evaluation.waves.storage import copy_replies
from tests.annotations import world
from tests.numbers import numbers_in

pytestmark = pytest.mark.django_db

People = QuestionSet.WavePeople


def code_of(caught):
    """The code of why a command refused."""
    return caught.value.__cause__.code


def flags_in(caught):
    """The flags that the message of a command names."""
    return re.findall(r"--[a-z]+(?:-[a-z]+)*", str(caught.value))


@pytest.fixture
def rana():
    return world.user("rana", is_staff=True)


@pytest.fixture
def rivers(rana):
    """Published to 5 people; Ada and Ben handed in, Cy has begun, Di took the answers back."""
    version = world.version(rana)
    Passage.objects.create(
        version=version, external_id="p1", text="It is long.", image_alt="a river",
        image=world.image(version.question_set),
    )  # fmt: skip
    version.questions.filter(external_id="r1").update(passage=version.passages.get())
    collecting.publish_question_set(
        version.question_set, places=5, pay=2, currency="GBP", title="About rivers",
        code_done="DONE1", reading_seconds=90, worker_parameter="pid",
    )  # fmt: skip
    for name, state in (
        ("ada", "submitted"), ("ben", "submitted"), ("cy", "open"), ("di", "returned"),
    ):  # fmt: skip
        one = world.submission(version, name)
        one.state, one.submitted_at = state, timezone.now()
        one.withdrawn_at = timezone.now() if state == "returned" else None
        one.save()
    world.response(version.submissions.first(), "r1")
    return version.question_set


def wave(rivers, people=People.ANYBODY, name="in May", **how):
    return waves.create_next_wave(rivers, name, people, **how)


def test_a_wave_has_the_same_questions_and_texts_and_none_of_the_answers(rivers):
    version = rivers.versions.get()
    rivers.description = "Of Wales."
    rivers.save()
    made = wave(rivers)
    draft = made.versions.get()
    assert (made.description, made.owner, made.earlier_wave) == ("Of Wales.", rivers.owner, rivers)
    assert (draft.number, draft.is_published) == (1, False)
    texts = list(version.questions.order_by("position").values_list("external_id", "text"))
    assert list(draft.questions.order_by("position").values_list("external_id", "text")) == texts
    assert draft.questions.get(external_id="r1").passage == draft.passages.get()
    assert not set(draft.questions.values_list("public_id")) & set(
        version.questions.values_list("public_id")
    )
    assert not Response.objects.filter(submission__version=draft).exists()


def test_pictures_are_those_of_the_new_set(rivers):
    shown = wave(rivers).versions.get().passages.get().image
    assert shown.question_set.name == "in May"
    assert Image.objects.filter(sha256=shown.sha256).count() == 2


def test_the_same_people_are_those_who_handed_in(rivers):
    made = wave(rivers, People.SAME)
    collection = collecting.publish_question_set(made).collection
    assert collection.listed_only
    assert sorted(collection.admissions.values_list("external_id", flat=True)) == ["ada", "ben"]
    assert (collection.places, collection.pay, collection.reading_seconds) == (5, 2, 90)
    assert (collection.title, collection.worker_parameter) == ("About rivers", "pid")
    # A panel tells outcomes by the code: each wave has its own.
    assert collection.code_done != "DONE1"
    assert collection.secret != rivers.versions.get().collection.secret


def test_other_people_are_all_who_took_part_in_no_wave_before(rivers):
    second = wave(rivers, People.OTHERS)
    collecting.publish_question_set(second)
    third = wave(second, People.OTHERS, name="in June")
    collection = collecting.publish_question_set(third).collection
    assert {one.name for one in collection.excludes.all()} == {"rivers", "in May"}
    assert not collection.listed_only


def test_anybody_is_anybody(rivers):
    collection = collecting.publish_question_set(wave(rivers), places=9).collection
    assert not collection.excludes.exists()
    assert not collection.listed_only
    assert collection.places == 9


def test_the_replies_of_models_come_along_when_asked_for(rivers):
    model = LanguageModel.objects.create(owner=rivers.owner, name="small")
    for name in ("r1", "r2"):
        LLMResponse.objects.create(
            model=model, question=rivers.versions.get().questions.get(external_id=name),
            text=f"about {name}", status="text", request="q",
        )  # fmt: skip
    out = StringIO()
    call_command("new_wave", "rivers", with_models=True, people="others", stdout=out)
    assert out.getvalue().splitlines() == [
        "2 questions copied, for others", "2 replies of 1 models came along", "rivers, wave 2",
    ]  # fmt: skip
    of_new = LLMResponse.objects.filter(question__version__question_set__name="rivers, wave 2")
    assert sorted(of_new.values_list("question__external_id", "text")) == [
        ("r1", "about r1"), ("r2", "about r2"),
    ]  # fmt: skip
    call_command("new_wave", "rivers, wave 2", stdout=out)
    assert out.getvalue().splitlines()[-1] == "rivers, wave 3"


def test_what_cannot_be_asked_again_is_told(rivers, rana):
    with pytest.raises(CommandError) as caught:
        call_command("new_wave", "rivers", name="rivers")
    assert code_of(caught) == "name_taken"
    QuestionSet.objects.create(owner=rana, name="nothing")
    with pytest.raises(CommandError) as caught:
        call_command("new_wave", "nothing")
    assert code_of(caught) == "no_questions"
    with pytest.raises(waves.WaveError) as refused:
        wave(rivers, name=" ")
    assert (refused.value.code, refused.value.field) == ("name_missing", "name")
    with pytest.raises(waves.WaveError) as refused:
        wave(rivers, name="x" * 201)
    assert (refused.value.code, refused.value.field) == ("name_too_long", "name")
    assert refused.value.values == {"most": 200}
    assert QuestionSet.objects.count() == 2


def test_a_wave_outlives_the_one_before(rivers):
    made = wave(rivers, People.SAME)
    made.earlier_wave = None
    made.save()
    assert waves.load_default_settings(made) == {}
    assert waves.list_earlier_waves(made) == []


def test_waves_in_a_circle_end(rivers):
    made = wave(rivers)
    rivers.earlier_wave = made
    rivers.save()
    assert waves.list_earlier_waves(made) == [rivers, made]


@pytest.fixture
def months(rana):
    """March asked r1 and r2, April r1 in other words, r2 and r3: two sets that know no other."""
    march = world.version(rana, "march").question_set
    version = world.version(rana, "april", 3)
    version.questions.filter(external_id="r1").update(text="And how long is it now?")
    model = LanguageModel.objects.create(owner=rana, name="small")
    for name in ("r1", "r2"):
        LLMResponse.objects.create(
            model=model, question=march.versions.get().questions.get(external_id=name),
            text=f"about {name}", status="text", request="q",
        )  # fmt: skip
    return march, version.question_set


def linked(*words, **options):
    out = StringIO()
    call_command("link_wave", *words, stdout=out, **options)
    return out.getvalue().splitlines()


def test_two_sets_are_linked_by_command_and_told_how_their_questions_match(months):
    march, april = months
    counts, other_text, only_later, copied, done = linked(
        "april", earlier="march", with_models=True
    )
    assert (numbers_in(counts), numbers_in(copied)) == (["2", "1"], ["1", "1", "0"])
    assert (other_text[:2], other_text.split(": ")[1]) == ("1 ", "r1")
    assert (only_later[:2], only_later.split(": ")[1]) == ("1 ", "r3")
    assert [name for name in done.split() if name in ("march", "april")] == ["april", "march"]
    april.refresh_from_db()
    assert (april.earlier_wave, april.wave_people) == (march, "")
    assert waves.list_earlier_waves(april) == [march]
    # Of the question with other words no reply came along: it was another question.
    (reply,) = LLMResponse.objects.filter(question__version__question_set=april)
    assert (reply.question.external_id, reply.text) == ("r2", "about r2")
    (copied,) = linked("april", with_models=True)
    assert numbers_in(copied) == ["0", "0", "1"]
    (done,) = linked("april", undo=True)
    assert [name for name in done.split() if name in ("march", "april")] == ["april", "march"]
    april.refresh_from_db()
    assert april.earlier_wave is None
    assert LLMResponse.objects.count() == 3


def test_a_text_that_one_set_does_not_know_is_no_other_text(months):
    march, april = months
    Question.objects.filter(version__question_set=march).update(text="")
    found = waves.match_questions(april, march)
    assert (list(found.same), list(found.other_text)) == (["r1", "r2"], [])


def test_replies_that_are_there_stay(months):
    march, april = months
    waves.link_waves(april, march)
    old = LLMResponse.objects.get(question__external_id="r2")
    LLMResponse.objects.create(
        model=old.model, question=april.versions.get().questions.get(external_id="r2"),
        text="of April", status="text", request="q",
    )  # fmt: skip
    assert copy_replies(april).n_there == 1
    of_april = LLMResponse.objects.filter(question__version__question_set=april)
    assert [one.text for one in of_april] == ["of April"]


def test_what_cannot_be_linked_is_told_and_nothing_is_half_done(months, rana):
    march, april = months
    otto = world.version(world.user("otto", is_staff=True), "march").question_set
    empty = QuestionSet.objects.create(owner=rana, name="nothing")
    for later, earlier, code in (
        (march, march, "itself"),
        (april, otto, "other_owner"),
        (april, empty, "no_common_question"),
    ):
        with pytest.raises(waves.WaveError) as refused:
            waves.link_waves(later, earlier)
        assert (refused.value.code, refused.value.field) == (code, "earlier")
    waves.link_waves(april, march)
    with pytest.raises(waves.WaveError) as refused:
        waves.link_waves(march, april)
    assert refused.value.code == "circle"
    with pytest.raises(waves.WaveError) as refused:
        waves.link_waves(april, march)
    assert (refused.value.code, refused.value.values) == ("linked_already", {"earlier": "march"})
    may = waves.create_next_wave(april, "may", People.ANYBODY)
    with pytest.raises(waves.WaveError) as refused:
        waves.link_waves(march, may)
    values = {"earlier": "may", "later": "march"}
    assert (refused.value.code, refused.value.values) == ("circle", values)
    with pytest.raises(waves.WaveError) as refused:
        waves.link_waves(may, march)
    assert (refused.value.code, refused.value.values) == ("linked_to_another", {})
    for options in ({"undo": True}, {"with_models": True}):
        with pytest.raises(CommandError) as caught:
            linked("march", **options, owner="rana")
        assert (caught.value.returncode, code_of(caught)) == (2, "no_link")
    with pytest.raises(CommandError) as caught:
        linked("march", owner="rana")
    assert (caught.value.returncode, flags_in(caught)) == (2, ["--earlier", "--undo"])
    with pytest.raises(CommandError) as caught:
        linked("april", undo=True, with_models=True, owner="rana")
    assert (caught.value.returncode, flags_in(caught)) == (2, ["--undo", "--with-models"])
    march.refresh_from_db()
    assert march.earlier_wave is None
    assert LLMResponse.objects.count() == 2


def test_a_wave_for_the_same_people_keeps_its_link_until_it_is_published(rivers):
    made = wave(rivers, People.SAME)
    with pytest.raises(waves.WaveError) as refused:
        waves.remove_wave_link(made)
    assert refused.value.code == "not_published"
    assert collecting.publish_question_set(made).collection.listed_only
    assert waves.remove_wave_link(made) == rivers
    # Who is on the list stays there.
    made.refresh_from_db()
    assert (made.earlier_wave, made.wave_people) == (None, "")
    assert made.versions.get().collection.admissions.count() == 2
