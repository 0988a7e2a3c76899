"""Import translations of questions or passages into a draft."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotations.exchange.importing.target import BATCH
from annotations.exchange.problems import Problems
from annotations.models import Passage, Question, QuestionSetVersion, Translation
from annotations.models.translations import collect_translatable_texts, hash_original

TranslatedRow = tuple[int, Passage | Question, dict[str, dict[str, Any]]]
"""The line, the row as it is stored, and its texts by language and field."""


def add_translations(
    version: QuestionSetVersion, translated_rows: Iterable[TranslatedRow], problems: Problems
) -> set[str]:
    """Store new translations of questions or passages; return the ids of those that got one.

    Notes a problem for another text than the stored one, for one in the language of the originals,
    and for anything new in a published version. Nothing is stored then.
    """
    translated_rows = [translated for translated in translated_rows if translated[2]]
    if not translated_rows:
        return set()
    stored = {
        (row.language, row.passage_id, row.question_id): row for row in version.translations.all()
    }
    languages, changed = list(version.languages), {}
    for line, row, by_language in translated_rows:
        key_pair = (row.pk, None) if isinstance(row, Passage) else (None, row.pk)
        for language, texts in by_language.items():
            if language.lower() == version.text_language.lower():
                problems.add_code(line, None, "translation_of_originals", language=language)
                continue
            translation = stored.get((language, *key_pair)) or Translation(
                version=version, language=language, passage_id=key_pair[0], question_id=key_pair[1]
            )
            originals = collect_translatable_texts(row, language)
            for name, text in texts.items():
                if translation.texts.get(name, text) != text:
                    problems.add_code(line, f"{name}.{language}", "translation_differs")
                elif name not in translation.texts:
                    translation.texts[name] = text
                    translation.originals[name] = hash_original(originals.get(name, ""))
                    stored[(language, *key_pair)] = changed[(language, *key_pair)] = translation
            if language not in languages:
                languages.append(language)
    if changed and version.is_published:
        problems.add_code(None, None, "translations_into_published", version=str(version))
    problems.raise_if_any()
    new = [row for row in changed.values() if not row.pk]
    old = [row for row in changed.values() if row.pk]
    if languages != version.languages and changed:
        version.languages = languages
        version.save(update_fields=["languages"])
    Translation.objects.bulk_create(new, batch_size=BATCH)
    Translation.objects.bulk_update(old, ["texts", "originals"], batch_size=BATCH)
    touched = {(row.passage_id, row.question_id) for row in changed.values()}
    return {
        row.external_id
        for _, row, _ in translated_rows
        if ((row.pk, None) if isinstance(row, Passage) else (None, row.pk)) in touched
    }
