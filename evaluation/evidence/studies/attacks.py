"""Measure what answers that do not depend on their question earn, and whether an alarm names them.

Some of Beetle's real students become attackers: their first attempts are replaced, all others stay.
What an attacker earns is the share of the honest students whose raw score is lower, under AQER
(leave-one-out mean) and under question contrast.

- none: nothing is replaced, for comparison.
- one_sentence: one sentence as the answer to every question, of each attacker another one: a random
  answer of 5 words or more.
- shared_sentence: the same of all attackers, a random answer of 5 words or more.
- general_sentence: the students' most general answers, of each attacker another one: those with the
  greatest mean cosine to the exemplary answers of all questions.
- same_sentence: one general sentence written for this study, the same of all attackers.
- other_questions: another student's answers, each to another question.
- added_clause: one clause added to each of the attacker's own answers.
- question: the text of the question; off the topic, of another question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.inputs import Progress
from evaluation.consensus.methods.votes import scale_to_unit_length
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.core.stats.cells import Booleans, Floats, Integers, encode_labels
from evaluation.core.stats.grams import convert_to_dense
from evaluation.core.text.quality import count_words
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import (
    BEETLE,
    BEETLE_QUESTIONS,
    StudentAnswers,
    load_beetle,
    load_beetle_questions,
)
from evaluation.evidence.tables import EvidenceRequest, StudyTable, write_table
from evaluation.grading.alarms.run.detection import Alarm, GradedAnswers, detect_alarms

HEADER = (
    *("attack", "topic", "attackers", "crowds", "beats_aqer", "beats_contrast"),
    *("named_repeated", "named_alarm", "honest_repeated"),
)
ON, OFF = "on", "off"
FEWEST_WORDS = 5
# As many as there are attackers at most.
MOST_GENERAL = 15
SENTENCES = {
    ON: "the battery and the bulb are connected in a closed path through the terminals",
    OFF: "Thank you for this very interesting study, I enjoyed taking part in it",
}
CLAUSES = {
    ON: "because the battery, the bulb and the terminals are connected in a closed path",
    OFF: "and thank you for this very interesting study",
}


@dataclass(frozen=True)
class Attacker:
    """Worker who attacks: index among the attackers, rows of the own answers, random generator."""

    place: int
    rows: Integers
    rng: np.random.Generator


Write = Callable[["AttackedCrowd", Attacker], list[str]]


@dataclass(frozen=True)
class Attack:
    """An attack: the texts that some workers give in place of their answers.

    Attributes
    ----------
    name, topic : as in the table. n_attackers : number of attackers in a crowd.
    write : function from the crowd and an attacker to the attacker's texts; None to keep the
        attacker's own answers.
    is_shared : whether all attackers draw the same texts.
    """

    name: str
    topic: str
    n_attackers: int
    write: Write | None
    is_shared: bool = False


@dataclass(frozen=True)
class AttackedCrowd:
    """Real students with the texts of their questions; some become attackers.

    Attributes
    ----------
    worker : (N,) code of each answer's author. asked : text of each question, by label.
    general : the students' most general answers, the most general one first.
    """

    students: StudentAnswers
    worker: Integers
    asked: Mapping[str, str]
    general: Sequence[str] = ()

    def draw_sentence(self, rng: np.random.Generator) -> str:
        """Return a random student answer of 5 words or more."""
        while True:
            text = self.students.texts[int(rng.integers(len(self.students.texts)))]
            if count_words(text) >= FEWEST_WORDS:
                return text

    def replace_texts(self, attack: Attack, seed: int) -> tuple[list[str], Integers]:
        """Return the crowd's texts under attack, and the codes of the attackers.

        Attackers depend on the seed alone, so that attacks are compared on the same students.
        """
        rng = np.random.default_rng(seed)
        attackers = rng.permutation(int(self.worker.max()) + 1)[: attack.n_attackers]
        texts = list(self.students.texts)
        # Attackers are drawn even if nothing is replaced: "none" is measured on the same students.
        for place, code in enumerate(attackers.tolist() if attack.write else ()):
            assert attack.write is not None
            draws = np.random.default_rng([seed, 1]) if attack.is_shared else rng
            attacker = Attacker(place, np.flatnonzero(self.worker == code), draws)
            written = attack.write(self, attacker)
            for row, text in zip(attacker.rows.tolist(), written, strict=True):
                texts[row] = text
        return texts, attackers


def _write_random_sentence(crowd: AttackedCrowd, attacker: Attacker) -> list[str]:
    """Return the attacker's texts: one random sentence for all questions."""
    return [crowd.draw_sentence(attacker.rng)] * len(attacker.rows)


def _write_general_answer(crowd: AttackedCrowd, attacker: Attacker) -> list[str]:
    """Return the attacker's texts: one of the students' most general answers for all questions."""
    return [crowd.general[attacker.place]] * len(attacker.rows)


