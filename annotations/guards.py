"""Database triggers that enforce rules beyond one row, such as append-only tables.

- a decision, a bonus payment's entry, an event of a written problem and the record of who archived
  or deleted something are never changed or deleted; a submission's status on its panel is never
  changed; an appeal and its answer are never changed, and deleted only once the worker withdrew;
  only a rejection is appealed against;
- a published version stays published, takes no new questions, and keeps its words: guidelines,
  consent text, passages with their images, questions with their roles and feedback (right answers
  too where workers are told of them); only a question whose text is still empty may be given one
  (a passage may be added: no question that was answered can come to be about it);
  its texts in further languages, and which languages it has, stay the same way;
- an image is never changed: another one is another row;
- a response's question, a question's passage, and what a translation is of, are of the version
  they belong to.

They are created after every `migrate` and removed before one that has work to do: SQLite
loses the triggers of a table when Django rebuilds it, and refuses the rebuilding while a trigger
of another table mentions it. What breaks a rule raises `django.db.IntegrityError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper


@dataclass(frozen=True, slots=True)
class Guard:
    """Definition of a database trigger that refuses an event on a table if an SQL condition holds.

    In `when`, `{new}` is the row after the event.
    """

    name: str
    table: str
    event: str
    when: str
    message: str


APPEND_ONLY = "the entries are append-only"
FROZEN = "the version is published and keeps its words"

_PUBLISHED = (
    "EXISTS (SELECT 1 FROM annotations_questionsetversion v "
    "WHERE v.id = {row}.version_id AND v.published_at IS NOT NULL)"
)
_MOVED = "(NEW.version_id <> OLD.version_id OR NEW.external_id <> OLD.external_id)"
_REWORDED = "(NEW.text <> OLD.text OR NEW.language <> OLD.language)"
_OTHER_PASSAGE = "COALESCE(NEW.passage_id, 0) <> COALESCE(OLD.passage_id, 0)"
_OTHER_KIND = (
    "(NEW.kind <> OLD.kind OR NEW.choices <> OLD.choices OR NEW.role <> OLD.role "
    "OR NEW.feedback <> OLD.feedback "
    "OR COALESCE(NEW.max_characters, 0) <> COALESCE(OLD.max_characters, 0) "
    "OR (OLD.role IN ('practice', 'attention') AND NEW.accepted_answers <> OLD.accepted_answers))"
)
_OTHER_IMAGE = (
    "(COALESCE(NEW.image_id, 0) <> COALESCE(OLD.image_id, 0) OR NEW.image_alt <> OLD.image_alt)"
)
_OLD_PUBLISHED = _PUBLISHED.format(row="OLD")
_OTHER_PAIR = "(NEW.question_id <> OLD.question_id OR NEW.submission_id <> OLD.submission_id)"
_NOT_OF_ONE_VERSION = (
    "NOT EXISTS (SELECT 1 FROM annotations_question q JOIN annotations_submission s "
    "ON s.version_id = q.version_id WHERE q.id = NEW.question_id AND s.id = NEW.submission_id)"
)
_NOT_OF_ITS_VERSION = (
    "NEW.passage_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM annotations_passage p "
    "WHERE p.id = NEW.passage_id AND p.version_id = NEW.version_id)"
)
_NOT_ITS_TRANSLATION = (
    "(NEW.passage_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM annotations_passage p "
    "WHERE p.id = NEW.passage_id AND p.version_id = NEW.version_id)) "
    "OR (NEW.question_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM annotations_question q "
    "WHERE q.id = NEW.question_id AND q.version_id = NEW.version_id))"
)

_NOT_WITHDRAWN = (
    "EXISTS (SELECT 1 FROM {tables} JOIN annotations_submission s ON s.id = d.submission_id "
    "WHERE {row} AND s.withdrawn_at IS NULL)"
)
_APPEAL_STANDS = _NOT_WITHDRAWN.format(
    tables="annotations_decision d", row="d.id = OLD.decision_id"
)
_APPEAL_ANSWER_STANDS = _NOT_WITHDRAWN.format(
    tables="annotations_appeal a JOIN annotations_decision d ON d.id = a.decision_id",
    row="a.id = OLD.appeal_id",
)
_NO_REJECTION = (
    "NOT EXISTS (SELECT 1 FROM annotations_decision d "
    "WHERE d.id = NEW.decision_id AND d.kind = 'reject')"
)


def _build_append_only_guards(model: str) -> Iterator[Guard]:
    """Yield the guards that refuse updates and deletions of a model's rows."""
    for event in ("UPDATE", "DELETE"):
        yield Guard(f"{model}_no_{event.lower()}", f"annotations_{model}", event, "", APPEND_ONLY)


