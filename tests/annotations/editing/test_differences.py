"""What changed between two versions, in words."""

import pytest

from annotations.editing import compare_versions
from annotations.editing.differences import MOST_WORDS, QUESTION_FIELDS, TextPart, compare_words
from annotations.models import Passage, Question, QuestionSetVersion
from tests.annotations import world


def test_two_texts_are_told_apart_word_by_word():
    assert compare_words("a big river", "a small river") == [
        TextPart("same", "a "),
        TextPart("gone", "big"),
        TextPart("new", "small"),
        TextPart("same", " river"),
    ]
    assert compare_words("", "new") == [TextPart("new", "new")]
    assert compare_words("a", "a") == [TextPart("same", "a")]
    old, new = "a " * MOST_WORDS, "b " * MOST_WORDS
    assert compare_words(old, new) == [TextPart("gone", old), TextPart("new", new)]


@pytest.mark.django_db
def test_what_is_new_gone_changed_and_moved_is_told():
    first = world.version(world.user("rana"), n_questions=5)
    Passage.objects.create(version=first, external_id="p1", text="Rivers run.")
    first.publish()
    second = first.question_set.draft()
    assert compare_versions(first, second) == []
    QuestionSetVersion.objects.filter(pk=second.pk).update(guidelines="Be brief.")
    second.refresh_from_db()
    second.passages.update(text="Rivers rest.")
    second.questions.filter(external_id="r1").delete()
    second.questions.filter(external_id="r2").update(role="attention", choices=["a"], kind="choice")
    second.questions.filter(external_id="r3").update(position=9)
    Question.objects.create(version=second, external_id="r6", text="Why?", position=7)
    found = compare_versions(first, second)
    assert [(one.what, one.how, one.name, [name for name, _ in one.fields]) for one in found] == [
        ("version", "changed", "", ["Guidelines"]),
        ("passage", "changed", "p1", ["Text"]),
        ("question", "changed", "r2", ["Role", QUESTION_FIELDS["kind"], "Choices"]),
        ("question", "new", "r6", ["Text"]),
        ("question", "moved", "r3", []),
        ("question", "gone", "r1", ["Text"]),
    ]
