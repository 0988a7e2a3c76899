"""Presets of survey tools' exports: one row per respondent, one column per question.

A tool is recognised by columns that only it writes, in the languages in which it writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from annotations.exchange.column_names import normalise_name, normalise_names
from annotations.exchange.presets.cells import are_sentences
from annotations.exchange.presets.columns import (
    find_answer_columns,
    find_columns_of_long_table,
    find_worker_column,
    is_question_text,
)
from annotations.exchange.presets.known_names import OF_PANEL, QUESTIONS, rank_worker_name
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.preset import Preset, Row, TimeColumns, get_named_cell
from annotations.exchange.presets.table import Head

TIMESTAMPS = normalise_names(
    "timestamp zeitstempel horodateur marcatemporal carimbodedata/hora informazionicronologiche "
    "tijdstempel sygnaturaczasowa отметкавремени タイムスタンプ 时间戳 时间戳记 時間戳記 "
    "타임스탬프 "
    "tidsstempel tidsstämpel tidstempel aikaleima časovároznačka časovéznačka časovéohraničení "
    "časovéoznačenie időbélyeg időbélyegző zamandamgası χρονικήσήμανση marcătemporală marcadetemps "
    "dấuthờigian stempelwaktu capwaktu vremenskaoznaka клеймоотчаса позначкачасу חותמתזמן "
    "طابعزمني ประทับเวลา"
)
"""The heading of the first column of Google Forms."""
BEGUN = normalise_names(
    "starttime startzeit heurededébut horadeinicio oradiinizio begintijd starttijd horadeinício "
    "starttidspunkt starttid godzinarozpoczęcia времяначала 開始時刻 开始时间"
)
ENDED = normalise_names(
    "completiontime fertigstellungszeit heuredefin horadefinalización oradicompletamento "
    "tijdvanvoltooien horadeconclusão fuldførelsestidspunkt slutförandetid "
    "godzinaukończenia времязавершения 完了時刻 完成时间"
)
SUBMITTED = normalise_names(
    "submitdate datesubmitted datumabgeschickt datedesoumission datedenvoi fechadeenvío "
    "datadiinvio datumverzonden datadeenvio submitdatedatesubmitted submitdatedatumabgeschickt"
)
LAST_PAGE = normalise_names(
    "lastpage letzteseite dernièrepage últimapágina ultimapagina laatstepagina "
    "lastpagelastpage lastpageletzteseite"
)
TOKENS = normalise_names(
    "token accesscode zugangscode zugangsschlüssel codedaccès códigodeacceso codicediaccesso "
    "toegangscode códigodeacesso tokenaccesscode tokenzugangscode tokenzugangsschlüssel"
)
OF_LIME = (
    *("seed", "startlanguage", "ipaddr", "refurl", "interviewtime", "Start language"),
    *("Referrer URL", "Total time", "Group time", "Question time", "Verweis-URL", "Zufallsstart"),
)
COLLECTORS = normalise_names(
    "collectorid kollektorid iddelrecopilador iddelrecolector idducollecteur collecteurid "
    "idcollettore idraccoglitore verzamelaarid iddocoletor"
)
RESPONDENTS = normalise_names(
    "respondentid respondentenid befragtenid teilnehmerid iddelencuestado iddelparticipante "
    "iddurépondant idrispondente iddorespondente identificateurdurépondant"
)
BROKEN_OFF = normalise_names(
    "partial incomplete started unfinished inprogress abandoned disqualified unvollständig "
    "unvollstaendig partiel incomplet parcial incompleto parziale screenedout terminated"
)
TIMING = re.compile(r"^((group|question) ?time\b.*|.+Time\d*$|(gruppenzeit|fragenzeit)\b.*)", re.I)
CODED = re.compile(r"^(?P<code>[A-Za-z][A-Za-z0-9_]*(\[[A-Za-z0-9_]+\])*)\. (?P<text>\S.*)$", re.S)
"""A heading of LimeSurvey with the code and the wording of a question."""
# REDCap has a column for each option of a checkbox.
CHECKBOX = re.compile(r"___\w+$|\(choice=.*\)$", re.S)
SCORE = re.compile(r"\d+(?:[.,]\d+)? / (?P<points>\d+(?:[.,]\d+)?)")
"""A cell of Google Forms with the points of a quiz, under a heading in the owner's language."""
COMPLETE = re.compile(r".*complete$")
OF_RECORDS = normalise_names(
    "redcapeventname redcapsurveyidentifier redcaprepeatinstrument surveyidentifier "
    "redcapdataaccessgroup redcaprepeatinstance eventname repeatinstrument"
)
NO_ANSWERS = "rows that mark the beginning or the end of a questionnaire"
REJECTED = "rejected participants"
GORILLA = ("Participant Private ID", "Participant Public ID")
GORILLA_ROWS = normalise_names("beginquestionnaire endquestionnaire begintask endtask endoffile")
PANEL_ID = re.compile(r"[0-9a-f]{24}")
FIRST_NAMED = 150
"""The rank of a heading, see `known_names.worker_rank`, from which the respondent id goes first."""
FILLED = 0.5
"""Share of different values that a column of respondents' ids has at least."""


