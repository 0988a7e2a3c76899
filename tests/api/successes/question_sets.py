"""Question sets, their questions, passages and answers."""

from __future__ import annotations

import json
from typing import Any

from django.core.files.base import ContentFile

from annotations.answering import waves
from annotations.editing import TranslationSheet, add_language, load_translatable_items
from annotations.models import Import, QuestionSet, Upload, Worker
from annotations.web.upload_kinds import DEMOGRAPHICS, KINDS
from annotations.web.uploads import import_upload, stage_upload
from tests.api.successes.declaration import Sent, archived, draft, succeeds

KIND = KINDS[DEMOGRAPHICS]


@succeeds("question_sets_create")
def _(world):
    return Sent({"name": "Lakes", "description": "Of Wales.", "language": "en"})


@succeeds("question_sets_partial_update")
def _(world):
    return Sent({"name": "Lakes", "description": "Of Wales."})


@succeeds("question_sets_texts_partial_update")
def _(world):
    return Sent({"guidelines": "Write a sentence.", "consent_text": "Yes."}, ids=draft(world))


@succeeds("question_sets_publish_create")
def _(world):
    return Sent(ids=draft(world))


@succeeds("question_sets_questions_create")
def _(world):
    return Sent({"rows": [{"question": "r9", "text": "How long is it?"}]}, ids=draft(world))


@succeeds("question_sets_questions_partial_update")
def _(world):
    return Sent({"text": "How long is it?", "category": "length"}, ids=draft(world))


@succeeds("question_sets_passages_create")
def _(world):
    return Sent({"rows": [{"passage": "p9", "text": "It is long."}]}, ids=draft(world))


@succeeds("question_sets_passages_partial_update")
def _(world):
    return Sent({"title": "The Wye", "text": "It is long."}, ids=draft(world))


@succeeds("question_sets_answers_create")
def _(world):
    rows = [{"worker": "dot", "question": "q1", "answer": "in Wales"}]
    return Sent({"rows": rows}, {"duplicates": "last"})


@succeeds("demographics_upload")
def _(world):
    return Sent({"rows": [{"Participant id": "ada", "Age": "31"}]}, {"name": "facts.csv"})


def uploaded(world) -> dict[str, Any]:
    """A demographic export of Rana's that can be joined, by the name in addresses."""
    who = Worker.objects.filter(submissions__version__question_set=world.set).earliest("pk")
    content = json.dumps({"Participant id": who.external_id, "Age": "31"}).encode()
    options = {
        "arrangement": {},
        "mapping": {"worker": "Participant id", "status": "", "extra": ["Age"]},
        "statuses": "refuse",
    }
    file = ContentFile(content)
    made = stage_upload(world.set, KIND, file, "facts.jsonl", options, world.rana.pk)
    return {"upload_id": made.public_id}


@succeeds("demographics_choose")
def _(world):
    mapping = {"worker": "Participant id", "status": "", "extra": ["Age"]}
    return Sent({"mapping": mapping, "statuses": "keep"}, ids=uploaded(world))


@succeeds("demographics_confirm")
def _(world):
    ids = uploaded(world)
    # Confirmed before: the file of an upload goes for good, also where the rows are rolled back.
    made = Upload.objects.get(public_id=ids["upload_id"])
    import_upload(made, world.set, KIND, dry_run=False)
    return Sent(ids=ids)


@succeeds("demographics_discard")
def _(world):
    return Sent(ids=uploaded(world))


@succeeds("question_sets_model_answers_create")
def _(world):
    return Sent({"rows": [{"model": "small-1", "question": "q1", "answer": "in Wales"}]})


@succeeds("question_sets_waves_create")
def _(world):
    return Sent({"name": "rivers in May", "people": "same", "with_models": True})


def in_march(world) -> QuestionSet:
    """Another set of Rana's that asked the same."""
    return waves.create_next_wave(world.set, "in March", QuestionSet.WavePeople.ANYBODY)


def of_march(world) -> QuestionSet:
    """The set as a later wave of that one."""
    march = in_march(world)
    QuestionSet.objects.filter(pk=march.pk).update(earlier_wave=None)
    march.refresh_from_db()
    waves.link_waves(world.set, march)
    return march


@succeeds("question_sets_earlier_wave_link")
def _(world):
    march = in_march(world)
    QuestionSet.objects.filter(pk=march.pk).update(earlier_wave=None)
    return Sent({"earlier_wave": str(march.public_id), "with_models": True})


@succeeds("question_sets_earlier_wave_unlink")
def _(world):
    of_march(world)
    return Sent()


@succeeds("question_sets_earlier_wave_replies")
def _(world):
    of_march(world)
    return Sent()


@succeeds("question_sets_archive")
def _(world):
    return Sent()


@succeeds("question_sets_restore")
def _(world):
    archived(world, world.set)
    return Sent()


@succeeds("question_sets_delete")
def _(world):
    lakes = QuestionSet.objects.create(owner=world.rana, name="Lakes")
    return Sent({"name": "Lakes"}, ids={"set_id": lakes.public_id})


@succeeds("question_sets_import_undo")
def _(world):
    brought = Import.objects.filter(question_set=world.set, what="answers").earliest("pk")
    return Sent(ids={"import_id": brought.public_id})


def in_english(world) -> dict[str, Any]:
    """The draft, whose texts are known to be English."""
    ids = draft(world)
    QuestionSet.objects.filter(public_id=ids["set_id"]).update(language="en")
    return ids


def translated(world) -> dict[str, Any]:
    """The same, which has Arabic."""
    ids = in_english(world)
    add_language(QuestionSet.objects.get(public_id=ids["set_id"]).draft(), "ar")
    return ids | {"language": "ar"}


@succeeds("translations_add")
def _(world):
    return Sent({"language": "ar"}, ids=in_english(world))


@succeeds("translations_store")
def _(world):
    ids = translated(world)
    version = QuestionSet.objects.get(public_id=ids["set_id"]).draft()
    sheet = TranslationSheet(version, "ar", load_translatable_items(version))
    piece = next(one for one in sheet.pieces if one.name == "text")
    return Sent({"seen": sheet.seen, "texts": {piece.key: "نص"}}, ids=ids)


@succeeds("translations_remove")
def _(world):
    return Sent(ids=translated(world))
