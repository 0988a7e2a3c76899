"""In which language the pages around a version are: its own where there are sentences in it."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import get_language_info
from django.utils.translation.trans_real import get_supported_language_variant

from annotations.models import QuestionSetVersion


def spoken(tag: str) -> str:
    """Return the language of the pages for a tag as in BCP 47 ("de-AT" gives "de").

    English where there are no sentences in it, and where the tag is empty or no language.
    """
    try:
        found = get_supported_language_variant(tag.lower() or settings.LANGUAGE_CODE)
    except LookupError:
        return settings.LANGUAGE_CODE
    return found if found in settings.WORKER_LANGUAGES else settings.LANGUAGE_CODE


def language_of(version: QuestionSetVersion) -> str:
    """Return the language of the pages around a version."""
    return spoken(version.spoken)


def offered() -> str:
    """Return the languages that the pages speak, to be read: "Arabic (ar), English (en)"."""
    return ", ".join(sorted(f"{_name(code)} ({code})" for code in settings.WORKER_LANGUAGES))


def said_of(version: QuestionSetVersion) -> str:
    """Return a sentence that tells a requester in which language the pages will be."""
    language = language_of(version)
    sentence = f"Buttons, progress and messages around your texts are in {_name(language)}"
    if not version.spoken:
        return f"{sentence}, because the language of the texts is not said."
    if version.spoken.lower().partition("-")[0] != language.partition("-")[0]:
        return (
            f"{sentence}, because they are not there in the language of your texts "
            f"({version.spoken}). There are: {offered()}."
        )
    return f"{sentence}."


def _name(code: str) -> str:
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        return code
