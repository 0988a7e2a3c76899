"""What is missing blocks publishing, what is odd is said."""

import pytest

from annotations.editing import blocking, consent_template, findings
from annotations.editing.checks import LISTED, WORDS
from annotations.models import Collection, Passage, Question, QuestionSetVersion
from tests.annotations import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft():
    """Two questions, and all that a version needs."""
    version = world.version(world.user("rana"))
    told = {
        "guidelines": "Be brief.",
        "consent_text": "I agree that pastes are counted.",
        "language": "en",
    }
    QuestionSetVersion.objects.filter(pk=version.pk).update(**told)
    return QuestionSetVersion.objects.get(pk=version.pk)


def codes(version):
    return [one.code for one in findings(version)]


def test_nothing_is_said_of_a_version_that_has_everything(draft):
    assert codes(draft) == []


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
    assert [one.item.external_id for one in findings(draft)] == (["r2"] if code else [])


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
    assert [one.code for one in blocking(draft)] == ["no_alt"]
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
    assert [one.code for one in blocking(draft)] == ["none_graded"]
    draft.questions.all().delete()
    assert [one.code for one in blocking(draft)] == ["no_question"]


def test_answers_that_came_as_a_file_may_be_about_questions_without_text(draft):
    draft.questions.filter(external_id="r2").update(text="")
    world.response(world.submission(draft))
    assert (codes(draft), blocking(draft)) == (["no_text_answered"], [])


def test_of_many_alike_some_are_listed(draft):
    Question.objects.bulk_create(
        Question(version=draft, external_id=f"x{n}", position=9 + n) for n in range(LISTED + 5)
    )
    found = codes(draft)
    assert (found.count("no_text"), found[-1]) == (LISTED, "more")


def test_every_code_has_a_sentence():
    for level, words in WORDS.values():
        assert level in ("error", "warning")
        assert words.endswith(".")


def test_a_consent_text_that_does_not_tell_what_is_counted_is_warned_about(draft):
    def told(text):
        QuestionSetVersion.objects.filter(pk=draft.pk).update(consent_text=text)
        return codes(QuestionSetVersion.objects.get(pk=draft.pk))

    assert told("I agree that you keep what I write, as in the past.") == ["signals_untold"]
    assert blocking(draft) == []
    for language in ("en", "de", "ar", "fr"):
        assert "signals_untold" not in told(consent_template(language))
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
        text = " ".join(consent_template(f"{language}-XX").split())
        assert [word for word in words if word not in text] == []
        assert text.count("[") == consent_template("en").count("[")
    assert consent_template("fr") == consent_template("") == consent_template("en")
