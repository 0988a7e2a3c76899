"""What is missing blocks publishing, what is odd is said."""

import pytest

from annotations.editing import list_blocking_findings, list_findings, select_consent_template
from annotations.editing.checks import FEWEST_GRADED, MESSAGES, MOST_LISTED
from annotations.models import Collection, Passage, Question, QuestionSetVersion
from evaluation.consensus.methods.scale import FEWEST_QUESTIONS
from tests.annotations import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft():
    """Six questions, and all that a version needs."""
    version = world.version(world.user("rana"))
    Question.objects.bulk_create(
        Question(version=version, external_id=f"more{n}", position=10 + n, text=f"Case {n}?")
        for n in range(4)
    )
    told = {
        "guidelines": "Be brief.",
        "consent_text": "I agree that pastes are counted.",
        "language": "en",
    }
    QuestionSetVersion.objects.filter(pk=version.pk).update(**told)
    return QuestionSetVersion.objects.get(pk=version.pk)


def codes(version):
    return [one.code for one in list_findings(version)]


def test_nothing_is_said_of_a_version_that_has_everything(draft):
    assert codes(draft) == []


@pytest.mark.parametrize(("removed", "found"), [(0, []), (1, []), (2, ["few_graded"])])
def test_fewer_than_five_graded_questions_are_warned_about(draft, removed, found):
    """Practice is not graded; 6 questions less one removed are 5, as many as a rank needs."""
    Question.objects.create(version=draft, external_id="p", text="Try?", role="practice",
                            position=90, feedback="Well done.")  # fmt: skip
    for question in draft.questions.filter(role="graded")[:removed]:
        question.delete()
    assert codes(draft) == found


def test_the_warning_about_few_graded_questions_names_the_number_that_a_rank_needs():
    assert FEWEST_GRADED == FEWEST_QUESTIONS


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"text": "  "}, "no_text"),
        ({"kind": "choice", "choices": ["a"]}, "one_choice"),
        ({"kind": "choice", "choices": ["a", " A"]}, "same_choice"),
        ({"kind": "choice", "choices": ["a", "b"]}, None),
        ({"role": "attention"}, "no_key"),
        ({"role": "gold"}, "no_key"),
        ({"role": "gold", "accepted_answers": ["x"]}, None),
        (
            {"role": "attention", "kind": "choice", "choices": ["a", "b"], "accepted_answers": "c"},
            "key_no_choice",
        ),
        ({"role": "practice"}, "no_feedback"),
        ({"role": "practice", "feedback": "Yes."}, None),
        ({"text": "where is  RIVER 1?"}, "same_question"),
    ],
)
def test_each_fault_of_a_question_is_found(draft, fields, code):
    draft.questions.filter(external_id="r2").update(**fields)
    assert codes(draft) == ([code] if code else [])
    assert [one.item.external_id for one in list_findings(draft)] == (["r2"] if code else [])


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"text": "Rivers."}, ["unused_passage"]),
        ({"text": ""}, ["empty_passage", "unused_passage"]),
        ({"text": "a" * 50_001, "format": "simple"}, ["too_long_to_format", "unused_passage"]),
    ],
)
def test_each_fault_of_a_passage_is_found(draft, fields, found):
    Passage.objects.create(version=draft, external_id="p1", **fields)
    assert sorted(codes(draft)) == found


def test_an_image_without_words_blocks(draft):
    image = world.image(draft.question_set)
    passage = Passage.objects.create(version=draft, external_id="p1", image=image)
    draft.questions.update(passage=passage)
    assert [one.code for one in list_blocking_findings(draft)] == ["no_alt"]
    Passage.objects.update(image_alt="A river.")
    assert codes(draft) == []


def test_a_version_says_who_is_asked_what(draft):
    QuestionSetVersion.objects.update(
        guidelines="", consent_text="We count pastes. Write to [address].", language=""
    )
    draft.refresh_from_db()
    assert codes(draft) == ["to_fill_in", "no_guidelines", "no_language"]
    draft.consent_text = "[Our pasting site](https://example.org)"
    assert codes(draft) == ["no_guidelines", "no_language"]
    draft.consent_text = ""
    assert "no_consent" in codes(draft)
    draft.questions.update(role="practice", feedback="Yes.")
    assert [one.code for one in list_blocking_findings(draft)] == ["none_graded"]
    draft.questions.all().delete()
    assert [one.code for one in list_blocking_findings(draft)] == ["no_question"]


def test_answers_that_came_as_a_file_may_be_about_questions_without_text(draft):
    draft.questions.filter(external_id="r2").update(text="")
    world.response(world.submission(draft))
    assert (codes(draft), list_blocking_findings(draft)) == (["no_text_answered"], [])


def test_of_many_alike_some_are_listed(draft):
    Question.objects.bulk_create(
        Question(version=draft, external_id=f"x{n}", position=9 + n) for n in range(MOST_LISTED + 5)
    )
    found = codes(draft)
    assert (found.count("no_text"), found[-1]) == (MOST_LISTED, "more")


def test_every_code_has_a_sentence():
    for level, words in MESSAGES.values():
        assert level in ("error", "warning")
        assert words.endswith(".")


def test_a_consent_text_that_does_not_tell_what_is_counted_is_warned_about(draft):
    def told(text):
        QuestionSetVersion.objects.filter(pk=draft.pk).update(consent_text=text)
        return codes(QuestionSetVersion.objects.get(pk=draft.pk))

    assert told("I agree that you keep what I write, as in the past.") == ["signals_untold"]
    assert list_blocking_findings(draft) == []
    for language in ("en", "de", "ar", "fr"):
        assert "signals_untold" not in told(select_consent_template(language))
    assert told("Nous comptons combien vous collez.") == []
    assert told("Es wird gezählt, was eingefügt wird.") == []
    assert told("Se cuenta cuánto pega usted.") == []
    for harmless in ("We collect what the school, escolar and collected.", "Es geht ums Fügen."):
        assert told(harmless) == ["signals_untold"]
    # Where nothing is counted there is nothing to tell.
    Collection.objects.create(version=draft, places=3, signals=False)
    assert told("I agree.") == []


def test_the_templates_tell_of_everything_that_is_counted_and_who_may_switch_it_off():
    said = {
        "en": ("type and delete", "inputs", "paste or drop", "leave the page", "are active",
               "Which keys", "assistive technology", "first draft"),
        "de": ("tippen und löschen", "Eingaben", "einfügen oder hineinziehen", "verlassen",
               "aktiv sind", "Welche Tasten", "Hilfsmittel", "Entwurf jeder Antwort"),
        "ar": ("تكتب وتحذف", "إدخال", "تلصق شيئًا أو تسحبه", "تغادر الصفحة", "تكون نشطًا",
               "أي المفاتيح", "تقنية مساعِدة", "أول مسودة"),
    }  # fmt: skip
    for language, words in said.items():
        text = " ".join(select_consent_template(f"{language}-XX").split())
        assert [word for word in words if word not in text] == []
        assert text.count("[") == select_consent_template("en").count("[")
    assert (
        select_consent_template("fr")
        == select_consent_template("")
        == select_consent_template("en")
    )
