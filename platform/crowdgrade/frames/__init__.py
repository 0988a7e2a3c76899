"""Python interface: each function is a command ``evaluate NAME`` with DataFrames for files.

The inputs are DataFrames of pandas, Polars or PyArrow, or paths of files. Every further keyword
argument is an option of the command (`describe_options` lists them). The result holds DataFrames
of the library of the input. Invalid input raises `InputError`, invalid options `OptionsError`.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from crowdgrade.frames.declaration import CommandArguments
from crowdgrade.frames.errors import InputError, InputProblem, OptionsError
from crowdgrade.frames.results import Picture, Result
from crowdgrade.frames.running import Progress, run_evaluation

__all__ = [
    "InputError",
    "InputProblem",
    "OptionsError",
    "Picture",
    "Result",
    "describe_options",
    "eloquent",
    "grade",
    "maqa",
    "multiqa",
    "panels",
    "plan",
    "umwp",
]

Folder = str | PathLike[str]
COMMANDS = {
    "eloquent": "eloquent",
    "grade": "aqer",
    "maqa": "maqa",
    "multiqa": "multiqa",
    "panels": "panels",
    "plan": "plan",
    "umwp": "umwp",
}
"""The command that each function runs."""


def describe_options(function: str) -> str:
    """Return a function's options: name, default and meaning, one per line.

    Raises ValueError for a name that is none of the functions.
    """
    if function not in COMMANDS:
        raise ValueError(f"{function!r} is none of {', '.join(COMMANDS)}")
    return CommandArguments(function, COMMANDS[function]).describe_arguments()


def grade(
    answers: Any,
    *,
    worker: str = "worker",
    question: str = "question",
    answer: str = "answer",
    model: str = "model",
    models: Any = None,
    vectors: Any = None,
    model_vectors: Any = None,
    output: Folder | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Grade workers by their answers, and score models on the same scale (``evaluate aqer``).

    Parameters
    ----------
    answers : a row for each answer. worker, question, answer : names of its columns.
    models : models' answers, with the columns `model`, `question` and `answer`.
    vectors : an array with a row of numbers for each row of `answers`, in place of an embedder;
        `model_vectors` the same for `models`.
    output : folder for the files; required with `facts_model`, whose replies are stored there.
    progress : is called with a stage, the parts done and all parts.
    options : as of the command, such as `embedder`, `bootstrap`, `exclude_workers`, `facts`.

    Returns
    -------
    Result
        With the tables `workers`, `answers`, `exemplars`, `models`, `model_answers`, `alarms`,
        `facts`, `answer_facts`, and `remedies` or `anchors` where an option asks for them.

    Raises
    ------
    InputError
        Rows of a DataFrame are invalid, with the codes of the file readers.
    OptionsError
        An option is invalid.
    evaluation.core.backends.BackendError
        The answers cannot be embedded.
    """
    columns = {"worker": worker, "question": question, "answer": answer, "model": model}
    values = {"answers": answers, "models": models, **_build_columns_option(columns), **options}
    arrays = {"answers": vectors, "models": model_vectors}
    return run_evaluation("grade", "aqer", values, arrays, output, progress)


def panels(
    answers: Any,
    models: Any,
    *,
    worker: str = "worker",
    question: str = "question",
    answer: str = "answer",
    model: str = "model",
    output: Folder | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Compare the consensus of people, of models and of both (``evaluate panels``).

    Parameters and errors as of `grade`. The result has the tables `panels`, `panel_distances`,
    `panel_models` and `panel_questions`.
    """
    columns = {"worker": worker, "question": question, "answer": answer, "model": model}
    values = {"answers": answers, "models": models, **_build_columns_option(columns), **options}
    return run_evaluation("panels", "panels", values, {}, output, progress)


def plan(
    answers: Any,
    *,
    worker: str = "worker",
    question: str = "question",
    answer: str = "answer",
    model: str = "model",
    models: Any = None,
    output: Folder | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Plan further answers: to which questions, at what cost (``evaluate plan``).

    Parameters and errors as of `grade`. The result has the tables `plan_questions` and
    `plan_workers`.
    """
    columns = {"worker": worker, "question": question, "answer": answer, "model": model}
    values = {"answers": answers, "models": models, **_build_columns_option(columns), **options}
    return run_evaluation("plan", "plan", values, {}, output, progress)


def multiqa(
    items: Any,
    replies: Any,
    *,
    output: Folder | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Evaluate the robustness of replies to reworded questions (``evaluate multiqa``).

    The result has the tables `metrics`, `items` and, with `crowd`, `crowd`. Errors as of `grade`.

    Parameters
    ----------
    items : columns item, kind, question, choices, answers, ...; the cells of `choices` and
        `answers` may be lists.
    replies : columns system, item, variant, variant_text, reply and status.
    options : as of the command, such as `crowd` (a DataFrame), `columns` (a dict), `mapping`.
    """
    values = {"items": items, "replies": replies, **options}
    return run_evaluation("multiqa", "multiqa", values, {}, output, progress)


def umwp(
    problems: Any,
    replies: Any,
    *,
    output: Folder | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Evaluate whether models notice that a problem has no answer (``evaluate umwp``).

    The result has the tables `metrics`, `items`, `pairs`, `ablation` and those of further inputs.
    Errors as of `grade`.

    Parameters
    ----------
    problems : columns id, question, answer (a list of numbers, or None), answerable, category,
        relevant_ids and source; or a list of such objects.
    replies : columns system, id, form, reply and status.
    options : as of the command, such as `people`, `labels`, `unrelated`, `systems` (DataFrames),
        `templates` (a list of sentences), `encoder`.
    """
    values = {"problems": problems, "replies": replies, **options}
    return run_evaluation("umwp", "umwp", values, {}, output, progress)


def maqa(
    questions: Any,
    replies: Any,
    *,
    output: Folder | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Score replies to questions with several right answers (``evaluate maqa``).

    The result has the tables `metrics`, `items`, `answers`, `positions`, `gold_counts`, `curves`,
    `calibration` and `comparisons`. Errors as of `grade`.

    Parameters
    ----------
    questions : columns question, answer (a list of answers, each a text or a list of spellings)
        and id; or a list of such objects.
    replies : columns system, item, sample and reply, or answers, confidence, first_token,
        logprobs; or a list of such objects.
    options : as of the command, such as `similarity`, `embedder`, `nli`.
    """
    values = {"questions": questions, "replies": replies, **options}
    return run_evaluation("maqa", "maqa", values, {}, output, progress)


def eloquent(
    prompts: Any,
    replies: Any = None,
    *,
    output: Folder | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Compare replies to prompts that mean the same (``evaluate eloquent``).

    The result has the tables `metrics`, `items`, `prompts`, and with replies `reply_sets`,
    `items_by_system` and `replies`. Errors as of `grade`.

    Parameters
    ----------
    prompts : the object in its JSON file, or the path of the file.
    replies : columns system, item, language, variant and reply; a list of DataFrames for several.
    options : as of the command, such as `judgements` (as `replies`), `embedder`.
    """
    values = {"prompts": prompts, "replies": replies, **options}
    return run_evaluation("eloquent", "eloquent", values, {}, output, progress)


def _build_columns_option(columns: dict[str, str]) -> dict[str, Any]:
    """Return the option `columns` with the names that are not standard, by role; {} without any."""
    # Columns of pandas may have numbers as names, which are texts everywhere else.
    renamed = {role: str(name) for role, name in columns.items() if name != role}
    return {"columns": renamed} if renamed else {}
