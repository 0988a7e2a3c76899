"""What stands between a draft and its publishing: what is missing blocks, what is odd is said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from annotations.editing.consent import tells_of_signals
from annotations.editing.translating import Sheet, rows_of
from annotations.languages import name_of
from annotations.models import Passage, Question, QuestionSetVersion, Response, counts_signals
from annotations.models.questions import folded
from annotations.web.formatting import LONGEST_FORMATTED

LISTED = 100
"""Findings of one code that are listed one by one; of the rest only the number is told."""
TO_FILL_IN = re.compile(r"\[[^\[\]\n]{1,80}\](?!\()")
WITH_KEY = (Question.Role.ATTENTION, Question.Role.GOLD)

Level = Literal["error", "warning"]

WORDS: dict[str, tuple[Level, str]] = {
    "no_question": ("error", "There is no question."),
    "none_graded": (
        "error",
        "All questions are practice or attention checks, which are not graded: add one that is.",
    ),
    "no_text": ("error", "The question has no text."),
    "one_choice": ("error", "There is only one choice: add another, or ask for a text."),
    "same_choice": ("error", "Two choices read the same."),
    "no_key": ("error", "Its right answer is not written down, so nobody can be right."),
    "key_no_choice": ("error", "Its right answer is none of its choices."),
    "no_alt": ("error", "The image has no text for those who do not see it."),
    "empty_passage": ("error", "The passage has neither a text nor an image."),
    "more": ("error", "There are more like these; they show when these are mended."),
    "no_consent": ("warning", "There is no consent text: people are shown a short one instead."),
    "signals_untold": (
        "warning",
        "The consent text does not seem to tell that typing, pasting and leaving the page are "
        "counted: the template has a paragraph for it. Or switch the counting off when you "
        "publish.",
    ),
    "to_fill_in": ("warning", "A place in square brackets is still to be filled in."),
    "no_guidelines": ("warning", "There are no guidelines: say how long an answer should be."),
    "untranslated": ("error", "It is not there in every language yet."),
    "unnamed_original": (
        "error",
        "There are translations, so say in which language the texts themselves are.",
    ),
    "same_language": (
        "error",
        "The texts are translated into the language that they are said to be written in.",
    ),
    "original_changed": ("warning", "The original was changed since it was translated."),
    "no_language": ("warning", "The language is not said: screen readers need it."),
    "no_feedback": ("warning", "Practice without feedback teaches nobody anything."),
    "unused_passage": ("warning", "No question is about this passage."),
    "same_question": ("warning", "Another question about the same reads alike."),
    "too_long_to_format": (
        "warning",
        f"The passage is longer than {LONGEST_FORMATTED:,} characters, so its formatting is shown "
        "as it is written.",
    ),
    "no_text_answered": (
        "warning",
        "The question has no text: only its id came with a file of answers.",
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is missing or odd; `code` is a key of `WORDS`.

    `item` is what it is about, None for the version itself; `what` quotes the place. `language` is
    that of the translation that it is about, "" for the texts themselves.
    """

    code: str
    item: Passage | Question | None = None
    what: str = ""
    language: str = ""

    @property
    def blocks(self) -> bool:
        """Whether the version is not published while it is there."""
        return WORDS[self.code][0] == "error"

    @property
    def words(self) -> str:
        """The sentence for people."""
        return WORDS[self.code][1]


def findings(version: QuestionSetVersion) -> list[Finding]:
    """Return all that is missing or odd, what blocks first, each in the order of the version."""
    found = [*_of_version(version), *_of_passages(version), *_of_questions(version)]
    if version.languages:
        found.extend(_of_languages(version))
    seen: Counter[str] = Counter()
    kept = []
    for one in found:
        seen[one.code] += 1
        if seen[one.code] <= LISTED:
            kept.append(one)
    if any(count > LISTED and WORDS[code][0] == "error" for code, count in seen.items()):
        kept.append(Finding("more"))
    return sorted(kept, key=lambda one: not one.blocks)


def blocking(version: QuestionSetVersion) -> list[Finding]:
    """Return what keeps a version from being published."""
    return [one for one in findings(version) if one.blocks]


def _of_version(version: QuestionSetVersion) -> Iterator[Finding]:
    roles = set(version.questions.order_by().values_list("role", flat=True).distinct())
    if not roles:
        yield Finding("no_question")
    elif not roles & {Question.Role.GRADED, Question.Role.GOLD}:
        yield Finding("none_graded")
    if not version.consent_text.strip():
        yield Finding("no_consent")
    elif not tells_of_signals(version.consent_text) and counts_signals(version.question_set):
        yield Finding("signals_untold")
    for text in (version.guidelines, version.consent_text):
        for place in dict.fromkeys(TO_FILL_IN.findall(text)):
            yield Finding("to_fill_in", what=place)
    if not version.guidelines.strip():
        yield Finding("no_guidelines")
    if not version.spoken:
        yield Finding("no_language")


def _of_languages(version: QuestionSetVersion) -> Iterator[Finding]:
    if not version.spoken:
        yield Finding("unnamed_original")
    elif version.spoken.lower() in map(str.lower, version.languages):
        yield Finding("same_language")
    rows = rows_of(version)
    for language in version.languages:
        for piece in Sheet(version, language, rows).pieces:
            item = None if isinstance(piece.row, QuestionSetVersion) else piece.row
            said = f"{name_of(language)}: {piece.label.lower()}"
            if not piece.is_done:
                yield Finding("untranslated", item, said, language)
            elif piece.is_old:
                yield Finding("original_changed", item, said, language)


def _of_passages(version: QuestionSetVersion) -> Iterator[Finding]:
    used = set(version.questions.order_by().values_list("passage_id", flat=True).distinct())
    for passage in version.passages.order_by("position", "pk"):
        if passage.image_id and not passage.image_alt.strip():
            yield Finding("no_alt", passage)
        if not passage.image_id and not passage.text.strip():
            yield Finding("empty_passage", passage)
        if passage.format == Passage.Format.SIMPLE and len(passage.text) > LONGEST_FORMATTED:
            yield Finding("too_long_to_format", passage)
        if passage.pk not in used:
            yield Finding("unused_passage", passage)


def _of_questions(version: QuestionSetVersion) -> Iterator[Finding]:
    # Where answers came as a file, their questions may be without texts, and are no less graded.
    answered = Response.objects.filter(question__version=version).exists()
    before: set[tuple[int | None, str]] = set()
    for question in version.questions.order_by("position", "pk"):
        if not question.text.strip():
            yield Finding("no_text_answered" if answered else "no_text", question)
            continue
        key = (question.passage_id, folded(question.text))
        if key in before:
            yield Finding("same_question", question)
        before.add(key)
        yield from _of_answering(question)


def _of_answering(question: Question) -> Iterator[Finding]:
    if question.kind == Question.Kind.CHOICE:
        choices = [folded(choice) for choice in question.choices]
        if len(choices) < 2:
            yield Finding("one_choice", question)
        elif len(set(choices)) < len(choices):
            yield Finding("same_choice", question)
        # A right answer of a graded question may be one of a data set, under a letter.
        has_key = question.role != Question.Role.GRADED and question.accepted_answers
        if has_key and not any(map(question.accepts, question.choices)):
            yield Finding("key_no_choice", question)
    if question.role in WITH_KEY and not question.accepted_answers:
        yield Finding("no_key", question)
    if question.role == Question.Role.PRACTICE and not question.feedback.strip():
        yield Finding("no_feedback", question)
