"""Editor pages of translations: the languages of a version, and one translation page for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst

from annotations.answering.languages import resolve_interface_language
from annotations.desk.editor.forms import SEPARATOR
from annotations.desk.editor.saving import MESSAGES, PUBLISHED
from annotations.editing import (
    PublishedError,
    TranslationSheet,
    add_language,
    load_translatable_items,
    lock_draft,
    measure_translation_progress,
    remove_language,
)
from annotations.editing.translation import TranslatableText, build_sheets
from annotations.languages import (
    get_english_language_name,
    get_native_language_name,
    get_writing_direction,
)
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion
from annotations.models.translations import Row, is_list_field
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable

ROWS_SHOWN = 15
"""Rows (version, passages, questions) on a page, each with all of its texts."""
LONG_TEXTS = ("guidelines", "consent_text", "text", "feedback")
NEXT_VERSION = "next"
"""The value of the button that saves into the next version."""
CHANGED_MESSAGE = (
    "Another person translated here since you opened the page. Your text is not saved yet. Where "
    "the stored text differs, both are shown; saving replaces the stored text."
)


GONE_MESSAGE = (
    "A passage or question was deleted meanwhile, or has another id. Your text for it is below; "
    "the rest is saved."
)


@dataclass(slots=True)
class SaveOutcome:
    """Result of saving translations: whether they were stored, a conflict, or invalid texts.

    Attributes
    ----------
    why : code of the refusal: changed, gone, published; "" if there is none.
    message : its text.
    errors : messages of invalid texts, by key of the piece.
    """

    why: str = ""
    message: str = ""
    errors: dict[str, str] = field(default_factory=dict)
    is_stored: bool = False


@dataclass(slots=True)
class TextBox:
    """A text to translate with its input box; `other` is a stored translation that differs."""

    piece: TranslatableText
    typed: str
    other: str = ""
    error: str = ""

    @property
    def original(self) -> str:
        """The text in the original language; a list is shown with one entry per line."""
        return _format_text(self.piece.original)

    @property
    def lines(self) -> int:
        """Height of the input box in lines (at most 14), from the length of the original."""
        text = self.original
        return max(
            1 if self.piece.name not in LONG_TEXTS else 2,
            min(14, text.count("\n") + len(text) // 60 + 1),
        )

    @property
    def hint(self) -> str:
        """Advice on how to type this text, such as one choice per line; "" if none is needed."""
        if self.piece.name == "choices":
            return f"A line each, in the same order: {len(self.piece.original)} lines."
        if self.piece.name == "accepted_answers":
            return f"A line each; ways to write the same on one line, with{SEPARATOR}between them."
        if self.piece.is_optional:
            return "Name of the study that workers see; it may stay empty."
        return ""


def list_languages(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the translation progress of the latest version by language; POST adds a language."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    error, typed = "", request.POST.get("language", "")
    if request.method == "POST":
        try:
            with lock_draft(question_set, anew=request.POST.get("do") == NEXT_VERSION) as draft:
                added = add_language(draft, typed)
            return redirect("admin:editor-language", set_id, added)
        except PublishedError:
            error = "This version was published meanwhile: open the next version to add a language."
        except ValueError as refused:
            error = f"{capfirst(str(refused))}."
    version = question_set.latest_version()
    context = {
        **_build_languages_context(question_set, version, "Languages"),
        "error": error,
        "typed": typed[:80],
        "progress": list_language_progress(version) if version is not None else [],
    }
    return TemplateResponse(
        request, "annotations/editor/languages.html", context, status=400 if error else 200
    )


def edit_translations(request: HttpRequest, set_id: UUID, language: str) -> HttpResponse:
    """Show a page of texts with their translations into a language; POST saves translations.

    With the query parameter `missing`, only rows with a missing or outdated translation.
    """
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    version = question_set.latest_version()
    if version is None or language not in version.languages:
        raise Http404
    typed: dict[str, str] = {}
    outcome = SaveOutcome()
    if request.method == "POST":
        posted = request.POST.items()
        typed = {name[2:]: str(text) for name, text in posted if name.startswith("t-")}
        outcome = _save_translations(request, question_set, language, typed)
        version = question_set.latest_version()
        if version is None or language not in version.languages:
            raise Http404
        if answered := _build_save_response(request, version, language, typed, outcome):
            return answered
    return _render_translations_page(request, question_set, version, language, typed, outcome)


def _save_translations(
    request: HttpRequest, question_set: QuestionSet, language: str, typed: dict[str, str]
) -> SaveOutcome:
    """Store changed translations, and those confirmed for a changed original.

    A confirmation is a form key `k-KEY`.

    `typed` maps keys of pieces to posted texts. Nothing is stored if any text is too long or if
    another user translated since the page was shown.
    """
    do = request.POST.get("do", "")
    try:
        with lock_draft(question_set, anew=do == NEXT_VERSION) as draft:
            # Another user may have removed it since the page was shown.
            if language not in draft.languages:
                raise Http404
            sheet = TranslationSheet(draft, language, _select_posted_rows(draft, typed))
            texts: dict[TranslatableText, Any] = {
                piece: _parse_translation(piece, typed[piece.key])
                for piece in sheet.pieces
                if _is_translation_changed(piece, typed) or f"k-{piece.key}" in request.POST
            }
            if errors := _find_length_errors(typed, sheet):
                return SaveOutcome(errors=errors)
            # Without a changed text nothing would be overwritten, so there is no conflict.
            if texts and request.POST.get("seen") != sheet.seen and do != NEXT_VERSION:
                return SaveOutcome("changed", CHANGED_MESSAGE)
            sheet.store_translations(texts)
    except PublishedError:
        return SaveOutcome(PUBLISHED, MESSAGES[PUBLISHED])
    known = {piece.key for piece in sheet.pieces}
    gone = any(text.strip() for key, text in typed.items() if key not in known)
    return SaveOutcome("gone", GONE_MESSAGE) if gone else SaveOutcome(is_stored=True)


def _render_translations_page(
    request: HttpRequest,
    question_set: QuestionSet,
    version: QuestionSetVersion,
    language: str,
    typed: dict[str, str],
    outcome: SaveOutcome,
) -> HttpResponse:
    """Render a page of texts with their translations; after a refused POST, the posted ones."""
    rows = load_translatable_items(version)
    only_missing = "missing" in request.GET
    number = n_pages = 1
    if typed:
        page_rows = _select_posted_rows(version, typed)
    else:
        listed = (
            _list_unfinished_rows(TranslationSheet(version, language, rows))
            if only_missing
            else rows
        )
        n_pages = max(1, -(-len(listed) // ROWS_SHOWN))
        number = min(_parse_page_number(request.GET.get("page", "")), n_pages)
        page_rows = listed[(number - 1) * ROWS_SHOWN : number * ROWS_SHOWN]
    sheet = TranslationSheet(version, language, page_rows)
    # By `id`: a version, a passage and a question can have the same primary key.
    boxes: dict[int, list[TextBox]] = {id(row): [] for row in page_rows}
    for piece in sheet.pieces:
        boxes[id(piece.row)].append(_build_text_box(piece, typed, outcome))
    known = {piece.key for piece in sheet.pieces}
    context = {
        **_build_languages_context(
            question_set, version, f"Translate into {get_english_language_name(language)}"
        ),
        "language": language,
        "name": get_english_language_name(language),
        "direction": get_writing_direction(language),
        "original": version.text_language,
        "original_direction": get_writing_direction(version.text_language),
        "has_frame": resolve_interface_language(language).partition("-")[0]
        == language.lower().partition("-")[0],
        "progress": list_language_progress(version, build_sheets(version, rows)),
        "groups": [
            (_build_row_heading(row), boxes[id(row)]) for row in page_rows if boxes[id(row)]
        ],
        "seen": sheet.seen,
        "why": outcome.why or (PUBLISHED if version.is_published else ""),
        "said": outcome.message,
        "gone": [text for key, text in typed.items() if key not in known and text.strip()],
        "errors": outcome.errors,
        "only_missing": only_missing,
        "number": number,
        "n_pages": n_pages,
        "pages": range(1, n_pages + 1),
    }
    status = 409 if outcome.why else 400 if outcome.errors else 200
    return TemplateResponse(request, "annotations/editor/language.html", context, status=status)


def _build_save_response(
    request: HttpRequest,
    version: QuestionSetVersion,
    language: str,
    typed: dict[str, str],
    outcome: SaveOutcome,
) -> HttpResponse | None:
    """Return the response after translations were saved; None to show the page again.

    A script (`Accept: application/json`) gets JSON, a browser a redirect.
    """
    wants_json = "application/json" in request.headers.get("Accept", "")
    if not outcome.is_stored:
        text = outcome.message or next(iter(outcome.errors.values()), "")
        body = {"saved": False, "why": outcome.why, "said": text}
        status = 409 if outcome.why else 400
        return JsonResponse(body, status=status) if wants_json else None
    page_url = request.get_full_path()
    if wants_json:
        mark = TranslationSheet(version, language, _select_posted_rows(version, typed)).seen
        return JsonResponse(
            {"saved": True, "seen": mark, "address": request.path, "there": page_url}
        )
    messages.success(request, "Saved.")
    return redirect(page_url)


def remove_draft_language(request: HttpRequest, set_id: UUID, language: str) -> HttpResponse:
    """Ask for confirmation; POST deletes a language and its translations from the draft."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    version = question_set.latest_version()
    if version is None or language not in version.languages:
        raise Http404
    list_url = reverse("admin:editor-languages", args=[set_id])
    if request.method == "POST":
        try:
            with lock_draft(question_set) as draft:
                remove_language(draft, language)
            messages.success(request, f"{get_english_language_name(language)} is taken away.")
        except PublishedError:
            messages.error(request, "This version is published and keeps its languages.")
        return redirect(list_url)
    row = next(row for row in measure_translation_progress(version) if row.language == language)
    text = f"{row.done:,} translated texts go for good; the texts themselves stay."
    if version.is_published:
        text = f"Version {version.number} is published and keeps its languages."
    context = {
        **_build_languages_context(
            question_set, version, f"Take {get_english_language_name(language)} away?"
        ),
        "text": text,
        "quoted": "",
        "button": "" if version.is_published else "Take it away",
        "back": list_url,
    }
    return TemplateResponse(request, "annotations/editor/delete.html", context)


