"""Serve result pages and files of runs: access check, tabs, and links to other pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_safe

from annotations.models import QuestionSet
from annotations.web.pages import Breadcrumbs
from annotations.web.query import parse_choice
from annotations.web.scope import get_visible_or_404
from evaluation.core.estimates import CORRECTED_BY, HOLM
from evaluation.core.options import SITE
from evaluation.core.stats.inference.significance import Correction
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.runs.reports.about import build_run_about, build_run_title
from evaluation.runs.run_types import (
    Kind,
    Page,
    RunSummary,
    UnknownKindError,
    get_options_class,
    get_run_kind,
)


def get_run_or_404(request: HttpRequest, run_id: UUID) -> Run:
    """Return a run with its question set; Http404 if the user may not see it."""
    rows = Run.objects.select_related("version__question_set", "of_record")
    return get_visible_or_404(request, annotate_other_gradings(rows), run_id)


def annotate_other_gradings(runs: QuerySet[Run]) -> QuerySet[Any]:
    """Annotate runs with whether their question set has another finished grading run."""
    others = Run.objects.filter(
        version__question_set=OuterRef("version__question_set"),
        kind=GRADING,
        state=Run.State.DONE,
    )
    return runs.annotate(has_other_gradings=Exists(others.exclude(pk=OuterRef("pk"))))


Context = dict[str, Any]
View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class Tab:
    """A result page of a run as a tab links to it: title, URL, and whether it is shown.

    Attributes
    ----------
    is_above : whether the shown page is below this page, as an alarm is below the list of alarms.
    """

    title: str
    address: str
    is_here: bool
    is_above: bool = False


@dataclass(frozen=True)
class TabGroup:
    """Result pages that share one tab, which links to the first of them.

    Attributes
    ----------
    title : title of the group, or of its only page.
    """

    title: str
    pages: tuple[Tab, ...]

    @property
    def address(self) -> str:
        """URL that the group's tab links to: its first page."""
        return self.pages[0].address

    @property
    def is_here(self) -> bool:
        """Whether the shown page is one of the group's pages, or below one."""
        return any(page.is_here or page.is_above for page in self.pages)


def get_kind_or_404(run: Run, summary: type[RunSummary] = RunSummary) -> Kind:
    """Return the run type of a run; 404 if it is unknown or has another summary.

    A run type is unknown if the site no longer has it, or had it in another version.
    """
    try:
        kind = get_run_kind(run)
    except UnknownKindError as error:
        raise Http404(str(error)) from error
    if not kind.stores_summary(summary):
        raise Http404(f"{kind.title} has no such page")
    return kind


def build_tabs(kind: Kind, run: Run, path: str) -> list[TabGroup]:
    """Return the tabs of a run's result pages, followed by those of experts' judgements."""
    tabs: dict[str, list[Tab]] = {}
    for page in kind.pages:
        if page.offered(run):
            group = tabs.setdefault(page.group or page.title, [])
            group.append(_build_tab(page, run, path))
    for judging in kind.judging:
        ids = {"run": run.public_id, "name": judging.name}
        address = reverse("admin:results-judging", kwargs=ids)
        tabs[judging.title] = [Tab(judging.title, address, path == address)]
    return [TabGroup(title, tuple(pages)) for title, pages in tabs.items()]


def _build_tab(page: Page, run: Run, path: str) -> Tab:
    """Return the tab of one result page, marked if it is the shown one."""
    ids: dict[str, Any] = {"run": run.public_id}
    if not page.slug:
        address = reverse("admin:results-run", kwargs=ids)
    elif page.address:
        address = reverse(f"admin:{page.address}", kwargs=ids)
    else:
        address = reverse("admin:results-page", kwargs={**ids, "slug": page.slug})
    # The address of the page without a slug is the beginning of all others.
    return Tab(page.title, address, path == address, bool(page.slug) and path.startswith(address))


