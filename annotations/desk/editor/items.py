"""Editor pages of one passage, of one question, and of the texts before the first question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.desk.editor import saving
from annotations.desk.editor.forms import EditorForm, PassageForm, QuestionForm, TextsForm
from annotations.editing import (
    PublishedError,
    attach_image,
    count_dependents,
    delete_item,
    hash_fields,
    lock_draft,
    remove_image,
    select_consent_template,
)
from annotations.exchange.importing.target import find_next_position
from annotations.exchange.reading.images import CheckedImage
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion, new_public_id
from annotations.web.pages import Breadcrumbs, build_breadcrumbs
from annotations.web.scope import get_editable

Item = Passage | Question


def edit_texts(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show and save a version's language, guidelines and consent text.

    POST with `do=template` stores nothing and appends the consent template to the text.
    """
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    editor_url = _build_editor_url(question_set, "#before")
    if request.method == "POST" and request.POST.get("do") != "template":
        saved = saving.save_form(
            request, question_set, TextsForm, lambda draft: draft, lambda draft: draft, _store_form
        )
        if answered := saving.build_save_response(
            request, saved, TextsForm, request.path, editor_url
        ):
            return answered
    else:
        version = question_set.latest_version() or QuestionSetVersion(question_set=question_set)
        data = _append_consent_template(request, version) if request.method == "POST" else None
        saved = saving.SaveResult(TextsForm(data, instance=version))
        if data is None and not version.language:
            # A new version has no language yet: propose that of the question set.
            saved.form.initial["language"] = question_set.language
    return _render_form_page(request, question_set, saved, "Before the first question", editor_url)


NEW = {
    "practice": "New practice question",
    "attention": "New attention check",
    "gold": "New gold question",
}
"""Titles of the form of a new question, by its role."""


def edit_passage(
    request: HttpRequest, set_id: UUID, passage_id: UUID | None = None
) -> HttpResponse:
    """Show a passage's form; POST saves it. Without `passage_id`, create a new passage."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    old = _load_item(request, question_set, Passage, passage_id)
    if request.method == "POST":
        saved = _save_item(request, question_set, old, Passage, PassageForm, _store_passage)
        if answered := _build_save_response(request, question_set, saved, PassageForm, "passage"):
            return answered
    else:
        saved = saving.SaveResult(PassageForm(instance=old, draft=old.version if old else None))
    title = "Passage" if old else "New passage"
    return _render_form_page(
        request, question_set, saved, title, _build_editor_url(question_set), old
    )


def edit_question(
    request: HttpRequest, set_id: UUID, question_id: UUID | None = None
) -> HttpResponse:
    """Show a question's form; POST saves it. Without `question_id`, create a new question.

    The query parameters `passage` (public id) and `role` preset a new question.
    """
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    old = _load_item(request, question_set, Question, question_id)
    if request.method == "POST":
        saved = _save_item(request, question_set, old, Question, QuestionForm, _store_form)
        if answered := _build_save_response(request, question_set, saved, QuestionForm, "question"):
            return answered
    else:
        latest = old.version if old else question_set.latest_version()
        form = QuestionForm(instance=old, draft=latest)
        if old is None and latest is not None:
            passage_ids = saving.parse_optional_uuid(request.GET.get("passage", ""))
            form.initial["passage"] = Passage.objects.filter(
                version=latest, public_id__in=passage_ids
            ).first()
            role = request.GET.get("role", "")
            form.initial["role"] = role if role in Question.Role.values else Question.Role.GRADED
        saved = saving.SaveResult(form)
    title = "Question" if old else NEW.get(str(saved.form["role"].value()), "New question")
    return _render_form_page(
        request, question_set, saved, title, _build_editor_url(question_set), old
    )


def delete_passage(request: HttpRequest, set_id: UUID, passage_id: UUID) -> HttpResponse:
    """Ask for confirmation; POST deletes a passage and its questions from the draft."""
    return _delete_item(request, set_id, Passage, passage_id)


def delete_question(request: HttpRequest, set_id: UUID, question_id: UUID) -> HttpResponse:
    """Ask for confirmation; POST deletes a question from the draft."""
    return _delete_item(request, set_id, Question, question_id)


def _delete_item(
    request: HttpRequest, set_id: UUID, model: type[Item], item_id: UUID
) -> HttpResponse:
    """Show what is deleted with an item, or what prevents the deletion; POST deletes it."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    item: Item = _load_item(request, question_set, model, item_id)
    noun = model._meta.verbose_name
    editor_url = _build_editor_url(question_set)
    if item.version.is_published:
        messages.error(
            request, f"Version {item.version.number} is published: nothing goes from it."
        )
        return redirect(editor_url)
    dependents = count_dependents(item)
    blockers = [str(dependent) for dependent in dependents if dependent.holds]
    if request.method == "POST":
        try:
            with lock_draft(question_set) as draft:
                # Another user may have deleted it since; then there is nothing left to do.
                exists = type(item)._base_manager.filter(version=draft, pk=item.pk).exists()
                blockers = [str(dependent) for dependent in delete_item(item)] if exists else []
        except PublishedError:
            blockers = ["the published version"]
        if not blockers:
            messages.success(request, f"{str(noun).capitalize()} {item.external_id} is deleted.")
            return redirect(editor_url)
    deleted_too = [str(dependent) for dependent in dependents if not dependent.holds]
    text = f"It goes for good{', and with it ' + ' and '.join(deleted_too) if deleted_too else ''}."
    if blockers:
        text = f"It cannot be deleted: {', '.join(blockers)} depend on it."
    context = {
        **_build_editor_context(question_set, f"Delete {noun} {item.external_id}?"),
        "text": text,
        "held": blockers,
        "quoted": (getattr(item, "title", "") or item.text)[:300],
        "button": "" if blockers else f"Delete the {noun}",
        "back": editor_url,
    }
    return TemplateResponse(request, "annotations/editor/delete.html", context)


