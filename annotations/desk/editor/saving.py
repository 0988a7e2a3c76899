"""Saving what was typed, from a page or while typing: nothing of others is overwritten unseen.

A form carries the mark of what it showed (`seen`). Where the row holds something else by now, or
is gone, or its version was published meanwhile, nothing is stored and the page comes back with the
text that was typed, says what happened, and offers what to do. A script that saves while one types
sends the same form and asks for JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotations.desk.editor.forms import EditorForm
from annotations.editing import PublishedError, draft_of, seen
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion

CHANGED = "changed"
GONE = "gone"
PUBLISHED = "published"
WORDS = {
    CHANGED: "Somebody else changed this meanwhile. What you typed is not saved yet: compare it "
    "with what is stored now; saving puts yours in its place.",
    GONE: "Somebody deleted this meanwhile. What you typed is not saved; you can save it anew.",
    PUBLISHED: "This version was published meanwhile and keeps its words. What you typed is not "
    "saved; you can save it into the next version, which is opened as a copy.",
}
INSIST = {GONE: "anew", PUBLISHED: "next"}
"""The value of `do` that a button of the page sends then."""

Row = QuestionSetVersion | Passage | Question
Find = Callable[[QuestionSetVersion], Row | None]
Make = Callable[[QuestionSetVersion], Row]


@dataclass
class Saved:
    """What became of a form: `row` is stored, or `why` says what stands against it.

    `form` shows what was typed in any case, and `stored` what the row holds now where that is
    another text.
    """

    form: EditorForm
    row: Row | None = None
    why: str = ""
    stored: Row | None = None


def save(
    request: HttpRequest,
    question_set: QuestionSet,
    form_class: type[EditorForm],
    find: Find,
    make: Make,
    store: Callable[[EditorForm, QuestionSetVersion], Row],
) -> Saved:
    """Store what was posted.

    `find` returns the row in the draft, None where it is gone; `make` a new one, not stored; both
    inside the lock of the set. `store` writes a form that is valid.
    """
    do = request.POST.get("do", "")
    try:
        with draft_of(question_set, anew=do == INSIST[PUBLISHED]) as draft:
            row = find(draft)
            if row is None and request.POST.get("seen") and do != INSIST[GONE]:
                return Saved(_form(request, form_class, make(draft), draft), why=GONE)
            stored = row or make(draft)
            now = seen(stored, form_class.watched) if row is not None else ""
            form = _form(request, form_class, stored, draft)
            told = request.POST.get("seen", "")
            if not form.is_valid():
                return Saved(form)
            typed = seen(form.instance, form_class.watched)
            moved_on = bool(now and told and now != told and now != typed)
            if moved_on and do != INSIST[PUBLISHED]:
                return Saved(form, why=CHANGED, stored=find(draft))
            return Saved(form, store(form, draft))
    except PublishedError:
        latest = question_set.latest_version()
        assert latest is not None
        row = find(latest) or make(latest)
        return Saved(_form(request, form_class, row, latest), why=PUBLISHED)


def answer(
    request: HttpRequest, saved: Saved, form_class: type[EditorForm], address: str, there: str
) -> HttpResponse | None:
    """Return the answer to a script, or the way on; None where the page is to be shown again.

    `address` is where the form of a stored row stands, `there` where one goes after saving.
    """
    wants_json = "application/json" in request.headers.get("Accept", "")
    if saved.row is not None:
        if wants_json:
            mark = seen(saved.row, form_class.watched)
            body = {"saved": True, "seen": mark, "address": address, "there": there}
            if isinstance(saved.row, Passage) and saved.row.image:
                where = [saved.row.version.question_set.public_id, saved.row.image.public_id]
                body["image"] = reverse("admin:image", args=where)
            return JsonResponse(body)
        return redirect(there)
    if wants_json:
        errors = {name: [str(e) for e in found] for name, found in saved.form.errors.items()}
        said = WORDS.get(saved.why, "") or _first(saved.form)
        refused = {"saved": False, "why": saved.why, "errors": errors, "said": said}
        return JsonResponse(refused, status=409 if saved.why else 400)
    return None


def same_item(model: type[Passage] | type[Question], old: Row | None, new_id: str) -> Find:
    """Return how an item is found in a draft.

    By its public id; else, where the version it is of was published and copied, by its id in
    files. A new one by the id that its form was given, so that it is not made twice.
    """

    def find(draft: QuestionSetVersion) -> Row | None:
        rows = model._default_manager.filter(version=draft)
        if old is None:
            return rows.filter(public_id__in=as_uuids(new_id)).first()
        assert isinstance(old, Passage | Question)
        found: Row | None = rows.filter(public_id=old.public_id).first()
        if found is None and old.version_id != draft.pk:
            found = rows.filter(external_id=old.external_id).first()
        return found

    return find


def as_uuids(text: str) -> list[UUID]:
    """Return the id that a text is, as the only one of a list; none for any other text."""
    try:
        return [UUID(text)]
    except ValueError:
        return []


def _form(
    request: HttpRequest, form_class: type[EditorForm], row: Row, draft: QuestionSetVersion
) -> EditorForm:
    return form_class(request.POST, request.FILES, instance=row, draft=draft)


def _first(form: EditorForm) -> str:
    for name, found in form.errors.items():
        label = form.fields[name].label if name in form.fields else ""
        return f"{label}: {found[0]}" if label else str(found[0])
    return ""
