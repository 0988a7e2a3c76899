"""Language tags (BCP 47): validation, names and writing direction."""

from __future__ import annotations

import re
from typing import Final

from django.utils.translation import get_language_info, gettext

from annotations.sentences import CodedError, Sentences

TAG: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""What a language is called, as in BCP 47, as far as it can be known by its form."""
LONGEST_TAG: Final = 35
RIGHT_TO_LEFT: Final = frozenset(
    {"ar", "arc", "ckb", "dv", "fa", "he", "ks", "ku", "nqo"}
    | {"pa-pk", "ps", "sd", "syr", "ug", "ur", "yi"}
)
"""Languages that are written from right to left; Django knows the commonest of them only."""


LANGUAGES = Sentences(
    {
        "bad_tag": "a language is written as in BCP 47: en, de, ar, pt-BR",
        "original_missing": "first set the language of the texts themselves",
        "there_already": "the texts are there in {language} already",
        "too_many": "{most} further languages are the most",
    }
)
"""Why texts cannot be there in a language."""


class LanguageError(CodedError, ValueError):
    """Error: a language cannot be used for a version's texts; `code` is a key of `LANGUAGES`."""

    sentences = LANGUAGES


def normalise_language_tag(tag: str) -> str:
    """Return a BCP 47 tag in canonical case, such as zh-Hant-TW; LanguageError if it is invalid."""
    tag = tag.strip().replace("_", "-")
    if not TAG.fullmatch(tag) or len(tag) > LONGEST_TAG:
        raise LanguageError("bad_tag")
    first, *rest = tag.split("-")
    parts = [first.lower()]
    for part in rest:
        is_script = len(part) == 4 and part.isalpha()
        is_region = len(part) == 2
        parts.append(part.title() if is_script else part.upper() if is_region else part.lower())
    return "-".join(parts)


def get_writing_direction(tag: str) -> str:
    """Return the writing direction of a language: "rtl" or "ltr"; "auto" for an empty tag."""
    if not tag:
        return "auto"
    tag = tag.lower()
    script = next((part for part in tag.split("-")[1:] if len(part) == 4), "")
    if script:
        return "rtl" if script in ("arab", "hebr", "syrc", "thaa", "nkoo") else "ltr"
    return "rtl" if {tag, tag.partition("-")[0]} & RIGHT_TO_LEFT else "ltr"


def is_known_language(tag: str) -> bool:
    """Return whether Django has a name for the language with this tag."""
    try:
        return bool(get_language_info(tag.lower()))
    except KeyError:
        return False


def get_native_language_name(tag: str) -> str:
    """Return a language's name in itself ("Deutsch"); its tag if Django has no name for it.

    Texts without a language are in the original language.
    """
    if not tag:
        return gettext("Original language")
    try:
        return str(get_language_info(tag.lower())["name_local"])
    except KeyError:
        return tag


def get_english_language_name(tag: str) -> str:
    """Return a language's English name, or its tag if unknown; "Original language" for ""."""
    if not tag:
        return "Original language"
    try:
        return str(get_language_info(tag.lower())["name"])
    except KeyError:
        return tag