def _load_item(
    request: HttpRequest, question_set: QuestionSet, model: type[Any], item_id: UUID | None
) -> Any:
    """Return a passage or question that the user may change; None without `item_id`.

    Else `Http404` is raised.
    """
    if item_id is None:
        return None
    rows = model._default_manager.filter(version__question_set=question_set)
    return get_editable(request, rows.select_related("version"), item_id)


def _save_item(
    request: HttpRequest,
    question_set: QuestionSet,
    old: Item | None,
    model: type[Item],
    form_class: type[EditorForm],
    store: Callable[[EditorForm, QuestionSetVersion], saving.Row],
) -> saving.SaveResult:
    """Save the posted passage or question into the draft; a new one is added at the end."""

    def make_item(draft: QuestionSetVersion) -> Item:
        """Return a new passage or question at the end of the draft."""
        positions = model._default_manager.filter(version=draft).values_list("position", flat=True)
        return model(
            version=draft,
            position=find_next_position(positions),
            public_id=_choose_public_id(request),
        )

    find = saving.build_item_finder(model, old, request.POST.get("new_id", ""))
    return saving.save_form(request, question_set, form_class, find, make_item, store)


def _choose_public_id(request: HttpRequest) -> UUID:
    """Return the public id that the form proposes; a new one if that is missing or in use.

    The form's own id makes a repeated request find the item that the first one stored.
    """
    proposed = saving.parse_optional_uuid(request.POST.get("new_id", ""))
    models: tuple[type[Any], ...] = (Passage, Question)
    is_used = any(m._default_manager.filter(public_id__in=proposed).exists() for m in models)
    return proposed[0] if proposed and not is_used else new_public_id()


def _store_form(form: EditorForm, draft: QuestionSetVersion) -> saving.Row:
    """Save the form of texts or of a question; return the saved row."""
    row: saving.Row = form.save()
    return row


