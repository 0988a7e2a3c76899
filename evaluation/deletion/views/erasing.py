"""Page to erase what a worker wrote."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import Worker
from annotations.web.scope import get_manageable, get_user_id
from evaluation.deletion.storage import erasing
from evaluation.deletion.storage.record import known
from evaluation.deletion.views.removing import ConfirmForm

WARNING = (
    "What this worker wrote goes, in all question sets, and nobody can bring it back. That you "
    "erased it, when, and these counts are kept; no text is."
)


def erase_worker(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Show what an erasure would delete; erase when the user has typed the worker's id."""
    worker = get_manageable(request, Worker.objects.all(), worker_id)
    page = reverse("admin:worker", args=[worker.public_id])
    if known(erasing.WORKER, worker) is not None:
        messages.info(request, "It was erased before, or is being erased.")
        return redirect(page)
    form = ConfirmForm(
        worker.external_id, request.POST or None, label="Type the id of the worker to confirm"
    )
    if request.method == "POST" and form.is_valid():
        erasing.erase(worker, get_user_id(request))
        messages.success(request, f"What {worker.external_id} wrote is being erased.")
        return redirect("admin:archived")
    context = {
        "title": f"Erase what {worker.external_id} wrote?",
        "breadcrumbs": [("Workers", reverse("admin:workers")), (worker.external_id, page)],
        "hanging": erasing.hanging_on_worker(worker),
        "form": form,
        "back": page,
        "button": "Erase it for good",
        "warning": WARNING,
    }
    status = 400 if request.method == "POST" else 200
    return TemplateResponse(request, "admin/removing/delete.html", context, status=status)
