"""Import wizard: upload a file of answers, choose its columns, preview answers, check the file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotations.desk.forms import UploadForm
from annotations.desk.mapping_form import MappingForm
from annotations.desk.uploads import group_problems, load_upload
from annotations.exchange.presets import (
    PRESETS,
    Head,
    LocatedTable,
    Mapping,
    TableChoice,
    get_preset,
    locate_table,
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
    refuse_incomplete_mapping,
    refuse_submission_list,
)
from annotations.exchange.presets.demographics import is_demographic_export
from annotations.exchange.problems import InputError
from annotations.exchange.reading.duplicates import Duplicates, build_duplicate_rule
from annotations.exchange.reading.mturk import (
    COLUMNS,
    MturkQuestion,
    MturkRows,
    QuestionTemplate,
)
from annotations.exchange.reading.mturk_columns import AnswerColumn, describe_form_fields
from annotations.exchange.reading.source import Source, make_stored_source
from annotations.exchange.records import AnswerRecord
from annotations.models import QuestionSet, Upload
from annotations.models.uploads import LONGEST_NAME, delete_old_uploads
from annotations.web.demographic_uploads import propose_demographic_options
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable, get_user_id
from annotations.web.upload_kinds import DEMOGRAPHICS, KINDS, WIZARD
from annotations.web.uploads import import_upload, record_problems

MAX_QUESTIONS_SHOWN = 20
MAX_ANSWERS_SHOWN = 3
"""Answers that are shown of each question."""
MAX_ROWS_READ = 2_000
"""Answers that are read to show the questions and to detect the language."""


@dataclass(frozen=True)
class QuestionPreview:
    """A question of an uploaded file: its id, wording, role and first answers.

    `wording` is "" where the file has only the id, `right` the right answer of an attention check.
    """

    name: str
    wording: str
    right: str
    answers: list[AnswerRecord]


@dataclass(frozen=True)
class ImportPreview:
    """The first answers of an uploaded file as the import would store them.

    Attributes
    ----------
    questions : at most `MAX_QUESTIONS_SHOWN` questions, each with its first answers.
    n_questions : number of questions among the answers that were read.
    n_read : number of answers that were read if the file has more; None if it was read whole.
    texts : texts of at most `MAX_ROWS_READ` answers, to detect their language.
    error : why no answer could be read; None if one could.
    personal : columns that are left out because they identify or locate a person.
    notes : sentences on ids and answers that are stored in another form than in the file.
    """

    questions: list[QuestionPreview]
    n_questions: int
    texts: list[str]
    n_read: int | None = None
    error: InputError | None = None
    personal: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def start_import(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the upload form; POST stores the file and redirects to the choice of columns."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    kind = KINDS[WIZARD]
    form = UploadForm(kind)
    if request.method == "POST":
        # FILES before META: parsing the body sets UPLOAD_TOO_LARGE.
        posted, files = request.POST, request.FILES
        too_large = bool(request.META.get("UPLOAD_TOO_LARGE"))
        form = UploadForm(kind, posted, files, too_large=too_large)
        if form.is_valid():
            return _redirect_to_upload(
                _store_upload(request, question_set, form.cleaned_data["file"])
            )
    context = {
        "title": "Import answers",
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "kind": kind,
        "presets": [preset for preset in PRESETS.values() if preset.slug != "own"],
        "form": form,
    }
    return TemplateResponse(
        request, "annotations/import.html", context, status=400 if form.errors else 200
    )


def map_columns(request: HttpRequest, set_id: UUID, token: str) -> HttpResponse:
    """Show the columns and a preview; POST stores the column mapping or checks the file with it.

    A posted sheet, header row or preset other than the stored one is applied first: the page is
    shown again with the columns that fit it.
    """
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    staged = load_upload(request, question_set, token)
    if staged.kind != WIZARD or not staged.file:
        raise Http404("its file is gone")
    arranged = _load_arranged_table(staged)
    source = arranged.source
    head = read_head(source)
    fields = _read_answer_columns(source) if staged.options["preset"] == "mturk" else []
    form = MappingForm(head, fields, staged.options)
    status = 200
    if request.method == "POST":
        form = MappingForm(head, fields, staged.options, _apply_chosen_solution(request.POST))
        # Cleaned first: another sheet, header row or preset changes which columns are valid.
        form.full_clean()
        moved = form.read_changed_arrangement()
        if moved is not None and _change_arrangement(staged, moved, form):
            return redirect("admin:import-columns", question_set.public_id, staged.public_id)
        preset = form.data.get("preset", "")
        if preset in PRESETS and preset != staged.options["preset"]:
            # The posted columns belong to the former preset: drop them.
            _apply_preset(staged, head, source, preset)
            staged.save()
            return redirect("admin:import-columns", question_set.public_id, staged.public_id)
        if form.is_valid():
            staged.options = _add_worker_rules(
                form.collect_options(), staged.options, request.POST.get("choose", "")
            )
            # Rows that were checked with the former mapping no longer count.
            staged.state, staged.report = Upload.State.MAPPING, None
            staged.problems, staged.n_problems = [], 0
            staged.delete_checked_rows()
            if {"check", "choose"} & set(request.POST):
                with staged.delete_files_on_error():
                    import_upload(staged, question_set, KINDS[WIZARD], dry_run=True)
            else:
                staged.save()
            return _redirect_to_upload(staged)
        status = 400
    preview = _build_preview(source, head, staged.options)
    groups = group_problems(staged)
    context = {
        "title": "What do the columns hold?",
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "staged": staged,
        "form": form,
        "preset": get_preset(staged.options["preset"]),
        "place": arranged.describe_location(),
        "n_columns": len(head.header),
        "is_recognised": _is_recognised(staged, form, preview),
        "preview": preview,
        "groups": groups,
        "n_choosable": sum(group["choice"] == "duplicates" for group in groups),
        "worker_rules": staged.options.get("duplicates_of", {}),
        "hidden_problems": staged.n_problems - len(staged.problems),
    }
    return TemplateResponse(request, "annotations/import_columns.html", context, status=status)


def _store_upload(request: HttpRequest, question_set: QuestionSet, file: Any) -> Upload:
    """Store an uploaded file with the column mapping of the preset that recognises it.

    The state is `BAD`, with the problems, if the file cannot be read at all.
    """
    # There is no scheduler: each upload deletes those older than a day.
    delete_old_uploads()
    staged = Upload(
        owner_id=get_user_id(request),
        question_set=question_set,
        kind=WIZARD,
        name=Path(file.name).name[:LONGEST_NAME],
        state=Upload.State.MAPPING,
        options={
            "panel": "",
            "duplicates": Duplicates.REFUSE.value,
            "duplicates_of": {},
            "question_template": "",
            "keep_unfinished": False,
            "keep_html": False,
            "keep_ids": False,
            "create_questions": True,
            "update_flags": False,
        },
    )
    with staged.delete_files_on_error():
        staged.file.save("", file, save=False)
        try:
            if not _detect_demographic_export(staged):
                _apply_arrangement(staged, TableChoice())
            if staged.options.get("preset") in ("own", "long"):
                # If the set has questions, an unknown id in such a file is probably a typo.
                version = question_set.latest_version()
                has_questions = version is not None and version.questions.exists()
                staged.options["create_questions"] = not has_questions
        except InputError as error:
            staged.state = Upload.State.BAD
            record_problems(staged, error)
            # Nothing can be done with a file that cannot be read: only its problems are kept.
            staged.delete_files()
        staged.save()
    return staged


def _detect_demographic_export(staged: Upload) -> bool:
    """Return whether the upload is a demographic export; if so, set its kind and options."""
    arranged = locate_table(_open_upload(staged), TableChoice())
    head = read_head(arranged.source)
    if not is_demographic_export(head):
        return False
    staged.kind, staged.options = DEMOGRAPHICS, propose_demographic_options(arranged, head)
    return True


def _apply_arrangement(staged: Upload, arrangement: TableChoice) -> None:
    """Read the upload's table at a sheet and header row, and set the options proposed for it.

    Raises `InputError` if there is no table, or none with answers.
    """
    arranged = locate_table(_open_upload(staged), arrangement)
    head = read_head(arranged.source)
    refuse_submission_list(head)
    staged.options["arrangement"] = arranged.as_dict()
    _apply_preset(staged, head, arranged.source, recognise_preset(head).slug)


def _change_arrangement(staged: Upload, arrangement: TableChoice, form: MappingForm) -> bool:
    """Save another sheet or header row; if no table is there, add a form error and return False."""
    try:
        _apply_arrangement(staged, arrangement)
    except InputError as error:
        problem = error.problems[0]
        field = "header_row" if "header_row" in form.fields else None
        message = f"{problem.reason.capitalize()}. {problem.remedy}"
        form.add_error(field, ValidationError(message, code=problem.code))
        staged.refresh_from_db()
        return False
    staged.save()
    return True


def _apply_preset(staged: Upload, head: Head, source: Source, slug: str) -> None:
    """Set an upload's preset, column mapping and panel as the preset proposes."""
    preset = get_preset(slug)
    try:
        mapping = propose_mapping(preset, head, source)
    except InputError:  # the user chose a preset that does not fit the file
        mapping = preset.propose(head)
    staged.delete_checked_rows()
    staged.state, staged.problems, staged.n_problems = Upload.State.MAPPING, [], 0
    staged.options |= {
        "preset": slug,
        "mapping": mapping.as_dict(),
        "panel": preset.panel(mapping),
    }


