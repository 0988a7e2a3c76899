"""Checks of a draft before it is published: errors block publishing, warnings do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from annotations.editing.consent import has_signals_notice
from annotations.editing.translation import TranslationSheet, arrange_items, build_sheets
from annotations.languages import get_english_language_name
from annotations.models import Passage, Question, QuestionSetVersion, Response, is_counting_signals
from annotations.models.questions import normalise_for_matching
from annotations.web.formatting import LONGEST_FORMATTED

MOST_LISTED = 100
"""Most findings of one code that are listed."""
FEWEST_GRADED = 5
"""Graded questions that a worker's rank needs; that of `evaluation.consensus`."""
TO_FILL_IN = re.compile(r"\[[^\[\]\n]{1,80}\](?!\()")
"""A gap in square brackets that is not the text of a link."""
WITH_KEY = (Question.Role.ATTENTION, Question.Role.GOLD)
"""Roles of questions that need a right answer."""

Level = Literal["error", "warning"]

MESSAGES: dict[str, tuple[Level, str]] = {
    "no_question": ("error", "There is no question."),
    "none_graded": (
        "error",
        "All questions are practice or attention checks, which are not graded: add one that is.",
    ),
    "few_graded": (
        "warning",
        f"There are fewer than {FEWEST_GRADED} graded questions. A worker's rank needs answers to "
        f"{FEWEST_GRADED}, so no worker can be ranked. Add graded questions.",
    ),
    "no_text": ("error", "The question has no text."),
    "one_choice": ("error", "There is only one choice: add another, or ask for a text."),
    "same_choice": ("error", "Two choices read the same."),
    "no_key": ("error", "It has no right answer, so no worker can be right."),
    "key_no_choice": ("error", "Its right answer is none of its choices."),
    "no_alt": ("error", "The image has no text for those who do not see it."),
    "empty_passage": ("error", "The passage has neither a text nor an image."),
    "more": ("error", "There are more like these; they show when these are mended."),
    "no_consent": ("warning", "There is no consent text: people are shown a short one instead."),
    "signals_untold": (
        "warning",
        "The consent text does not seem to mention that typing, pasting and leaving the page "
        "are counted: the template has a paragraph for it. Or switch the counting off when you "
        "publish.",
    ),
    "to_fill_in": ("warning", "A place in square brackets is still to be filled in."),
    "no_guidelines": ("warning", "There are no guidelines: state how long an answer should be."),
    "untranslated": ("error", "It is not there in every language yet."),
    "unnamed_original": (
        "error",
        "There are translations, so set the language of the texts themselves.",
    ),
    "same_language": (
        "error",
        "The texts are translated into their own language.",
    ),
    "original_changed": ("warning", "The original was changed since it was translated."),
    "no_language": ("warning", "The language is missing: screen readers need it."),
    "no_feedback": ("warning", "Practice without feedback has no effect."),
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
"""Level and sentence of each finding, by its code."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An error or warning about a version before publishing; `code` is a key of `MESSAGES`.

    `item` is the passage or question concerned, None for the version itself. `what` quotes the
    text concerned. `language` is that of a translation, "" for the original texts.
    """

    code: str
    item: Passage | Question | None = None
    what: str = ""
    language: str = ""

    @property
    def blocks(self) -> bool:
        """Whether the finding is an error, which prevents publishing."""
        return MESSAGES[self.code][0] == "error"

    @property
    def words(self) -> str:
        """Sentence about the finding for the editor."""
        return MESSAGES[self.code][1]


def list_findings(
    version: QuestionSetVersion,
    passages: Sequence[Passage] | None = None,
    questions: Sequence[Question] | None = None,
    sheets: Sequence[TranslationSheet] | None = None,
) -> list[Finding]:
    """Return the errors of a version, then its warnings, both in the version's order.

    Pass all `passages` and `questions` in their order, and the sheets of
    translations (see `build_sheets`), if they are loaded already.
    """
    if passages is None:
        passages = list(version.passages.order_by("position", "pk"))
    if questions is None:
        questions = list(version.questions.order_by("position", "pk"))
    all_findings = [
        *_check_version(version, questions),
        *_check_passages(passages, questions),
        *_check_questions(version, questions),
    ]
    if version.languages:
        if sheets is None:
            sheets = build_sheets(version, arrange_items(version, passages, questions))
        all_findings.extend(_check_languages(version, sheets))
    counts: Counter[str] = Counter()
    listed = []
    for finding in all_findings:
        counts[finding.code] += 1
        if counts[finding.code] <= MOST_LISTED:
            listed.append(finding)
    if any(count > MOST_LISTED and MESSAGES[code][0] == "error" for code, count in counts.items()):
        listed.append(Finding("more"))
    # The sort is stable: within errors and warnings the order of the version stays.
    return sorted(listed, key=lambda finding: not finding.blocks)


def list_blocking_findings(version: QuestionSetVersion) -> list[Finding]:
    """Return the errors of a version, which prevent publishing."""
    return [finding for finding in list_findings(version) if finding.blocks]


def _check_version(version: QuestionSetVersion, questions: Sequence[Question]) -> Iterator[Finding]:
    """Yield the findings on a version as a whole: consent, guidelines, language, questions."""
    n_graded = sum(question.is_graded for question in questions)
    if not questions:
        yield Finding("no_question")
    elif not n_graded:
        yield Finding("none_graded")
    elif n_graded < FEWEST_GRADED:
        yield Finding("few_graded")
    if not version.consent_text.strip():
        yield Finding("no_consent")
    elif not has_signals_notice(version.consent_text) and is_counting_signals(version.question_set):
        yield Finding("signals_untold")
    for text in (version.guidelines, version.consent_text):
        for gap in dict.fromkeys(TO_FILL_IN.findall(text)):
            yield Finding("to_fill_in", what=gap)
    if not version.guidelines.strip():
        yield Finding("no_guidelines")
    if not version.text_language:
        yield Finding("no_language")


def _check_languages(
    version: QuestionSetVersion, sheets: Sequence[TranslationSheet]
) -> Iterator[Finding]:
    """Yield the findings on the translations of a version: missing or outdated texts."""
    if not version.text_language:
        yield Finding("unnamed_original")
    elif version.text_language.lower() in map(str.lower, version.languages):
        yield Finding("same_language")
    for sheet in sheets:
        for piece in sheet.pieces:
            item = None if isinstance(piece.row, QuestionSetVersion) else piece.row
            label = f"{get_english_language_name(sheet.language)}: {piece.label.lower()}"
            if not piece.is_done:
                yield Finding("untranslated", item, label, sheet.language)
            elif piece.is_old:
                yield Finding("original_changed", item, label, sheet.language)


def _check_passages(
    passages: Sequence[Passage], questions: Sequence[Question]
) -> Iterator[Finding]:
    """Yield the findings on the passages: missing texts, and passages without a question."""
    used = {question.passage_id for question in questions}
    for passage in passages:
        if passage.image_id and not passage.image_alt.strip():
            yield Finding("no_alt", passage)
        if not passage.image_id and not passage.text.strip():
            yield Finding("empty_passage", passage)
        if passage.format == Passage.Format.SIMPLE and len(passage.text) > LONGEST_FORMATTED:
            yield Finding("too_long_to_format", passage)
        if passage.pk not in used:
            yield Finding("unused_passage", passage)


def _check_questions(
    version: QuestionSetVersion, questions: Sequence[Question]
) -> Iterator[Finding]:
    """Yield the findings on the questions: missing texts, repetitions, right answers."""
    # Imported answers may come without the texts of their questions, and are graded all the same.
    answered = Response.objects.filter(question__version=version).exists()
    earlier: set[tuple[int | None, str]] = set()
    for question in questions:
        if not question.text.strip():
            yield Finding("no_text_answered" if answered else "no_text", question)
            continue
        # With the passage: "What is the main idea?" may be asked of each.
        key = (question.passage_id, normalise_for_matching(question.text))
        if key in earlier:
            yield Finding("same_question", question)
        earlier.add(key)
        yield from _check_answer_format(question)


def _check_answer_format(question: Question) -> Iterator[Finding]:
    """Yield the findings on a question's choices, right answers and feedback."""
    if question.kind == Question.Kind.CHOICE:
        choices = [normalise_for_matching(choice) for choice in question.choices]
        if len(choices) < 2:
            yield Finding("one_choice", question)
        elif len(set(choices)) < len(choices):
            yield Finding("same_choice", question)
        # For a graded question the right answer may come from a data set, as a letter.
        has_key = question.role != Question.Role.GRADED and question.accepted_answers
        if has_key and not any(map(question.accepts_answer, question.choices)):
            yield Finding("key_no_choice", question)
    if question.role in WITH_KEY and not question.accepted_answers:
        yield Finding("no_key", question)
    if question.role == Question.Role.PRACTICE and not question.feedback.strip():
        yield Finding("no_feedback", question)
