"""Measure how well grades and facts agree with tutors' labels of real students.

Facts are used only for questions where most answers are short and state the same slot. The tables
show which questions of Beetle these are, and which answers would be flagged if fewer answers had to
state the slot, with the tutors' labels of the flagged answers.

Beetle (Dzikovska et al. 2013): students answered questions of a tutoring system on electricity, and
every answer was called correct, contradictory or incorrect (partly right, irrelevant or off the
topic). The students are the workers, with their first attempts; a student's true value is the share
of correct ones among these. The workers are real, not simulated.

Settings: all, and 40-percent: 40% of the answers, drawn one by one without replacement, regardless
of worker and question, in each repetition. The true values are the shares among the drawn answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from annotations.exchange import InputError, OutputFolder
from evaluation.consensus.inputs import Answers, Progress
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.core.stats.cells import Booleans
from evaluation.core.stats.statistics.descriptive import wilson_interval
from evaluation.evidence.baselines import (
    CONTRADICTION,
    METHODS,
    WITH_ENTAILMENT,
    Method,
    list_methods,
)
from evaluation.evidence.baselines.corpus import MeanAnswerScore
from evaluation.evidence.corpus import CorpusVectors, build_corpus
from evaluation.evidence.data_sets import (
    BEETLE,
    BEETLE_QUESTIONS,
    StudentAnswers,
    load_beetle_questions,
    load_beetle_references,
    load_labelled_beetle,
)
from evaluation.evidence.entailment.table import (
    EntailmentRow,
    block_trained_model,
    build_entailment_rows,
    describe_differences_from_aqer,
    flag_untrained_questions,
    write_entailment_table,
)
from evaluation.evidence.labelled_crowd import (
    AGREEMENT_HEADER,
    LabelledCrowd,
    MethodAgreement,
    compute_agreements,
    find_best_baselines,
)
from evaluation.evidence.likelihood import (
    Likelihoods,
    describe_likelihoods,
    draw_other_answers,
    measure_likelihoods,
)
from evaluation.evidence.method_comparison import HEADER as ANSWERS_HEADER
from evaluation.evidence.method_comparison import (
    AnswerMeasure,
    build_method_charts,
    measure_answer_scores,
)
from evaluation.evidence.tables import EvidenceRequest, StudyTable, write_evidence, write_table
from evaluation.grading.facts.methods import Verdict
from evaluation.grading.facts.run import CrowdFacts, SlotShares, find_crowd_facts
from evaluation.grading.facts.texts import FactReader

CORRECT = "correct"
# Shares of the answers that have to state a slot: the one in force first, then looser ones.
GATES = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
QUESTIONS = ("question", "answers", "median_words", "slot", "stated", "silent")
GATED = ("stated", "questions", "flagged", "not_correct", "share", "low", "high")
FLAGS = ("stated", "question", "worker", "answer", "label", "slot", "value", "crowd", "n", "of")


def write_fact_tables(
    folder: OutputFolder, students: StudentAnswers, question_texts: Mapping[str, str]
) -> None:
    """Write the tables fact_questions, fact_gates and fact_flags of real students' facts.

    fact_flags lists every answer that contradicts the crowd at any gate, with the share of the
    answers to its question that state the slot; each contradicting value has a row.
    """
    columns = (students.workers.tolist(), students.questions.tolist(), students.texts)
    answers = Answers.from_rows(
        (row, *cells, False) for row, cells in enumerate(zip(*columns, strict=True))
    )
    wanted = _find_requested_slots(answers, question_texts)
    facts_by_gate = {gate: find_crowd_facts(question_texts, answers, stated=gate) for gate in GATES}
    question_rows = list(_build_question_rows(answers, wanted, facts_by_gate))
    write_table(folder, "fact_questions", QUESTIONS, question_rows)
    gate_rows = [_build_gate_row(gate, facts_by_gate[gate], students) for gate in GATES]
    write_table(folder, "fact_gates", GATED, gate_rows)
    flag_rows = list(_build_flag_rows(facts_by_gate[min(GATES)], students, wanted))
    write_table(folder, "fact_flags", FLAGS, flag_rows)


def _find_requested_slots(
    answers: Answers, question_texts: Mapping[str, str]
) -> dict[str, SlotShares]:
    """Return the fact slots that each question requests, by the share of answers with them."""
    reader = FactReader(answers.texts)
    texts: dict[str, list[str]] = {}
    for question, text in zip(answers.questions, answers.texts, strict=True):
        texts.setdefault(question, []).append(text)
    return {
        question: SlotShares.from_texts(
            given, reader.read_facts(question_texts.get(question, ""), given)
        )
        for question, given in texts.items()
    }


def _build_question_rows(
    answers: Answers, wanted: Mapping[str, SlotShares], found: Mapping[float, CrowdFacts]
) -> Iterator[tuple[str, int, float, str, float, str]]:
    """Yield a table row per question with its most stated fact slot, by decreasing share."""
    silent = found[GATES[0]].silent
    rows = []
    for question, asks in wanted.items():
        slot, share = max(asks.shares.items(), key=lambda one: one[1], default=("", 0.0))
        n = answers.questions.count(question)
        rows.append((question, n, asks.words, slot, share, silent.get(question, "")))
    yield from sorted(rows, key=lambda row: (-row[4], row[0]))


def _list_flagged_answers(crowd_facts: CrowdFacts) -> list[int]:
    """Return the sorted row numbers of the answers that contradict the crowd."""
    return sorted(
        {answer.key for answer in crowd_facts.answers if answer.verdict == Verdict.CONTRADICTS}
    )


def _build_gate_row(
    gate: float, crowd_facts: CrowdFacts, students: StudentAnswers
) -> tuple[float, int, int, int, float | None, float | None, float | None]:
    """Return a gate's row: questions, flagged and wrong answers, share wrong with interval."""
    flagged = _list_flagged_answers(crowd_facts)
    wrong = int((students.labels[flagged] != CORRECT).sum())
    share = wrong / len(flagged) if flagged else None
    low, high = wilson_interval(share, len(flagged)) if share is not None else (None, None)
    ends = (None if low is None else float(low), None if high is None else float(high))
    return gate, len(crowd_facts.questions), len(flagged), wrong, share, *ends