def _read_answer_columns(source: Source) -> list[AnswerColumn]:
    """Return the proposed answer columns of a Mechanical Turk file; [] for any other file."""
    try:
        return describe_form_fields(source, COLUMNS)
    except InputError:
        return []


def _build_preview(source: Source, head: Head, options: dict[str, Any]) -> ImportPreview:
    """Return a preview of the first answers with the chosen options, or of the file's error."""
    choices = {key: options.get(key, False) for key in ("keep_unfinished", "keep_html", "keep_ids")}
    preset = get_preset(options["preset"], **choices)
    mapping = Mapping.from_dict(options["mapping"])
    template_text = options["question_template"]
    rule = build_duplicate_rule(options["duplicates"], options.get("duplicates_of", {}))
    template = QuestionTemplate.parse(template_text) if template_text.strip() else None
    try:
        refuse_incomplete_mapping(preset, mapping, head)
        rows = open_answer_rows(source, preset, mapping, rule, template)
        iterator = iter(rows)
        records = [record for record, _ in islice(iterator, MAX_ROWS_READ)]
        n_read = None if next(iterator, None) is None else len(records)
        if not records:
            rows.raise_problems()  # raises the problems of the file
    except InputError as error:
        return ImportPreview([], 0, [], error=error)
    by_question: dict[str, list[AnswerRecord]] = {}
    for record in records:
        by_question.setdefault(record.question, []).append(record)
    questions = [
        QuestionPreview(
            name,
            _find_wording(rows.questions, name),
            rows.questions[name].right,
            _choose_first_answers(answers),
        )
        for name, answers in islice(by_question.items(), MAX_QUESTIONS_SHOWN)
    ]
    texts = [record.text for record in records if record.text]
    personal = tuple(getattr(rows, "left_out", ()))
    notes = () if isinstance(rows, MturkRows) else (*rows.whole_ids.notes, *rows.formatting.notes)
    return ImportPreview(questions, len(by_question), texts, n_read, personal=personal, notes=notes)