def _build_fixed_sentence_attack(topic: str) -> Write:
    """Return the attack in which all attackers answer all questions with one fixed sentence."""
    return lambda crowd, attacker: [SENTENCES[topic]] * len(attacker.rows)


def _move_answers(crowd: AttackedCrowd, attacker: Attacker) -> list[str]:
    """Return the attacker's texts: another student's answers, each moved to another question."""
    questions, texts = crowd.students.questions, crowd.students.texts
    rows, rng = attacker.rows, attacker.rng
    while True:
        other = int(rng.integers(int(crowd.worker.max()) + 1))
        source = np.flatnonzero(crowd.worker == other)
        # With two answers at least one is to another question, whichever question it replaces.
        if other != crowd.worker[rows[0]] and len(source) > 1:
            break
    written = []
    for row in rows.tolist():
        usable = source[questions[source] != questions[row]]
        written.append(texts[int(rng.choice(usable))])
    return written


def _build_clause_attack(topic: str) -> Write:
    """Return the attack that adds a clause to each of the attacker's own answers."""

    def write(crowd: AttackedCrowd, attacker: Attacker) -> list[str]:
        """Return the attacker's own texts, each with the clause."""
        texts = crowd.students.texts
        return [f"{texts[row].rstrip('. ')} {CLAUSES[topic]}" for row in attacker.rows.tolist()]

    return write


def _repeat_question(crowd: AttackedCrowd, attacker: Attacker) -> list[str]:
    """Return the attacker's texts: each question's own text."""
    return [crowd.asked[crowd.students.questions[row]] for row in attacker.rows.tolist()]


def _repeat_other_question(crowd: AttackedCrowd, attacker: Attacker) -> list[str]:
    """Return the attacker's texts: for each question, the text of a random other question."""
    rows = attacker.rows
    own = [crowd.students.questions[row] for row in attacker.rng.permutation(rows).tolist()]
    # Cyclic, so that no question gets its own text.
    following = dict(zip(own, [*own[1:], own[0]], strict=True))
    return [crowd.asked[following[crowd.students.questions[row]]] for row in rows.tolist()]


ATTACKS = (
    Attack("none", "", 1, None),
    *(Attack("one_sentence", ON, n, _write_random_sentence) for n in (1, 8, 15)),
    *(Attack("shared_sentence", ON, n, _write_random_sentence, is_shared=True) for n in (8, 15)),
    *(Attack("general_sentence", ON, n, _write_general_answer) for n in (1, 8, MOST_GENERAL)),
    *(
        Attack("same_sentence", topic, n, _build_fixed_sentence_attack(topic))
        for topic in (ON, OFF)
        for n in (1, 8, 15)
    ),
    Attack("other_questions", ON, 1, _move_answers),
    Attack("added_clause", ON, 1, _build_clause_attack(ON)),
    Attack("added_clause", OFF, 1, _build_clause_attack(OFF)),
    Attack("question", ON, 1, _repeat_question),
    Attack("question", OFF, 1, _repeat_other_question),
)


@dataclass(frozen=True)
class AttackOutcome:
    """Result of one attack on one crowd: honest students beaten, attackers named by alarms.

    Attributes
    ----------
    beats_aqer, beats_contrast : share of honest ranked students below an attacker, mean over the
        attackers; ties count half.
    named_repeated, named_alarm : share of the attackers that the alarm `repeated`, or any alarm,
        names. honest_repeated : number of honest students that the alarm `repeated` names.
    """

    beats_aqer: float
    beats_contrast: float
    named_repeated: float
    named_alarm: float
    honest_repeated: float


