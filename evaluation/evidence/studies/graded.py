"""Which method to trust in a domain of one's own: any file of graded answers."""

from __future__ import annotations

from annotations.exchange import InputError, OutputFolder
from annotations.exchange.graded import Labels, read_marked
from evaluation.consensus.signatures import combined_hash, versions
from evaluation.consensus.vectors import Progress
from evaluation.evidence.baselines import methods
from evaluation.evidence.corpus import CorpusVectors, corpus_of
from evaluation.evidence.graded.crowds import GradedCrowds, TooLittleError
from evaluation.evidence.graded.summing import summary_of
from evaluation.evidence.graded.trust import try_methods
from evaluation.evidence.heldout import write_choice
from evaluation.evidence.methods_chart import methods_charts
from evaluation.evidence.methods_table import best_baseline
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import HEADER, write_evidence, write_table
from evaluation.files.metrics import refuse_to_replace
from evaluation.flow.graded.summary import METHODS_HEADER, method_cells
from evaluation.options import TERMINAL

FILES = ("table.csv", "methods.csv", "choosing.csv", "summary.json")


def reproduce_graded(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table of a file; `StudyTable.said` says which method to trust.

    Raises `InputError` and `BackendError`.
    """
    assert request.file is not None
    refuse_to_replace(request.output, FILES, (request.file,))
    marked = read_marked(request.file, dict(request.columns))
    graded = marked.graded(Labels(request.labels))
    try:
        crowds = GradedCrowds.of(graded, request.seed)
        with OutputFolder(request.output) as folder:
            answers = crowds.answers
            labels = list(dict.fromkeys(answers.questions.tolist()))
            references = [marked.references[one] for one in labels if one in marked.references]
            complete = len(references) == len(labels)
            vectors = CorpusVectors(answers.texts, progress, references if complete else None)
            corpus, judged = corpus_of(
                *(answers.texts, answers.questions, vectors, request, progress),
                # A judge has to know what was asked, each time.
                asked=marked.asked if all(one in marked.asked for one in labels) else None,
                references=complete,
            )
            tried = try_methods(
                *(crowds, corpus, methods(core=request.core), request.seeds, request.seed),
                progress and (lambda done, total: progress("methods", done, total)),
            )
            summary = summary_of(marked, crowds, tried, request.seeds, request.seed)
            said = TERMINAL.all_said(summary.messages)
            notes = TERMINAL.all_said(summary.notes)
            charts = methods_charts(tried.table, "correlation of workers' scores with their grades")
            write_evidence(
                folder,
                tried.table,
                {
                    "study": "graded",
                    "said": said,
                    "warnings": notes,
                    **{key: value for key, value in summary.as_dict().items() if key != "notes"},
                    "best_baseline": best_baseline(tried.table),
                    "heldout": tried.choice and tried.choice.described(),
                    "embedders": vectors.described(),
                    "judge": judged,
                    "input_hash": combined_hash([marked.sha256]),
                    "versions": versions(),
                },
                charts,
            )
            if tried.choice is not None:
                write_choice(folder, tried.choice)
            write_table(folder, "methods", METHODS_HEADER, method_cells(summary))
    except TooLittleError as error:
        raise InputError.single(marked.name, TERMINAL.said(error.message)) from error
    warnings = [f"Warning: {note}" for note in notes]
    return StudyTable(HEADER, [row.cells() for row in tried.table], "\n".join([*warnings, *said]))