def _select_posted_rows(version: QuestionSetVersion, typed: dict[str, str]) -> list[Row]:
    """Return the version, passages and questions whose translations were posted, in order."""
    has_version_texts = any(key.startswith("v-") for key in typed)
    names = {letter: _parse_item_ids(typed, letter) for letter in "pq"}
    posted = []
    for row in load_translatable_items(version):
        if isinstance(row, QuestionSetVersion):
            is_posted = has_version_texts
        else:
            is_posted = row.external_id in names["p" if isinstance(row, Passage) else "q"]
        if is_posted:
            posted.append(row)
    return posted


def _parse_item_ids(typed: dict[str, str], letter: str) -> set[str]:
    """Return the item ids in form keys such as "q-text-ID"; `letter` is p or q."""
    # At most two splits: an id may contain "-".
    return {
        key.split("-", 2)[2] for key in typed if key.startswith(f"{letter}-") and key.count("-") > 1
    }


def _list_unfinished_rows(sheet: TranslationSheet) -> list[Row]:
    """Return the rows with a missing translation, or with one whose original has changed."""
    rows: list[Row] = []
    for piece in sheet.pieces:
        # Pieces come row by row, so it is enough to compare with the last row.
        if (not piece.is_done or piece.is_old) and piece.row not in rows[-1:]:
            rows.append(piece.row)
    return rows


