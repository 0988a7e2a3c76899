"""The pages of one passage, of one question, and of what people are told before them."""

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
    consent_template,
    delete_item,
    draft_of,
    drop_image,
    hanging,
    seen,
)
from annotations.exchange.importing.target import next_position
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion, new_public_id
from annotations.web.pages import Breadcrumbs, breadcrumbs
from annotations.web.scope import editable

Item = Passage | Question


def texts(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show and save language, guidelines and consent text."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    there = _editor(question_set, "#before")
    if request.method == "POST" and request.POST.get("do") != "template":
        saved = saving.save(
            request, question_set, TextsForm, lambda draft: draft, lambda draft: draft, _stored
        )
        if answered := saving.answer(request, saved, TextsForm, request.path, there):
            return answered
    else:
        version = question_set.latest_version() or QuestionSetVersion(question_set=question_set)
        data = _with_template(request, version) if request.method == "POST" else None
        saved = saving.Saved(TextsForm(data, instance=version))
        if data is None and not version.language:
            saved.form.initial["language"] = question_set.language
    return _page(request, question_set, saved, "Before the first question", there)


def passage(request: HttpRequest, set_id: UUID, passage_id: UUID | None = None) -> HttpResponse:
    """Show and save a passage; without an id a new one."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    old = _item(request, question_set, Passage, passage_id)
    if request.method == "POST":
        saved = _saved(request, question_set, old, Passage, PassageForm, _stored_passage)
        if answered := _answered(request, question_set, saved, PassageForm, "passage"):
            return answered
    else:
        saved = saving.Saved(PassageForm(instance=old, draft=old.version if old else None))
    title = "Passage" if old else "New passage"
    return _page(request, question_set, saved, title, _editor(question_set), old)


def question(request: HttpRequest, set_id: UUID, question_id: UUID | None = None) -> HttpResponse:
    """Show and save a question; without an id a new one, about `passage` of the address."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    old = _item(request, question_set, Question, question_id)
    if request.method == "POST":
        saved = _saved(request, question_set, old, Question, QuestionForm, _stored)
        if answered := _answered(request, question_set, saved, QuestionForm, "question"):
            return answered
    else:
        latest = old.version if old else question_set.latest_version()
        form = QuestionForm(instance=old, draft=latest)
        if old is None and latest is not None:
            about = saving.as_uuids(request.GET.get("passage", ""))
            form.initial["passage"] = Passage.objects.filter(
                version=latest, public_id__in=about
            ).first()
            role = request.GET.get("role", "")
            form.initial["role"] = role if role in Question.Role.values else Question.Role.GRADED
        saved = saving.Saved(form)
    title = "Question" if old else "New question"
    return _page(request, question_set, saved, title, _editor(question_set), old)


def delete_passage(request: HttpRequest, set_id: UUID, passage_id: UUID) -> HttpResponse:
    """Ask, telling what hangs on it, then delete a passage with its questions."""
    return _delete(request, set_id, Passage, passage_id)


def delete_question(request: HttpRequest, set_id: UUID, question_id: UUID) -> HttpResponse:
    """Ask, telling what hangs on it, then delete a question."""
    return _delete(request, set_id, Question, question_id)


def _delete(request: HttpRequest, set_id: UUID, model: type[Item], item_id: UUID) -> HttpResponse:
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    item: Item = _item(request, question_set, model, item_id)
    noun = model._meta.verbose_name
    there = _editor(question_set)
    if item.version.is_published:
        messages.error(
            request, f"Version {item.version.number} is published: nothing goes from it."
        )
        return redirect(there)
    hangs = hanging(item)
    held = [str(one) for one in hangs if one.holds]
    if request.method == "POST":
        try:
            with draft_of(question_set) as draft:
                there_still = type(item)._base_manager.filter(version=draft, pk=item.pk).exists()
                held = [str(one) for one in delete_item(item)] if there_still else []
        except PublishedError:
            held = ["the published version"]
        if not held:
            messages.success(request, f"{str(noun).capitalize()} {item.external_id} is deleted.")
            return redirect(there)
    goes = [str(one) for one in hangs if not one.holds]
    text = f"It goes for good{', and with it ' + ' and '.join(goes) if goes else ''}."
    if held:
        text = f"It cannot be deleted: {', '.join(held)} hang on it."
    context = {
        **_frame(question_set, f"Delete {noun} {item.external_id}?"),
        "text": text,
        "held": held,
        "quoted": (getattr(item, "title", "") or item.text)[:300],
        "button": "" if held else f"Delete the {noun}",
        "back": there,
    }
    return TemplateResponse(request, "annotations/editor/delete.html", context)


def _item(
    request: HttpRequest, question_set: QuestionSet, model: type[Any], item_id: UUID | None
) -> Any:
    if item_id is None:
        return None
    rows = model._default_manager.filter(version__question_set=question_set)
    return editable(request, rows.select_related("version"), item_id)


def _saved(
    request: HttpRequest,
    question_set: QuestionSet,
    old: Item | None,
    model: type[Item],
    form_class: type[EditorForm],
    store: Callable[[EditorForm, QuestionSetVersion], saving.Row],
) -> saving.Saved:
    """Save what was posted of a passage or question; a new one comes last."""

    def make(draft: QuestionSetVersion) -> Item:
        taken = model._default_manager.filter(version=draft).values_list("position", flat=True)
        return model(version=draft, position=next_position(taken), public_id=_new_id(request))

    find = saving.same_item(model, old, request.POST.get("new_id", ""))
    return saving.save(request, question_set, form_class, find, make, store)


def _new_id(request: HttpRequest) -> UUID:
    asked = saving.as_uuids(request.POST.get("new_id", ""))
    models: tuple[type[Any], ...] = (Passage, Question)
    taken = any(m._default_manager.filter(public_id__in=asked).exists() for m in models)
    return asked[0] if asked and not taken else new_public_id()


def _stored(form: EditorForm, draft: QuestionSetVersion) -> saving.Row:
    row: saving.Row = form.save()
    return row


def _stored_passage(form: EditorForm, draft: QuestionSetVersion) -> saving.Row:
    assert isinstance(form, PassageForm)
    passage = cast("Passage", form.save())
    if form.checked is not None:
        attach_image(passage, form.checked)
    elif form.cleaned_data.get("remove_picture"):
        drop_image(passage)
    return passage


def _answered(
    request: HttpRequest,
    question_set: QuestionSet,
    saved: saving.Saved,
    form_class: type[EditorForm],
    name: str,
) -> HttpResponse | None:
    address = there = ""
    if saved.row is not None:
        item = cast("Item", saved.row)
        address = reverse(f"admin:editor-{name}", args=[question_set.public_id, item.public_id])
        there = _editor(question_set, f"#{name}-{item.public_id}")
        if request.POST.get("do") == "another":
            there = reverse("admin:editor-question-new", args=[question_set.public_id])
            about = item if isinstance(item, Passage) else item.passage
            there += f"?passage={about.public_id}" if about else ""
    return saving.answer(request, saved, form_class, address, there)


def _with_template(request: HttpRequest, version: QuestionSetVersion) -> Any:
    data = request.POST.copy()
    before = data.get("consent_text", "").rstrip()
    template = consent_template(data.get("language", "") or version.spoken)
    data["consent_text"] = f"{before}\n\n{template}".lstrip()
    return data


def _page(
    request: HttpRequest,
    question_set: QuestionSet,
    saved: saving.Saved,
    title: str,
    back: str,
    item: Item | None = None,
) -> HttpResponse:
    form = saved.form
    row = saved.stored or (form.instance if form.instance.pk else None)
    mark = request.POST.get("seen", "")
    if saved.stored is not None or not form.is_bound:
        mark = seen(row, form.watched) if row else ""
    published = bool(row and _version_of(row).is_published)
    context = {
        **_frame(question_set, title),
        "form": form,
        "item": item,
        "noun": "texts" if isinstance(form, TextsForm) else form.instance._meta.verbose_name,
        "seen": mark,
        "new_id": request.POST.get("new_id") or new_public_id(),
        "why": saved.why or (saving.PUBLISHED if published else ""),
        "said": saving.WORDS.get(saved.why, ""),
        "insist": saving.INSIST.get(saved.why or (saving.PUBLISHED if published else ""), ""),
        "stored": saved.stored,
        "back": back,
    }
    status = (
        409 if saved.why else 400 if form.errors and request.POST.get("do") != "template" else 200
    )
    return TemplateResponse(request, "annotations/editor/item.html", context, status=status)


def _version_of(row: Any) -> QuestionSetVersion:
    return row if isinstance(row, QuestionSetVersion) else row.version


def _frame(question_set: QuestionSet, title: str) -> dict[str, Any]:
    trail: Breadcrumbs = [*breadcrumbs(question_set), ("Editor", _editor(question_set))]
    return {
        "title": title,
        "breadcrumbs": trail,
        "notice": question_set.notice,
        "question_set": question_set,
    }


def _editor(question_set: QuestionSet, anchor: str = "") -> str:
    return reverse("admin:editor", args=[question_set.public_id]) + anchor