def _build_flag_rows(
    crowd_facts: CrowdFacts, students: StudentAnswers, wanted: Mapping[str, SlotShares]
) -> Iterator[tuple[object, ...]]:
    """Yield each contradicting fact with its answer and label, by decreasing share of its slot."""
    rows = [answer for answer in crowd_facts.answers if answer.verdict == Verdict.CONTRADICTS]
    rows.sort(key=lambda one: (-wanted[one.question].shares[one.slot], one.question, one.key))
    for row in rows:
        yield (
            wanted[row.question].shares[row.slot],
            row.question,
            row.name,
            students.texts[row.key],
            str(students.labels[row.key]),
            row.slot,
            row.value,
            row.crowd,
            row.n_crowd,
            row.of,
        )


ALL = "all"
PART = "40-percent"
NOT_TRAINED = "not-trained"
SHARE = 0.4
CONTRADICTORY = "contradictory"
# Which answers should score higher than contradictory ones; the last one is of the five-way labels.
HIGHER = (CORRECT, "incorrect", "partially_correct_incomplete")
# Methods that may detect contradiction, and their names in a sentence.
WITH_MODELS = {
    "aqer": "cosine (aqer)",
    "judge": "a language model as judge",
    "contradiction": "an entailment model",
}


def reproduce_real_workers(
    request: EvidenceRequest, progress: Progress | None = None
) -> StudyTable:
    """Write the tables on real students' answers; return that of the methods' agreement.

    They are table.csv, agreement.csv and answers.csv.

    The tables on facts are fact_questions.csv, fact_gates.csv and fact_flags.csv.

    Raises `InputError` and `BackendError`.
    """
    students = load_labelled_beetle(request.data)
    # Before the output folder is staged: the replies are stored in the folder itself.
    likelihoods = _measure_likelihoods(students, request, progress)
    with OutputFolder(request.output) as folder:
        references = load_beetle_references(request.data, students)
        vectors = CorpusVectors(students.texts, progress, list(references.values()) or None)
        corpus, judge_settings = build_corpus(
            students.texts,
            students.questions,
            vectors,
            request,
            progress,
            asked=_load_question_texts(request, students),
            references=bool(references),
            reference_texts=references or None,
        )
        values = (students.labels == CORRECT).astype(np.float64)
        contrasts = _build_contrasts(students)
        gain_rows = []
        if request.nli is not None:
            untrained = flag_untrained_questions(corpus, request.nli)
            gain_rows = _compare_entailment_with_aqer(
                LabelledCrowd(corpus, students.workers, values),
                untrained,
                # The last one: with five-way labels it is that of partly right answers.
                list(contrasts.values())[-1],
                request,
                progress,
            )
            write_entailment_table(folder, gain_rows)
            corpus = block_trained_model(corpus, untrained)
        crowd = LabelledCrowd(corpus, students.workers, values)
        chosen = [*list_methods(core=request.core), *([] if request.core else [CONTRADICTION])]
        likelihood_rows = _build_likelihood_rows(crowd, likelihoods, contrasts, request)
        if likelihoods is not None:
            write_entailment_table(folder, likelihood_rows, "likelihood")
        agreement_rows = _compute_agreements(crowd, chosen, request, progress)
        answer_rows = _measure_answer_scores(crowd, chosen, contrasts, request, progress)
        agreement_cells = [row.list_cells() for row in agreement_rows]
        write_table(folder, "agreement", AGREEMENT_HEADER, agreement_cells)
        write_table(folder, "answers", ANSWERS_HEADER, [row.list_cells() for row in answer_rows])
        write_fact_tables(folder, students, load_beetle_questions(request.data))
        rows = [agreement.row for agreement in agreement_rows]
        write_evidence(
            folder,
            rows,
            {
                "study": "real-workers",
                "answers": len(students.texts),
                "workers": crowd.n_workers,
                "questions": corpus.n_questions,
                "correct": float(values.mean()),
                "repetitions": {ALL: 1, PART: request.repetitions},
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "truth": "share of correct answers among a student's first attempts",
                "embedders": vectors.describe(),
                "judge": judge_settings,
                "entailment": request.nli,
                "entailment_trained_on": 0
                if request.nli is None
                else corpus.n_questions - int(untrained.sum()),
                "likelihood": likelihoods
                and {**likelihoods.asked, "without_score": likelihoods.n_failed},
                "best_baseline": find_best_baselines(rows),
                "input_hash": combine_hashes(
                    hash_file(request.data / name)
                    for name in (BEETLE, BEETLE_QUESTIONS)
                    if (request.data / name).exists()
                ),
                "versions": collect_versions(),
            },
            build_method_charts(rows, "correlation of workers' scores with their share correct"),
            [*_list_empty_agreements(agreement_rows), *_list_empty_answers(answer_rows)],
        )
    return StudyTable(
        AGREEMENT_HEADER,
        agreement_cells,
        "\n\n".join(
            filter(
                None,
                (
                    describe_contradiction_auc(answer_rows),
                    describe_differences_from_aqer(gain_rows),
                    describe_likelihoods(likelihoods, likelihood_rows),
                ),
            )
        ),
    )


