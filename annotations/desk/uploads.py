"""Pages of uploads: send a file, preview what its import would change, confirm, see the result.

An import runs in one transaction: all rows of a file are stored, or none.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_POST

from annotations.desk.forms import UploadForm
from annotations.models import QuestionSet, Response, Upload
from annotations.models.uploads import select_open_uploads
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable, get_user_id, require_requester
from annotations.web.upload_kinds import DEMOGRAPHICS, KINDS, WIZARD, UploadKind
from annotations.web.uploads import FileGoneError, import_upload, stage_upload

LONGEST_SET_NAME = 190
"""Most characters of a file's name in the name of a new question set; a number may follow."""
CHOICES = {
    **dict.fromkeys(("answers_differ", "attempts_differ"), "duplicates"),
    "question_unknown": "create_questions",
}
"""Options that solve a problem, by its code."""
MAPPING_PAGES = {WIZARD: "admin:import-columns", DEMOGRAPHICS: "admin:import-demographics"}
"""Pages on which the columns of a file get their roles, by the kind of the file."""
MAX_IDS_SHOWN = 3
"""Most question ids that the upload page shows as examples."""


def upload_file(request: HttpRequest, set_id: UUID, kind: str) -> HttpResponse:
    """Show the upload form of a kind of file; POST stores the file and previews its import."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    if kind in (WIZARD, DEMOGRAPHICS):
        return redirect("admin:import", question_set.public_id)
    if kind not in KINDS:
        raise Http404
    upload_kind = KINDS[kind]
    form = UploadForm(upload_kind)
    if request.method == "POST":
        # FILES before META: parsing the body sets UPLOAD_TOO_LARGE.
        posted, files = request.POST, request.FILES
        too_large = bool(request.META.get("UPLOAD_TOO_LARGE"))
        form = UploadForm(upload_kind, posted, files, too_large=too_large)
        if form.is_valid():
            file, columns = form.cleaned_data["file"], form.cleaned_data.get("columns", "")
            return check_posted_file(
                request, question_set, upload_kind, file, form.collect_options(), columns
            )
    context = {
        "title": f"Upload {upload_kind.title}",
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "kind": upload_kind,
        "form": form,
        "known": _list_first_ids(question_set) if upload_kind.names_questions else [],
    }
    return TemplateResponse(
        request, "annotations/upload.html", context, status=400 if form.errors else 200
    )


def check_posted_file(
    request: HttpRequest,
    question_set: QuestionSet,
    kind: UploadKind,
    file: Any,
    options: dict[str, Any],
    columns: str = "",
) -> HttpResponseRedirect:
    """Store a file, import it as a dry run, and return a redirect to the preview of its changes.

    `options` are the keyword arguments of the kind's reader, `columns` other names of columns.
    """
    staged = stage_upload(
        question_set, kind, file, file.name, options, get_user_id(request), columns=columns
    )
    return _redirect_to_upload(question_set, staged)


def show_upload(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Show what an import would change, what it changed, or why it is impossible."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    staged = load_upload(request, question_set, token)
    if staged.state == Upload.State.MAPPING:
        return redirect(MAPPING_PAGES[staged.kind], question_set.public_id, staged.public_id)
    kind = KINDS[staged.kind]
    titles = {
        "bad": f"These {kind.title} cannot be imported",
        "checked": f"Import {kind.title}?",
        "done": f"The {kind.title} are imported",
    }
    context = {
        "title": titles[staged.state],
        "is_wrong": staged.state == Upload.State.BAD,
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "kind": kind,
        "staged": staged,
        "groups": group_problems(staged),
        "hidden_problems": staged.n_problems - len(staged.problems),
        "begins": _find_new_version(staged),
        "roles_page": MAPPING_PAGES.get(kind.slug, ""),
        "uploads": select_open_uploads(question_set, get_user_id(request))
        if staged.state == Upload.State.DONE
        else [],
        "may_grade": staged.state == Upload.State.DONE
        and kind.return_link == UploadKind.return_link
        and _has_answers(question_set),
    }
    return TemplateResponse(request, "annotations/uploaded.html", context)


def _list_first_ids(question_set: QuestionSet) -> list[str]:
    """Return the first question ids of the latest version, as examples for the upload page."""
    version = question_set.latest_version()
    if version is None:
        return []
    return list(
        version.questions.order_by("position").values_list("external_id", flat=True)[:MAX_IDS_SHOWN]
    )


def _find_new_version(staged: Upload) -> int | None:
    """Return the number of the version that an import would create; None if it creates none."""
    if staged.state != Upload.State.CHECKED or not KINDS[staged.kind].brings_questions:
        return None
    latest = staged.question_set.latest_version()
    number = int((staged.report or {}).get("version", 0))
    return number if latest is not None and number > latest.number else None


def _has_answers(question_set: QuestionSet) -> bool:
    """Return whether any question of the set has an answer."""
    return Response.objects.filter(question__version__question_set=question_set).exists()


@require_POST
def confirm_upload(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Import a checked file; repeated clicks have no further effect.

    With `into=new`, the rows go into a new question set.
    """
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    staged = load_upload(request, question_set, token)
    may_move = staged.state == Upload.State.CHECKED and KINDS[staged.kind].brings_questions
    if request.POST.get("into") == "new" and may_move:
        # Stored before the import: a second click from the old page then finds no upload there, and
        # creates no second set.
        question_set = staged.question_set = _create_question_set(request, staged.name)
        staged.save(update_fields=["question_set"])
    if staged.state == Upload.State.CHECKED and staged.file:
        try:
            import_upload(staged, question_set, KINDS[staged.kind], dry_run=False)
        except FileGoneError:
            messages.warning(request, f"{staged.name} was discarded; nothing was imported.")
            return redirect("admin:question-set", question_set.public_id)
    return _redirect_to_upload(question_set, staged)


