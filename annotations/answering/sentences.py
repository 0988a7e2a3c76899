"""Messages about collections, their settings, languages and waves, by message code."""

from __future__ import annotations

from annotations.sentences import Sentences


def _format_check_count(n: int) -> str:
    """Return a number of attention checks in words: "none", "1 attention check"."""
    if not n:
        return "none"
    return "1 attention check" if n == 1 else f"{n:,} attention checks"


def _format_blocking_reason(item: str, reason: str, n_more: int) -> str:
    """Return why a version cannot be published: its first problem, and the number of others."""
    where = f"{item}: " if item else ""
    more = f" There are {n_more:,} more like it." if n_more else ""
    return f"{where}{reason}{more}"


SETTINGS = Sentences(
    {
        "no_questions": "there is nothing to publish: it has no questions yet",
        "nothing_graded": "it has only practice and checks: add a question that is graded",
        "blocked": _format_blocking_reason,
        "without_text": lambda names: (
            f"questions without a text cannot be asked: {', '.join(names[:3])}"
            f"{', ...' if len(names) > 3 else ''}. Import their texts first"
        ),
        "places_missing": "set how many people may take part",
        "compares_answers": "a worker has already started, so answers would not be comparable: "
        "publish a new version to change it",
        "signals_not_told": "a worker has already started without notice of the counting: "
        "publish a new version to count",
        "other_owner": "only sets of the same owner can be excluded",
        "no_place_added": "add at least 1 place",
        "places_out_of_range": "places go from 1 to {most:,}",
        "no_answers_each": "each question wants at least 1 answer",
        "too_few_places": "{each:,} answers to each question need at least {each:,} places",
        "questions_per_worker_out_of_range": "the questions for each person go from {least:,} to "
        "{most:,}",
        "reading_seconds_out_of_range": "the seconds to read a text go from {least:,} to {most:,}",
        "reservation_minutes_out_of_range": "the minutes that a place is reserved go from "
        "{least:,} to {most:,}",
        "most_characters_out_of_range": "the characters of an answer go from {least:,} to {most:,}",
        "practice_needed_out_of_range": "the right practice answers that are needed go from "
        "{least:,} to {most:,}",
        "checks_needed_out_of_range": "the right attention checks that are needed go from "
        "{least:,} to {most:,}",
        "grade_every_out_of_range": "the people between interim gradings go from "
        "{least:,} to {most:,}",
        "code_done_not_unique": "the code of who has finished must be another than the rest",
        "code_failed_checks_not_unique": "the code of who failed the attention checks must be "
        "another than the rest",
        "code_screened_out_not_unique": "who did not pass the practice is paid a part, so their "
        "code must be another than the rest",
        "too_few_checks": lambda needed, n: (
            f"{needed:,} right attention checks cannot be asked for: this version has "
            f"{_format_check_count(n)} with a right answer"
        ),
        "code_failed_checks_missing": "write the code of who failed the attention checks, or empty "
        "how many of them are needed",
        "bad_parameter": "{name!r} cannot be the name of a parameter",
        "worker_parameter_missing": "name the parameter that holds the worker's id",
        "parameter_twice": "each parameter needs a name of its own",
        "currency_missing": "give the currency, such as GBP",
        "panel_fee_out_of_range": "the fee of the panel goes from 0 to 999.99 percent",
        "hourly_without_pay": "give the pay of each person, or the pay an hour is unknown",
        "part_not_positive": "a part of the pay is more than 0; empty it for none",
        "part_not_less": "a part of the pay is less than the pay",
        "part_without_pay": "give the pay of each person before a part of it",
        "bad_address": "{address!r} is no address: write such as {scheme}://example.org",
    }
)
"""Why settings of a collection cannot be used."""

CHANGES = Sentences(
    {
        "other_state": "It is {state} and no longer {was}; nothing was changed.",
        "other_places": "There are {places:,} places and no longer {was:,}; none were added.",
    }
)
"""Why a collection was not changed: another user changed it since it was read."""

PUBLISHING = Sentences(
    {
        "published": "{version} is published",
        "changed": lambda version, names: (
            f"{version} was published before; changed: "
            f"{', '.join(name.replace('_', ' ') for name in names)}"
        ),
        "unchanged": "{version} was published before; nothing changed",
    }
)
"""What the command `publish` did."""

_FRAME = "Buttons, progress and messages around your texts are in {frame}"

FRAME = Sentences(
    {
        "same_language": f"{_FRAME}.",
        "language_missing": f"{_FRAME}, because the language of the texts is not set.",
        "not_translated": f"{_FRAME}, because they are not there in the language of your texts "
        "({language}). There are: {offered}.",
        "several": "People answer in the language that they choose: {names}. Buttons, progress and "
        "messages around your texts are in it too.",
        "several_not_translated": "People answer in the language that they choose: {names}. "
        "Buttons, progress and messages are not there in {without}, and are in English around "
        "these texts.",
    }
)
"""The interface language of a version, and why."""

_PEOPLE = {"same": "the same people again", "others": "other people"}

WAVES = Sentences(
    {
        "no_questions": "there is nothing to ask again: it has no questions yet",
        "bad_people": lambda known: f"people is one of {', '.join(known)}",
        "name_missing": "the new wave needs a name",
        "name_too_long": "a question set's name has 1 to {most} characters",
        "name_taken": "the owner has a question set of this name",
        "itself": "a set is no later wave of itself",
        "other_owner": "the two are of different owners, whose people and models are not the same",
        "linked_already": "it is a later wave of “{earlier}” already",
        "linked_to_another": "it is a later wave of another set already: take that link away first",
        "circle": "“{earlier}” is itself a later wave of “{later}”",
        "no_common_question": "the two have no question in common: questions are matched by their "
        "ids",
        "no_link": "it is no later wave of another set",
        "not_published": lambda people: (
            f"it was made to ask {_PEOPLE[people]}, which is settled when it is published: publish "
            "it first, or delete it"
        ),
        "results_not_visible": "you do not see what came back in the wave before",
    }
)
"""Why a wave cannot be created, linked or unlinked."""
