"""New templates out of files of replies: candidates.csv, templates.txt, summary.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from annotations.exchange import OutputFolder
from annotations.exchange.reading.labelled_replies import read_labelled_replies
from annotations.exchange.reading.word_problems import (
    WordProblem,
    read_word_problem_replies,
    read_word_problems,
)
from annotations.exchange.records import AnswerStatus
from evaluation.files.metrics import SUMMARY, refuse_to_replace, study_summary
from evaluation.files.problem_messages import file_error
from evaluation.files.umwp import read_templates
from evaluation.flow.metrics import Exclusions
from evaluation.flow.umwp.classifying import UNANSWERABLE
from evaluation.flow.umwp.mining import CandidateRow, Mined, MinedReply, OneLabelError, halves, mine
from evaluation.flow.umwp.parameters import MiningParameters
from evaluation.flow.umwp.study import OF_THE_PAPER, UNKNOWN, threshold_of
from evaluation.flow.umwp.templates import own_templates
from evaluation.flow.umwp.tuning import TUNE, labelled_replies

CANDIDATES, TEMPLATES = "candidates.csv", "templates.txt"
MINING_FILES = (CANDIDATES, TEMPLATES, SUMMARY)
WITHOUT_TEXT = "without_text"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class MiningRequest:
    """What to mine.

    Attributes
    ----------
    replies : labelled ones; with `problems` replies to them, whose labels are those of the
        problems. None for the labelled replies of the project.
    templates : that are there already; None for the project's own.
    """

    replies: Path | None
    problems: Path | None
    templates: Path | None
    parameters: MiningParameters
    output: Path


def mine_files(request: MiningRequest, progress: Progress | None = None) -> Mined:
    """Read, mine, and write the three files.

    Raises
    ------
    InputError
        A file that will not do.
    BackendError
        The encoder cannot be had.
    """
    inputs = (request.replies, request.problems, request.templates)
    refuse_to_replace(request.output, MINING_FILES, inputs)
    exclusions, hashes = Exclusions(), dict[str, str]()
    replies = _read(request, exclusions, hashes)
    templates, parameters = own_templates(), request.parameters
    if request.templates is not None:
        templates, hashes["templates"] = read_templates(request.templates)
    threshold = parameters.threshold
    if threshold is None:
        threshold = (
            OF_THE_PAPER if request.templates else threshold_of(parameters.encoder, templates)
        )
    with OutputFolder(request.output) as folder:
        try:
            mined = mine(replies, templates, threshold, parameters, progress)
        except OneLabelError as error:
            raise file_error(str(request.replies or "replies"), "half_of_one_label") from error
        folder.write_csv(CANDIDATES, CandidateRow._fields, mined.candidates)
        folder.write_lines(TEMPLATES, (f"{one}\n" for one in (*templates, *mined.chosen)))
        folder.write_json(SUMMARY, _summary(parameters, mined, hashes, exclusions))
    return mined


def _read(
    request: MiningRequest, exclusions: Exclusions, hashes: dict[str, str]
) -> list[MinedReply]:
    if request.replies is None:
        labelled = [one for one in labelled_replies() if one.first == one.second]
        return [
            MinedReply(one.reply, one.first == UNANSWERABLE, one.half == TUNE) for one in labelled
        ]
    if request.problems is None:
        file = read_labelled_replies(request.replies)
        hashes["replies"] = file.sha256
        if file.n_empty:
            exclusions.add_all(WITHOUT_TEXT, [], file.n_empty)
        groups = [one.item or f"line {one.line}" for one in file.replies]
        told = zip(file.replies, halves(groups, request.parameters.seed), strict=True)
        return [MinedReply(one.text, one.unanswerable, mined) for one, mined in told]
    return _of_problems(request.problems, request, exclusions, hashes)


def _of_problems(
    path: Path, request: MiningRequest, exclusions: Exclusions, hashes: dict[str, str]
) -> list[MinedReply]:
    """Return replies with the labels of their problems; a pair of problems is in one half."""
    assert request.replies is not None
    problems, replies = read_word_problems(path), read_word_problem_replies(request.replies)
    hashes |= {"problems": problems.sha256, "replies": replies.sha256}
    known = {problem.id: problem for problem in problems.problems}
    kept, groups = [], []
    for one in replies.replies:
        named = {"system": one.system, "form": one.form, "item": one.item, "line": one.line}
        if one.item not in known:
            exclusions.add(UNKNOWN, named)
        elif one.status.is_missing:
            exclusions.add(one.status.value, named)
        elif one.status is not AnswerStatus.TEXT:
            exclusions.add(WITHOUT_TEXT, named)
        else:
            kept.append(one)
            groups.append(_family(known[one.item], known))
    told = zip(kept, halves(groups, request.parameters.seed), strict=True)
    return [MinedReply(one.text, not known[one.item].answerable, mined) for one, mined in told]


def _family(problem: WordProblem, known: Mapping[str, WordProblem]) -> str:
    return next((one for one in problem.relevant if one in known), problem.id)


def _summary(
    parameters: MiningParameters,
    mined: Mined,
    hashes: Mapping[str, str],
    exclusions: Exclusions,
) -> dict[str, object]:
    sizes: Sequence[tuple[str, tuple[int, int]]] = (("mined", mined.mined), ("kept", mined.kept))
    return study_summary(
        "umwp_templates",
        parameters,
        hashes,
        {
            **{name: {"unanswerable": good, "answerable": other} for name, (good, other) in sizes},
            "patterns": mined.patterns,
            "candidates": len(mined.candidates),
            "chosen": len(mined.chosen),
            "templates": len(mined.templates),
        },
        exclusions,
        made={"threshold": f"{mined.threshold:.4g}"},
        more={
            "threshold": mined.threshold,
            "kept_before": asdict(mined.before),
            "kept_after": asdict(mined.after),
        },
    )
