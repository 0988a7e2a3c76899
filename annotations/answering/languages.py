"""Which of a version's languages somebody gets, and that of the pages around it.

A version says its texts in one language or in several (`every_language`). Who comes gets the one
that the browser asks for (`fitting`), changes it before agreeing and at any time later (`switch`).
The pages around the texts speak that language where there are sentences in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.utils.translation.trans_real import (
    get_supported_language_variant,
    parse_accept_lang_header,
)

from annotations.answering.sentences import FRAME
from annotations.languages import name_of
from annotations.models import QuestionSetVersion, Submission


def among(version: QuestionSetVersion, tag: str) -> str | None:
    """Return the language of a version that a tag names in whatever case; None for any other."""
    wanted = tag.strip().lower()
    return next((one for one in version.every_language if one.lower() == wanted), None)


def fitting(version: QuestionSetVersion, asked: Sequence[str], header: str) -> str:
    """Return the language for somebody who comes.

    `asked` is what a form or a link said, the first of them that the version has counts; else the
    language that the browser wants most (`header` is its Accept-Language), first as it is said
    ("pt-BR"), then by the language alone; else that of the version's own texts.
    """
    known = version.every_language
    if len(known) == 1:
        return known[0]
    for tag in asked:
        if tag and (found := among(version, tag)) is not None:
            return found
    # A browser that says nothing, or anything ("*"), gets the texts as they were written.
    for tag, _ in parse_accept_lang_header(header.lower()[:500]):
        for one in known:
            if one.lower() == tag:
                return one
        for one in known:
            if one and _alone(one) == _alone(tag):
                return one
    return known[0]


def switch(submission: Submission, tag: str) -> bool:
    """Show somebody the texts in another language from now on; False for one that is not there.

    Nothing that was written changes: each answer keeps in which language its question was read.
    """
    found = among(submission.version, tag)
    if found is None:
        return False
    if found != submission.language:
        submission.language = found
        Submission.objects.filter(pk=submission.pk).update(language=found)
    return True


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
    """Return the language of the pages around a version, as it is shown now."""
    return spoken(version.shown_in or version.spoken)


def offered() -> str:
    """Return the languages that the pages speak, to be read: "Arabic (ar), English (en)"."""
    return ", ".join(sorted(f"{name_of(code)} ({code})" for code in settings.WORKER_LANGUAGES))


def said_of(version: QuestionSetVersion) -> str:
    """Return a sentence that tells a requester in which language the pages will be."""
    if version.languages:
        return _said_of_several(version)
    language = language_of(version)
    frame = name_of(language)
    if not version.spoken:
        return FRAME.text("language_missing", frame=frame)
    if version.spoken.lower().partition("-")[0] != language.partition("-")[0]:
        known = {"language": version.spoken, "offered": offered()}
        return FRAME.text("not_translated", frame=frame, **known)
    return FRAME.text("same_language", frame=frame)


def _said_of_several(version: QuestionSetVersion) -> str:
    known = version.every_language
    without = [
        one for one in known if spoken(one).partition("-")[0] != one.lower().partition("-")[0]
    ]
    names = ", ".join(name_of(one) for one in known)
    if not without:
        return FRAME.text("several", names=names)
    missing = ", ".join(name_of(one) for one in without)
    return FRAME.text("several_not_translated", names=names, without=missing)


def _alone(tag: str) -> str:
    return tag.lower().partition("-")[0]