def _create_question_set(request: HttpRequest, file: str) -> QuestionSet:
    """Create and return a question set named after a file, with a number if needed."""
    owner, name = require_requester(request), Path(file).stem[:LONGEST_SET_NAME] or "Questions"
    used = set(QuestionSet.objects.filter(owner_id=owner).values_list("name", flat=True))
    names = (name if number == 1 else f"{name} {number}" for number in count(1))
    return QuestionSet.objects.create(
        owner_id=owner, name=next(name for name in names if name not in used)
    )


@require_POST
def discard_upload(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Delete an upload and its stored file without importing it."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    load_upload(request, question_set, token).delete()
    return redirect("admin:question-set", question_set.public_id)


def group_problems(upload: Upload) -> list[dict[str, Any]]:
    """Return an upload's problems in groups: those without a worker, then by worker.

    Each group has the choice that solves it, by the name of an option, "" if none does.
    """
    groups: dict[str, list[dict[str, Any]]] = {"": []}
    for problem in upload.problems:
        groups.setdefault(problem.get("worker", ""), []).append(problem)
    return [
        {"worker": worker, "problems": problems, "choice": _find_solving_choice(upload, problems)}
        for worker, problems in groups.items()
        if problems
    ]


def _find_solving_choice(upload: Upload, problems: list[dict[str, Any]]) -> str:
    """Return the wizard's option that solves all problems of a group; "" if there is none."""
    choices = {CHOICES.get(problem["code"], "") for problem in problems}
    is_open = upload.kind == WIZARD and upload.state == Upload.State.MAPPING
    return choices.pop() if is_open and len(choices) == 1 else ""


def load_upload(request: HttpRequest, question_set: QuestionSet, token: str) -> Upload:
    """Return the user's own upload to the question set; raise `Http404` for others."""
    try:
        upload = question_set.uploads.filter(public_id=token, owner_id=get_user_id(request)).first()
    except ValidationError:  # the token is not a UUID
        raise Http404 from None
    if upload is None:
        raise Http404("it was discarded, or a day has passed")
    return upload


def _redirect_to_upload(question_set: QuestionSet, upload: Upload) -> HttpResponseRedirect:
    """Return a redirect to the page that shows an upload."""
    return redirect("admin:uploaded", question_set.public_id, upload.public_id)