def _choose_first_answers(answers: list[AnswerRecord]) -> list[AnswerRecord]:
    """Return the first answers to show: those with a text, then empty ones."""
    return sorted(answers, key=lambda record: not record.text)[:MAX_ANSWERS_SHOWN]


def _apply_chosen_solution(posted: QueryDict) -> QueryDict:
    """Return the posted values, with the option set that the button next to a problem chose.

    The button is named `choose` and has a value such as duplicates=last.
    """
    option, _, value = posted.get("choose", "").partition("=")
    if option not in ("duplicates", "create_questions"):
        return posted
    changed = posted.copy()
    changed[option] = value
    return changed


def _add_worker_rules(
    options: dict[str, Any], former: dict[str, Any], choice: str
) -> dict[str, Any]:
    """Return the posted options with rules for the repeated answers of single workers.

    `choice` is the value of the button next to a worker's problems, such as duplicates-of=last=w7;
    refuse takes the worker's rule back. Other workers' rules stay, unless the worker column
    changed.
    """
    is_same_column = options["mapping"]["worker"] == former["mapping"]["worker"]
    rules = dict(former.get("duplicates_of", {})) if is_same_column else {}
    option, _, value = choice.partition("=")
    rule, _, worker = value.partition("=")
    if option == "duplicates-of" and rule in tuple(Duplicates) and worker:
        rules[worker] = rule
        if rule == Duplicates.REFUSE:
            del rules[worker]
    return {**options, "duplicates_of": rules}


def _is_recognised(staged: Upload, form: MappingForm, preview: ImportPreview) -> bool:
    """Return whether the file is from a known tool and was read without problems."""
    is_known = staged.options["preset"] != "own"
    return is_known and bool(preview.questions) and not (staged.n_problems or form.errors)


def _find_wording(questions: dict[str, MturkQuestion], question: str) -> str:
    """Return the text of a question by its id; "" if the file has only the id."""
    text = questions[question].text if question in questions else ""
    return "" if text == question else text


def _open_upload(staged: Upload) -> Source:
    """Return the stored upload as a source from which rows can be read."""
    return make_stored_source(staged.name, staged.open_file, staged.file.size)


def _load_arranged_table(staged: Upload) -> LocatedTable:
    """Return the upload's table, read at its stored sheet and header row."""
    return LocatedTable.from_dict(_open_upload(staged), staged.options.get("arrangement", {}))


def _redirect_to_upload(staged: Upload) -> HttpResponse:
    """Return a redirect to the page that shows an upload."""
    return redirect("admin:uploaded", staged.question_set.public_id, staged.public_id)
