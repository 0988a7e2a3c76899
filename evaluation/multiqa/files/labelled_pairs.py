"""Read labelled pairs of accepted answer and reply, which measure and tune the cosine."""

from __future__ import annotations

from pathlib import Path

from annotations.exchange import InputError
from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.source import make_source
from annotations.exchange.reading.tables import open_table
from evaluation.core.stats.statistics.threshold import ThresholdErrors
from evaluation.multiqa.files.mapping import parse_yes_no
from evaluation.multiqa.options import MultiqaParameters
from evaluation.multiqa.run.threshold import LabelledPair, measure_pairs
from evaluation.runs.files.problem_messages import add_problem, build_error

COLUMNS = (
    Column("question", ("question",), required=False),
    Column("accepted", ("accepted",)),
    Column("reply", ("reply",)),
    Column("right", ("right",)),
)


def measure_labelled_pairs(path: Path, parameters: MultiqaParameters) -> ThresholdErrors:
    """Return the errors of the cosine threshold on a file of labelled pairs.

    Raises `InputError` for an invalid file, `BackendError` if texts cannot be embedded.
    """
    pairs = read_labelled_pairs(path)
    try:
        return measure_pairs(pairs, parameters, path.name)
    except ValueError:
        raise build_error(path.name, "pairs_of_one_class") from None


def read_labelled_pairs(path: Path) -> list[LabelledPair]:
    """Return the labelled pairs of a file with the columns question, accepted, reply and right.

    Rows with the same question and reply are one pair with several accepted answers. Without a
    question the accepted answer takes its place. Raises `InputError` with every invalid row.
    """
    problems = Problems(make_source(path).name)
    table = open_table(path, COLUMNS, problems)
    accepted: dict[tuple[str, str], list[str]] = {}
    labels: dict[tuple[str, str], bool] = {}
    for line, cells, _ in table.rows:
        question, answer, reply, right = (cell.strip() for cell in cells)
        for name, text in (("accepted", answer), ("reply", reply)):
            if not text:
                add_problem(problems, line, name, "pair_text_missing")
        label = parse_yes_no(right)
        if label is None:
            add_problem(problems, line, "right", "flag_neither", flag=right[:40])
        if not answer or not reply or label is None:
            continue
        key = question or answer, reply
        if labels.setdefault(key, label) != label:
            add_problem(problems, line, "right", "pair_labels_differ", reply=reply[:60])
        accepted.setdefault(key, []).append(answer)
    problems.raise_if_any()
    return [
        LabelledPair(key[0], tuple(dict.fromkeys(answers)), key[1], labels[key])
        for key, answers in accepted.items()
    ]


def refuse_tuning_without_pairs(parameters: MultiqaParameters) -> None:
    """Raise `InputError` because no tuned threshold of the embedder is recorded."""
    raise InputError.single(
        "--tune-cosine",
        f"no tuned cosine of {parameters.embedder} is recorded",
        "Name labelled pairs with --labelled-pairs FILE.",
    )
