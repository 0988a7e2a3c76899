"""Crowds in which one alarm rings, made of words that mean nothing; every one is graded by words.

Of each question there is a key of twelve words. Who knows more of it says more of its words, in an
order of their own, among words that nobody else says.
"""

import random

PEOPLE = tuple(f"p{at:02}" for at in range(14))
N_QUESTIONS = 12
KEY = 12


def word(rng, syllables=3):
    letters = "bdfgklmnprstvz", "aeiou"
    return "".join(rng.choice(kind) for _ in range(syllables) for kind in letters)


def honest(knows=lambda person: 0.95 - 0.05 * person, own=6, seed=1):
    """Return {(person, question): answer} of a crowd in which nothing rings."""
    rng, said = random.Random(seed), {}
    for question in range(N_QUESTIONS):
        key = [word(rng) for _ in range(KEY)]
        for at, person in enumerate(PEOPLE):
            share = knows(at)
            words = [one for one in key if rng.random() < share]
            words += [word(rng) for _ in range(round(own * (1 - share)) + 1)]
            rng.shuffle(words)
            said[person, f"q{question:02}"] = " ".join(words)
    return said


def with_equal_lengths(said):
    """Return a crowd's answers, each with as many words nobody else says as the longest lacks."""
    rng, most = random.Random(2), max(len(text.split()) for text in said.values())
    return {
        key: " ".join([*text.split(), *(word(rng) for _ in range(most - len(text.split())))])
        for key, text in said.items()
    }


def copied(n_copied=N_QUESTIONS):
    """Return a crowd in which p09 pastes so many answers of p08."""
    said = honest()
    for question in range(n_copied):
        said["p09", f"q{question:02}"] = said["p08", f"q{question:02}"]
    return said


def lost():
    """Return a crowd in which p09 says five times that they do not know."""
    said = honest()
    for question in range(5):
        said["p09", f"q{question:02}"] = "I don't know"
    return said


def few_decide():
    """Return a crowd of four who know nearly everything and ten who know nothing."""
    return honest(lambda person: 0.95 if person < 4 else 0.02, own=10)


def camps(n_right, knows, step):
    """Return a crowd in which the others share another key: two camps of people."""
    rng, said = random.Random(1), {}
    for question in range(14):
        keys = [[word(rng) for _ in range(KEY)] for _ in range(2)]
        for at, person in enumerate(PEOPLE):
            key, place = (keys[0], at) if at < n_right else (keys[1], at - n_right)
            words = [one for one in key if rng.random() < knows - step * place]
            words += [word(rng) for _ in range(3)]
            said[person, f"q{question:02}"] = " ".join(words)
    return said


def several_right():
    """Return a crowd that falls into camps on six questions, each time of other people."""
    rng, said = random.Random(1), {}
    for question in range(14):
        keys = [[word(rng) for _ in range(KEY)] for _ in range(2)]
        others = set(rng.sample(range(14), 5)) if question < 6 else set()
        for at, person in enumerate(PEOPLE):
            words = [one for one in keys[at in others] if rng.random() < 0.85 - 0.03 * at]
            words += [word(rng) for _ in range(2)]
            said[person, f"q{question:02}"] = " ".join(words)
    return said


def endings():
    """Return a crowd of whom every second writes all words, each with an ending of their own.

    By letters they are the nearest to all others, by words the farthest.
    """
    rng, said = random.Random(1), {}
    for question in range(N_QUESTIONS):
        key = [word(rng, 5) for _ in range(KEY)]
        for at, person in enumerate(PEOPLE):
            if at % 2:
                words = [
                    f"{one}{'qxwyjhc'[at // 2]}" for one in key if rng.random() < 0.97 - 0.02 * at
                ]
            else:
                words = [one for one in key if rng.random() < 0.5 - 0.02 * at]
                words += [word(rng, 5) for _ in range(3)]
            said[person, f"q{question:02}"] = " ".join(words)
    return said