def describe_contradiction_auc(measures: Sequence[AnswerMeasure]) -> str:
    """Return a sentence on how well scores separate partly right from contradictory answers.

    With three-way labels it is on all incorrect answers instead of partly right ones. The methods
    are cosine (`aqer`), and those that need a model.
    """
    by_measure = {(cell.method, cell.measure): cell.estimate for cell in measures}
    parts = []
    for higher in reversed(HIGHER[1:]):
        measure = f"auc_{higher}_over_{CONTRADICTORY}"
        if ("aqer", measure) not in by_measure:
            continue
        for method, label in WITH_MODELS.items():
            one = by_measure.get((method, measure))
            if one is None or one.value is None:
                why = "left out by --core" if one is None else one.reason
                parts.append(f"{label} not measured here ({why})")
            elif one.low is None:
                parts.append(f"{label} {one.value:.2f}")
            else:
                parts.append(f"{label} {one.value:.2f} (95% {one.low:.2f} to {one.high:.2f})")
        return (
            f"How often an answer called {higher} scores higher than a {CONTRADICTORY} one "
            f"(.5 is a coin): {'; '.join(parts)}."
        )
    return ""


def _load_question_texts(request: EvidenceRequest, students: StudentAnswers) -> Mapping[str, str]:
    """Return the text of each question; empty unless all are known."""
    question_texts = load_beetle_questions(request.data)
    return question_texts if set(students.questions.tolist()) <= set(question_texts) else {}


def _build_contrasts(students: StudentAnswers) -> dict[str, tuple[Booleans, Booleans]]:
    """Return the contrasts by name: masks of a label's answers and of the contradictory answers."""
    labels = students.labels
    three_way = HIGHER[:2]
    return {
        f"auc_{name}_over_{CONTRADICTORY}": (labels == name, labels == CONTRADICTORY)
        for name in HIGHER
        if name in three_way or (labels == name).any()
    }


def _measure_likelihoods(
    students: StudentAnswers, request: EvidenceRequest, progress: Progress | None
) -> Likelihoods | None:
    """Return the likelihood scores of answers to some questions; None without `--likelihood`.

    Raises `InputError` if the texts of the questions are unknown.
    """
    if request.likelihood is None:
        return None
    question_texts = _load_question_texts(request, students)
    if not question_texts:
        raise InputError.single(
            str(request.data / BEETLE_QUESTIONS),
            "the texts of the questions are missing, which --likelihood needs",
            "Add the published file.",
        )
    names = sorted(set(students.questions.tolist()))
    drawn = np.random.default_rng([request.seed, 8]).permutation(names)
    chosen = set(drawn[: request.likelihood_questions].tolist())
    rows = np.flatnonzero([question in chosen for question in students.questions.tolist()])
    questions = students.questions[rows].tolist()
    likelihoods = measure_likelihoods(
        request.likelihood,
        [students.texts[row] for row in rows.tolist()],
        [question_texts[question] for question in questions],
        draw_other_answers(questions, students.workers[rows].tolist(), request.seed),
        request.output,
        progress or (lambda *_: None),
    )
    scores = np.full(len(students.texts), np.nan)
    scores[rows] = likelihoods.scores
    return replace(likelihoods, scores=scores)


