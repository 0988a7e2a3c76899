"""Compare methods on any file of graded answers of the user's own domain."""

from __future__ import annotations

from annotations.exchange import InputError, OutputFolder
from annotations.exchange.graded import Labels, read_marked
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.consensus.vectors import Progress
from evaluation.core.options import TERMINAL
from evaluation.evidence.baselines import list_methods
from evaluation.evidence.corpus import CorpusVectors, build_corpus
from evaluation.evidence.graded.crowds import GradedCrowds, TooFewGradesError
from evaluation.evidence.graded.summary import build_summary
from evaluation.evidence.graded.trust import compare_on_grades
from evaluation.evidence.heldout import write_choice
from evaluation.evidence.methods_chart import draw_method_charts
from evaluation.evidence.methods_table import find_best_baselines
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import HEADER, write_evidence, write_table
from evaluation.runs.files.metrics import refuse_to_replace
from evaluation.runs.flow.graded.summary import METHODS_HEADER, build_method_rows

FILES = ("table.csv", "methods.csv", "choosing.csv", "summary.json")


def reproduce_graded(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table of methods on a graded file; the verdict is in `StudyTable.said`.

    Raises `InputError` and `BackendError`.
    """
    assert request.file is not None
    refuse_to_replace(request.output, FILES, (request.file,))
    graded_file = read_marked(request.file, dict(request.columns))
    graded = graded_file.graded(Labels(request.labels))
    try:
        crowds = GradedCrowds.from_answers(graded, request.seed)
        with OutputFolder(request.output) as folder:
            answers = crowds.answers
            labels = list(dict.fromkeys(answers.questions.tolist()))
            references = [
                graded_file.references[one] for one in labels if one in graded_file.references
            ]
            complete = len(references) == len(labels)
            vectors = CorpusVectors(answers.texts, progress, references if complete else None)
            corpus, judged = build_corpus(
                *(answers.texts, answers.questions, vectors, request, progress),
                # A judge has to know what was asked, each time.
                asked=graded_file.asked
                if all(one in graded_file.asked for one in labels)
                else None,
                references=complete,
            )
            comparison = compare_on_grades(
                *(crowds, corpus, list_methods(core=request.core), request.seeds, request.seed),
                progress and (lambda done, total: progress("methods", done, total)),
            )
            summary = build_summary(graded_file, crowds, comparison, request.seeds, request.seed)
            verdict = TERMINAL.all_said(summary.messages)
            notes = TERMINAL.all_said(summary.notes)
            charts = draw_method_charts(
                comparison.table, "correlation of workers' scores with their grades"
            )
            write_evidence(
                folder,
                comparison.table,
                {
                    "study": "graded",
                    "said": verdict,
                    "warnings": notes,
                    **{key: value for key, value in summary.as_dict().items() if key != "notes"},
                    "best_baseline": find_best_baselines(comparison.table),
                    "heldout": comparison.choice and comparison.choice.describe(),
                    "embedders": vectors.describe(),
                    "judge": judged,
                    "input_hash": combine_hashes([graded_file.sha256]),
                    "versions": collect_versions(),
                },
                charts,
            )
            if comparison.choice is not None:
                write_choice(folder, comparison.choice)
            write_table(folder, "methods", METHODS_HEADER, build_method_rows(summary))
    except TooFewGradesError as error:
        raise InputError.single(graded_file.name, TERMINAL.said(error.message)) from error
    warnings = [f"Warning: {note}" for note in notes]
    return StudyTable(
        HEADER, [row.cells() for row in comparison.table], "\n".join([*warnings, *verdict])
    )