def make_results_page(
    template: str, summary: type[RunSummary] = RunSummary
) -> Callable[[Callable[..., Context]], View]:
    """Return a decorator that turns a function of a run into the view of a result page.

    The function returns its own part of the template context. A run that is not done gets a page
    that says so; a run whose type stores another `summary` than the page reads gives 404.
    The function may name another `template`.
    """

    def made(make_context: Callable[..., Context]) -> View:
        @require_safe
        @wraps(make_context)
        def view(request: HttpRequest, run: UUID, **ids: Any) -> HttpResponseBase:
            current_run = get_run_or_404(request, run)
            kind = get_kind_or_404(current_run, summary)
            if current_run.state != Run.State.DONE:
                return _show_status(request, current_run)
            context = {
                "breadcrumbs": build_breadcrumbs(current_run),
                "notice": current_run.version.question_set.notice,
                "kind": kind,
                "tabs": build_tabs(kind, current_run, request.path),
                "about": build_run_about(current_run, kind.options),
                # Reading a reverse one-to-one without a row raises, so hasattr is False.
                "is_of_record": current_run.kind == GRADING and hasattr(current_run, "of_record"),
                "status_link": build_status_link(current_run),
            }
            own = make_context(request, current_run, **ids)
            return TemplateResponse(request, own.get("template", template), context | own)

        return view

    return made


def make_results_file(made: View, summary: type[RunSummary] = RunSummary) -> View:
    """Return a view of a finished run's file from the function that builds the response.

    404 for an unfinished run, and for a run type that stores another class of `summary`.
    """

    @require_safe
    @wraps(made)
    def view(request: HttpRequest, run: UUID, **ids: Any) -> HttpResponseBase:
        current_run = get_run_or_404(request, run)
        get_kind_or_404(current_run, summary)
        if current_run.state != Run.State.DONE:
            raise Http404("the run has no results")
        return made(request, current_run, **ids)

    return view


def build_breadcrumbs(run: Run) -> Breadcrumbs:
    """Return the breadcrumbs to a run's result pages: its question set and its results."""
    return [
        (run.version.question_set.name, build_question_set_link(run)),
        (build_run_title(run, get_options_class(run)).title, build_results_link(run)),
    ]


def _show_status(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Return the page that says that a run is not finished, in place of its results."""
    context = {
        "title": f"Results of {run.version.question_set.name}",
        "about": build_run_about(run),
        "error": SITE.format_message(run.error),
        "status_link": build_status_link(run),
        "breadcrumbs": build_breadcrumbs(run)[:1],
    }
    return TemplateResponse(request, "evaluation/no_results.html", context)


def build_status_link(run: Run) -> str:
    """Return the URL of the page that shows a run's progress."""
    return _reverse_admin_url("run", run_id=run.public_id)


def build_question_set_link(run: Run) -> str:
    """Return the URL of the page of the run's question set."""
    return _reverse_admin_url("question-set", set_id=run.version.question_set.public_id)


def build_results_link(run: Run) -> str:
    """Return the URL of a run's results."""
    return reverse("admin:results-run", kwargs={"run": run.public_id})


def build_worker_link(run: Run, worker: UUID) -> str:
    """Return the URL of a worker's page in a run's results."""
    return reverse("admin:results-worker", kwargs={"run": run.public_id, "worker": worker})


def build_question_link(run: Run, question: UUID) -> str:
    """Return the URL of a question's page in a run's results."""
    return reverse("admin:results-question", kwargs={"run": run.public_id, "question": question})


def _reverse_admin_url(name: str, **ids: UUID) -> str:
    """Return the URL of a named admin page; the URL of the start page if there is none."""
    try:
        return reverse(f"admin:{name}", kwargs=ids)
    except NoReverseMatch:
        return reverse("admin:index")


def get_p_value_correction(query: QueryDict) -> Correction:
    """Return the p-value correction that the URL's query names, else Holm; Http404 if unknown."""
    word: Any = parse_choice(query, "correction", CORRECTED_BY, HOLM)
    return word


@dataclass(frozen=True)
class StartLink:
    """A link to the page that starts a run of one type; `words` describe the run type.

    `is_research` is that of the run type; `is_suited` states whether the type suits the questions.
    """

    label: str
    words: str
    link: str
    needs_answers: bool
    is_research: bool = False
    is_suited: bool = True


def build_start_link(kind: Kind, question_set: QuestionSet) -> str:
    """Return the URL of the page on which a run of this type is started."""
    key = {"set_id": question_set.public_id}
    if kind.start.address:
        return reverse(f"admin:{kind.start.address}", kwargs=key)
    if kind.name == GRADING:
        return reverse("admin:grade", kwargs=key)
    return reverse("admin:start", kwargs={**key, "name": kind.name})
