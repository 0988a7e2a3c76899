"""The further languages of a version: which there are, and a page to translate into each."""

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

from annotations.answering.languages import spoken
from annotations.desk.editor.forms import BETWEEN
from annotations.desk.editor.saving import PUBLISHED, WORDS
from annotations.editing import (
    PublishedError,
    Sheet,
    add_language,
    draft_of,
    progress,
    remove_language,
    rows_of,
)
from annotations.editing.translating import Piece
from annotations.languages import direction, name_of, own_name
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion
from annotations.models.translations import Row, is_list
from annotations.web.pages import breadcrumbs
from annotations.web.scope import editable

ROWS_SHOWN = 15
"""Passages and questions on a page, each with all of its texts."""
LONG = ("guidelines", "consent_text", "text", "feedback")
NEXT = "next"
"""The value of the button that saves into the next version."""
ELSE = (
    "Somebody else translated here meanwhile. What you typed is not saved yet: what is stored now "
    "stands beside it where it differs; saving puts yours in its place."
)


GONE = (
    "A passage or question was deleted meanwhile, or has another id. What you typed for it stands "
    "below; the rest is saved."
)


@dataclass(slots=True)
class Outcome:
    """What became of what was typed: stored, or `why` (said in words) or `errors` by keys."""

    why: str = ""
    said: str = ""
    errors: dict[str, str] = field(default_factory=dict)
    is_stored: bool = False


