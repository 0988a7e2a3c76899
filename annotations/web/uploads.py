"""Store uploaded files, read them as a dry run or an import, and note their problems.

An import runs in one transaction: all rows of a file are stored, or none.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.http import Http404

from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import make_stored_source
from annotations.models import QuestionSet, Upload
from annotations.models.uploads import LONGEST_NAME, delete_old_uploads
from annotations.web.upload_kinds import DEMOGRAPHICS, WIZARD, UploadKind, UploadReport

MAPPED = (WIZARD, DEMOGRAPHICS)
"""Kinds of files whose columns get their roles after the upload."""
OF_WORKERS = ("answers_differ", "attempts_differ", "rejection_differs")
"""Codes of problems that one worker has, whose id is the value `name`."""


def stage_upload(
    question_set: QuestionSet,
    kind: UploadKind,
    file: Any,
    name: str,
    options: dict[str, Any],
    owner: int,
    *,
    columns: str = "",
) -> Upload:
    """Store a file as an upload and import it as a dry run; return the upload.

    `options` are the keyword arguments of the kind's reader, `columns` other names of columns.
    """
    # There is no scheduler: each upload deletes those older than a day.
    delete_old_uploads()
    staged = Upload(
        owner_id=owner,
        question_set=question_set,
        kind=kind.slug,
        name=Path(name).name[:LONGEST_NAME],
        columns=columns,
        options=options,
    )
    with staged.delete_files_on_error():
        staged.file.save("", file, save=False)
        import_upload(staged, question_set, kind, dry_run=True)
    return staged


class FileGoneError(Http404):
    """Error (404): another request discarded the upload while it was read."""


def import_upload(upload: Upload, into: QuestionSet, kind: UploadKind, *, dry_run: bool) -> None:
    """Import an upload, or check it as a dry run; save the report or the problems in the upload.

    Raises `FileGoneError` if the upload was discarded meanwhile.
    """
    try:
        report = _import_file(upload, into, kind, dry_run=dry_run)
    except (InputError, FileNotFoundError) as error:
        # A concurrent request may have imported and deleted the file, which looks like an error.
        if not upload._state.adding and not _is_pending_import(upload):
            return
        if isinstance(error, FileNotFoundError):
            error = InputError.from_code(upload.name, "file_gone")
        upload.report = None
        record_problems(upload, error)
        if kind.slug in MAPPED:
            # The file stays: another mapping of its columns may work.
            upload.state = Upload.State.MAPPING
        else:
            upload.state = Upload.State.BAD
            upload.delete_files()
    else:
        upload.state = Upload.State.CHECKED if dry_run else Upload.State.DONE
        upload.report = {**report.as_dict(), "changed": report.changed}
        upload.problems, upload.n_problems = [], 0
        upload.lines = list(report.lines())
        # A file that would change nothing cannot be confirmed, so it is not needed any more.
        if not dry_run or not report.changed:
            upload.delete_files()
    upload.save()


def _is_pending_import(upload: Upload) -> bool:
    """Return whether the upload is stored and no concurrent request has imported it.

    If one has, its report is stored and must stay. Raises `FileGoneError` if it was discarded.
    """
    stored = Upload.objects.filter(pk=upload.pk).first()
    if stored is None:
        raise FileGoneError
    return stored.state != Upload.State.DONE


def record_problems(upload: Upload, error: InputError) -> None:
    """Set an upload's problems from an error of its file; the caller saves the upload."""
    upload.n_problems = error.total
    upload.problems = [
        {
            "line": problem.line,
            "row": problem.row or problem.line,
            "column": problem.column,
            "code": problem.code,
            "reason": problem.reason,
            "remedy": problem.remedy,
            "worker": problem.values.get("name", "") if problem.code in OF_WORKERS else "",
        }
        for problem in error.problems
    ]


def _import_file(
    upload: Upload, into: QuestionSet, kind: UploadKind, *, dry_run: bool
) -> UploadReport:
    """Import an upload, or try it as a dry run; return the report of the changes.

    Kinds with a stage keep the rows that a dry run has checked, so that the import after it does
    not read the file again.
    """
    options = upload.options
    if kind.stage is None:
        source = make_stored_source(upload.name, upload.open_file, upload.file.size)
        user = {"imported_by": upload.owner_id} if kind.knows_who else {}
        return kind.load(
            into,
            source,
            dry_run=dry_run,
            **_build_columns_argument(upload, kind),
            **options,
            **user,
        )
    stage = kind.stage
    reading_options = {name: options[name] for name in stage.options if name in options}
    storing_options = {
        name: value for name, value in options.items() if name not in reading_options
    }
    storing_options["imported_by"] = upload.owner_id
    if upload.checked:
        with upload.copy_checked_rows() as path, stage.kind.load(path) as rows:
            return stage.store(into, rows, dry_run=dry_run, **storing_options)
    source = make_stored_source(upload.name, upload.open_file, upload.file.size)
    with stage.read(source, **_build_columns_argument(upload, kind), **reading_options) as rows:
        report = stage.store(into, rows, dry_run=dry_run, **storing_options)
        if dry_run and report.changed:
            # SQLite writes to a path of this machine, which a storage need not have.
            with TemporaryDirectory(prefix="upload-") as folder:
                path = Path(folder) / "rows"
                rows.save(path)
                upload.store_checked_rows(path)
        return report


def _build_columns_argument(upload: Upload, kind: UploadKind) -> dict[str, Any]:
    """Return {"columns": renamed columns} for the reader; {} without renamed columns."""
    return {"columns": kind.parse_columns(upload.columns)} if upload.columns else {}
