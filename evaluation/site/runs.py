"""Pages of runs: list, one run and its actions, and the form that starts one.

Page that starts a run of any type, with a form of its options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET, require_POST

from annotations.desk.uploads import try_upload
from annotations.exchange import InputError, Problem
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import Question, QuestionSet, QuestionSetVersion, is_operator, rights
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable, get_user_id
from annotations.web.texts import mark_code
from annotations.web.upload_kinds import KINDS
from evaluation.admission import storage as recruiting
from evaluation.core.options import OptionError, Parameters
from evaluation.grading.results.report.run import read_official_run_of
from evaluation.models import Run
from evaluation.models.runs import ACTIVE, GRADING, make_official
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.exclusions import list_excluded_ids
from evaluation.runs.background.progress import (
    HOW_TO_START,
    compute_progress,
    format_duration,
    is_any_process_running,
)
from evaluation.runs.forms import (
    InitialSettings,
    OptionForm,
    RunLabelForm,
    find_run_to_repeat,
    get_initial_settings,
    get_option_form,
    hash_options,
)
from evaluation.runs.reports.about import build_run_title
from evaluation.runs.reports.lists import (
    RunFilter,
    annotate_runs_for_list,
    filter_unarchived_runs,
    list_reply_counts,
)
from evaluation.runs.reports.verdicts import build_applied_context
from evaluation.runs.reports.work_log import read_work_log
from evaluation.runs.result_pages import StartLink, build_start_link, get_run_or_404
from evaluation.runs.run_types import (
    Kind,
    StartFile,
    UnknownKindError,
    get_kind,
    get_options_class,
    get_run_kind,
    list_run_kinds,
)
from evaluation.runs.run_types.run_list import list_runs
from evaluation.runs.steps.asking.preview import RequestForecast

RUNS_PER_PAGE = 25


def show_runs(request: HttpRequest) -> HttpResponse:
    """List the visible runs, searched, filtered and sorted as `RunFilter` declares."""
    rows = filter_unarchived_runs(lifecycle.select_visible_runs(request.user))
    list_of = (
        RunFilter(request.GET, rows)
        .offer_question_sets(request.user)
        .listing(request, RUNS_PER_PAGE, annotate_runs_for_list)
    )
    page = list_of["page"]
    waits = any(run.state in ACTIVE for run in page)
    context = {
        "title": "Runs",
        **list_of,
        "runs": list_runs(page),
        "waiting": mark_code(HOW_TO_START) if waits and not is_any_process_running() else "",
    }
    return TemplateResponse(request, "admin/runs/list.html", context)


def show_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the state, settings and actions of one run."""
    current_run = get_run_or_404(request, run_id)
    return _show_page(request, current_run, RunLabelForm(instance=current_run))


def _show_page(request: HttpRequest, run: Run, label: RunLabelForm) -> HttpResponse:
    """Render a run's page, with the errors of its label form."""
    question_set = run.version.question_set
    name, took = build_run_title(run, get_options_class(run)), None
    if run.finished_at and run.started_at:
        took = format_duration((run.finished_at - run.started_at).total_seconds())
    context = {
        "title": name.title,
        "subtitle": f"{run.get_kind_display()} of {question_set.name}, version "
        f"{run.version.number}, {run.created_at:%-d %B %Y, %H:%M} UTC",
        "called": name,
        "label": label,
        "record": read_official_run_of(run),
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "run": run,
        "rights": rights(request.user, question_set),
        "question_set": question_set,
        "progress": compute_progress(run),
        "how_to_start": mark_code(HOW_TO_START),
        "took": took,
        # Names of machines and processes are for operators.
        "work_log": read_work_log(run) if is_operator(request.user) else None,
        **build_applied_context(run),
        **build_kind_context(run),
    }
    status = 400 if label.errors else 200
    return TemplateResponse(request, "admin/runs/run.html", context, status=status)


def build_kind_context(run: Run) -> dict[str, Any]:
    """Return the page context that depends on the run type."""
    try:
        kind = get_run_kind(run)
    except UnknownKindError as error:
        return {"unknown": error, **_build_settings_context(Parameters, run)}
    done = run.state == Run.State.DONE
    return {
        "kind": kind,
        **_build_settings_context(kind.options, run, kind.named(run) if kind.named else {}),
        "counts": kind.get_input_counts(run).items() if done else (),
        "came": list_reply_counts(kind.load_summary(run)) if done else (),
        "results": find_results_address(run),
        **build_standing_context(kind, run),
    }


def build_standing_context(kind: Kind, run: Run) -> dict[str, Any]:
    """Return context and template of the run type's own part of the status; {} without one."""
    if kind.standing is None:
        return {}
    return {**kind.standing.context(run), "standing": kind.standing.template}


