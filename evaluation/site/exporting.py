"""Export page of a question set, and downloads of the exports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse
from django.views.decorators.http import require_GET

from annotations.models import QuestionSet, QuestionSetVersion, rights
from annotations.web.downloads import build_download_response, build_file_name
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_visible_or_404, select_visible
from evaluation.grading.results.consensus_files import iterate_consensus_zip
from evaluation.grading.results.report.consensus import build_consensus_report
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.runs import exports
from evaluation.runs.exports import LATEST, RECORD, ChoiceError, Export, choose_named_run
from evaluation.runs.reports.about import build_run_file_name
from evaluation.runs.reports.lists import annotate_runs_for_list
from evaluation.runs.run_types.run_list import list_runs
from evaluation.site.question_set import find_draft, load_versions, select_version

Draft = dict[str, Any] | None
RUNS_OFFERED = 20
FORMATS = (
    ("csv", "CSV, for spreadsheets"),
    ("xlsx", "Excel (.xlsx)"),
    ("tsv", "TSV"),
    ("jsonl", "JSON Lines, raw"),
)


class ExportForm(forms.Form):
    """Form of export options: format, run, pseudonyms; only the fields that the export has."""

    format = forms.ChoiceField(label="Format", choices=FORMATS)
    run = forms.ChoiceField(label="Grades of", required=False)
    pseudonyms = forms.BooleanField(
        label="Replace workers' ids",
        required=False,
        help_text="By pseudonyms, the same ones in every export of this set.",
    )

    def __init__(self, what: ExportKind, runs: list[tuple[str, str]], data: Any = None) -> None:
        # The page has a form for each export, and ids of fields must be unique on it.
        super().__init__(data, auto_id=f"{what.slug}-%s")
        for name in ("format", "run", "pseudonyms"):
            if name not in what.options:
                del self.fields[name]
        if "run" in self.fields:
            nothing = [] if what.needs_run else [("", "No grades")]
            choices = forms.ChoiceField(
                label="Run" if what.needs_run else "Grades of",
                required=what.needs_run,
                choices=[*nothing, *runs],
            )
            self.fields["run"] = choices


@dataclass(frozen=True)
class ExportKind:
    """Declaration of an export: its name, texts, and the options that apply to it."""

    slug: str
    title: str
    explanation: str
    options: tuple[str, ...]
    of_answers: bool = True
    needs_run: bool = False


EVERYTHING = {
    what.slug: what
    for what in (
        ExportKind(
            "answers",
            "Answers",
            "One row for each answer: worker, question, text, times, flags and, if you like, the "
            "scores and grades of a run. Uploading the file again gives the same answers.",
            ("format", "run", "pseudonyms"),
        ),
        ExportKind(
            "model-answers",
            "Model answers",
            "One row for each answer of a language model.",
            ("format", "run"),
        ),
        ExportKind(
            "consensus",
            "Consensus",
            "The consensus answer to each question, with the next nearest answers, support, "
            "dispersion and camps, and a datasheet that describes its origin. A ZIP with CSV and "
            "JSON Lines; it names no workers.",
            ("run",),
            needs_run=True,
        ),
        ExportKind(
            "questions", "Questions", "Ids, texts and what is known of them.", ("format",), False
        ),
        ExportKind(
            "passages", "Passages", "The texts that questions are about.", ("format",), False
        ),
    )
}
TABLES: dict[str, Callable[..., Export]] = {
    "answers": exports.build_answers_export,
    "model-answers": exports.build_model_answers_export,
    "questions": exports.build_questions_export,
    "passages": exports.build_passages_export,
}


@require_GET
def show_exports(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the exports of a set, with the number of rows and approximate size of each."""
    question_set, version, draft = _load_set_and_version(request, set_id)
    return _render_export_page(request, question_set, version, draft, {}, 200)


@require_GET
def send_answer_export(request: HttpRequest, set_id: UUID, what: str) -> HttpResponseBase:
    """Send answers, model answers or the consensus of a set as a file."""
    question_set, version, draft = _load_set_and_version(request, set_id)
    if not rights(request.user, question_set).answers:
        raise Http404
    return _send_export(request, question_set, version, draft, what, of_answers=True)


