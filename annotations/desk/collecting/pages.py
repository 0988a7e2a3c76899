"""Publishing to workers: settings, pausing, closing, more places, signed links."""

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
from annotations.answering.languages import said_of
from annotations.answering.refused import SettingsError
from annotations.desk.collecting.forms import IdsForm, PlacesForm, SettingsForm
from annotations.desk.collecting.watching import collect, page_context
from annotations.exchange.writing.formats import csv_chunks
from annotations.models import Collection, QuestionSet, counts_signals
from annotations.web.downloads import download
from annotations.web.lists import AdmissionFilter
from annotations.web.scope import answered_set, editable, visible

SAID = {
    "open": "It is open.",
    "paused": "It is paused: nobody new gets in, and who is inside can finish.",
    "closed": "It is closed: nothing more is taken.",
}
"""What is said of a state that was just set."""


def settings(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Publish the latest version, or change how it is answered."""
    answered_set(request, set_id)
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    collection = _to_set(question_set)
    is_new = collection.pk is None
    among = visible(request, QuestionSet.objects.all())
    form = SettingsForm(collection, among, request.POST or None)
    if request.method == "POST" and form.is_valid():
        stored = form.store(collection, request.build_absolute_uri("/").rstrip("/"))
        if stored is not None:
            messages.success(
                request,
                "It is published: give the link below to your panel." if is_new else "Saved.",
                "collection_published" if is_new else "settings_saved",
            )
            return redirect("admin:collecting", question_set.public_id)
    title = "Publish to workers" if is_new else "Settings of the collecting"
    context = page_context(request, question_set, title) | {
        "form": form,
        "is_new": is_new,
        "version": collection.version,
        "frame": said_of(collection.version),
    }
    return TemplateResponse(
        request,
        "annotations/collecting/settings.html",
        context,
        status=400 if form.errors else 200,
    )


@require_POST
def state(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Open, pause or close it."""
    question_set, collection = _editable(request, set_id)
    wanted = request.POST.get("state", "")
    if wanted not in Collection.State.values:
        raise Http404("no such state")
    if rules.set_state(collection, wanted, request.POST.get("was") or None):
        messages.success(request, SAID[wanted], f"collection_{wanted}")
    else:
        messages.warning(
            request,
            f"Nothing was changed: somebody has {_done_by_another(collection)} it since you opened "
            "the page. Look at it again, and then press the button.",
            "state_changed_meanwhile",
        )
    return redirect("admin:collecting", question_set.public_id)


def close(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Ask whether it is to be closed, telling what that ends; the form does it."""
    question_set, collection = _editable(request, set_id)
    if request.method == "POST":
        rules.set_state(collection, Collection.State.CLOSED)
        messages.success(request, SAID["closed"], "collection_closed")
        return redirect("admin:collecting", question_set.public_id)
    inside = monitor.collecting_now(collection).states["open"]
    if inside:
        people = "1 person is" if inside == 1 else f"{inside:,} people are"
        text = (
            f"{people} answering just now and could not hand in any more; what they have written "
            "stays with them as a draft and is not counted. Pause instead if they are to finish: "
            "nobody new gets in then."
        )
    else:
        text = "Nobody is answering just now. After closing, the link takes nobody any more."
    back = reverse("admin:collecting", args=[question_set.public_id])
    context = page_context(request, question_set, "Close the collecting?") | {
        "text": text,
        "button": "Close",
        "back": back,
    }
    context["breadcrumbs"] = [*context["breadcrumbs"], ("People answer", back)]
    return TemplateResponse(request, "annotations/confirm.html", context)


@require_POST
def places(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Let more people take part."""
    question_set, collection = _editable(request, set_id)
    form = PlacesForm(request.POST, auto_id="%s")
    if not form.is_valid():
        return collect(request, set_id, add=form)
    more, was = form.cleaned_data["more"], form.cleaned_data["was"]
    try:
        added = rules.add_places(collection, more, was)
    except SettingsError as error:
        form.add_error("more", ValidationError(f"{capfirst(str(error))}.", error.code))
        return collect(request, set_id, add=form)
    if added:
        messages.success(request, f"There are {collection.places:,} places now.", "places_added")
    else:
        messages.warning(
            request,
            f"No places were added: there are {collection.places:,} already, and you saw "
            f"{was or 0:,}. Somebody else, or a second click, has added some.",
            "places_added_meanwhile",
        )
    return redirect("admin:collecting", question_set.public_id)


@require_POST
def ids(request: HttpRequest, set_id: UUID) -> HttpResponseBase:
    """Make signed links for ids, as a file, or change who is on the list of who may take part."""
    question_set, collection = _editable(request, set_id)
    form = IdsForm(request.POST, auto_id="%s")
    if not form.is_valid():
        return collect(request, set_id, ids=form)
    given: list[str] = form.cleaned_data["ids"]
    if request.POST.get("do") == "admit":
        n = rules.admit(collection, given)
        said = f"{n:,} of {len(given):,} are new on the list."
        messages.success(request, said, "workers_admitted")
        return redirect("admin:collecting", question_set.public_id)
    if request.POST.get("do") == "strike":
        struck = rules.strike(collection, given)
        code = "workers_struck_partly" if struck.by_score else "workers_struck"
        messages.success(request, _struck(struck), code)
        return redirect("admin:collecting-listed", question_set.public_id)
    rows = ((one, links.signed_link(collection, one)) for one in given)
    return download(csv_chunks(("worker", "link"), rows), f"{question_set.name} - links", "csv")


@require_GET
def listed(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show who is on the list of those who may take part, with a button that takes them off."""
    question_set, collection = _editable(request, set_id)
    asked = AdmissionFilter(request.GET, collection.admissions.all())
    back = reverse("admin:collecting", args=[question_set.public_id])
    context = page_context(request, question_set, "Who may take part") | {"collection": collection}
    context["breadcrumbs"] = [*context["breadcrumbs"], ("People answer", back)]
    return TemplateResponse(
        request, "annotations/collecting/listed.html", context | asked.listing(request)
    )


def _struck(struck: rules.Struck) -> str:
    """Return what became of ids that were to come off the list."""
    said = f"{struck.off:,} taken off the list."
    if struck.by_score:
        said += f" {struck.by_score:,} stay: their score in an earlier set admits them."
    return said


def _to_set(question_set: QuestionSet) -> Collection:
    """Return the collecting of the latest version, not stored where there is none yet."""
    latest = question_set.latest_version()
    if latest is None:
        raise Http404("it has no questions yet")
    found = Collection.objects.filter(version=latest).select_related("version__question_set")
    usual: dict[str, Any] = {
        "places": 40,
        "title": question_set.name,
        "signals": counts_signals(question_set),
        "panel": "Prolific",
        "return_url": rules.PROLIFIC_RETURN,
    }
    return found.first() or Collection(version=latest, **usual | waves.settings_of(question_set))


def _editable(request: HttpRequest, set_id: UUID) -> tuple[QuestionSet, Collection]:
    answered_set(request, set_id)
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    collection = monitor.newest(question_set)
    if collection is None:
        raise Http404("it is not published to workers")
    return question_set, collection


def _done_by_another(collection: Collection) -> str:
    """Return what somebody did to it, as a word."""
    return {"open": "opened", "paused": "paused", "closed": "closed"}[collection.state]