GUARDS: tuple[Guard, ...] = (
    *_build_append_only_guards("decision"),
    *_build_append_only_guards("bonuspayment"),
    *_build_append_only_guards("writingevent"),
    *_build_append_only_guards("auditentry"),
    # It goes with its submission, and is never another.
    Guard("panelstatus_no_update", "annotations_panelstatus", "UPDATE", "", APPEND_ONLY),
    # They go with all that the worker wrote, and are never others.
    Guard("appeal_no_update", "annotations_appeal", "UPDATE", "", APPEND_ONLY),
    Guard("appeal_no_delete", "annotations_appeal", "DELETE", _APPEAL_STANDS, APPEND_ONLY),
    Guard("appealanswer_no_update", "annotations_appealanswer", "UPDATE", "", APPEND_ONLY),
    Guard(
        "appealanswer_no_delete",
        "annotations_appealanswer",
        "DELETE",
        _APPEAL_ANSWER_STANDS,
        APPEND_ONLY,
    ),
    Guard(
        "appeal_of_a_rejection",
        "annotations_appeal",
        "INSERT",
        _NO_REJECTION,
        "only a rejection is appealed against",
    ),
    Guard(
        "version_stays_published",
        "annotations_questionsetversion",
        "UPDATE",
        "OLD.published_at IS NOT NULL AND (NEW.published_at IS NULL "
        "OR NEW.published_at <> OLD.published_at OR NEW.number <> OLD.number "
        "OR NEW.question_set_id <> OLD.question_set_id)",
        "the version is published and stays so",
    ),
    Guard(
        "version_not_changed",
        "annotations_questionsetversion",
        "UPDATE",
        "OLD.published_at IS NOT NULL AND (NEW.guidelines <> OLD.guidelines "
        "OR NEW.consent_text <> OLD.consent_text OR NEW.language <> OLD.language "
        "OR NEW.languages <> OLD.languages)",
        FROZEN,
    ),
    Guard(
        "image_not_changed",
        "annotations_image",
        "UPDATE",
        "",
        "an image is never changed",
    ),
    Guard(
        "passage_not_changed",
        "annotations_passage",
        "UPDATE",
        f"({_MOVED} OR {_REWORDED} OR {_OTHER_IMAGE} OR NEW.title <> OLD.title "
        f"OR NEW.format <> OLD.format) AND {_OLD_PUBLISHED}",
        FROZEN,
    ),
    Guard(
        "question_not_added",
        "annotations_question",
        "INSERT",
        _PUBLISHED.format(row="NEW"),
        FROZEN,
    ),
    Guard(
        "question_not_changed",
        "annotations_question",
        "UPDATE",
        f"({_MOVED} OR (OLD.text <> '' AND ({_REWORDED} OR {_OTHER_PASSAGE} OR {_OTHER_KIND}))) "
        f"AND {_OLD_PUBLISHED}",
        FROZEN,
    ),
    *(
        Guard(
            f"question_passage_{event.lower()}",
            "annotations_question",
            event,
            _NOT_OF_ITS_VERSION,
            "the passage is of another version",
        )
        for event in ("INSERT", "UPDATE")
    ),
    Guard(
        "translation_not_added",
        "annotations_translation",
        "INSERT",
        _PUBLISHED.format(row="NEW"),
        FROZEN,
    ),
    Guard(
        "translation_not_changed",
        "annotations_translation",
        "UPDATE",
        f"{_OLD_PUBLISHED} OR {_PUBLISHED.format(row='NEW')}",
        FROZEN,
    ),
    *(
        Guard(
            f"translation_version_{event.lower()}",
            "annotations_translation",
            event,
            _NOT_ITS_TRANSLATION,
            "what it translates is of another version",
        )
        for event in ("INSERT", "UPDATE")
    ),
    Guard(
        "response_version_insert",
        "annotations_response",
        "INSERT",
        _NOT_OF_ONE_VERSION,
        "the question is of another version than the submission",
    ),
    Guard(
        "response_version_update",
        "annotations_response",
        "UPDATE",
        # The pair is looked up only if it changes: saving a text stays cheap.
        f"{_OTHER_PAIR} AND {_NOT_OF_ONE_VERSION}",
        "the question is of another version than the submission",
    ),
)