def propose_survey_mapping(
    head: Head, own: Iterable[str], respondents: Sequence[str] = (), least_rank: int = 250
) -> Mapping:
    """Return the column mapping of a survey export; the tool's own columns are no answers.

    `respondents` are its columns of ids of persons or responses. The first filled one is the worker
    column, unless another column has a rank below `least_rank` (see `known_names.worker_rank`), or
    holds Prolific's ids.
    """
    own = set(own)
    worker = find_worker_column(head)
    ranks = [
        rank for title in head.get_titles(worker) if (rank := rank_worker_name(title)) is not None
    ]
    # A column that names a person, such as Prolific's id, is preferred to the tool's own ids.
    if not worker or min(ranks, default=least_rank) >= least_rank:
        worker = next((name for name in respondents if _are_id_cells(head, name)), worker)
    if worker in respondents or not worker:
        others = (name for name in head.header if name not in own)
        worker = next((name for name in others if _are_panel_ids(head, name)), worker)
    panel = {head.find_column(name) for name in (*OF_PANEL, "STUDY_ID", "SESSION_ID")}
    known = {worker, *own, *panel}
    rest = [name for name in head.header if name not in known]
    return Mapping(worker, "", find_answer_columns(head, rest))


def _are_panel_ids(head: Head, column: str) -> bool:
    """Return whether all cells of a column have the form of Prolific's ids, under any heading.

    Such are hidden fields and custom data into which the survey's link put the id.
    """
    cells = head.get_cells(column)
    return _are_id_cells(head, column) and all(map(PANEL_ID.fullmatch, cells))


def _are_id_cells(head: Head, column: str) -> bool:
    """Return whether a column's cells are all filled, mostly distinct and no sentences, as ids."""
    cells = head.get_cells(column)
    # Every row needs an id (`all`): an answer without a worker cannot be imported.
    different = len(set(cells))
    return (
        bool(cells) and all(cells) and different >= FILLED * len(cells) and not are_sentences(cells)
    )


def _find_columns_named(head: Head, names: Iterable[str]) -> list[str]:
    """Return the columns whose name or label is among these normalised names."""
    wanted = frozenset(names)
    return [
        name
        for name in head.header
        if any(normalise_name(title) in wanted for title in head.get_titles(name))
    ]


def _has_column_named(head: Head, names: Iterable[str]) -> bool:
    """Return whether the table has a column with one of these normalised names."""
    return bool(_find_columns_named(head, names))


def _is_long_table(head: Head) -> bool:
    """Return whether a table has one row per answer (columns worker, question, answer)."""
    if not head.find_column(*QUESTIONS):
        return False
    worker, question, answer, _ = find_columns_of_long_table(head)
    return bool(worker and question and answer) and worker != question


def is_google_forms_export(head: Head) -> bool:
    """Return whether a file comes from Google Forms: its first column is the response time."""
    first = head.header[0] if head.header else ""
    is_list = bool(head.find_column(*OF_PANEL) and head.find_column("Status"))
    return (
        normalise_name(first) in TIMESTAMPS
        and len(head.header) > 1
        and not (is_list or _is_long_table(head))
    )


def propose_google_forms_mapping(head: Head) -> Mapping:
    """Return the column mapping of an export of Google Forms."""
    # A quiz has a score and feedback beside each question.
    own = [name for name in head.header if re.search(r"\[(Score|Feedback)\]$", name)]
    own += [name for name in head.header if _is_score_column(head, name)]
    return propose_survey_mapping(head, [head.header[0], *own])


def _is_score_column(head: Head, column: str) -> bool:
    """Return whether a column has a score such as 3 / 10 in each row, out of the same points."""
    scores = [SCORE.fullmatch(cell) for cell in head.get_values(column)]
    points = {score["points"] for score in scores if score}
    return all(scores) and len(points) == 1 and not is_question_text(column)


def is_survey_monkey_export(head: Head) -> bool:
    """Return whether a file comes from SurveyMonkey, by its respondent and collector ids."""
    return _has_column_named(head, RESPONDENTS) and _has_column_named(head, COLLECTORS)


def propose_survey_monkey_mapping(head: Head) -> Mapping:
    """Return the column mapping of an export of SurveyMonkey."""
    respondents, collectors = (
        _find_columns_named(head, RESPONDENTS),
        _find_columns_named(head, COLLECTORS),
    )
    return propose_survey_mapping(head, [*respondents, *collectors], respondents, FIRST_NAMED)


