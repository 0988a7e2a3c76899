"""Pages that change a collection: settings, state, places, signed links, admitted workers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_GET, require_POST

from annotations.answering import collecting as rules
from annotations.answering import links, monitor, waves
from annotations.answering.errors import SettingsError
from annotations.answering.languages import describe_interface_language
from annotations.answering.rank_notice import find_rank_notice
from annotations.desk.collecting.forms import CollectionSettingsForm, PlacesForm, WorkerIdsForm
from annotations.desk.collecting.monitor_page import build_collection_context, show_collection
from annotations.exchange.writing.formats import write_csv
from annotations.models import Collection, QuestionSet, is_counting_signals
from annotations.web.downloads import build_download_response
from annotations.web.lists import AdmissionFilter
from annotations.web.scope import get_editable_set_with_answers, select_visible

STATE_MESSAGES = {
    "open": "It is open.",
    "paused": "It is paused: no one new can enter, and workers inside can finish.",
    "closed": "It is closed: nothing more is taken.",
}
"""Success messages by new state."""


def edit_collection_settings(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the settings of the newest collection; POST saves them or publishes a new one."""
    question_set = get_editable_set_with_answers(request, set_id)
    collection = _find_or_build_collection(question_set)
    is_new = collection.pk is None
    visible_sets = select_visible(request, QuestionSet.objects.all())
    form = CollectionSettingsForm(collection, visible_sets, request.POST or None)
    if request.method == "POST" and form.is_valid():
        # Workers get links with the address by which the requester reaches the site.
        stored = form.store_collection(collection, request.build_absolute_uri("/").rstrip("/"))
        if stored is not None:
            messages.success(
                request,
                "It is published: give the link below to your panel." if is_new else "Saved.",
                "collection_published" if is_new else "settings_saved",
            )
            return redirect("admin:collecting", question_set.public_id)
    title = "Publish to workers" if is_new else "Settings of the collecting"
    context = build_collection_context(request, question_set, title) | {
        "form": form,
        "is_new": is_new,
        "version": collection.version,
        "frame": describe_interface_language(collection.version),
        "rank_notice": find_rank_notice(collection),
    }
    return TemplateResponse(
        request,
        "annotations/collecting/settings.html",
        context,
        status=400 if form.errors else 200,
    )


