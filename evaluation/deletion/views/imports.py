"""Pages to list and undo the imports of a question set."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import rights
from annotations.models.uploads import uploads_not_imported
from annotations.web.pages import NEWEST_FIRST, build_breadcrumbs, load_page
from annotations.web.scope import get_answered_set, get_editable, get_user_id
from annotations.web.texts import mark_code
from evaluation.deletion.report import imports_of, n_without_import, shown_imports
from evaluation.deletion.storage import undoing
from evaluation.deletion.storage.record import known
from evaluation.models import Removal
from evaluation.models.removals import IMPORT
from evaluation.runs.background.liveness import HOW_TO_START, is_any_running

WARNING = (
    "All of this goes, and only the file can bring them back. That you undid it, when, and these "
    "counts are kept."
)


def imports(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """List the imported files, newest first, with the number of rows left of each."""
    shown = get_answered_set(request, set_id)
    page = load_page(request, imports_of(shown), NEWEST_FIRST)
    rows = shown_imports(page)
    ids = imports_of(shown).values("public_id")
    going = list(Removal.objects.filter(kind=IMPORT, finished_at=None, target_id__in=ids))
    permissions = rights(request.user, shown)
    uploads = uploads_not_imported(shown, get_user_id(request)) if permissions.edit else ()
    context = {
        "title": "Imported files",
        "subtitle": "The files that came into this question set. Each can be undone.",
        "breadcrumbs": build_breadcrumbs(shown),
        "question_set": shown,
        "rights": permissions,
        "uploads": list(uploads),
        "page": page,
        "rows": rows,
        "removals": going,
        "waiting": mark_code(HOW_TO_START) if going and not is_any_running() else "",
        "n_without": n_without_import(shown),
    }
    return TemplateResponse(request, "admin/removing/imports.html", context)


def undo_import(request: HttpRequest, set_id: UUID, import_id: UUID) -> HttpResponse:
    """Show what undoing an import would delete; undo it on confirmation (POST)."""
    shown = get_answered_set(request, set_id)
    brought = get_editable(request, imports_of(shown), import_id)
    back = reverse("admin:imports", args=[shown.public_id])
    if known(IMPORT, brought) is not None:
        messages.info(request, f"{brought.file} was undone before, or is being undone.")
        return redirect(back)
    hanging = undoing.hanging_on_import(brought)
    if request.method == "POST" and hanging.can_go:
        undoing.undo(brought, get_user_id(request))
        messages.success(request, f"{brought.file} is being undone.")
        return redirect(back)
    context = {
        "title": f"Undo the import of {brought.file}?",
        "breadcrumbs": [*build_breadcrumbs(shown), ("Imported files", back)],
        "hanging": hanging,
        "back": back,
        "button": "Undo this import",
        "warning": WARNING,
        "cannot": "It cannot be undone.",
    }
    return TemplateResponse(request, "admin/removing/delete.html", context)