def is_typeform_export(head: Head) -> bool:
    """Return whether a file comes from Typeform, by its date columns."""
    return bool(
        head.find_column("Submit Date (UTC)") and head.find_column("Start Date (UTC)", "Network ID")
    )


def propose_typeform_mapping(head: Head) -> Mapping:
    """Return the column mapping of an export of Typeform; column # is the response id."""
    own = ("#", "Response Type", "Start Date (UTC)", "Stage Date (UTC)", "Submit Date (UTC)")
    known = [name for name in head.header if name in own]
    more = [head.find_column(name) for name in ("Network ID", "Tags", "Ending", "Score")]
    return propose_survey_mapping(head, [*known, *more], known[:1])


def is_microsoft_forms_export(head: Head) -> bool:
    """Return whether a file comes from Microsoft Forms, by its id and time columns."""
    return (
        _has_column_named(head, BEGUN)
        and _has_column_named(head, ENDED)
        and _has_column_named(head, {"id"})
    )


def propose_microsoft_forms_mapping(head: Head) -> Mapping:
    """Return the column mapping of an export of Microsoft Forms."""
    own = _find_columns_named(head, {"id", *BEGUN, *ENDED})
    return propose_survey_mapping(head, own, _find_columns_named(head, {"id"}))


def is_lime_survey_export(head: Head) -> bool:
    """Return whether a file comes from LimeSurvey, by its submission date and last page."""
    return _has_column_named(head, SUBMITTED) and _has_column_named(head, LAST_PAGE)


def propose_lime_survey_mapping(head: Head) -> Mapping:
    """Return the column mapping of a LimeSurvey export; the access code may be the worker's id."""
    own = _find_columns_named(
        head, {*SUBMITTED, *LAST_PAGE, *TOKENS, *map(normalise_name, OF_LIME)}
    )
    own += [
        name
        for name in head.header
        if TIMING.search(name) or normalise_name(name).startswith(("seed", "startlang", "refurl"))
    ]
    return propose_survey_mapping(head, own, _find_columns_named(head, TOKENS))


def remove_question_code(name: str) -> str:
    """Return the question's text in a LimeSurvey heading such as "Q1. Text"; others unchanged."""
    found = CODED.match(name)
    return found["text"] if found else name


REDCAP_PARTS = (
    *("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance"),
    *("Event Name", "Repeat Instrument", "Repeat Instance"),
)
"""Columns of REDCap by which a record has several rows, of events or of repeated instruments."""


def is_redcap_export(head: Head) -> bool:
    """Return whether a file comes from REDCap, with raw values or with labels."""
    is_record = bool(head.header) and normalise_name(head.header[0]) in ("recordid", "studyid")
    complete = [name for name in head.header if re.search(r"_complete$|^Complete\?(\.\d+)?$", name)]
    is_named = is_record or _has_column_named(head, OF_RECORDS - {"eventname"})
    return is_named and bool(complete) and not _is_long_table(head)


def propose_redcap_mapping(head: Head) -> Mapping:
    """Return the column mapping of a REDCap export; checkboxes and completion are no answers."""
    own = _find_columns_named(head, OF_RECORDS)
    own += [name for name in head.header if CHECKBOX.search(name) or _is_completion_column(name)]
    return propose_survey_mapping(
        head, own, _find_columns_named(head, {"redcapsurveyidentifier", "surveyidentifier"})
    )


def _is_completion_column(name: str) -> bool:
    """Return whether a column is REDCap's completion state or time."""
    return bool(re.search(r"_complete$|^Complete\?|_timestamp$|^Survey Timestamp", name))


def is_gorilla_export(head: Head) -> bool:
    """Return whether a file comes from Gorilla, by its two columns of participant ids."""
    return all(head.find_column(name) for name in GORILLA)


def propose_gorilla_mapping(head: Head) -> Mapping:
    """Return the column mapping of a Gorilla questionnaire, in its long or short form."""
    public, private = head.find_column(GORILLA[1]), head.find_column(GORILLA[0])
    pairs = {
        pair
        for pair in zip(head.get_cells(private), head.get_cells(public), strict=True)
        if any(pair)
    }
    # Only if it distinguishes the persons as well as the private id does.
    is_public = len({name for _, name in pairs if name}) == len(pairs)
    worker = public if is_public else private
    question, answer = head.find_column("Question Key"), head.find_column("Response")
    if question and answer:
        text = head.find_column("Question Text", "Question")
        return Mapping(worker, question, (answer,), text if text != question else "")
    # Gorilla's own columns come first, up to this one.
    last = head.header.index(head.find_column("Task Version") or private)
    own = [*head.header[: last + 1], *_find_columns_named(head, GORILLA_ROWS)]
    own += [name for name in head.header if name.endswith(("-quantised", "-text"))]
    return Mapping(
        worker, "", find_answer_columns(head, [name for name in head.header if name not in own])
    )