def reproduce_attacks(request: EvidenceRequest, progress: Progress | None = None) -> StudyTable:
    """Write and return the table of what attacks earn, attacks.csv, with a summary.

    Raises `InputError` and `BackendError`.
    """
    with OutputFolder(request.output) as folder:
        students = load_beetle(request.data)
        question_texts = load_beetle_questions(request.data)
        vectors = _AttackVectors(CorpusVectors(students.texts, progress), request.embedder)
        crowd = AttackedCrowd(
            students,
            encode_labels(students.workers)[0],
            question_texts,
            find_general_answers(students, vectors.students)[:MOST_GENERAL],
        )
        attacks = [attack for attack in ATTACKS if question_texts or attack.name != "question"]
        rows = []
        for done, attack in enumerate(attacks):
            outcomes = [
                _measure_attack(vectors, crowd, *crowd.replace_texts(attack, seed))
                for seed in request.seeds
            ]
            means = np.mean([list(vars(outcome).values()) for outcome in outcomes], axis=0).tolist()
            rows.append((attack.name, attack.topic, attack.n_attackers, len(outcomes), *means))
            if progress is not None:
                progress("attacks", done + 1, len(attacks))
        write_table(folder, "attacks", HEADER, rows)
        folder.write_json(
            "summary.json",
            {
                "study": "attacks",
                "answers": len(students.texts),
                "workers": int(crowd.worker.max()) + 1,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "embedders": vectors.corpus.describe(),
                "undefined": [],
                "input_hash": combine_hashes(
                    hash_file(request.data / name)
                    for name in (BEETLE, BEETLE_QUESTIONS)
                    if (request.data / name).exists()
                ),
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


def find_general_answers(students: StudentAnswers, x: Floats) -> list[str]:
    """Return the different answers by decreasing mean cosine to all questions' exemplary answers.

    `x` are the vectors (N, d) of the answers. Ties keep the order of the answers.
    """
    aqer = AQER(n_draws=0).fit(x, students.workers, students.questions)
    exemplars = convert_to_dense(aqer.compute_exemplars())
    first: dict[str, int] = {}
    for row, text in enumerate(students.texts):
        first.setdefault(text, row)
    rows = np.array(list(first.values()))
    cosines = np.asarray(scale_to_unit_length(x[rows]) @ scale_to_unit_length(exemplars).T)
    order = np.argsort(-cosines.mean(axis=1), kind="stable")
    return [students.texts[row] for row in rows[order].tolist()]


class _AttackVectors:
    """Vectors of the students' texts and of attackers' texts, each computed once."""

    def __init__(self, corpus: CorpusVectors, embedder: str) -> None:
        self.corpus, self.embedder = corpus, embedder
        self.students = convert_to_dense(corpus.embed_texts(embedder))
        self._known: dict[str, int] = {}
        self._further: list[Floats] = []

    def embed(self, texts: Sequence[str], written: Integers) -> Floats:
        """Return the vectors (N, d) of the crowd's texts, of which `written` were replaced."""
        # A copy, because the students' vectors are used by every attack.
        out = self.students.copy()
        new = list(dict.fromkeys(t for row in written if (t := texts[row]) not in self._known))
        if new:
            vectors = convert_to_dense(self.corpus.embed_further_texts(self.embedder, new))
            for text, row in zip(new, vectors, strict=True):
                self._known[text] = len(self._further)
                self._further.append(row)
        for row in written.tolist():
            out[row] = self._further[self._known[texts[row]]]
        return out


def _measure_attack(
    vectors: _AttackVectors, crowd: AttackedCrowd, texts: list[str], attackers: Integers
) -> AttackOutcome:
    """Return the outcome of an attack: students that attackers beat, attackers that alarms name."""
    replaced = [new != old for new, old in zip(texts, crowd.students.texts, strict=True)]
    x = vectors.embed(texts, np.flatnonzero(replaced))
    parameters = AqerParameters(embedder=vectors.embedder, bootstrap=0)
    worker, question = crowd.worker, crowd.students.questions
    aqer = parameters.build_estimator().fit(x, worker, question)
    answers = GradedAnswers(texts, worker.tolist(), question.tolist(), x)
    alarms = [alarm for alarm in detect_alarms(parameters, aqer, answers).found if alarm.workers]
    m = len(aqer.workers_)
    is_attacker = np.isin(np.arange(m), attackers)
    # Scores of very few answers are unreliable, so only ranked students are compared.
    honest = ~is_attacker & aqer.supported_
    is_repeated = _flag_named_workers([alarm for alarm in alarms if alarm.kind == "repeated"], m)
    is_named = _flag_named_workers([alarm for alarm in alarms if alarm.severity == "alarm"], m)
    return AttackOutcome(
        compute_beaten_share(_average_leave_one_out_scores(aqer, worker), is_attacker, honest),
        compute_beaten_share(aqer.contrasts_.means, is_attacker, honest),
        float(is_repeated[attackers].mean()),
        float(is_named[attackers].mean()),
        float(is_repeated[~is_attacker].sum()),
    )


def _average_leave_one_out_scores(aqer: AQER, worker: Integers) -> Floats:
    """Return each worker's mean leave-one-out score. Shape (M,)."""
    scores = aqer.leave_one_out_scores_
    known = ~np.isnan(scores)
    n = np.bincount(worker[known], minlength=len(aqer.workers_))
    total = np.bincount(worker[known], scores[known], len(aqer.workers_))
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _flag_named_workers(alarms: Sequence[Alarm], n_workers: int) -> Booleans:
    """Return flags of the workers that any alarm names. Shape (M,)."""
    named = np.zeros(n_workers, dtype=bool)
    for alarm in alarms:
        named[list(alarm.workers)] = True
    return named


def compute_beaten_share(scores: Floats, is_attacker: Booleans, honest: Booleans) -> float:
    """Return the mean share of honest workers with a score below an attacker's; ties count half."""
    below = scores[is_attacker, None] > scores[honest]
    equal = scores[is_attacker, None] == scores[honest]
    return float((below + 0.5 * equal).mean())