def _store_passage(form: EditorForm, draft: QuestionSetVersion) -> saving.Row:
    """Save the form of a passage, attach or remove its image, and return the passage."""
    assert isinstance(form, PassageForm)
    passage = cast("Passage", form.save())
    if isinstance(form.checked_picture, CheckedImage):
        attach_image(passage, form.checked_picture)
    elif form.cleaned_data.get("remove_picture"):
        remove_image(passage)
    return passage


def _build_save_response(
    request: HttpRequest,
    question_set: QuestionSet,
    saved: saving.SaveResult,
    form_class: type[EditorForm],
    name: str,
) -> HttpResponse | None:
    """Return the response after an item was saved; None if the form must be shown again.

    After `do=another` the browser is redirected to the form of a new question on the same passage.
    """
    form_url = next_url = ""
    if saved.row is not None:
        item = cast("Item", saved.row)
        form_url = reverse(f"admin:editor-{name}", args=[question_set.public_id, item.public_id])
        next_url = _build_editor_url(question_set, f"#{name}-{item.public_id}")
        if request.POST.get("do") == "another":
            next_url = reverse("admin:editor-question-new", args=[question_set.public_id])
            passage = item if isinstance(item, Passage) else item.passage
            next_url += f"?passage={passage.public_id}" if passage else ""
    return saving.build_save_response(request, saved, form_class, form_url, next_url)


def _append_consent_template(request: HttpRequest, version: QuestionSetVersion) -> Any:
    """Return a copy of the POST data with the consent template appended to the consent text."""
    data = request.POST.copy()
    typed = data.get("consent_text", "").rstrip()
    template = select_consent_template(data.get("language", "") or version.text_language)
    data["consent_text"] = f"{typed}\n\n{template}".lstrip()
    return data


def _render_form_page(
    request: HttpRequest,
    question_set: QuestionSet,
    saved: saving.SaveResult,
    title: str,
    back: str,
    item: Item | None = None,
) -> HttpResponse:
    """Return the page of an editor form; on a conflict, with the text that another user stored."""
    form = saved.form
    row = saved.stored or (form.instance if form.instance.pk else None)
    mark = request.POST.get("seen", "")
    # Another user's text is now on the page: the next save may overwrite it.
    if saved.stored is not None or not form.is_bound:
        mark = hash_fields(row, form.watched) if row else ""
    published = bool(row and _get_version(row).is_published)
    context = {
        **_build_editor_context(question_set, title),
        "form": form,
        "item": item,
        "noun": "texts" if isinstance(form, TextsForm) else form.instance._meta.verbose_name,
        "seen": mark,
        # The same id after a refusal, so that a repeated request finds the item of an earlier one.
        "new_id": request.POST.get("new_id") or new_public_id(),
        "why": saved.why or (saving.PUBLISHED if published else ""),
        "said": saving.MESSAGES.get(saved.why, ""),
        "insist": saving.OVERRIDES.get(saved.why or (saving.PUBLISHED if published else ""), ""),
        "stored": saved.stored,
        "back": back,
    }
    status = saved.status if request.POST.get("do") != "template" else 200
    response = TemplateResponse(request, "annotations/editor/item.html", context, status=status)
    return saving.add_retry_after(response)


def _get_version(row: Any) -> QuestionSetVersion:
    """Return the version of a passage or question; a version is returned unchanged."""
    return row if isinstance(row, QuestionSetVersion) else row.version


def _build_editor_context(question_set: QuestionSet, title: str) -> dict[str, Any]:
    """Return the template context that all forms of the editor share, with its breadcrumbs."""
    trail: Breadcrumbs = [
        *build_breadcrumbs(question_set),
        ("Editor", _build_editor_url(question_set)),
    ]
    return {
        "title": title,
        "breadcrumbs": trail,
        "notice": question_set.notice,
        "question_set": question_set,
    }


def _build_editor_url(question_set: QuestionSet, anchor: str = "") -> str:
    """Return the URL of the editor's first page, with a fragment such as "#before"."""
    return reverse("admin:editor", args=[question_set.public_id]) + anchor