def find_gorilla_exclusion_reason(row: Row) -> str:
    """Return why a row of a Gorilla export is not read as an answer; "" if it is read."""
    key = normalise_name(get_named_cell(row, "Question Key"))
    is_end = normalise_name(get_named_cell(row, "Event Index")) in GORILLA_ROWS
    if key in GORILLA_ROWS or is_end or key.endswith(("quantised", "agerange")):
        return NO_ANSWERS
    if "questionkey" in row and not key:
        return NO_ANSWERS
    rejected = get_named_cell(row, "Participant Status").casefold() == "rejected"
    return REJECTED if rejected else ""


def has_unfinished_status(row: Row) -> bool:
    """Return whether the survey tool's status is that of an unfinished response."""
    status = get_named_cell(row, "Response Type", "Response Status", "Status")
    return normalise_name(status) in BROKEN_OFF


def is_unsubmitted_response(row: Row) -> bool:
    """Return whether a LimeSurvey response was saved but never submitted."""
    cells = [cell for name, cell in row.items() if name in SUBMITTED]
    # Only if the column is there: an export without it says nothing of submission.
    return bool(cells) and not any(map(str.strip, cells))


def is_incomplete_record(row: Row) -> bool:
    """Return whether a REDCap record has no completed instrument."""
    states = {
        cell.strip().casefold()
        for name, cell in row.items()
        if COMPLETE.match(name) and cell.strip()
    }
    return bool(states) and states <= {"0", "incomplete"}


def _get_worker_panel(mapping: Mapping) -> str:
    """Return "Prolific" if the worker column is named after it, else ""."""
    return "Prolific" if "prolific" in mapping.worker.casefold() else ""


TOOLS = (
    Preset(
        "survey-monkey",
        "SurveyMonkey: all individual responses",
        "Analyze Results, Save As, Export file, All individual responses: CSV or XLSX.",
        is_survey_monkey_export,
        propose_survey_monkey_mapping,
        panel=_get_worker_panel,
        unfinished=has_unfinished_status,
        times=TimeColumns(("Start Date", "Date Created"), ("End Date", "Date Modified")),
    ),
    Preset(
        "typeform",
        "Typeform: responses",
        "Results, Responses, Download: CSV or XLSX.",
        is_typeform_export,
        propose_typeform_mapping,
        panel=_get_worker_panel,
        unfinished=has_unfinished_status,
        times=TimeColumns(("Start Date (UTC)",), ("Submit Date (UTC)",), zone="UTC"),
    ),
    Preset(
        "microsoft-forms",
        "Microsoft Forms: responses",
        "Responses, Open in Excel.",
        is_microsoft_forms_export,
        propose_microsoft_forms_mapping,
        panel=_get_worker_panel,
        times=TimeColumns(
            ("Start time", "Startzeit", "Heure de début", "Hora de inicio", "Ora di inizio"),
            (
                *("Completion time", "Fertigstellungszeit", "Heure de fin"),
                *("Hora de finalización", "Ora di completamento"),
            ),
        ),
    ),
    Preset(
        "limesurvey",
        "LimeSurvey: responses as CSV or XLSX",
        "Responses, Export, Export responses: with the full text of the questions as headings.",
        is_lime_survey_export,
        propose_lime_survey_mapping,
        panel=_get_worker_panel,
        unfinished=is_unsubmitted_response,
        times=TimeColumns(
            ("startdate", "Date started", "startdate. Date started"),
            ("submitdate", "Date submitted", "submitdate. Date submitted"),
            ("interviewtime", "Total time", "interviewtime. Total time"),
        ),
        wording=remove_question_code,
    ),
    Preset(
        "redcap",
        "REDCap: records, raw or with labels",
        "Data Exports, Reports, and Stats: CSV, raw data or labels.",
        is_redcap_export,
        propose_redcap_mapping,
        parts=REDCAP_PARTS,
        panel=_get_worker_panel,
        unfinished=is_incomplete_record,
    ),
    Preset(
        "gorilla",
        "Gorilla: a questionnaire",
        "Data, Download: the file of a questionnaire node, in long or short form.",
        is_gorilla_export,
        propose_gorilla_mapping,
        panel=_get_worker_panel,
        left_out=find_gorilla_exclusion_reason,
        is_fixed=True,
    ),
    Preset(
        "google-forms",
        "Google Forms: the responses' spreadsheet",
        "Responses, Link to Sheets, then File, Download; or Download responses (.csv).",
        is_google_forms_export,
        propose_google_forms_mapping,
        panel=_get_worker_panel,
    ),
)
"""The survey tools, in the order in which a file is compared with them."""