@dataclass(slots=True)
class Box:
    """A piece on the page with what stands in its box; `other` is what is stored, if it differs."""

    piece: Piece
    typed: str
    other: str = ""
    error: str = ""

    @property
    def original(self) -> str:
        """The original as it is read, lists a line each."""
        return _written(self.piece.original)

    @property
    def lines(self) -> int:
        """How high the box is."""
        text = self.original
        return max(
            1 if self.piece.name not in LONG else 2, min(14, text.count("\n") + len(text) // 60 + 1)
        )

    @property
    def hint(self) -> str:
        """What to mind."""
        if self.piece.name == "choices":
            return f"A line each, in the same order: {len(self.piece.original)} lines."
        if self.piece.name == "accepted_answers":
            return f"A line each; ways to write the same on one line, with{BETWEEN}between them."
        if self.piece.is_optional:
            return "How the study is called for people; it may stay empty."
        return ""


def languages(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the languages of the latest version and how far each is; a post adds one."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    error, typed = "", request.POST.get("language", "")
    if request.method == "POST":
        try:
            with draft_of(question_set, anew=request.POST.get("do") == NEXT) as draft:
                added = add_language(draft, typed)
            return redirect("admin:editor-language", set_id, added)
        except PublishedError:
            error = "This version was published meanwhile: open the next version to add a language."
        except ValueError as refused:
            error = f"{capfirst(str(refused))}."
    version = question_set.latest_version()
    context = {
        **_frame(question_set, version, "Languages"),
        "error": error,
        "typed": typed[:80],
        "progress": told_of_languages(version) if version is not None else [],
    }
    return TemplateResponse(
        request, "annotations/editor/languages.html", context, status=400 if error else 200
    )


def language(request: HttpRequest, set_id: UUID, language: str) -> HttpResponse:
    """Show the texts of a version beside those in a language, some at a time, and save these.

    With `missing` in the address only what is not translated, or of an earlier original.
    """
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    version = question_set.latest_version()
    if version is None or language not in version.languages:
        raise Http404
    typed: dict[str, str] = {}
    outcome = Outcome()
    if request.method == "POST":
        posted = request.POST.items()
        typed = {name[2:]: str(text) for name, text in posted if name.startswith("t-")}
        outcome = _save(request, question_set, language, typed)
        version = question_set.latest_version()
        if version is None or language not in version.languages:
            raise Http404
        if answered := _answered(request, version, language, typed, outcome):
            return answered
    return _page(request, question_set, version, language, typed, outcome)


def _save(
    request: HttpRequest, question_set: QuestionSet, language: str, typed: dict[str, str]
) -> Outcome:
    """Store what differs from what is stored, and what was said to fit another original too."""
    do = request.POST.get("do", "")
    try:
        with draft_of(question_set, anew=do == NEXT) as draft:
            if language not in draft.languages:
                raise Http404
            sheet = Sheet(draft, language, _among(draft, typed))
            texts: dict[Piece, Any] = {
                one: _read(one, typed[one.key])
                for one in sheet.pieces
                if _differs(one, typed) or f"k-{one.key}" in request.POST
            }
            if errors := _too_long(typed, sheet):
                return Outcome(errors=errors)
            if texts and request.POST.get("seen") != sheet.seen and do != NEXT:
                return Outcome("changed", ELSE)
            sheet.store(texts)
    except PublishedError:
        return Outcome(PUBLISHED, WORDS[PUBLISHED])
    known = {one.key for one in sheet.pieces}
    gone = any(text.strip() for key, text in typed.items() if key not in known)
    return Outcome("gone", GONE) if gone else Outcome(is_stored=True)


def _page(
    request: HttpRequest,
    question_set: QuestionSet,
    version: QuestionSetVersion,
    language: str,
    typed: dict[str, str],
    outcome: Outcome,
) -> HttpResponse:
    rows = rows_of(version)
    only_missing = "missing" in request.GET
    number = n_pages = 1
    if typed:
        shown = _among(version, typed)
    else:
        found = _unfinished(Sheet(version, language, rows)) if only_missing else rows
        n_pages = max(1, -(-len(found) // ROWS_SHOWN))
        number = min(_number(request.GET.get("page", "")), n_pages)
        shown = found[(number - 1) * ROWS_SHOWN : number * ROWS_SHOWN]
    sheet = Sheet(version, language, shown)
    boxes: dict[int, list[Box]] = {id(row): [] for row in shown}
    for piece in sheet.pieces:
        boxes[id(piece.row)].append(_box(piece, typed, outcome))
    known = {one.key for one in sheet.pieces}
    context = {
        **_frame(question_set, version, f"Translate into {name_of(language)}"),
        "language": language,
        "name": name_of(language),
        "direction": direction(language),
        "original": version.spoken,
        "original_direction": direction(version.spoken),
        "has_frame": spoken(language).partition("-")[0] == language.lower().partition("-")[0],
        "progress": told_of_languages(version, rows),
        "groups": [(_named(row), boxes[id(row)]) for row in shown if boxes[id(row)]],
        "seen": sheet.seen,
        "why": outcome.why or (PUBLISHED if version.is_published else ""),
        "said": outcome.said,
        "gone": [text for key, text in typed.items() if key not in known and text.strip()],
        "errors": outcome.errors,
        "only_missing": only_missing,
        "number": number,
        "n_pages": n_pages,
        "pages": range(1, n_pages + 1),
    }
    status = 409 if outcome.why else 400 if outcome.errors else 200
    return TemplateResponse(request, "annotations/editor/language.html", context, status=status)


def _answered(
    request: HttpRequest,
    version: QuestionSetVersion,
    language: str,
    typed: dict[str, str],
    outcome: Outcome,
) -> HttpResponse | None:
    """Return the answer to a script, or the way on; None where the page is to be shown again."""
    wants_json = "application/json" in request.headers.get("Accept", "")
    if not outcome.is_stored:
        said = outcome.said or next(iter(outcome.errors.values()), "")
        refused = {"saved": False, "why": outcome.why, "said": said}
        status = 409 if outcome.why else 400
        return JsonResponse(refused, status=status) if wants_json else None
    there = request.get_full_path()
    if wants_json:
        mark = Sheet(version, language, _among(version, typed)).seen
        return JsonResponse({"saved": True, "seen": mark, "address": request.path, "there": there})
    messages.success(request, "Saved.")
    return redirect(there)


def remove(request: HttpRequest, set_id: UUID, language: str) -> HttpResponse:
    """Ask, telling what goes, then take a language away from the draft."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    version = question_set.latest_version()
    if version is None or language not in version.languages:
        raise Http404
    there = reverse("admin:editor-languages", args=[set_id])
    if request.method == "POST":
        try:
            with draft_of(question_set) as draft:
                remove_language(draft, language)
            messages.success(request, f"{name_of(language)} is taken away.")
        except PublishedError:
            messages.error(request, "This version is published and keeps its languages.")
        return redirect(there)
    one = next(one for one in progress(version) if one.language == language)
    text = f"{one.done:,} translated texts go for good; the texts themselves stay."
    if version.is_published:
        text = f"Version {version.number} is published and keeps its languages."
    context = {
        **_frame(question_set, version, f"Take {name_of(language)} away?"),
        "text": text,
        "quoted": "",
        "button": "" if version.is_published else "Take it away",
        "back": there,
    }
    return TemplateResponse(request, "annotations/editor/delete.html", context)


def _among(version: QuestionSetVersion, typed: dict[str, str]) -> list[Row]:
    """Return the rows that a form was about, in the order of the version."""
    of_version = any(key.startswith("v-") for key in typed)
    names = {letter: _ids(typed, letter) for letter in "pq"}
    found = []
    for row in rows_of(version):
        if isinstance(row, QuestionSetVersion):
            wanted = of_version
        else:
            wanted = row.external_id in names["p" if isinstance(row, Passage) else "q"]
        if wanted:
            found.append(row)
    return found


def _ids(typed: dict[str, str], letter: str) -> set[str]:
    return {
        key.split("-", 2)[2] for key in typed if key.startswith(f"{letter}-") and key.count("-") > 1
    }


def _unfinished(sheet: Sheet) -> list[Row]:
    rows: list[Row] = []
    for piece in sheet.pieces:
        if (not piece.is_done or piece.is_old) and piece.row not in rows[-1:]:
            rows.append(piece.row)
    return rows


def _box(piece: Piece, typed: dict[str, str], outcome: Outcome) -> Box:
    stored = _written(piece.said)
    box = Box(piece, typed.get(piece.key, stored), error=outcome.errors.get(piece.key, ""))
    if _differs(piece, typed):
        box.other = stored
    return box


def _differs(piece: Piece, typed: dict[str, str]) -> bool:
    return piece.key in typed and _read(piece, typed[piece.key]) != piece.said


def _read(piece: Piece, text: str) -> Any:
    """Return what was typed as it is stored."""
    text = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not is_list(piece.name):
        return text
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if piece.name == "choices":
        return lines
    parts = [[part.strip() for part in line.split("|") if part.strip()] for line in lines]
    return [same[0] if len(same) == 1 else same for same in parts if same]


def _written(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(
            BETWEEN.join(map(str, one)) if isinstance(one, list) else str(one) for one in value
        )
    return str(value)


def _too_long(typed: dict[str, str], sheet: Sheet) -> dict[str, str]:
    found = {}
    for piece in sheet.pieces:
        if why := piece.why_too_long(typed.get(piece.key, "")):
            found[piece.key] = f"{capfirst(why)}."
    return found


def told_of_languages(
    version: QuestionSetVersion, rows: list[Row] | None = None
) -> list[tuple[Any, str, str]]:
    """Return how far each language is, with its name in English and its own."""
    found = progress(version, rows)
    return [(one, name_of(one.language), own_name(one.language)) for one in found]


def _named(row: Row) -> str:
    if isinstance(row, QuestionSetVersion):
        return "Before the first question"
    kind = "Question" if isinstance(row, Question) else "Passage"
    return f"{kind} {row.external_id}"


def _number(text: str) -> int:
    return (
        int(text) if text.isascii() and text.isdecimal() and 0 < len(text) < 7 and int(text) else 1
    )


def _frame(
    question_set: QuestionSet, version: QuestionSetVersion | None, title: str
) -> dict[str, Any]:
    editor = reverse("admin:editor", args=[question_set.public_id])
    return {
        "title": title,
        "breadcrumbs": [*breadcrumbs(question_set), ("Editor", editor)],
        "notice": question_set.notice,
        "question_set": question_set,
        "version": version,
    }
