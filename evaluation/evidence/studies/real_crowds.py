"""Measure methods on real crowds with known truth, or with graded answers of the user's own.

Score real crowds with known true translations: CrowdWSA2019, T1 and T2. Compare methods on any file
of graded answers of the user's own domain.
"""

from __future__ import annotations

import string

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import InputError, OutputFolder
from annotations.exchange.graded import LabelGrades, read_marked_answers
from evaluation.consensus.inputs import Progress, embed
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.core.options import TERMINAL
from evaluation.core.stats.cells import encode_labels
from evaluation.evidence.baselines import Corpus, Crowd, list_methods
from evaluation.evidence.corpus import CorpusVectors, build_corpus
from evaluation.evidence.data_sets import Translations, list_crowdwsa_files, load_crowdwsa
from evaluation.evidence.graded.crowds import GradedCrowds, TooFewGradesError
from evaluation.evidence.graded.trust import build_summary, compare_on_grades
from evaluation.evidence.labelled_crowd import Trial, build_rows, find_best_baselines, score_trials
from evaluation.evidence.method_comparison import draw_method_charts, write_choice
from evaluation.evidence.tables import HEADER as GRADED_HEADER
from evaluation.evidence.tables import (
    EvidenceRow,
    Request,
    StudyTable,
    build_study_table,
    write_evidence,
    write_table,
)
from evaluation.runs.files.metrics import refuse_to_replace
from evaluation.runs.flow.graded import METHODS_HEADER, build_method_rows

CROWDS = ("T1", "T2")
LONGEST_NGRAM = 4
NO_PUNCTUATION = str.maketrans(string.punctuation, " " * len(string.punctuation))


def compute_gleu(corpus: Translations) -> NDArray[np.float64]:
    """Return the sentence GLEU of each answer to its true translation (n-grams 1 to 4)."""
    from nltk.translate.gleu_score import sentence_gleu

    return np.array(
        [
            sentence_gleu(
                [split_words(corpus.truth[sentence])], split_words(text), 1, LONGEST_NGRAM
            )
            for sentence, text in zip(corpus.sentences.tolist(), corpus.texts, strict=True)
        ]
    )


def split_words(text: str) -> list[str]:
    """Return the lower-case words of a sentence; punctuation separates words (let's: let, s)."""
    return text.lower().translate(NO_PUNCTUATION).split()


def compute_cosine(corpus: Translations, progress: Progress | None = None) -> NDArray[np.float64]:
    """Return the MiniLM cosine of each answer to its true translation."""
    true = [corpus.truth[sentence] for sentence in corpus.sentences.tolist()]
    embedded = embed(AqerParameters(), corpus.texts, true, progress)
    x, y = (np.asarray(part, dtype=np.float64) for part in (embedded.answers, embedded.models))
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return np.einsum("nd,nd->n", x, y) / norms


