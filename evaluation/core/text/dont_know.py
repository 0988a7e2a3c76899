"""Recognise answers that only say "I don't know", by a list of phrases.

The list is short and in several languages; a missing phrase suspects nobody. A text counts if it
equals one of `WHOLE`, or if it contains one of `PHRASES` and few other words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# Words a text may have beside a phrase: whoever writes more says something after all.
MOST_OTHERS = 5
# The same for writing without spaces: characters of the whole.
MOST_CHARACTERS = 25

# "None" and "no" are not here: they may be what is right.
WHOLE = frozenset(
    """
    ?|idk|dk|dunno|n a|na|unknown|unsure|not sure|no answer|no idea|no clue|pass|skip|no comment
    |x|xx|xxx|test|asdf
    |weiß nicht|weiss nicht|keine ahnung|aucune idée|jsp|sais pas|ni idea|no sé|ns nc|boh|non so
    |não sei|nao sei|sei lá|geen idee|weet niet|nie wiem|bilmiyorum|vet ej|vet inte|ved ikke
    |en tiedä|nevím|neviem|не знаю|хз|لا اعرف|لا أعرف|不知道|不清楚|不会|わからない|分からない
    |わかりません|모르겠어요|모름
    """.replace("\n", "").split("|")
)
PHRASES = tuple(
    """
    i dont know|i do not know|i dont no|dont know|do not know|i have no idea|have no idea|no idea
    |no clue|i am not sure|im not sure|not sure about this|i cant answer|i cannot answer
    |cannot answer this|unable to answer|i dont remember|i do not remember|i cant remember
    |i forgot|i dont understand the question|i do not understand the question|never heard of
    |ich weiß nicht|ich weiss nicht|weiß ich nicht|weiss ich nicht|weiß es nicht|keine ahnung
    |kann ich nicht beantworten
    |je ne sais pas|je sais pas|aucune idée|aucune idee
    |no lo sé|no lo se|no sé|no tengo idea|ni idea|desconozco
    |non lo so|non saprei|nessuna idea
    |não sei|nao sei|não faço ideia
    |ik weet het niet|weet ik niet|geen idee
    |nie wiem|nie mam pojęcia
    |bilmiyorum|hiçbir fikrim yok
    |jag vet inte|ingen aning|det vet jag inte|jeg ved det ikke|jeg vet ikke|en tiedä
    |я не знаю|не знаю|понятия не имею|не знам|не знаю ответа|не знаю відповіді|nevím|neviem
    |لا أعرف|لا اعرف|لا أدري|不知道|不清楚|我不会|わからない|分からない|わかりません|知りません
    |모르겠|잘 모름
    """.replace("\n", "").split("|")
)

_WORD = re.compile(r"[\w?]+")
_APOSTROPHES = str.maketrans("", "", "'’`´")
# What `folded` makes of each character of ASCII: words in small letters, parted by spaces.
_OF_ASCII = {
    code: None if chr(code) in "'`" else chr(code).lower() if _WORD.match(chr(code)) else " "
    for code in range(128)
}


def fold(text: str) -> str:
    """Return a text without case, punctuation and repeated space, to compare with the phrases."""
    if text.isascii():  # most texts by far; the same in a tenth of the time
        words = text.translate(_OF_ASCII).split()
    else:
        text = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
        words = _WORD.findall(text)
    plain = " ".join(words)
    if "?" in plain:
        return " ".join(word if word.strip("?") else "?" for word in words)
    return plain


def _fold_all(phrases: Iterable[str]) -> tuple[str, ...]:
    """Return the folded phrases without duplicates."""
    return tuple(dict.fromkeys(fold(phrase) for phrase in phrases if phrase.strip()))


_WHOLE = frozenset(_fold_all(WHOLE))
# Words of a script with spaces match as whole words, others anywhere.
_SPACED = re.compile(
    r"\b(?:" + "|".join(p for p in _fold_all(PHRASES) if ord(p[0]) < 0x2E80) + r")\b"
)
_UNSPACED = re.compile("|".join(p for p in _fold_all(PHRASES) if ord(p[0]) >= 0x2E80))
# Every spaced phrase has one of these words, its longest: a text without them is not searched,
# nor one with more words than the longest phrase and what may stand beside it.
_TELLING = frozenset(
    max(phrase.split(), key=len) for phrase in _fold_all(PHRASES) if ord(phrase[0]) < 0x2E80
)
_MOST_WORDS = MOST_OTHERS + max(len(phrase.split()) for phrase in _fold_all(PHRASES))


def is_dont_know(text: str) -> bool:
    """Return whether an answer only says that its writer does not know."""
    plain = fold(text)
    if plain.replace("?", "").strip() in _WHOLE or plain in _WHOLE:
        return True
    words = plain.split()
    if len(words) <= _MOST_WORDS and not _TELLING.isdisjoint(plain.replace("?", " ").split()):
        found = _SPACED.search(plain)
        if found and len(words) - len(found[0].split()) <= MOST_OTHERS:
            return True
    return len(plain) <= MOST_CHARACTERS and _UNSPACED.search(plain) is not None
