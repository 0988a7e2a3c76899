"""Uploading: a file, a dry run, its preview, a yes, the result. Nothing is ever half imported."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_POST

from annotations.desk.forms import UploadForm
from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import stored_source
from annotations.models import QuestionSet, Response, Upload
from annotations.models.uploads import LONGEST_NAME, sweep
from annotations.web.pages import breadcrumbs
from annotations.web.scope import editable, maker, user_id
from annotations.web.upload_kinds import KINDS, WIZARD, Report, UploadKind

LONGEST_SET_NAME = 190
"""Characters of a file's name that a set is called by; a number may follow."""
SOME = 3
"""Ids of questions that a page shows."""


def upload(request: HttpRequest, set_id: UUID, kind: str) -> HttpResponse:
    """Take a file, try it, and lead to the preview."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    if kind == WIZARD:
        return redirect("admin:import", question_set.public_id)
    if kind not in KINDS:
        raise Http404
    sort = KINDS[kind]
    form = UploadForm(sort)
    if request.method == "POST":
        # Reading the files comes first: only that tells whether one was too large.
        posted, files = request.POST, request.FILES
        too_large = bool(request.META.get("UPLOAD_TOO_LARGE"))
        form = UploadForm(sort, posted, files, too_large=too_large)
        if form.is_valid():
            file, named = form.cleaned_data["file"], form.cleaned_data.get("columns", "")
            return try_upload(request, question_set, sort, file, form.options(), named)
    context = {
        "title": f"Upload {sort.title}",
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "kind": sort,
        "form": form,
        "known": _some_questions(question_set) if sort.names_questions else [],
    }
    return TemplateResponse(
        request, "annotations/upload.html", context, status=400 if form.errors else 200
    )


def try_upload(
    request: HttpRequest,
    question_set: QuestionSet,
    kind: UploadKind,
    file: Any,
    options: dict[str, Any],
    columns: str = "",
) -> HttpResponseRedirect:
    """Keep a file that was sent, try to import it, and lead to what it would do."""
    sweep()
    staged = Upload(
        owner_id=user_id(request),
        question_set=question_set,
        kind=kind.slug,
        name=Path(file.name).name[:LONGEST_NAME],
        columns=columns,
        options=options,
    )
    with staged.whole():
        staged.file.save("", file, save=False)
        read_upload(staged, question_set, kind, dry_run=True)
    return _to_page(question_set, staged)


def uploaded(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Show what the file would do, why it cannot be imported, or what it did."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    staged = staged_upload(request, question_set, token)
    if staged.state == Upload.State.MAPPING:
        return redirect("admin:import-columns", question_set.public_id, staged.public_id)
    sort = KINDS[staged.kind]
    titles = {
        "bad": f"These {sort.title} cannot be imported",
        "checked": f"Import {sort.title}?",
        "done": f"The {sort.title} are imported",
    }
    context = {
        "title": titles[staged.state],
        "is_wrong": staged.state == Upload.State.BAD,
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "kind": sort,
        "staged": staged,
        "hidden_problems": staged.n_problems - len(staged.problems),
        "begins": _begun_version(staged),
        "may_grade": staged.state == Upload.State.DONE
        and sort.door == UploadKind.door
        and _has_answers(question_set),
    }
    return TemplateResponse(request, "annotations/uploaded.html", context)


def _some_questions(question_set: QuestionSet) -> list[str]:
    """Return the ids of the first questions: nobody who imported a file made them up."""
    version = question_set.latest_version()
    if version is None:
        return []
    return list(version.questions.order_by("position").values_list("external_id", flat=True)[:SOME])


def _begun_version(staged: Upload) -> int | None:
    """Return the number of the version that a checked file begins; None if it begins no further."""
    if staged.state != Upload.State.CHECKED or not KINDS[staged.kind].brings_questions:
        return None
    latest = staged.question_set.latest_version()
    number = int((staged.report or {}).get("version", 0))
    return number if latest is not None and number > latest.number else None


def _has_answers(question_set: QuestionSet) -> bool:
    """Whether there is something to grade."""
    return Response.objects.filter(question__version__question_set=question_set).exists()


@require_POST
def confirm_upload(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Import the file, on request into a new set; a second click finds it done."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    staged = staged_upload(request, question_set, token)
    may_move = staged.state == Upload.State.CHECKED and KINDS[staged.kind].brings_questions
    if request.POST.get("into") == "new" and may_move:
        question_set = staged.question_set = _new_set(request, staged.name)
        staged.save(update_fields=["question_set"])
    if staged.state == Upload.State.CHECKED and staged.file:
        try:
            read_upload(staged, question_set, KINDS[staged.kind], dry_run=False)
        except FileGoneError:
            messages.warning(request, f"{staged.name} was discarded; nothing was imported.")
            return redirect("admin:question-set", question_set.public_id)
    return _to_page(question_set, staged)


def _new_set(request: HttpRequest, file: str) -> QuestionSet:
    """Make a set that is called like a file, with a number if there is such a set."""
    owner, name = maker(request), Path(file).stem[:LONGEST_SET_NAME] or "Questions"
    taken = set(QuestionSet.objects.filter(owner_id=owner).values_list("name", flat=True))
    names = (name if number == 1 else f"{name} {number}" for number in count(1))
    return QuestionSet.objects.create(
        owner_id=owner, name=next(one for one in names if one not in taken)
    )


@require_POST
def discard_upload(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Forget the file."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    staged_upload(request, question_set, token).delete()
    return redirect("admin:question-set", question_set.public_id)


class FileGoneError(Http404):
    """The upload was discarded while it was read."""


def read_upload(upload: Upload, into: QuestionSet, kind: UploadKind, *, dry_run: bool) -> None:
    """Import the file or try to, and note what became of it; raises `FileGoneError`."""
    try:
        report = _imported(upload, into, kind, dry_run=dry_run)
    except (InputError, FileNotFoundError) as error:
        if not upload._state.adding and not _is_still_there(upload):
            return
        if isinstance(error, FileNotFoundError):
            error = InputError.from_code(upload.name, "file_gone")
        upload.report = None
        note_problems(upload, error)
        if kind.slug == WIZARD:
            # The file stays: perhaps its columns were taken for others than they are.
            upload.state = Upload.State.MAPPING
        else:
            upload.state = Upload.State.BAD
            upload.drop_files()
    else:
        upload.state = Upload.State.CHECKED if dry_run else Upload.State.DONE
        upload.report = {**report.as_dict(), "changed": report.changed}
        upload.problems, upload.n_problems = [], 0
        upload.lines = list(report.lines())
        if not dry_run or not report.changed:
            upload.drop_files()
    upload.save()


def _is_still_there(upload: Upload) -> bool:
    """Whether nobody else has imported the upload meanwhile, which it then says itself.

    Raises `FileGoneError` if somebody discarded it.
    """
    stored = Upload.objects.filter(pk=upload.pk).first()
    if stored is None:
        raise FileGoneError
    return stored.state != Upload.State.DONE


def note_problems(upload: Upload, error: InputError) -> None:
    """Keep what is wrong with the file, in words for its page."""
    upload.n_problems = error.total
    upload.problems = [
        {
            "line": problem.line,
            "column": problem.column,
            "code": problem.code,
            "reason": problem.reason,
            "remedy": problem.remedy,
        }
        for problem in error.problems
    ]


def _imported(upload: Upload, into: QuestionSet, kind: UploadKind, *, dry_run: bool) -> Report:
    """Import the file; what a dry run has read of it is not read again."""
    options = upload.options
    if kind.stage is None:
        source = stored_source(upload.name, upload.opened, upload.file.size)
        who = {"imported_by": upload.owner_id} if kind.knows_who else {}
        return kind.load(into, source, dry_run=dry_run, **_columns(upload, kind), **options, **who)
    stage = kind.stage
    of_reading = {name: options[name] for name in stage.options if name in options}
    of_storing = {name: value for name, value in options.items() if name not in of_reading}
    of_storing["imported_by"] = upload.owner_id
    if upload.checked:
        with upload.checked_path() as path, stage.kind.opened(path) as rows:
            return stage.store(into, rows, dry_run=dry_run, **of_storing)
    source = stored_source(upload.name, upload.opened, upload.file.size)
    with stage.read(source, **_columns(upload, kind), **of_reading) as rows:
        report = stage.store(into, rows, dry_run=dry_run, **of_storing)
        if dry_run and report.changed:
            with TemporaryDirectory(prefix="upload-") as folder:
                path = Path(folder) / "rows"
                rows.keep(path)
                upload.keep_checked(path)
        return report


def _columns(upload: Upload, kind: UploadKind) -> dict[str, Any]:
    return {"columns": kind.parse_columns(upload.columns)} if upload.columns else {}


def staged_upload(request: HttpRequest, question_set: QuestionSet, token: str) -> Upload:
    """Return what this user uploaded into this set; else it does not exist."""
    try:
        found = question_set.uploads.filter(public_id=token, owner_id=user_id(request)).first()
    except ValidationError:  # no id at all
        raise Http404 from None
    if found is None:
        raise Http404("it was discarded, or a day has passed")
    return found


def _to_page(question_set: QuestionSet, upload: Upload) -> HttpResponseRedirect:
    return redirect("admin:uploaded", question_set.public_id, upload.public_id)
