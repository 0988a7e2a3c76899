"""A consensus on two questions whose scores can be computed by hand, and an embedder for it."""

import numpy as np

from evaluation.scorer.run import Origin, ScoredQuestion, ScorerContent, ScorerOptions

VECTORS = {"north": (3, 4), "south": (0, 1), "both": (1, 1), "nothing": (0, 0)}
# Scores of ten people on each question, and their raw scores.
SCORES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
EMBEDDER = {
    "spec": "minilm",
    "model": "all-MiniLM-L6-v2",
    "revision": "53aa51172d14",
    "precision": "float32",
    "dimension": 2,
    "max_length": 256,
}


class Words:
    """An embedder that knows four words."""

    def embed(self, texts):
        return np.array([VECTORS[text] for text in texts], dtype=np.float32).reshape(-1, 2)


def question(name, vector, **values):
    """A question with the vector of its exemplary answer."""
    usual = {
        "text": f"Where does river {name} run?",
        "passage": "",
        "category": "",
        "language": "en",
        "n_answers": 10,
        "dispersion": 0.25,
        "worker_scores": SCORES,
        "lowest": -0.125,
    }
    return ScoredQuestion(question=name, vector=np.array(vector, float), **{**usual, **values})


def content(*questions, **values):
    """What an export of two rivers holds: r1 runs along (1, 0), r2 along (0, 2)."""
    found = questions or (question("r1", (1, 0)), question("r2", (0, 2)))
    usual = {
        "options": ScorerOptions("rivers"),
        "origin": Origin(title="Rivers", licence="CC-BY-4.0", languages=("en",), n_workers=10),
        "embedder": EMBEDDER,
        "worker_scores": SCORES,
    }
    return ScorerContent(**{**usual, "questions": found, **values})