def _build_settings_context(
    options: type[Parameters], run: Run, named: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return all settings of a run, and those that differ from the defaults."""
    settings = [
        replace(setting, value=named.get(setting.name, setting.value))
        for setting in options.settings(run.parameters)
    ]
    return {
        "settings": settings,
        "differences": [setting for setting in settings if not setting.is_default],
    }


@require_GET
def show_run_standing(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Render the run type's own status part, for the page's script."""
    current_run = get_run_or_404(request, run_id)
    try:
        context = build_standing_context(get_run_kind(current_run), current_run)
    except UnknownKindError as error:
        raise Http404(str(error)) from error
    if not context:
        raise Http404("runs of this kind have no such part")
    return TemplateResponse(request, context["standing"], context)


@require_GET
def send_run_status(request: HttpRequest, run_id: UUID) -> JsonResponse:
    """Send a run's progress as JSON, for the script of its page."""
    return JsonResponse(compute_progress(get_run_or_404(request, run_id)).as_dict())


@require_POST
def cancel_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Cancel an unfinished run."""
    run = get_editable(request, Run.objects.all(), run_id)
    if lifecycle.cancel_run(run):
        messages.success(request, "The run is cancelled. The next one uses its vectors.")
    else:
        messages.info(request, f"The run had ended before: it is {run.get_state_display()}.")
    return redirect("admin:run", run.public_id)


@require_POST
def pause_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Pause a queued or running run."""
    run = get_editable(request, Run.objects.all(), run_id)
    if not lifecycle.pause_run(run) and run.is_finished:
        messages.info(request, f"The run had ended before: it is {run.get_state_display()}.")
    return redirect("admin:run", run.public_id)


@require_POST
def resume_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Resume a paused run."""
    run = get_editable(request, Run.objects.all(), run_id)
    if not lifecycle.resume_run(run) and run.is_finished:
        messages.info(request, f"The run had ended before: it is {run.get_state_display()}.")
    return redirect("admin:run", run.public_id)


@require_POST
def label_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Save a run's name and notes; show its page again with the form's errors."""
    run = get_editable(request, Run.objects.select_related("version__question_set"), run_id)
    label = RunLabelForm(request.POST, instance=run)
    if not label.is_valid():
        # Validation has written the invalid values into the instance, which the page shows.
        run.refresh_from_db(fields=["name", "notes"])
        return _show_page(request, run, label)
    lifecycle.rename_run(run, **label.get_labels())
    messages.success(request, "The name and the notes are saved.")
    return redirect("admin:run", run.public_id)


@require_POST
def make_run_official(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Make a finished run the official one of its set: exports and the API use it.

    With `back` in the form, the user returns to the results.
    """
    run = get_editable(request, Run.objects.select_related("version__question_set"), run_id)
    if run.state == Run.State.DONE:
        make_official(run, request.user)
        # Admission rules on this set's scores are applied anew, now by this run.
        recruiting.apply_rules_of_set(run.version.question_set_id)
        text = "This run counts for the set from now on: exports, the API and the overview use it."
        messages.success(request, text, "run_counts")
    else:
        message = "Only a run that is done can count for the set."
        messages.error(request, message, "run_not_done")
    results = find_results_address(run) if request.POST.get("back") == "results" else ""
    return redirect(results) if results else redirect("admin:run", run.public_id)


def find_results_address(run: Run) -> str:
    """Return the URL of a finished run's results; "" without one."""
    if run.state != Run.State.DONE:
        return ""
    try:
        return reverse("admin:results-run", args=[run.public_id])
    except NoReverseMatch:
        return ""


# Most problems of a file that are listed.
MAX_SHOWN = 5


def build_start_links(
    question_set: QuestionSet, query: str = "", questions: Sequence[Question] = ()
) -> list[StartLink]:
    """Return a link to start each run type over a set, in the order of the settings.

    Each link states whether its run type suits the `questions`; without any, all types do.
    """
    return [
        StartLink(
            kind.start_label,
            kind.words,
            build_start_link(kind, question_set) + query,
            kind.needs_answers,
            kind.is_research,
            not questions or kind.suits is None or kind.suits(questions),
        )
        for kind in list_run_kinds().values()
    ]


def start_run(request: HttpRequest, set_id: UUID, name: str = GRADING) -> HttpResponse:
    """Show the options of a run type; start the run, or show its forecast, from a posted form.

    A run that asks models starts only with the options whose requests and cost were shown.

    `like` in the query names a run of the set; the form starts with its parameters. The run type
    declares the other contents of the page, and the files that it accepts.
    """
    kind = _get_startable_kind(name)
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    for file in kind.start.files:
        if request.POST.get("file") == file.name or file.name in request.FILES:
            return _take_file(request, question_set, file) or redirect(request.get_full_path())
    version = lifecycle.find_gradable_version(
        question_set, request.GET.get("version"), answered=kind.needs_answers
    )
    like = get_initial_settings(request, question_set, kind)
    form = get_option_form(kind.options)(
        request.user,
        request.POST or None,
        like=like.parameters,
        preset={} if request.POST else request.GET.dict(),
        excluded=list_excluded_ids(version) if version is not None else (),
    )
    label = RunLabelForm(request.POST or None)
    valid = request.method == "POST" and all([form.is_valid(), label.is_valid()])
    if valid and version is not None:
        try:
            if kind.start.foreseen and not _has_seen_forecast(request, form.get_parameters()):
                foreseen = _forecast_requests(request, version, kind, form.get_parameters())
                if foreseen.requests or request.POST.get("do") == "foresee":
                    return _show_form(
                        request, question_set, version, kind, form, label, like, foreseen
                    )
            run = lifecycle.queue_run(
                version,
                get_user_id(request),
                form.get_parameters(),
                kind.name,
                **label.get_labels(),
                made_from=find_run_to_repeat(request, question_set, kind),
            )
            return redirect("admin:run", run.public_id)
        except OptionError as error:
            form.add_problems(error)
    return _show_form(request, question_set, version, kind, form, label, like)


@require_GET
def start_again(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Redirect to the start form, filled with the settings of this run."""
    run = get_editable(request, Run.objects.select_related("version__question_set"), run_id)
    try:
        link = build_start_link(get_run_kind(run), run.version.question_set)
    except UnknownKindError as error:
        messages.error(request, str(error))
        return redirect("admin:run", run.public_id)
    return redirect(f"{link}?like={run.public_id}&version={run.version.number}")


def _show_form(
    request: HttpRequest,
    question_set: QuestionSet,
    version: QuestionSetVersion | None,
    kind: Kind,
    form: OptionForm,
    label: RunLabelForm,
    like: InitialSettings,
    foreseen: RequestForecast | None = None,
) -> HttpResponse:
    """Render the start form with its errors, label, files and forecast."""
    context = {
        "title": kind.start_label,
        "subtitle": f"{question_set.name}, version {version.number}" if version else "",
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "version": version,
        "kind": kind,
        "form": form,
        "label": label,
        "like": like,
        "before": kind.start.before(version) if kind.start.before else None,
        # A template would call the function itself.
        "foresees": kind.start.foreseen is not None,
        "foreseen": foreseen,
        "seen": hash_options(form.get_parameters()) if foreseen else "",
        "is_unseen": foreseen is not None and request.POST.get("do") != "foresee",
        "budget": getattr(form.get_parameters(), "budget", None) if foreseen else None,
        "waiting": "" if is_any_process_running() else mark_code(HOW_TO_START),
    }
    wrong = form.errors or label.errors
    return TemplateResponse(request, "admin/runs/start.html", context, status=400 if wrong else 200)


def _has_seen_forecast(request: HttpRequest, options: Parameters) -> bool:
    """Return whether the user presses start on a page that shows the forecast of these options."""
    return request.POST.get("do") != "foresee" and request.POST.get("seen") == hash_options(options)


def _forecast_requests(
    request: HttpRequest, version: QuestionSetVersion, kind: Kind, options: Parameters
) -> RequestForecast:
    """Return the forecast of the model requests of a run; `OptionError` if it cannot start."""
    problems = kind.check(version, request.user, options) if kind.check else ()
    if problems:
        raise OptionError(problems)
    assert kind.start.foreseen is not None
    return kind.start.foreseen(version, request.user, options)


def _take_file(
    request: HttpRequest, question_set: QuestionSet, file: StartFile
) -> HttpResponseRedirect | None:
    """Store an uploaded file with the set; redirect to a preview, or add messages."""
    sent: Any = request.FILES.get(file.name)
    if sent is None:
        messages.error(request, "Choose a file.")
        return None
    if sent.size is None or sent.size > file.most_bytes:
        messages.error(request, f"The file is larger than {filesizeformat(file.most_bytes)}.")
        return None
    switches = {switch: switch in request.POST for switch in file.switches}
    if file.upload:
        return try_upload(request, question_set, KINDS[file.upload], sent, switches)
    assert file.take is not None
    source = make_bytes_source(sent.name or file.name, sent.read())
    try:
        lines = file.take(question_set, source, switches, get_user_id(request))
    except InputError as error:
        for problem in error.problems[:MAX_SHOWN]:
            messages.error(request, _format_problem(problem))
        if error.total > MAX_SHOWN:
            messages.error(request, f"And {error.total - MAX_SHOWN} more problems.")
    else:
        for line in lines:
            messages.success(request, line)
    return None


def _format_problem(problem: Problem) -> str:
    """Return a file's problem as a sentence, without command-line options."""
    place = [f"Line {problem.line}"] if problem.line is not None else []
    place += [f"column {problem.column}"] if problem.column is not None else []
    where = f"{', '.join(place)}: " if place else ""
    return f"{where}{problem.reason}. {problem.remedy}".strip()


def _get_startable_kind(name: str) -> Kind:
    """Return the run type with this name if the form can start it; Http404 otherwise."""
    try:
        kind = get_kind(name)
    except UnknownKindError as error:
        raise Http404(str(error)) from error
    if kind.start.address:
        raise Http404("this kind of run has a page of its own to start it")
    return kind