def _build_text_box(
    piece: TranslatableText, typed: dict[str, str], outcome: SaveOutcome
) -> TextBox:
    """Return the input box of a text, filled with the posted translation or the stored one."""
    stored = _format_text(piece.said)
    box = TextBox(piece, typed.get(piece.key, stored), error=outcome.errors.get(piece.key, ""))
    if _is_translation_changed(piece, typed):
        box.other = stored
    return box


def _is_translation_changed(piece: TranslatableText, typed: dict[str, str]) -> bool:
    """Return whether the posted translation of a text differs from the stored one."""
    return piece.key in typed and _parse_translation(piece, typed[piece.key]) != piece.said


def _parse_translation(piece: TranslatableText, text: str) -> Any:
    """Convert a posted translation to its stored form: a string, or a list of its lines."""
    # Browsers send CRLF; PostgreSQL cannot store NUL.
    text = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not is_list_field(piece.name):
        return text
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if piece.name == "choices":
        return lines
    parts = [[part.strip() for part in line.split("|") if part.strip()] for line in lines]
    return [part[0] if len(part) == 1 else part for part in parts if part]


def _format_text(value: Any) -> str:
    """Return an original or a translation as text for its input box (see `_parse_translation`)."""
    if isinstance(value, list):
        return "\n".join(
            SEPARATOR.join(map(str, entry)) if isinstance(entry, list) else str(entry)
            for entry in value
        )
    return str(value)


def _find_length_errors(typed: dict[str, str], sheet: TranslationSheet) -> dict[str, str]:
    """Return the error messages of posted translations that are too long, by key of the piece."""
    errors = {}
    for piece in sheet.pieces:
        if why := piece.find_length_error(typed.get(piece.key, "")):
            errors[piece.key] = f"{capfirst(why)}."
    return errors


def list_language_progress(
    version: QuestionSetVersion, sheets: list[TranslationSheet] | None = None
) -> list[tuple[Any, str, str]]:
    """Return (translation progress, English name, own name) of each language of a version.

    Pass `sheets`, the texts in each language, if they are loaded already.
    """
    rows = measure_translation_progress(version, sheets)
    return [
        (row, get_english_language_name(row.language), get_native_language_name(row.language))
        for row in rows
    ]


def _build_row_heading(row: Row) -> str:
    """Return the heading shown above the texts of a version, passage or question."""
    if isinstance(row, QuestionSetVersion):
        return "Before the first question"
    kind = "Question" if isinstance(row, Question) else "Passage"
    return f"{kind} {row.external_id}"


def _parse_page_number(text: str) -> int:
    """Parse a page number; 1 if the text is not a positive integer below a million."""
    return (
        int(text) if text.isascii() and text.isdecimal() and 0 < len(text) < 7 and int(text) else 1
    )


def _build_languages_context(
    question_set: QuestionSet, version: QuestionSetVersion | None, title: str
) -> dict[str, Any]:
    """Return the template context that the pages of a version's languages share."""
    editor = reverse("admin:editor", args=[question_set.public_id])
    return {
        "title": title,
        "breadcrumbs": [*build_breadcrumbs(question_set), ("Editor", editor)],
        "notice": question_set.notice,
        "question_set": question_set,
        "version": version,
    }
