"""Importing answers from any file: sent once, its columns chosen, its rows shown, then checked."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotations.desk.forms import UploadForm
from annotations.desk.mapping_form import MappingForm
from annotations.desk.uploads import note_problems, read_upload, staged_upload
from annotations.exchange.presets import (
    PRESETS,
    Arranged,
    Arrangement,
    Head,
    Mapping,
    arrange,
    head_of,
    preset_named,
    proposed,
    recognised,
    refuse_answerless,
    refuse_unmapped,
    rows_of,
)
from annotations.exchange.problems import InputError
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.mturk import COLUMNS, MturkQuestion, QuestionTemplate
from annotations.exchange.reading.mturk_columns import AnswerColumn, columns_of
from annotations.exchange.reading.source import Source, stored_source
from annotations.exchange.records import AnswerRecord
from annotations.models import QuestionSet, Upload
from annotations.models.uploads import LONGEST_NAME, sweep
from annotations.web.pages import breadcrumbs
from annotations.web.scope import editable, user_id
from annotations.web.upload_kinds import KINDS, WIZARD

SHOWN = 10
JUDGED = 500
"""Answers that are looked at to tell their language."""


@dataclass(frozen=True)
class Preview:
    """The first answers as they will be read.

    Attributes
    ----------
    rows : ten of them, each with the wording of its question. texts : more of their texts, for the
    language. personal : columns that are left out because they identify or locate a person.
    error : why there are none.
    """

    rows: list[tuple[AnswerRecord, str]]
    texts: list[str]
    error: InputError | None = None
    personal: tuple[str, ...] = ()


def start(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Take a file, find out what it is, and lead to its columns."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    sort = KINDS[WIZARD]
    form = UploadForm(sort)
    if request.method == "POST":
        # Reading the files comes first: only that tells whether one was too large.
        posted, files = request.POST, request.FILES
        too_large = bool(request.META.get("UPLOAD_TOO_LARGE"))
        form = UploadForm(sort, posted, files, too_large=too_large)
        if form.is_valid():
            return _to_page(_kept(request, question_set, form.cleaned_data["file"]))
    context = {
        "title": "Import answers",
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "presets": [preset for preset in PRESETS.values() if preset.slug != "own"],
        "form": form,
    }
    return TemplateResponse(
        request, "annotations/import.html", context, status=400 if form.errors else 200
    )


def columns(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Ask what the columns hold, show ten answers as they will be read, and check the file."""
    question_set = editable(request, QuestionSet.objects.all(), set_id)
    staged = staged_upload(request, question_set, token)
    if staged.kind != WIZARD or not staged.file:
        raise Http404("its file is gone")
    arranged = _arranged(staged)
    source = arranged.source
    head = head_of(source)
    fields = _fields(source) if staged.options["preset"] == "mturk" else []
    form = MappingForm(head, fields, staged.options)
    status = 200
    if request.method == "POST":
        form = MappingForm(head, fields, staged.options, request.POST)
        form.full_clean()
        place = form.other_place()
        if place is not None and _is_moved(staged, place, form):
            return redirect("admin:import-columns", question_set.public_id, staged.public_id)
        preset = form.data.get("preset", "")
        if preset in PRESETS and preset != staged.options["preset"]:
            # Other columns are proposed; the choices for the others do not fit any more.
            _choose(staged, head, source, preset)
            staged.save()
            return redirect("admin:import-columns", question_set.public_id, staged.public_id)
        if form.is_valid():
            staged.options = form.options()
            staged.state, staged.report = Upload.State.MAPPING, None
            staged.problems, staged.n_problems = [], 0
            staged.drop_checked()
            if "check" in request.POST:
                with staged.whole():
                    read_upload(staged, question_set, KINDS[WIZARD], dry_run=True)
            else:
                staged.save()
            return _to_page(staged)
        status = 400
    preview = _preview(source, head, staged.options)
    context = {
        "title": "What do the columns hold?",
        "breadcrumbs": breadcrumbs(question_set),
        "question_set": question_set,
        "staged": staged,
        "form": form,
        "preset": preset_named(staged.options["preset"]),
        "place": arranged.describe(),
        "n_columns": len(head.header),
        "preview": preview,
        "shown": [record for record, _ in preview.rows],
        "hidden_problems": staged.n_problems - len(staged.problems),
    }
    return TemplateResponse(request, "annotations/import_columns.html", context, status=status)


