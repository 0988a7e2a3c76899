"""Pages on workers across question sets: list, history and notes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from annotations.models import Worker
from annotations.models.notes import may_write_notes
from annotations.web.downloads import build_attachment_headers
from annotations.web.notes import check_note_rights, create_note, delete_note
from annotations.web.scope import get_visible_or_404
from evaluation.core.charts.chart import Chart, HistoryPoint, build_score_history_chart
from evaluation.workers.report.worker import WorkerFilter, WorkerHistory, build_worker_history
from evaluation.workers.report.workers import VisibleWorkers

AXIS = "raw score (leave-one-out)"


class NoteForm(forms.Form):
    """Form of a note about a worker."""

    text = forms.CharField(
        label="New note",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Read by you, the owner of the worker's answers and who may change a question "
        "set that the worker answered in. The worker never sees it.",
        error_messages={"required": "Write what is to be remembered."},
    )


def show_workers(request: HttpRequest) -> HttpResponse:
    """Show the workers of all question sets whose answers the user may see."""
    all_workers = VisibleWorkers(request.user)
    worker_filter = WorkerFilter(request.GET, workers=all_workers)
    page = all_workers.load_summaries_page(worker_filter.load_page(request))
    worker_filter.set_form_choices()
    context = {
        "title": "Workers",
        "subtitle": "Everybody who answered in your question sets, over all of them.",
        "page": page,
        "asked": worker_filter,
        "heads": worker_filter.build_headers(request),
        "counted": all_workers.counted,
    }
    return TemplateResponse(request, "admin/workers/list.html", context)


def show_worker(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Show a worker's history over all question sets."""
    shown = _get_worker_or_404(request, worker_id)
    return _render_worker_page(request, shown, NoteForm())


def send_worker_chart(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Send the chart of a worker's scores as SVG."""
    shown = get_visible_or_404(request, Worker.objects.all(), worker_id)
    chart = build_history_chart(build_worker_history(request.user, shown))
    if chart is None:
        raise Http404("there is no such picture")
    return build_chart_download(chart, f"worker-{shown.external_id}", f"Worker {shown.external_id}")


@require_POST
def add_note(request: HttpRequest, worker_id: UUID) -> HttpResponse:
    """Store a user's note about a worker, and redirect to the notes."""
    shown = _get_worker_or_404(request, worker_id)
    check_note_rights(request, shown)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _render_worker_page(request, shown, form, status=400)
    create_note(request, shown, form.cleaned_data["text"])
    messages.success(request, "The note is saved.")
    return redirect(reverse("admin:worker", args=[worker_id]) + "#notes")


@require_POST
def remove_note(request: HttpRequest, worker_id: UUID, note_id: UUID) -> HttpResponse:
    """Delete the user's own note about a worker, and redirect to the notes."""
    shown = get_visible_or_404(request, Worker.objects.all(), worker_id)
    delete_note(request, shown, note_id)
    messages.success(request, "The note is gone.")
    return redirect(reverse("admin:worker", args=[worker_id]) + "#notes")


def build_chart_download(chart: Chart, name: str, caption: str) -> HttpResponse:
    """Return a chart with a caption as an SVG file to download."""
    return HttpResponse(
        chart.build_standalone_svg([caption]),
        content_type="image/svg+xml",
        headers=build_attachment_headers(f"{build_chart_file_name(name)}.svg"),
    )


def build_chart_file_name(name: str) -> str:
    """Return a name reduced to letters, digits and dashes; "history" if nothing is left."""
    return slugify(name, allow_unicode=False) or "history"


def build_history_chart(history: WorkerHistory) -> Chart | None:
    """Return the chart of a worker's scores over question sets; None for fewer than two scores."""
    occasions = [
        HistoryPoint(
            entry.set_name,
            f"{entry.when:%-d %b %Y}",
            entry.score,
            weak=not (entry.on_scale and entry.supported),
            link=(
                entry.run
                and reverse("admin:results-worker", args=[entry.run, history.worker.worker])
            )
            or "",
        )
        for entry in history.sets
        if entry.score.value is not None
    ]
    if len(occasions) < 2:
        return None
    return build_score_history_chart(
        occasions, AXIS, f"worker {history.worker.name}", of_model=False
    )


def _get_worker_or_404(request: HttpRequest, worker_id: UUID) -> Any:
    """Return a worker the user may see, with `may_change` annotated; raise Http404 if hidden."""
    return get_visible_or_404(
        request, Worker.objects.annotate_right_to_change(request.user), worker_id
    )


def _render_worker_page(
    request: HttpRequest, worker: Any, form: NoteForm, status: int = 200
) -> HttpResponse:
    """Return the page of a worker: history, chart, notes, and the note form with its errors."""
    history = build_worker_history(request.user, worker)
    context: dict[str, Any] = {
        "title": f"Worker {worker.external_id}",
        "subtitle": f"Panel {worker.panel}" if worker.panel else "",
        "breadcrumbs": [("Workers", reverse("admin:workers"))],
        "worker": worker,
        "may_erase": worker.erased_at is None and worker.may_change,
        "history": history,
        "chart": build_history_chart(history),
        "form": form
        if may_write_notes(request.user, worker, may_change=worker.may_change)
        else None,
    }
    return TemplateResponse(request, "admin/workers/worker.html", context, status=status)