def _build_likelihood_rows(
    crowd: LabelledCrowd,
    likelihoods: Likelihoods | None,
    contrasts: Mapping[str, tuple[Booleans, Booleans]],
    request: EvidenceRequest,
) -> list[EntailmentRow]:
    """Return the rows of AQER and of the likelihood scores, on the answers that have one."""
    if likelihoods is None or np.isnan(likelihoods.scores).all():
        return []
    scores = likelihoods.scores
    trial = crowd.build_trial(~np.isnan(scores), request.seeds.start)
    method = Method("likelihood", MeanAnswerScore(lambda crowd: scores[crowd.rows]))
    return build_entailment_rows(
        "likelihood",
        [trial],
        crowd.values,
        list(contrasts.values())[-1],
        request.seed,
        methods=(METHODS["aqer"], method),
    )


def _compare_entailment_with_aqer(
    crowd: LabelledCrowd,
    untrained: Booleans,
    contrast: tuple[Booleans, Booleans],
    request: EvidenceRequest,
    progress: Progress | None,
) -> list[EntailmentRow]:
    """Return the entailment model's rows on the questions that it was not trained on.

    Raises `InputError` without such questions.
    """
    if not untrained.any():
        raise InputError.single(
            str(request.nli),
            "the model was trained on all questions of this data set",
            "Train one with --held-out, or on other data.",
        )
    keep = untrained[crowd.corpus.question]
    setting = ALL if untrained.all() else NOT_TRAINED
    trial = crowd.build_trial(keep, request.seeds.start)
    done = 0

    def report_step() -> None:
        """Report that one more method has its rows."""
        nonlocal done
        done += 1
        if progress is not None:
            progress("entailment model", done, len(WITH_ENTAILMENT))

    return build_entailment_rows(
        setting, [trial], crowd.values, contrast, request.seed, report_step
    )


def _compute_agreements(
    crowd: LabelledCrowd,
    chosen: Sequence[Method],
    request: EvidenceRequest,
    progress: Progress | None,
) -> list[MethodAgreement]:
    """Return all methods' agreement on all answers and on 40% of them."""
    done = 0

    def report_step() -> None:
        """Report that one more method is measured."""
        nonlocal done
        done += 1
        if progress is not None:
            progress("methods", done, 2 * len(chosen))

    settings = {
        ALL: [crowd.build_trial(seed=request.seeds.start)],
        PART: crowd.draw_partial_trials(SHARE, request.seeds),
    }
    return [
        row
        for setting, trials in settings.items()
        for row in compute_agreements(setting, crowd, trials, chosen, request.seed, report_step)
    ]


def _measure_answer_scores(
    crowd: LabelledCrowd,
    chosen: Sequence[Method],
    contrasts: Mapping[str, tuple[Booleans, Booleans]],
    request: EvidenceRequest,
    progress: Progress | None,
) -> list[AnswerMeasure]:
    """Return the measures of all methods' answer scores on the whole crowd."""
    trial = crowd.build_trial(seed=request.seeds.start)
    measures: list[AnswerMeasure] = []
    for done, method in enumerate(chosen):
        measures += measure_answer_scores(ALL, trial, crowd.values, method, contrasts, request.seed)
        if progress is not None:
            progress("answers", done + 1, len(chosen))
    return measures


def _list_empty_agreements(agreements: Sequence[MethodAgreement]) -> list[dict[str, object]]:
    """Return the summary entries of methods without a correlation."""
    return [
        {
            "file": "agreement.csv",
            "column": "pearson",
            "reason": agreement.row.get_reason("pearson_mean"),
            "count": 1,
            "rows": [[agreement.row.setting, agreement.row.method]],
        }
        for agreement in agreements
        if np.isnan(agreement.row.pearson_mean)
    ]


def _list_empty_answers(answer_measures: Sequence[AnswerMeasure]) -> list[dict[str, object]]:
    """Return the summary entries of measures without a number or an interval."""
    return [
        {
            "file": "answers.csv",
            "column": "low" if cell.estimate.value is not None else "value",
            "reason": cell.estimate.reason,
            "count": 1,
            "rows": [[cell.setting, cell.method, cell.measure]],
        }
        for cell in answer_measures
        if cell.estimate.reason is not None
    ]
