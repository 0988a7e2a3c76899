"""Known names of the columns of workers, questions and answers in other tools' files."""

from __future__ import annotations

import re

from annotations.exchange.column_names import (
    PERSONAL,
    is_personal_heading,
    normalise_name,
    normalise_names,
)

OF_PANEL = ("PROLIFIC_PID", "Prolific ID", "prolific_id", "prolific_participant_id")
WORKERS = (
    *OF_PANEL,
    *("participant id", "participant", "worker", "worker id", "annotator", "annotator id", "rater"),
    *("rater id", "user", "user id", "username", "user name", "subject", "subject id"),
    *("respondent", "respondent id", "pid", "mturk id", "mturk worker id", "person", "person id"),
    *("labeler", "labeller", "coder", "coder id", "author id", "crowd worker", "player"),
    # In other languages.
    *("Teilnehmer", "Teilnehmer-ID", "Teilnehmernummer", "Teilnehmercode", "Teilnehmer-Code"),
    *("Proband", "Probandennummer", "Probanden-ID", "Versuchsperson", "VP", "VP-Nummer", "VPN"),
    *("Versuchspersonennummer", "VP-Code", "Kennung", "Befragte", "Befragten-ID", "Benutzer"),
    *("participante", "id participante", "participant·e", "sujet", "identifiant", "utilisateur"),
    *("usuario", "sujeto", "identificador", "partecipante", "id partecipante", "utente"),
    *("soggetto", "identificativo", "deelnemer", "deelnemer-id", "proefpersoon", "uczestnik"),
    *("respondente", "deltagare", "участник", "респондент", "参加者", "参与者", "被试", "参加者ID"),
)
RESPONSES = ("Response ID", "id", "submission id", "session id", "assignment id", "record id")
"""Ids of what one person sent, which name no person; where each row is one person, they do."""
STUDENTS = ("student", "student id", "matrikelnummer", "matriculation number")
QUESTIONS = (
    *("question", "question id", "item", "item id", "task", "task id", "prompt", "prompt id"),
    *("sentence", "sentence id", "instance id", "stimulus", "q"),
    *("qid", "Frage", "Frage-ID", "Fragen-ID", "Aufgabe", "pregunta", "domanda", "pergunta"),
    *("vraag", "pytanie", "вопрос", "問題", "问题", "質問"),
)
ANSWERS = (
    *("answer", "response", "worker answer", "free text", "text answer", "translation", "reply"),
    *("explanation", "comment", "response text", "answer text", "text response"),
    *("typed response", "typed answer", "written response", "textbox.text", "completion"),
    *("Antwort", "Antworttext", "réponse", "respuesta", "risposta", "resposta", "antwoord"),
    *("odpowiedź", "ответ", "回答", "答案", "text"),
)
WORDINGS = (
    *("question text", "question", "prompt", "wording", "text", "sentence", "item text", "item"),
    *("stimulus", "task", "query", "input", "Frage", "Fragetext", "pregunta", "domanda"),
)
IDS = (
    *("prolificid", "prolificpid", "participantid", "workerid", "mturkid", "respondentid"),
    *("subjectid", "sonaid", "participantcode", "participantnumber", "subjectnumber"),
    *("subjectcode", "workernumber", "annotatorid", "teilnehmerid", "teilnehmercode"),
    *("teilnehmernummer", "probandennummer", "probandencode", "versuchspersonennummer"),
    *("versuchspersonencode", "personlichercode", "personlichencode", "idparticipant"),
    *("identifiantparticipant", "codeparticipant", "codedeparticipant", "numerodeparticipant"),
    *("iddeparticipante", "idparticipante", "codigodeparticipante", "codigoparticipante"),
    *("numerodeparticipante", "codicepartecipante", "idpartecipante", "deelnemerid"),
    *("deelnemernummer", "deelnemerscode", "idparticipanta", "deltagarid"),
)
"""Parts of a question that asks for an id, in small letters and without spaces."""
OTHER_IDS = normalise_names(
    "hitid hittypeid taskid itemid questionid studyid annotationid collectorid batchid trialid "
    "surveyid projectid documentid textid instanceid sentenceid promptid qid imageid videoid "
    "deviceid internalnodeid experimentid expid conditionid groupid blockid stimulusid hitgroupid "
    "networkid datasetid sampleid rowid collectionid campaignid formid templateid versionnumberid "
    "passageid setid versionid runid modelid valid paid unpaid said invalid covid grid avoid "
    "android did liquid solid rapid acid fluid hybrid valid"
)
"""Names that end in "id" and name no person."""
KNOWN = (
    *RESPONSES,
    *STUDENTS,
    *WORDINGS,
    *("ResponseId", "ResponseSet", "ExternalReference", "ExternalDataReference", "label", "labels"),
    *("HITId", "WorkerId", "AssignmentId", "annotation_id", "lead_time", "trial_type", "rt"),
    *("Collector ID", "Response Type", "Duration (in seconds)", "Distribution Channel"),
    *("Open-Ended Response", "Response", "crowdgrade:answers", "Antwort-ID", "ID de respuesta"),
)
_ID = re.compile(r"(id|ids|identifier|idnumber|uid|usercode|participantcode|kennung|idcode)$")
_OF_PROLIFIC = re.compile(
    r"^(?=.*prolific)(?=.*\b(p?id|uid|identifi\w*|identific\w*|kennung|code|c[oó]digo|codice|"
    r"number|nummer|num[eé]ro|n[uú]mero|ид\w*|номер)\b).{0,120}$",
    re.IGNORECASE | re.DOTALL,
)
"""A heading that asks for Prolific's id, in whatever order and language."""
_EMAIL = re.compile(r"mail|correo|courriel|epost|почт|邮|メール|이메일")


def rank_worker_name(name: str) -> int | None:
    """Return the rank of a heading as the name of the worker column, 0 best; None if it is none.

    0 to 99 Prolific's id, in the order of `OF_PANEL`; 100 a question for it; from 110 a person, in
    the order of `WORKERS`; 200 a question for an id; 250 another id; from 300 an id of a response;
    400 an e-mail address; 500 a name; 600 a student.
    """
    plain = normalise_name(name)
    if plain in _RANKS:
        return _RANKS[plain]
    if _OF_PROLIFIC.search(name):
        return 100
    if any(part in plain for part in IDS):
        return 100 if "prolific" in plain else 200
    if plain in _RESPONSES:
        return 300 + _RESPONSES.index(plain)
    if is_personal_heading(name):
        if _EMAIL.search(plain) or _EMAIL.search(name.casefold()):
            return 400
        return 500 if "name" in plain or plain in _NAMES else None
    if plain in _STUDENTS:
        return 600
    if _ID.search(plain) and plain not in OTHER_IDS and len(name.split()) <= 6:
        return 250
    return None


# Reversed, so that of names that are equal without signs the better rank remains.
_RANKS = {normalise_name(name): n for n, name in reversed(list(enumerate(OF_PANEL)))} | {
    normalise_name(name): 110 + n for n, name in enumerate(WORKERS[len(OF_PANEL) :])
}
_RESPONSES = [normalise_name(name) for name in RESPONSES]
_STUDENTS = normalise_names(STUDENTS)
_NAMES = PERSONAL & normalise_names(
    "name vorname nachname nom prenom nombre nome naam imie namn navn имя 姓名 氏名 名前 이름 fio"
)