def _kept(request: HttpRequest, question_set: QuestionSet, file: Any) -> Upload:
    """Keep a file, with what its preset proposes; one that cannot be read at all is bad."""
    sweep()
    staged = Upload(
        owner_id=user_id(request),
        question_set=question_set,
        kind=WIZARD,
        name=Path(file.name).name[:LONGEST_NAME],
        state=Upload.State.MAPPING,
        options={
            "panel": "",
            "duplicates": Duplicates.REFUSE.value,
            "question_template": "",
            "keep_unfinished": False,
            "create_questions": True,
            "update_flags": False,
        },
    )
    with staged.whole():
        staged.file.save("", file, save=False)
        try:
            _place(staged, Arrangement())
            if staged.options["preset"] in ("own", "long"):
                # Their questions may be there already under these ids, and a new id be a slip.
                version = question_set.latest_version()
                there = version is not None and version.questions.exists()
                staged.options["create_questions"] = not there
        except InputError as error:
            staged.state = Upload.State.BAD
            note_problems(staged, error)
            staged.drop_files()
        staged.save()
    return staged


def _place(staged: Upload, chosen: Arrangement) -> None:
    """Find the table of the file at the chosen place, and propose its columns."""
    arranged = arrange(_stored(staged), chosen)
    head = head_of(arranged.source)
    refuse_answerless(head)
    staged.options["arrangement"] = arranged.as_dict()
    _choose(staged, head, arranged.source, recognised(head).slug)


def _is_moved(staged: Upload, place: Arrangement, form: MappingForm) -> bool:
    """Whether the table is read at another place now; if it is not there, the form says so."""
    try:
        _place(staged, place)
    except InputError as error:
        problem = error.problems[0]
        field = "header_row" if "header_row" in form.fields else None
        message = f"{problem.reason.capitalize()}. {problem.remedy}"
        form.add_error(field, ValidationError(message, code=problem.code))
        staged.refresh_from_db()
        return False
    staged.save()
    return True


def _choose(staged: Upload, head: Head, source: Source, slug: str) -> None:
    """Set the choices to what a preset proposes."""
    preset = preset_named(slug)
    try:
        mapping = proposed(preset, head, source)
    except InputError:  # chosen by hand for a file that is none of it
        mapping = preset.propose(head)
    staged.drop_checked()
    staged.state, staged.problems, staged.n_problems = Upload.State.MAPPING, [], 0
    staged.options |= {
        "preset": slug,
        "mapping": mapping.as_dict(),
        "panel": preset.panel(mapping),
    }


def _fields(source: Source) -> list[AnswerColumn]:
    """Return the fields of Mechanical Turk; none of a file that is chosen for one and is not."""
    try:
        return columns_of(source, COLUMNS)
    except InputError:
        return []


def _preview(source: Source, head: Head, options: dict[str, Any]) -> Preview:
    keep = options.get("keep_unfinished", False)
    preset = preset_named(options["preset"], keep_unfinished=keep)
    mapping = Mapping.of_dict(options["mapping"])
    written = options["question_template"]
    template = QuestionTemplate.parse(written) if written.strip() else None
    try:
        refuse_unmapped(preset, mapping, head)
        rows = rows_of(source, preset, mapping, Duplicates(options["duplicates"]), template)
        records = [record for record, _ in islice(rows, JUDGED)]
        if not records:
            rows.finish()
    except InputError as error:
        return Preview([], [], error)
    shown = [(record, _wording(rows.questions, record.question)) for record in records[:SHOWN]]
    texts = [record.text for record in records if record.text]
    return Preview(shown, texts, personal=tuple(getattr(rows, "left_out", ())))


def _wording(questions: dict[str, MturkQuestion], question: str) -> str:
    """Return the wording of a question where the file has one that is not its id."""
    text = questions[question].text if question in questions else ""
    return "" if text == question else text


def _stored(staged: Upload) -> Source:
    return stored_source(staged.name, staged.opened, staged.file.size)


def _arranged(staged: Upload) -> Arranged:
    return Arranged.of_dict(_stored(staged), staged.options.get("arrangement", {}))


def _to_page(staged: Upload) -> HttpResponse:
    return redirect("admin:uploaded", staged.question_set.public_id, staged.public_id)
