"""Message texts of exported scorers: refusals, and why questions and facts are left out."""

from __future__ import annotations

from collections.abc import Mapping

REFUSALS: Mapping[str, str] = {
    "embedder_not_exportable": "The run's embedder is {embedder}, which cannot be exported. Grade "
    "the answers with minilm or sentence-transformers:NAME.",
    "vote_not_exportable": "Only runs with the similarity “cosine” and the vote “mean” can be "
    "exported as a scorer.",
    "spelling_not_exportable": "The run corrected the spelling of answers before comparing them. "
    "Grade the answers without that option.",
    "consent_basis_missing": "State why workers' answers may be published (consent basis), or "
    "leave the answers out.",
    "no_question_to_export": "No question is left: {few} have fewer than {fewest} answers, "
    "{unworded} have no text.",
    "format_unknown": "{name} is no format. Formats: {known}.",
    "pyarrow_missing": "The Hugging Face format needs pyarrow. Install it with pip install "
    "'crowdgrade[scorer]', or leave the format out.",
    "name_invalid": "The name “{name}” is not valid. Use letters, digits, hyphens and "
    "underscores, at most {most}.",
    "folder_in_use": "{folder} holds other files. Choose a folder that is empty or does not exist.",
    "folder_unwritable": "{folder} cannot be written: {cause}.",
    "too_large": "The run has {answers:,} answers, and the site exports up to {most:,}. Use the "
    "command export_scorer.",
    "no_grading_folder": "{folder} holds no results of evaluate aqer: {cause}.",
    "answers_differ": "{file} is not the file of answers that was graded (its SHA-256 differs).",
    "answers_needed": "The results hold no texts of answers. Name the file of answers that was "
    "graded.",
}
"""Message on why a scorer cannot be exported, by code."""

LEFT_OUT: Mapping[str, str] = {
    "few_answers": "fewer answers than required: the exemplary answer would show one person's",
    "no_wording": "no text of the question",
}
"""Why a question is not in an export, by code."""

NO_FACTS: Mapping[str, str] = {
    "not_asked_for": "The run compared no facts.",
    "read_by_model": "A chat model extracted the run's facts; an exported scorer cannot ask it.",
    "changed": "Answers changed since the run. Grade again to compare facts.",
    "no_answers_file": "Facts need the graded file of answers.",
    "html_unknown": "The file of answers has HTML, and the results do not record how it was read. "
    "Grade again to compare facts.",
}
"""Why an exported scorer compares no facts, by code."""