def reproduce_crowdwsa(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the study's table: T1 and T2 with GLEU and with cosine as truth.

    Raises `InputError` and `BackendError`.
    """
    data = request.data
    with OutputFolder(request.output) as folder:
        corpora = {name: load_crowdwsa(data, name) for name in CROWDS}
        vectors = {
            name: _build_vectors(translations, progress) for name, translations in corpora.items()
        }
        rows: list[EvidenceRow] = []
        for name, translations in corpora.items():
            # No `asked`: the source sentences, which a judge would need, are not published.
            corpus, _ = build_corpus(
                translations.texts,
                translations.sentences,
                vectors[name],
                request,
                progress,
                references=True,
            )
            rows += _score_crowd(name, translations, corpus, request, progress)
        sources = [data / path for name in CROWDS for path in list_crowdwsa_files(name)]
        write_evidence(
            folder,
            rows,
            {
                "study": "crowdwsa",
                "answers": {name: len(corpus.texts) for name, corpus in corpora.items()},
                "workers": {name: len(set(c.workers.tolist())) for name, c in corpora.items()},
                "sentences": {name: len(set(c.sentences.tolist())) for name, c in corpora.items()},
                "embedders": {
                    name: translations.describe() for name, translations in vectors.items()
                },
                "truth": {
                    "T1, T2": "mean sentence GLEU (lower case, no punctuation, n 1 to 4)",
                    "T1-cosine, T2-cosine": "mean cosine to the true sentence, minilm, float32",
                },
                "best_baseline": find_best_baselines(rows),
                "input_hash": combine_hashes(map(hash_file, sources)),
                "versions": collect_versions(),
            },
            draw_method_charts(rows, "correlation of workers' scores with their true quality"),
        )
    return build_study_table(rows)


def _build_vectors(translations: Translations, progress: Progress | None) -> CorpusVectors:
    """Return vectors of the answers and of the true sentences, in order of first appearance."""
    sentences = dict.fromkeys(translations.sentences.tolist())
    true = [translations.truth[sentence] for sentence in sentences]
    return CorpusVectors(translations.texts, progress, true)


def _score_crowd(
    name: str,
    translations: Translations,
    corpus: Corpus,
    request: Request,
    progress: Progress | None,
) -> list[EvidenceRow]:
    """Return the rows of one crowd under both truths; each method scores the crowd once."""
    workers, _ = encode_labels(translations.workers)
    crowd = Crowd(corpus, np.arange(len(workers)), workers, seed=request.seeds.start)
    methods_used = list_methods(core=request.core)
    scored = []
    for index, method in enumerate(methods_used):
        # There is one crowd, so methods are scored once for both truths.
        scored.append(score_trials([Trial(crowd, np.empty(crowd.n_workers))], method))
        if progress is not None:
            progress(f"methods on {name}", index + 1, len(methods_used))
    truths = {
        name: compute_gleu(translations),
        f"{name}-cosine": compute_cosine(translations, progress),
    }
    return [
        row
        for setting, truth in truths.items()
        for row in build_rows(
            setting, scored, crowd.compute_worker_means(truth)[None, :], request.seed
        )
    ]


FILES = ("table.csv", "methods.csv", "choosing.csv", "summary.json")


def reproduce_graded(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table of methods on a graded file; the verdict is in `StudyTable.said`.

    Raises `InputError` and `BackendError`.
    """
    assert request.file is not None
    refuse_to_replace(request.output, FILES, (request.file,))
    graded_file = read_marked_answers(request.file, dict(request.columns))
    graded = graded_file.compute_grades(LabelGrades(request.labels))
    try:
        crowds = GradedCrowds.from_answers(graded, request.seed)
        with OutputFolder(request.output) as folder:
            answers = crowds.answers
            labels = list(dict.fromkeys(answers.questions.tolist()))
            references = [
                graded_file.references[label] for label in labels if label in graded_file.references
            ]
            complete = len(references) == len(labels)
            vectors = CorpusVectors(answers.texts, progress, references if complete else None)
            corpus, judged = build_corpus(
                *(answers.texts, answers.questions, vectors, request, progress),
                # A judge needs the text of every question.
                asked=graded_file.asked
                if all(label in graded_file.asked for label in labels)
                else None,
                references=complete,
            )
            comparison = compare_on_grades(
                *(crowds, corpus, list_methods(core=request.core), request.seeds, request.seed),
                progress and (lambda done, total: progress("methods", done, total)),
            )
            summary = build_summary(graded_file, crowds, comparison, request.seeds, request.seed)
            verdict = TERMINAL.format_all(summary.messages)
            notes = TERMINAL.format_all(summary.notes)
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
        raise InputError.single(graded_file.name, TERMINAL.format(error.message)) from error
    warnings = [f"Warning: {note}" for note in notes]
    return StudyTable(
        GRADED_HEADER, [row.cells() for row in comparison.table], "\n".join([*warnings, *verdict])
    )
