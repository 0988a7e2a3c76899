"""Choice of the language of a worker's questions, and of the interface around them.

A version has its texts in one or several languages (`every_language`). A worker gets the one that
the browser requests (`choose_language`) and may change it at any time (`switch_language`). Buttons
and messages use the same language if the interface is translated into it, else English.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.utils.translation.trans_real import (
    get_supported_language_variant,
    parse_accept_lang_header,
)

from annotations.answering.sentences import FRAME
from annotations.languages import get_english_language_name
from annotations.models import QuestionSetVersion, Submission


def find_language(version: QuestionSetVersion, tag: str) -> str | None:
    """Return the version's language that equals a tag, ignoring case; None if there is none."""
    wanted = tag.strip().lower()
    return next((known for known in version.all_languages if known.lower() == wanted), None)


def choose_language(version: QuestionSetVersion, requested: Sequence[str], header: str) -> str:
    """Return the language in which a new worker sees a version's texts.

    Parameters
    ----------
    requested : tags from the form or the link; the first one that the version has is returned.
    header : Accept-Language, read if no requested tag fits. Each of its tags is compared as a
        whole ("pt-BR") and then without region ("pt").

    The language of the original texts is returned if nothing fits.
    """
    languages = version.all_languages
    if len(languages) == 1:
        return languages[0]
    for tag in requested:
        if tag and (language := find_language(version, tag)) is not None:
            return language
    # "*" and a missing header match nothing here: the original texts are the safest choice.
    # Cut: parsing a very long header would take long.
    for tag, _ in parse_accept_lang_header(header.lower()[:500]):
        for language in languages:
            if language.lower() == tag:
                return language
        for language in languages:
            if language and _strip_region(language) == _strip_region(tag):
                return language
    return languages[0]


def switch_language(submission: Submission, tag: str) -> bool:
    """Set the language of a worker's texts; return False if the version does not have it.

    Stored answers keep the language in which their question was read.
    """
    language = find_language(submission.version, tag)
    if language is None:
        return False
    if language != submission.language:
        submission.language = language
        Submission.objects.filter(pk=submission.pk).update(language=language)
    return True


def resolve_interface_language(tag: str) -> str:
    """Return the interface language for a BCP 47 tag, such as "de" for "de-AT".

    English if the tag is empty, invalid, or a language without a translated interface.
    """
    try:
        language = get_supported_language_variant(tag.lower() or settings.LANGUAGE_CODE)
    except LookupError:
        return settings.LANGUAGE_CODE
    return language if language in settings.WORKER_LANGUAGES else settings.LANGUAGE_CODE


def choose_interface_language(version: QuestionSetVersion) -> str:
    """Return the interface language that fits the language of the shown texts."""
    return resolve_interface_language(version.shown_in or version.text_language)


def format_interface_languages() -> str:
    """Return the interface languages as text, such as "Arabic (ar), English (en)"."""
    return ", ".join(
        sorted(f"{get_english_language_name(code)} ({code})" for code in settings.WORKER_LANGUAGES)
    )


def describe_interface_language(version: QuestionSetVersion) -> str:
    """Return a sentence on the interface language that workers see, and the reason."""
    if version.languages:
        return _describe_several_languages(version)
    language = choose_interface_language(version)
    frame = get_english_language_name(language)
    if not version.text_language:
        return FRAME.text("language_missing", frame=frame)
    if version.text_language.lower().partition("-")[0] != language.partition("-")[0]:
        known = {"language": version.text_language, "offered": format_interface_languages()}
        return FRAME.text("not_translated", frame=frame, **known)
    return FRAME.text("same_language", frame=frame)


def _describe_several_languages(version: QuestionSetVersion) -> str:
    """Return a sentence on the interface language for a version with several languages."""
    languages = version.all_languages
    untranslated = [
        language
        for language in languages
        if resolve_interface_language(language).partition("-")[0]
        != language.lower().partition("-")[0]
    ]
    names = ", ".join(get_english_language_name(language) for language in languages)
    if not untranslated:
        return FRAME.text("several", names=names)
    without = ", ".join(get_english_language_name(language) for language in untranslated)
    return FRAME.text("several_not_translated", names=names, without=without)


def _strip_region(tag: str) -> str:
    """Return the lower-case primary language of a BCP 47 tag: "pt" for "pt-BR"."""
    return tag.lower().partition("-")[0]
