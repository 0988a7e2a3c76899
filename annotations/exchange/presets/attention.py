"""Recognise attention checks: items whose text names the answer that the worker has to choose."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from annotations.exchange.column_names import normalise_name
from annotations.exchange.presets.cells import is_number
from annotations.exchange.presets.table import Head

_INSTRUCTION = re.compile(
    r"\b(select|choose|pick|tick|click|mark|check|answer|respond|reply|enter|type|"
    r"write)\b.{0,80}|attention[ -]?check|paying attention|still reading|read(ing)? carefully"
    r"|\b(wählen|kreuzen|klicken|markieren|antworten|schreiben) sie\b|\bwähle\b|aufmerksam"
    r"|\b(sélectionnez|choisissez|cochez|répondez|cliquez)\b"
    r"|\b(seleccione|selecciona|elija|elige|marque|marca|responda)\b"
    r"|\b(selezioni|selezionare|seleziona|scelga|scegli)\b|\b(selecteer|kies|selecione|escolha)\b",
    re.IGNORECASE | re.DOTALL,
)
_PURPOSE = re.compile(
    r"attention|show (us )?that you|prove that you|ensure (that )?you|make sure (that )?you|"
    r"are (you )?(still )?reading|have read|read this|quality (check|control)|ignore (the|this)|"
    r"(please|kindly|just) (select|choose|pick|tick|click|mark|answer|respond|enter|type|write)|"
    r"\b(bitte|aufmerksam|veuillez|por favor|per favore|attentie)\b|wählen sie|sélectionnez|"
    r"seleccione|selezion[ai]|selecteer|selecione",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"attention ?_?-?check|attn ?_?-?(check)?\d*$|^(imc|ac|att|irq|trap|screener)[ _-]?\d*$|"
    r"attentionq|instructional ?manipulation",
    re.IGNORECASE,
)
MOST_WORDS = 6
"""Words of an answer that a check asks for."""


def find_attention_checks(head: Head, columns: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return (column, right answer) of each column that is an attention check.

    The right answer is the one of the quoted texts, or else of the cells, that the wording names.
    """
    found = ((name, _find_right_answer(head, name)) for name in dict.fromkeys(columns))
    return tuple((name, right) for name, right in found if right)


def find_unresolved_checks(head: Head, columns: Iterable[str]) -> list[str]:
    """Return columns named like attention checks whose right answer is unknown."""
    return [
        name
        for name in dict.fromkeys(columns)
        if head.get_values(name)
        and not _find_right_answer(head, name)
        and any(_NAMED.search(title.strip()) for title in head.get_titles(name))
    ]


def _find_right_answer(head: Head, column: str) -> str:
    """Return the answer that an attention check's text asks for; "" if the column is none."""
    titles = [title for title in head.get_titles(column) if _INSTRUCTION.search(title)]
    asked = next((title for title in titles if _PURPOSE.search(title)), "")
    counts = Counter(head.get_values(column))
    n_long = sum(len(text.split()) > MOST_WORDS for text in counts)
    # Long answers are free texts, in which any word of the instruction may occur.
    if not asked or not counts or 2 * n_long > len(counts):
        return ""
    folded = " ".join(asked.casefold().split())
    named = [text for text in counts if _contains_phrase(folded, text)]
    # The longest: of "agree" and "strongly agree" the wording contains both. Then the most
    # frequent; the text itself decides the rest, so that the result does not depend on the order.
    return max(named, key=lambda one: (len(one), counts[one], one), default="")


def _contains_phrase(wording: str, value: str) -> bool:
    """Return whether a question's text contains an answer as a whole word or phrase."""
    text = " ".join(value.casefold().split()).strip(" .!\"'“”‘’„")
    # A single letter is a word of most instructions, such as "a".
    if len(text) < 2 and not is_number(text):
        return False
    return bool(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", wording))


def is_right_answer(answer: str, right: str) -> bool:
    """Return whether an answer to an attention check is right, ignoring case, blanks and signs."""
    return normalise_name(answer) == normalise_name(right)


__all__: Sequence[str] = ("find_attention_checks", "find_unresolved_checks", "is_right_answer")
