"""Save the editor's forms without overwriting changes of another user that were not seen.

A form carries a hash of the row that it showed (`seen`). If another user has changed or deleted
the row since, or published its version, nothing is stored. The page comes back with the typed text,
a message, and a button that saves anyway. A script that saves while the user types sends the same
form and accepts JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotations.desk.editor.forms import EditorForm, read_picture
from annotations.editing import PublishedError, hash_fields, lock_draft
from annotations.exchange.reading.images import SECONDS_TO_RETRY, PicturesBusyError
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion
from annotations.web.scope import get_user_id

CHANGED = "changed"
GONE = "gone"
PUBLISHED = "published"
MESSAGES = {
    CHANGED: "Another user has changed this. Your text is not saved yet: compare it with the "
    "stored text. Saving replaces that with yours.",
    GONE: "Another user has deleted this. Your text is not saved; you can save it as new.",
    PUBLISHED: "This version was published meanwhile and keeps its words. What you typed is not "
    "saved; you can save it into the next version, which is opened as a copy.",
}
OVERRIDES = {GONE: "anew", PUBLISHED: "next"}
"""The value of `do` by which the page's button saves in spite of this conflict."""
BUSY = 503

ResponseT = TypeVar("ResponseT", bound=HttpResponse)
Row = QuestionSetVersion | Passage | Question
FindRow = Callable[[QuestionSetVersion], Row | None]
MakeRow = Callable[[QuestionSetVersion], Row]


@dataclass
class SaveResult:
    """Result of saving an editor form: the form, the stored row or the conflict.

    Attributes
    ----------
    form : the form with the typed values.
    row : the stored row; None if nothing was stored.
    why : code of the conflict, a key of `MESSAGES`; "" if there is none.
    stored : the row as another user stored it, if that is the conflict.
    """

    form: EditorForm
    row: Row | None = None
    why: str = ""
    stored: Row | None = None

    @property
    def status(self) -> int:
        """HTTP status: 409 for a conflict, 503 to resend the image, 400 for errors, else 200."""
        if self.why:
            return 409
        if isinstance(self.form.checked_picture, PicturesBusyError):
            return BUSY
        return 400 if self.form.errors else 200


def save_form(
    request: HttpRequest,
    question_set: QuestionSet,
    form_class: type[EditorForm],
    find: FindRow,
    make: MakeRow,
    store: Callable[[EditorForm, QuestionSetVersion], Row],
) -> SaveResult:
    """Store the posted form, unless another user changed, deleted or published the row.

    Parameters
    ----------
    find : returns the row in the draft, None if it was deleted.
    make : returns a new row, not stored.
    store : stores a valid form and returns the row.

    All three are called while the question set is locked.
    """
    do = request.POST.get("do", "")
    has_picture = "picture" in form_class.base_fields
    # Before the lock: decoding a picture may wait for seconds.
    picture = read_picture(request.FILES, get_user_id(request)) if has_picture else None

    def build_form(row: Row, draft: QuestionSetVersion) -> EditorForm:
        """Return the posted form, bound to the stored row."""
        return form_class(
            request.POST, request.FILES, instance=row, draft=draft, checked_picture=picture
        )

    try:
        with lock_draft(question_set, anew=do == OVERRIDES[PUBLISHED]) as draft:
            row = find(draft)
            if row is None and request.POST.get("seen") and do != OVERRIDES[GONE]:
                return SaveResult(build_form(make(draft), draft), why=GONE)
            stored = row or make(draft)
            # Before the form is built: validating it changes the instance.
            stored_hash = hash_fields(stored, form_class.watched) if row is not None else ""
            form = build_form(stored, draft)
            seen_hash = request.POST.get("seen", "")
            if not form.is_valid():
                return SaveResult(form)
            typed_hash = hash_fields(form.instance, form_class.watched)
            # The same text typed twice is no conflict, such as a second click on "Save".
            is_changed = bool(
                stored_hash and seen_hash and stored_hash not in (seen_hash, typed_hash)
            )
            if is_changed and do != OVERRIDES[PUBLISHED]:
                # `find` again: validation has overwritten the fields of the first instance.
                return SaveResult(form, why=CHANGED, stored=find(draft))
            return SaveResult(form, store(form, draft))
    except PublishedError:
        latest = question_set.latest_version()
        assert latest is not None
        # The typed text is shown on the published row, or as a new one if it has none there.
        row = find(latest) or make(latest)
        return SaveResult(build_form(row, latest), why=PUBLISHED)


def build_save_response(
    request: HttpRequest,
    saved: SaveResult,
    form_class: type[EditorForm],
    form_url: str,
    next_url: str,
) -> HttpResponse | None:
    """Return the response to a posted form; None if the form must be shown again.

    A script gets JSON, a browser a redirect to `next_url`. `form_url` is the address of the form
    of the stored row, which a script needs after it created one.
    """
    wants_json = "application/json" in request.headers.get("Accept", "")
    if saved.row is not None:
        if wants_json:
            mark = hash_fields(saved.row, form_class.watched)
            body = {"saved": True, "seen": mark, "address": form_url, "there": next_url}
            if isinstance(saved.row, Passage) and saved.row.image:
                ids = [saved.row.version.question_set.public_id, saved.row.image.public_id]
                body["image"] = reverse("admin:image", args=ids)
            return JsonResponse(body)
        return redirect(next_url)
    if wants_json:
        errors = {name: [str(e) for e in listed] for name, listed in saved.form.errors.items()}
        text = MESSAGES.get(saved.why, "") or _format_first_error(saved.form)
        body = {"saved": False, "why": saved.why, "errors": errors, "said": text}
        return add_retry_after(JsonResponse(body, status=saved.status))
    return None


def add_retry_after(response: ResponseT) -> ResponseT:
    """Add the header Retry-After to a response with status 503; return the response."""
    if response.status_code == BUSY:
        response.headers["Retry-After"] = str(SECONDS_TO_RETRY)
    return response


def build_item_finder(
    model: type[Passage] | type[Question], old: Row | None, new_id: str
) -> FindRow:
    """Return a function that finds the edited passage or question in a draft.

    `old` is found by its public id. If its version was published and copied since, the copy is
    found by the id in files. Without `old`, `new_id` finds an item that an earlier, repeated
    request created, so that it is not created twice.
    """

    def find_row(draft: QuestionSetVersion) -> Row | None:
        """Return the edited row of the draft; None for a new one."""
        rows = model._default_manager.filter(version=draft)
        if old is None:
            return rows.filter(public_id__in=parse_optional_uuid(new_id)).first()
        assert isinstance(old, Passage | Question)
        row: Row | None = rows.filter(public_id=old.public_id).first()
        if row is None and old.version_id != draft.pk:
            row = rows.filter(external_id=old.external_id).first()
        return row

    return find_row


def parse_optional_uuid(text: str) -> list[UUID]:
    """Return a list with the UUID in a text; [] for other texts. For filters with `__in`."""
    try:
        return [UUID(text)]
    except ValueError:
        return []


def _format_first_error(form: EditorForm) -> str:
    """Return the form's first error with the label of its field; "" without errors."""
    for name, errors in form.errors.items():
        label = form.fields[name].label if name in form.fields else ""
        return f"{label}: {errors[0]}" if label else str(errors[0])
    return ""