def create_triggers(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers of all `GUARDS` in a database; existing ones are replaced."""
    drop_triggers(connection)
    _execute_statements(
        connection,
        (sql for guard in GUARDS for sql in _build_create_statements(connection.vendor, guard)),
    )


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Drop the triggers of the `GUARDS` whose tables exist in a database."""
    tables = set(connection.introspection.table_names())
    guards = [guard for guard in GUARDS if guard.table in tables]
    _execute_statements(
        connection, (_build_drop_statement(connection.vendor, guard) for guard in guards)
    )


def drop_triggers_before_migrations(using: str, plan: list[Any], **kwargs: Any) -> None:
    """Drop the triggers if there are migrations to run (signal receiver)."""
    if plan:
        drop_triggers(connections[using])


def create_triggers_after_migrations(using: str, **kwargs: Any) -> None:
    """Create the triggers if all their tables exist after migrations (signal receiver)."""
    tables = set(connections[using].introspection.table_names())
    if all(guard.table in tables for guard in GUARDS):  # else migrated back to nothing
        create_triggers(connections[using])


def _build_create_statements(vendor: str, guard: Guard) -> Iterator[str]:
    """Yield the SQL statements that create the trigger of a guard in SQLite or PostgreSQL."""
    if vendor == "sqlite":
        when = f"WHEN {guard.when} " if guard.when else ""
        yield (
            f"CREATE TRIGGER guard_{guard.name} BEFORE {guard.event} ON {guard.table} "
            f"FOR EACH ROW {when}BEGIN SELECT RAISE(ABORT, '{guard.message}'); END"
        )
        return
    # PostgreSQL takes no subquery in WHEN, so the condition stands in the function.
    refuse = f"RAISE EXCEPTION '{guard.message}' USING ERRCODE = 'integrity_constraint_violation';"
    body = f"IF {guard.when} THEN {refuse} END IF;" if guard.when else refuse
    row = "OLD" if guard.event == "DELETE" else "NEW"
    yield (
        f"CREATE OR REPLACE FUNCTION guard_{guard.name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$guard$ BEGIN {body} RETURN {row}; END $guard$"
    )
    yield (
        f"CREATE TRIGGER guard_{guard.name} BEFORE {guard.event} ON {guard.table} "
        f"FOR EACH ROW EXECUTE FUNCTION guard_{guard.name}()"
    )


def _build_drop_statement(vendor: str, guard: Guard) -> str:
    """Return the SQL statement that drops the trigger of a guard, if it exists."""
    on_table = "" if vendor == "sqlite" else f" ON {guard.table}"
    return f"DROP TRIGGER IF EXISTS guard_{guard.name}{on_table}"


def _execute_statements(connection: BaseDatabaseWrapper, statements: Iterator[str]) -> None:
    """Execute SQL statements one after another."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