@require_GET
def send_question_export(request: HttpRequest, set_id: UUID, what: str) -> HttpResponseBase:
    """Send the questions or passages of a set as a file."""
    return _send_export(request, *_load_set_and_version(request, set_id), what, of_answers=False)


def _load_set_and_version(
    request: HttpRequest, set_id: UUID
) -> tuple[QuestionSet, QuestionSetVersion | None, Draft]:
    """Return a set, the version to export (None without any), and the draft after it."""
    question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
    versions = load_versions(question_set)
    version = select_version(versions, request.GET.get("version"))
    return question_set, version, find_draft(versions, version)


def _send_export(
    request: HttpRequest,
    question_set: QuestionSet,
    version: QuestionSetVersion | None,
    draft: Draft,
    slug: str,
    *,
    of_answers: bool,
) -> HttpResponseBase:
    """Send an export, or its page with form errors; 404 for an unknown export."""
    export = EVERYTHING.get(slug)
    if export is None or version is None or export.of_answers != of_answers:
        raise Http404
    form = ExportForm(export, _list_run_choices(request, version), request.GET)
    if not form.is_valid():
        return _render_export_page(request, question_set, version, draft, {slug: form}, 400)
    run = None
    if form.cleaned_data.get("run"):
        try:
            run = choose_named_run(version, form.cleaned_data["run"], request.user)
        except ChoiceError as error:
            form.add_error("run", str(error))
            return _render_export_page(request, question_set, version, draft, {slug: form}, 400)
    name = build_file_name(question_set.name, f"version-{version.number}", slug)
    if export.needs_run:
        assert run is not None
        return build_download_response(
            iterate_consensus_zip(build_consensus_report(run)),
            build_run_file_name(run, slug),
            "zip",
        )
    options: dict[str, Any] = {"run": run} if "run" in export.options else {}
    if "pseudonyms" in export.options:
        options["pseudonyms"] = form.cleaned_data["pseudonyms"]
    kind = form.cleaned_data["format"]
    table = TABLES[slug](version, user=request.user, **options)
    return build_download_response(table.iterate_chunks(kind), name, kind)


def _list_run_choices(request: HttpRequest, version: QuestionSetVersion) -> list[tuple[str, str]]:
    """Return the choices of a finished run, the official one first; [] without runs."""
    done = annotate_runs_for_list(select_visible(request, Run.objects.all())).filter(
        version=version, kind=GRADING, state=Run.State.DONE, archived_at=None
    )
    # As a subquery: one query, however many runs there are.
    newest = done.order_by("-pk").values("pk")[:RUNS_OFFERED]
    # The official run may be an older one.
    rows = list_runs(done.filter(Q(of_record__isnull=False) | Q(pk__in=newest)).order_by("-pk"))
    found = [
        (
            str(row.run.public_id),
            f"{row.called.title}, {row.run.created_at:%-d %B %Y, %H:%M} UTC",
        )
        for row in rows[:RUNS_OFFERED]
    ]
    record = [(RECORD, f"The official run: {row.called.title}") for row in rows if row.is_of_record]
    return [*record, (LATEST, "The latest run"), *found] if found else []


def _render_export_page(
    request: HttpRequest,
    question_set: QuestionSet,
    version: QuestionSetVersion | None,
    draft: Draft,
    forms_of: dict[str, ExportForm],
    status: int,
) -> HttpResponse:
    """Render the export page; `forms_of` are posted forms that have errors."""
    sections = []
    if version is not None:
        runs = _list_run_choices(request, version)
        sees_answers = rights(request.user, question_set).answers
        for slug, kind in EVERYTHING.items():
            if kind.of_answers and not sees_answers:
                continue
            table = TABLES[slug](version, user=request.user) if slug in TABLES else None
            sections.append(
                {
                    "what": kind,
                    "form": forms_of.get(slug) or ExportForm(kind, runs),
                    "n_rows": table.n_rows if table else None,
                    "about_bytes": table.estimated_bytes if table else None,
                    "empty": not runs if kind.needs_run else not (table and table.n_rows),
                    "address": "admin:export-answers" if kind.of_answers else "admin:export-items",
                }
            )
    context = {
        "title": "Export",
        "subtitle": f"{question_set.name}, version {version.number}" if version else "",
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "notice": question_set.notice,
        "version": version,
        "draft": draft,
        "sections": sections,
    }
    return TemplateResponse(request, "admin/export.html", context, status=status)
