"""Import answers from survey tools' exports, which `annotations.exchange.presets` reads."""

from __future__ import annotations

from typing import Any

from annotations.exchange.importing.mturk import StagedBatch, store_batch
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.presets import LocatedTable, Mapping, Preset, get_preset, open_answer_rows
from annotations.exchange.presets.demographics import DemographicFile, StatusRule
from annotations.exchange.presets.joining import JoinedAnswers
from annotations.exchange.reading.duplicates import DuplicateRule, Duplicates, build_duplicate_rule
from annotations.exchange.reading.mturk import QuestionTemplate
from annotations.exchange.reading.source import Readable, make_source
from annotations.models import QuestionSet


class StagedSurveyExport(StagedBatch):
    """Answers of a survey export, read into a temporary store but not yet stored."""

    keeps_wordings = True


def import_survey_export(
    question_set: QuestionSet,
    path: Readable,
    *,
    preset: Preset,
    mapping: Mapping,
    panel: str = "",
    duplicates: DuplicateRule = Duplicates.REFUSE,
    demographics: DemographicFile | None = None,
    statuses: StatusRule = StatusRule.REFUSE,
    version: int | None = None,
    update_flags: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add a survey export's answers, and the questions that they answer; return a report.

    Unknown questions are created in the draft, with the wording of the file, and the version is
    published. Everything else is as in `import_answers`. Raises `InputError`.
    """
    with stage_survey_export(
        path,
        preset=preset,
        mapping=mapping,
        panel=panel,
        duplicates=duplicates,
        demographics=demographics,
        statuses=statuses,
    ) as stage:
        return store_batch(
            question_set,
            stage,
            version=version,
            update_flags=update_flags,
            dry_run=dry_run,
            imported_by=imported_by,
        )


def stage_survey_export(
    path: Readable,
    *,
    preset: Preset,
    mapping: Mapping,
    panel: str = "",
    duplicates: DuplicateRule = Duplicates.REFUSE,
    template: QuestionTemplate | None = None,
    demographics: DemographicFile | None = None,
    statuses: StatusRule = StatusRule.REFUSE,
) -> StagedSurveyExport:
    """Read a survey export's answers into a temporary store, which the caller must close.

    `demographics` are joined to the answers by the worker's id; `statuses` sets what is done with
    the answers of returned, timed-out and rejected submissions. Raises `InputError` with every bad
    row.
    """
    read, stage = (
        open_answer_rows(path, preset, mapping, duplicates, template),
        StagedSurveyExport(),
    )
    rows = read if demographics is None else JoinedAnswers(read, demographics, statuses)
    try:
        stage.fill(rows, panel or preset.panel(mapping), duplicates)
        stage.refuse_unknown_workers()
    except BaseException:
        stage.close()
        raise
    stage.asked = rows.questions
    return stage


def stage_uploaded_export(
    path: Readable,
    *,
    preset: str,
    mapping: dict[str, Any],
    panel: str = "",
    duplicates: str = Duplicates.REFUSE,
    duplicates_of: dict[str, str] | None = None,
    question_template: str = "",
    arrangement: dict[str, Any] | None = None,
    keep_unfinished: bool = False,
    keep_html: bool = False,
    keep_ids: bool = False,
) -> StagedSurveyExport:
    """Read an uploaded survey export into a temporary store, with options in JSON from a page."""
    return stage_survey_export(
        LocatedTable.from_dict(make_source(path), arrangement or {}).source,
        preset=get_preset(
            preset, keep_unfinished=keep_unfinished, keep_html=keep_html, keep_ids=keep_ids
        ),
        mapping=Mapping.from_dict(mapping),
        panel=panel,
        duplicates=build_duplicate_rule(duplicates, duplicates_of or {}),
        template=QuestionTemplate.parse(question_template) if question_template.strip() else None,
    )


def store_uploaded_export(
    question_set: QuestionSet, stage: StagedSurveyExport, *, create_questions: bool, **options: Any
) -> ImportReport:
    """Store the answers that `stage_uploaded_export` read; return the import's report."""
    if not create_questions:
        stage.asked = {}
    return store_batch(question_set, stage, **options)
