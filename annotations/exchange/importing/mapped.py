"""Files as others export them, into a version: see `annotations.exchange.presets`."""

from __future__ import annotations

from annotations.exchange.importing.mturk import StagedBatch, store_batch
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.presets import Mapping, Preset, rows_of
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.source import Readable
from annotations.models import QuestionSet


def import_mapped(
    question_set: QuestionSet,
    path: Readable,
    *,
    preset: Preset,
    mapping: Mapping,
    panel: str = "",
    duplicates: Duplicates = Duplicates.REFUSE,
    version: int | None = None,
    update_flags: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Add a file's answers, and the questions they answer.

    Questions that are not there are made in the draft, with the wording that the file has for
    them, and the version is published. Everything else, the same file again included, is as in
    `import_answers`. Raises `InputError`.
    """
    with stage_mapped(
        path, preset=preset, mapping=mapping, panel=panel, duplicates=duplicates
    ) as stage:
        return store_batch(
            question_set, stage, version=version, update_flags=update_flags, dry_run=dry_run
        )


def stage_mapped(
    path: Readable,
    *,
    preset: Preset,
    mapping: Mapping,
    panel: str = "",
    duplicates: Duplicates = Duplicates.REFUSE,
) -> StagedBatch:
    """Read a file to its end; to be closed. Raises `InputError` with every bad row."""
    rows, stage = rows_of(path, preset, mapping, duplicates), StagedBatch()
    try:
        stage.fill(rows, panel or preset.panel(mapping), duplicates)
    except BaseException:
        stage.close()
        raise
    stage.asked = rows.questions
    return stage