@require_POST
def set_collection_state(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Open, pause or close the collection; refuse if its state has changed meanwhile."""
    question_set, collection = _load_editable_collection(request, set_id)
    new_state = request.POST.get("state", "")
    if new_state not in Collection.State.values:
        raise Http404("no such state")
    # `was`: a click on an outdated page must not reopen a collection that was closed since.
    if rules.set_collection_state(collection, new_state, request.POST.get("was") or None):
        messages.success(request, STATE_MESSAGES[new_state], f"collection_{new_state}")
    else:
        messages.warning(
            request,
            f"Nothing was changed: another person has {_name_state(collection)} it since you "
            f"opened the page. Check the new state, then press the button.",
            "state_changed_meanwhile",
        )
    return redirect("admin:collecting", question_set.public_id)


def close_collection(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask to confirm closing a collection, with the number of workers answering; POST closes it."""
    question_set, collection = _load_editable_collection(request, set_id)
    if request.method == "POST":
        rules.set_collection_state(collection, Collection.State.CLOSED)
        messages.success(request, STATE_MESSAGES["closed"], "collection_closed")
        return redirect("admin:collecting", question_set.public_id)
    n_answering = monitor.count_open_submissions(collection)
    if n_answering:
        people = "1 person is" if n_answering == 1 else f"{n_answering:,} people are"
        text = (
            f"{people} answering just now and could not submit any more; their texts stay as "
            f"drafts and are not counted. To let them finish, pause instead: then no one new "
            f"can enter."
        )
    else:
        text = "No one is answering just now. After closing, the link accepts no one."
    back = reverse("admin:collecting", args=[question_set.public_id])
    context = build_collection_context(request, question_set, "Close the collecting?") | {
        "text": text,
        "button": "Close",
        "back": back,
    }
    context["breadcrumbs"] = [*context["breadcrumbs"], ("People answer", back)]
    return TemplateResponse(request, "annotations/confirm.html", context)


@require_POST
def add_places(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Add places to the collection; refuse if their number has changed meanwhile."""
    question_set, collection = _load_editable_collection(request, set_id)
    form = PlacesForm(request.POST, auto_id="%s")
    if not form.is_valid():
        return show_collection(request, set_id, add=form)
    more, was = form.cleaned_data["more"], form.cleaned_data["was"]
    try:
        added = rules.add_places(collection, more, was)
    except SettingsError as error:
        form.add_error("more", ValidationError(f"{capfirst(str(error))}.", error.code))
        return show_collection(request, set_id, add=form)
    if added:
        messages.success(request, f"There are {collection.places:,} places now.", "places_added")
    else:
        messages.warning(
            request,
            f"No places were added: there are {collection.places:,} already, and you saw "
            f"{was or 0:,}. Another user, or a second click, has added some.",
            "places_added_meanwhile",
        )
    return redirect("admin:collecting", question_set.public_id)


@require_POST
def submit_worker_ids(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Admit or remove the posted worker ids, or return a CSV file with their signed links.

    The POST key `do` is "admit", "strike" or anything else for the links.
    """
    question_set, collection = _load_editable_collection(request, set_id)
    form = WorkerIdsForm(request.POST, auto_id="%s")
    if not form.is_valid():
        return show_collection(request, set_id, ids=form)
    external_ids: list[str] = form.cleaned_data["ids"]
    if request.POST.get("do") == "admit":
        n = rules.admit_workers(collection, external_ids)
        text = f"{n:,} of {len(external_ids):,} are new on the list."
        messages.success(request, text, "workers_admitted")
        return redirect("admin:collecting", question_set.public_id)
    if request.POST.get("do") == "strike":
        struck = rules.remove_admissions(collection, external_ids)
        code = "workers_struck_partly" if struck.by_score else "workers_struck"
        messages.success(request, _describe_removal(struck), code)
        return redirect("admin:collecting-listed", question_set.public_id)
    rows = ((name, links.build_signed_link(collection, name)) for name in external_ids)
    return build_download_response(
        write_csv(("worker", "link"), rows), f"{question_set.name} - links", "csv"
    )


@require_GET
def list_admissions(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """List the workers who are admitted to the collection, filtered and paged."""
    question_set, collection = _load_editable_collection(request, set_id)
    admissions = AdmissionFilter(request.GET, collection.admissions.all())
    back = reverse("admin:collecting", args=[question_set.public_id])
    context = build_collection_context(request, question_set, "Who may take part") | {
        "collection": collection
    }
    context["breadcrumbs"] = [*context["breadcrumbs"], ("People answer", back)]
    return TemplateResponse(
        request,
        "annotations/collecting/listed.html",
        context | admissions.build_list_context(request),
    )


def _describe_removal(struck: rules.RemovalResult) -> str:
    """Return the message on how many workers were removed from the list and how many stay."""
    text = f"{struck.off:,} taken off the list."
    if struck.by_score:
        text += f" {struck.by_score:,} stay: their score in an earlier set admits them."
    return text


def _find_or_build_collection(question_set: QuestionSet) -> Collection:
    """Return the latest version's collection; else a new, unsaved one with default settings.

    Raises Http404 if the set has no version.
    """
    latest = question_set.latest_version()
    if latest is None:
        raise Http404("it has no questions yet")
    # Of the latest version only: a new version is published with a collection of its own.
    stored = Collection.objects.filter(version=latest).select_related("version__question_set")
    defaults: dict[str, Any] = {
        "places": 40,
        "title": question_set.name,
        "signals": is_counting_signals(question_set),
        "panel": "Prolific",
        "return_url": rules.PROLIFIC_RETURN,
    }
    return stored.first() or Collection(
        version=latest, **defaults | waves.load_default_settings(question_set)
    )


def _load_editable_collection(request: HttpRequest, set_id: UUID) -> tuple[QuestionSet, Collection]:
    """Return a question set and its newest collection, if the user may change them.

    Else `Http404` or `RefusedError` is raised.
    """
    question_set = get_editable_set_with_answers(request, set_id)
    collection = monitor.find_newest_collection(question_set)
    if collection is None:
        raise Http404("it is not published to workers")
    return question_set, collection


def _name_state(collection: Collection) -> str:
    """Return what was done to reach the collection's state, for a message: "opened", "paused"."""
    return {"open": "opened", "paused": "paused", "closed": "closed"}[collection.state]
