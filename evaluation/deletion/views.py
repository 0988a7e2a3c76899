"""Pages to archive, restore and delete, to erase what a worker wrote, and to undo imports.

Pages to list and undo the imports of a question set.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.exchange.importing.target import lock_question_set
from annotations.models import (
    AuditEntry,
    Collection,
    Import,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    Worker,
    WritingProject,
    rights,
)
from annotations.models.uploads import select_open_uploads
from annotations.web.pages import NEWEST_FIRST, build_breadcrumbs, load_page
from annotations.web.scope import (
    get_editable,
    get_manageable,
    get_set_with_answers,
    get_user_id,
    select_visible,
)
from annotations.web.texts import mark_code
from evaluation.deletion.report import (
    build_import_rows,
    count_answers_without_import,
    select_imports,
)
from evaluation.deletion.storage import erasing, removals, undoing
from evaluation.deletion.storage.record import find_request
from evaluation.deletion.storage.removals import Thing, get_display_name
from evaluation.models import LanguageModel, Removal, Run
from evaluation.models.collecting import IMPORT
from evaluation.runs.background.progress import HOW_TO_START, is_any_process_running

MAX_SHOWN = 100
RUNS = Run.objects.select_related("version__question_set")


class ConfirmForm(forms.Form):
    """Form that confirms a deletion with the typed name of a set or model, or a worker's id."""

    name = forms.CharField(label="Type the name of the question set to confirm", max_length=300)

    def __init__(self, wanted: str, *args: Any, label: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if label:
            self.fields["name"].label = label
        self.wanted = wanted

    def clean_name(self) -> str:
        """Validate that the typed name equals the expected one."""
        name = str(self.cleaned_data["name"])
        if name.strip() != self.wanted.strip():
            raise forms.ValidationError(f"Type exactly “{self.wanted}”; nothing was deleted.")
        return name


def show_archive(request: HttpRequest) -> HttpResponse:
    """Show the archive: archived objects, deletions in progress, and the audit log."""
    sets = select_visible(request, QuestionSet.objects.exclude(archived_at=None))
    # Objects being deleted are archived too, but cannot be restored any more.
    gone = Removal.objects.values("target_id")
    runs = select_visible(request, RUNS.exclude(archived_at=None))
    going = list(select_visible(request, Removal.objects.filter(finished_at=None)).order_by("-pk"))
    context = {
        "title": "Archived and deleted",
        "subtitle": "What is hidden from the lists, and who archived, restored or deleted what.",
        "breadcrumbs": [("Question sets", reverse("admin:question-sets"))],
        "models": select_visible(request, LanguageModel.objects.exclude(archived_at=None))
        .exclude(public_id__in=gone)
        .order_by("-archived_at")[:MAX_SHOWN],
        "sets": sets.exclude(public_id__in=gone).order_by("-archived_at")[:MAX_SHOWN],
        "runs": runs.exclude(public_id__in=gone).order_by("-archived_at")[:MAX_SHOWN],
        "removals": going,
        "waiting": mark_code(HOW_TO_START) if going and not is_any_process_running() else "",
        "page": load_page(
            request,
            select_visible(request, AuditEntry.objects.select_related("done_by")),
            NEWEST_FIRST,
        ),
    }
    return TemplateResponse(request, "admin/removing/archived.html", context)


@require_POST
def archive_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Archive a question set: hide it from lists."""
    return _archive_object(request, get_editable(request, QuestionSet.objects.all(), set_id))


@require_POST
def restore_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Restore an archived question set."""
    return _restore_object(request, get_editable(request, QuestionSet.objects.all(), set_id))


def delete_set(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show what depends on a question set; delete the set when the user has typed its name."""
    question_set = get_manageable(request, QuestionSet.objects.all(), set_id)
    form = ConfirmForm(question_set.name, request.POST or None)
    return _confirm_deletion(request, question_set, form, build_breadcrumbs(question_set))


def discard_draft(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask for confirmation, then delete an unused draft of a set that has an earlier version."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    back = reverse("admin:question-set", args=[question_set.public_id])
    with transaction.atomic():
        # Locked, so that no publication comes between the check and the deletion.
        draft = lock_question_set(question_set).latest_version()
        if draft is None or draft.is_published or draft.number == 1:
            messages.info(request, "There is no draft to discard.", "no_draft")
            return redirect(back)
        if _is_in_use(draft):
            message = f"Version {draft.number} has answers or runs, or is open to people: it stays."
            messages.error(request, message, "draft_in_use")
            return redirect(back)
        if request.method == "POST":
            draft.translations.all().delete()
            draft.questions.all().delete()
            draft.passages.all().delete()
            draft.delete()
            message = f"The draft of version {draft.number} is discarded."
            messages.success(request, message, "draft_discarded")
            return redirect(back)
        n_questions = draft.questions.count()
    plural = "" if n_questions == 1 else "s"
    context = {
        "title": f"Discard the draft of version {draft.number}?",
        "breadcrumbs": build_breadcrumbs(question_set),
        "text": f"The draft and its {n_questions:,} question{plural} will be deleted. Version "
        f"{draft.number - 1} and its answers stay.",
        "button": "Discard the draft",
        "back": back,
    }
    return TemplateResponse(request, "annotations/confirm.html", context)


def _is_in_use(version: QuestionSetVersion) -> bool:
    """Return whether answers, runs, a collection or a writing project use a set's version."""
    answers = Response.objects.filter(question__version=version)
    return (
        answers.exists()
        or Submission.objects.filter(version=version).exists()
        or Run.objects.filter(version=version).exists()
        or Collection.objects.filter(version=version).exists()
        or WritingProject.objects.filter(version=version).exists()
    )


@require_POST
def archive_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Archive a run: hide it from lists."""
    return _archive_object(request, get_editable(request, RUNS, run_id))


@require_POST
def restore_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Restore an archived run."""
    return _restore_object(request, get_editable(request, RUNS, run_id))


def delete_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show what depends on a run; delete it on confirmation (POST)."""
    run = get_editable(request, RUNS, run_id)
    way = [*build_breadcrumbs(run.version.question_set), ("Run", _build_address(run))]
    return _confirm_deletion(request, run, None, way)


@require_POST
def archive_model(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Archive a language model: hide it from lists and from the choice of models to ask."""
    return _archive_object(request, get_editable(request, LanguageModel.objects.all(), model_id))


@require_POST
def restore_model(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Restore an archived language model."""
    return _restore_object(request, get_editable(request, LanguageModel.objects.all(), model_id))


def delete_model(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Show what depends on a language model; delete it when the user has typed its name."""
    model = get_editable(request, LanguageModel.objects.select_related("owner"), model_id)
    label = "Type the name of the model to confirm"
    form = ConfirmForm(model.name, request.POST or None, label=label)
    way = [("Language models", reverse("admin:models")), (model.name, _build_address(model))]
    return _confirm_deletion(request, model, form, way)


def _archive_object(request: HttpRequest, thing: Thing) -> HttpResponse:
    """Archive an object, and redirect to the archive with a message."""
    if removals.archive_object(thing, get_user_id(request)):
        messages.success(
            request, f"{get_display_name(thing)} is archived. Everything in it stays stored."
        )
        if isinstance(thing, Run) and getattr(thing, "of_record", None) is not None:
            messages.info(
                request,
                "It was the official run of its question set. While it is archived, the newest "
                "run that is done counts; once it is restored, it counts again.",
            )
    return redirect("admin:archived")


def _restore_object(request: HttpRequest, thing: Thing) -> HttpResponse:
    """Restore an archived object, and redirect to its page; else back to the archive."""
    if removals.restore_object(thing, get_user_id(request)):
        messages.success(request, f"{get_display_name(thing)} is back in the lists.")
        return redirect(_build_address(thing))
    if removals.is_being_deleted(thing):
        messages.error(request, "It is being deleted and cannot be restored.")
    return redirect("admin:archived")


def _confirm_deletion(
    request: HttpRequest,
    thing: Thing,
    form: ConfirmForm | None,
    way: list[tuple[str, str]],
) -> HttpResponse:
    """Show what would be deleted with an object; request the deletion when the form confirms it."""
    hanging = removals.find_dependents(thing)
    confirmed = request.method == "POST" and (form is None or form.is_valid())
    if confirmed and hanging.can_go:
        removals.request_deletion(thing, get_user_id(request))
        messages.success(request, f"{get_display_name(thing)} is being deleted.")
        return redirect("admin:archived")
    failed = request.method == "POST"
    context = {
        "title": f"Delete {get_display_name(thing)}?",
        "breadcrumbs": way,
        "hanging": hanging,
        "form": form,
        "back": _build_address(thing),
        "archive": "" if thing.archived_at else _build_archive_address(thing),
    }
    status = (409 if not hanging.can_go else 400) if failed else 200
    return TemplateResponse(request, "admin/removing/delete.html", context, status=status)


def _build_address(thing: Thing) -> str:
    """Return the URL of the page of a set, run or model."""
    return reverse(f"admin:{_get_route(thing)}", args=[thing.public_id])


def _build_archive_address(thing: Thing) -> str:
    """Return the URL that archives a set, run or model."""
    return reverse(f"admin:{_get_route(thing)}-archive", args=[thing.public_id])


def _get_route(thing: Thing) -> str:
    """Return the URL name of the page of a set, run or model, without "admin:"."""
    if isinstance(thing, LanguageModel):
        return "model"
    return "run" if isinstance(thing, Run) else "question-set"


WARNING = (
    "All texts of this worker are deleted, in all question sets, and cannot be restored. Your "
    "name, the time and these counts are recorded, without any text."
)


def erase_worker(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Show what an erasure would delete; erase when the user has typed the worker's id."""
    worker = get_manageable(request, Worker.objects.all(), worker_id)
    page = reverse("admin:worker", args=[worker.public_id])
    if find_request(erasing.WORKER, worker) is not None:
        messages.info(request, "It was erased before, or is being erased.")
        return redirect(page)
    form = ConfirmForm(
        worker.external_id, request.POST or None, label="Type the id of the worker to confirm"
    )
    if request.method == "POST" and form.is_valid():
        erasing.request_erasure(worker, get_user_id(request))
        messages.success(request, f"What {worker.external_id} wrote is being erased.")
        return redirect("admin:archived")
    context = {
        "title": f"Erase what {worker.external_id} wrote?",
        "breadcrumbs": [("Workers", reverse("admin:workers")), (worker.external_id, page)],
        "hanging": erasing.find_worker_dependents(worker),
        "form": form,
        "back": page,
        "button": "Erase it for good",
        "warning": WARNING,
    }
    status = 400 if request.method == "POST" else 200
    return TemplateResponse(request, "admin/removing/delete.html", context, status=status)


UNDO_WARNING = (
    "All of this is deleted, and only the file can restore it. Your name, the time and these "
    "counts are recorded."
)
UNDO_JOIN_WARNING = (
    "The facts of this file are removed, and the values stored before are restored. Join the file "
    "again to restore its facts. Your name, the time and these counts are recorded."
)


def show_imports(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show a question set's imported files, newest first, with the number of rows left of each."""
    question_set = get_set_with_answers(request, set_id)
    page = load_page(request, select_imports(question_set), NEWEST_FIRST)
    rows = build_import_rows(page)
    ids = select_imports(question_set).values("public_id")
    going = list(Removal.objects.filter(kind=IMPORT, finished_at=None, target_id__in=ids))
    permissions = rights(request.user, question_set)
    uploads = select_open_uploads(question_set, get_user_id(request)) if permissions.edit else ()
    context = {
        "title": "Imported files",
        "subtitle": "The files that came into this question set. Each can be undone.",
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "rights": permissions,
        "uploads": list(uploads),
        "page": page,
        "rows": rows,
        "removals": going,
        "waiting": mark_code(HOW_TO_START) if going and not is_any_process_running() else "",
        "n_without": count_answers_without_import(question_set),
    }
    return TemplateResponse(request, "admin/removing/imports.html", context)


def undo_import(request: HttpRequest, set_id: UUID, import_id: UUID) -> HttpResponse:
    """Show what undoing an import would delete; undo it on confirmation (POST)."""
    question_set = get_set_with_answers(request, set_id)
    brought = get_editable(request, select_imports(question_set), import_id)
    back = reverse("admin:imports", args=[question_set.public_id])
    if find_request(IMPORT, brought) is not None:
        messages.info(request, f"{brought.file} was undone before, or is being undone.")
        return redirect(back)
    hanging = undoing.find_import_dependents(brought)
    if request.method == "POST" and hanging.can_go:
        undoing.request_undo(brought, get_user_id(request))
        messages.success(request, f"{brought.file} is being undone.")
        return redirect(back)
    is_join = brought.what == Import.What.DEMOGRAPHICS
    context = {
        "title": f"Undo the {'join' if is_join else 'import'} of {brought.file}?",
        "breadcrumbs": [*build_breadcrumbs(question_set), ("Imported files", back)],
        "hanging": hanging,
        "back": back,
        "heading": "What will be removed" if is_join else "",
        "button": "Undo this join" if is_join else "Undo this import",
        "warning": UNDO_JOIN_WARNING if is_join else UNDO_WARNING,
        "cannot": "It cannot be undone.",
    }
    return TemplateResponse(request, "admin/removing/delete.html", context)
