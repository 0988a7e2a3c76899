"""Uploading: a file, a dry run, its preview, a yes, the result. Nothing is ever half imported."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_POST

from annotations.desk import staging
from annotations.desk.forms import UploadForm
from annotations.exchange.importing import ImportReport
from annotations.exchange.problems import InputError
from annotations.models import QuestionSet
from annotations.web.pages import breadcrumbs
from annotations.web.scope import editable, user_id
from annotations.web.upload_kinds import KINDS, UploadKind


def upload(request: HttpRequest, set_id: UUID, kind: str) -> HttpResponse:
    """Take a file, try it, and lead to the preview."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
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
            file = form.cleaned_data["file"]
            staged = staging.stage(
                file.chunks(),
                user=user_id(request),
                question_set=str(question_set.public_id),
                kind=kind,
                name=file.name,
                columns=form.cleaned_data.get("columns", ""),
                options=form.options(),
            )
            _read(staged, question_set, sort, dry_run=True)
            return _to_page(question_set, staged)
    context = {
        "title": f"Upload {sort.title}",
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "kind": sort,
        "form": form,
    }
    return TemplateResponse(
        request, "annotations/upload.html", context, status=400 if form.errors else 200
    )


def uploaded(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Show what the file would do, why it cannot be imported, or what it did."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    staged = _staged(request, question_set, token)
    sort = KINDS[staged.kind]
    titles = {
        "bad": f"These {sort.title} cannot be imported",
        "checked": f"Import {sort.title}?",
        "done": f"The {sort.title} are imported",
    }
    context = {
        "title": titles[staged.state],
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "kind": sort,
        "staged": staged,
        "hidden_problems": staged.n_problems - len(staged.problems),
    }
    return TemplateResponse(request, "annotations/uploaded.html", context)


@require_POST
def confirm_upload(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Import the file; a second click finds it done."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    staged = _staged(request, question_set, token)
    if staged.state == "checked" and staged.path.exists():
        _read(staged, question_set, KINDS[staged.kind], dry_run=False)
    return _to_page(question_set, staged)


@require_POST
def discard_upload(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Forget the file."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    _staged(request, question_set, token).drop()
    return redirect("admin:question-set", question_set.public_id)


def _read(staged: staging.Staged, into: QuestionSet, kind: UploadKind, *, dry_run: bool) -> None:
    columns = {"columns": kind.parse_columns(staged.columns)} if staged.columns else {}
    try:
        report: ImportReport = kind.load(
            into, staged.path, dry_run=dry_run, **columns, **staged.options
        )
    except InputError as error:
        staged.state, staged.report, staged.n_problems = "bad", None, error.total
        staged.problems = [
            {
                "line": problem.line,
                "column": problem.column,
                "reason": problem.reason,
                "remedy": problem.remedy,
            }
            for problem in error.problems
        ]
        staged.drop_file()
    else:
        report.file = staged.name
        staged.state = "checked" if dry_run else "done"
        staged.report = {**report.as_dict(), "changed": report.changed}
        staged.lines = list(report.lines())
        if not dry_run or not report.changed:
            staged.drop_file()
    staged.save()


def _staged(request: HttpRequest, question_set: QuestionSet, token: str) -> staging.Staged:
    return staging.find(token, user=user_id(request), question_set=str(question_set.public_id))


def _to_page(question_set: QuestionSet, staged: staging.Staged) -> HttpResponseRedirect:
    return redirect("admin:uploaded", question_set.public_id, staged.token)
