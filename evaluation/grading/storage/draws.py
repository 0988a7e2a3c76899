"""Bootstrap draws of a grading run: stored parts, and tasks that compute them on all processes.

A run's turn computes chunks of draws one after the other. If its speed shows that the rest takes
longer than two tasks, it stores the rest as tasks and ends. A process that claims a task reads the
run's answers and vectors once, and computes the same numbers as the turn would: chunks and their
random numbers are the same in every process. The next turn finds all draws stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.inputs import EmbeddedAnswers, EmbedTexts, GradingInput, embed
from evaluation.consensus.methods.resampling import Bootstrap
from evaluation.consensus.methods.scale import RemedyError
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.core.backends import EmbedderInfo
from evaluation.core.stats.cells import Booleans, Floats
from evaluation.grading.run.grading import prepare_bootstrap
from evaluation.grading.storage.inputs import load_inputs
from evaluation.models import DrawPart, EmbedderVersion, RunTask
from evaluation.runs.steps.cache import find_embedder_version, load_vectors_of_texts
from evaluation.runs.steps.checkpoints import Lane, RunInputError, Turn
from evaluation.runs.steps.run_tasks import split_by_work, store_task_progress, store_tasks

SECONDS_BETWEEN_PARTS = 30.0
"""Seconds between two stored parts: what a process that dies may lose. A short run stores none."""
LARGEST = 32_000_000
"""Bytes of one column of one row, well below what the databases take."""
SUBJECT = "draws"


@dataclass
class DrawParts:
    """Store of a run's bootstrap draws in the database, from which an interrupted run continues.

    Attributes
    ----------
    divisible : whether other processes can compute draws of the run.
    info : embedder of the run's vectors.
    """

    turn: Turn
    run_id: int
    input_hash: str
    divisible: bool = False
    info: EmbedderInfo | None = None
    _saved: int = field(default=0, init=False)
    _saved_at: float = field(init=False)
    _bootstrap: Bootstrap | None = field(default=None, init=False)
    _began: tuple[int, float] = field(default=(0, 0.0), init=False)

    def __post_init__(self) -> None:
        self._saved_at = self.turn.clock()

    @classmethod
    def from_input(cls, grading_input: GradingInput, turn: Turn) -> DrawParts:
        """Return the store of a run's draws, without draws of other answers or code versions."""
        return cls(
            turn,
            turn.run_id,
            hash_input(grading_input),
            # Each process would load the entailment model and repeat its work.
            divisible=grading_input.parameters.init != "entailment",
        )

    def begin_bootstrap(self, bootstrap: Bootstrap) -> None:
        """Keep the bootstrap, whose chunks of draws may be stored as tasks."""
        self._bootstrap = bootstrap

    def read_stored_draws(self) -> tuple[Floats, Floats] | None:
        """Return the raw scores and votes (M, k) of the stored first draws; None without draws."""
        parts = []
        # In the order of `first`, which is the model's own.
        for part in DrawPart.objects.filter(run=self.run_id, input_hash=self.input_hash):
            if part.first != self._saved:
                break  # a part before it is missing
            parts.append([_read_matrix(part, part.raw), _read_matrix(part, part.votes)])
            self._saved += part.n_draws
        self._began = (self._saved, self.turn.clock())
        if not parts:
            return None
        raw, votes = (np.hstack(columns) for columns in zip(*parts, strict=True))
        return raw, votes

    def store_draws(self, raw: Floats, votes: Floats) -> None:
        """Store new draws, every 30 seconds and when the turn's time is over.

        `raw` and `votes` (M, k) hold all draws so far. If many are missing, tasks are stored that
        compute them: raises `WaitsForTasksError`. Raises `OutOfTimeError` when the time is over.
        """
        chunks_of_tasks = self._divide_draws(raw.shape[1])
        now, over = self.turn.clock(), self.turn.is_over()
        if chunks_of_tasks or over or now - self._saved_at >= SECONDS_BETWEEN_PARTS:
            self._store_draws(raw, votes)
        if chunks_of_tasks:
            self._store_tasks(chunks_of_tasks)
        if over:
            self.turn.check_interruption()

    def _store_draws(self, raw: Floats, votes: Floats) -> None:
        """Store the draws that are not in the database yet, in one transaction."""
        stop = raw.shape[1]
        with self.turn.open_fenced_transaction():
            # Of other answers, or of a turn that lost its claim just now.
            others = DrawPart.objects.filter(run=self.run_id)
            others.exclude(input_hash=self.input_hash).delete()
            others.filter(first__gte=self._saved, first__lt=stop).delete()
            new = slice(self._saved, stop)
            store_part(self.run_id, self.input_hash, self._saved, raw[:, new], votes[:, new])
        # Only after the transaction: what was rolled back must be stored again.
        self._saved, self._saved_at = stop, self.turn.clock()

    def _divide_draws(self, done: int) -> list[list[int]]:
        """Return, per task, the chunks of the draws missing after `done`; empty if they are few."""
        if not self.divisible or self._bootstrap is None:
            return []
        draws = self._bootstrap.draws
        if done == draws.n_draws:
            return []
        is_stored = self._find_stored(draws.n_draws)
        missing = [
            (number, columns)
            for number, columns in enumerate(draws.chunks)
            if columns.start >= done and not is_stored[columns].all()
        ]
        if not missing or self._is_left_to_turn():
            return []
        first, began = self._began
        speed = (done - first) / max(self.turn.clock() - began, 1e-9)
        sizes = [float(columns.stop - columns.start) for _, columns in missing]
        tasks = split_by_work(sizes, speed)
        if not tasks and is_stored[done:].any():
            # Stored draws after missing ones would be computed again in this turn.
            tasks = [slice(0, len(missing))]
        return [[number for number, _ in missing[part]] for part in tasks]

    def _find_stored(self, n_draws: int) -> Booleans:
        """Return whether each draw is stored (n_draws,)."""
        is_stored = np.zeros(n_draws, dtype=bool)
        parts = DrawPart.objects.filter(run=self.run_id, input_hash=self.input_hash)
        for first, count in parts.values_list("first", "n_draws"):
            is_stored[first : first + count] = True
        return is_stored

    def _is_left_to_turn(self) -> bool:
        """Return whether a task ended without draws because answers or code had changed."""
        tasks = RunTask.objects.filter(run=self.run_id, kind=RunTask.Kind.DRAWS, work=0)
        return tasks.filter(state=RunTask.State.DONE).exists()

    def _store_tasks(self, chunks_of_tasks: Sequence[Sequence[int]]) -> None:
        """Store one task per list of chunks, then raise `WaitsForTasksError` to end the turn."""
        assert self._bootstrap is not None
        columns = self._bootstrap.draws.chunks
        version = None if self.info is None else find_embedder_version(self.info)
        payloads = [
            (
                sum(columns[number].stop - columns[number].start for number in numbers),
                {
                    "input_hash": self.input_hash,
                    "embedder_version": version and version.pk,
                    "chunks": list(numbers),
                },
            )
            for numbers in chunks_of_tasks
        ]
        store_tasks(self.turn, RunTask.Kind.DRAWS, SUBJECT, Lane.COMPUTING, payloads)


def hash_input(grading_input: GradingInput) -> str:
    """Return the hash that identifies draws: of the answers, the options and the code version."""
    # Draws of another version of the code may follow other rules, and must not be joined to new
    # ones.
    return combine_hashes([grading_input.compute_hash(), collect_versions()["crowdgrade"]])


def store_part(run_id: int, input_hash: str, first: int, raw: Floats, votes: Floats) -> None:
    """Store draws from number `first` on, within `turn.open_fenced_transaction()`."""
    step = max(1, LARGEST // (8 * len(raw)))
    for begin, end in pairwise([*range(0, raw.shape[1], step), raw.shape[1]]):
        DrawPart.objects.create(
            run_id=run_id,
            input_hash=input_hash,
            first=first + begin,
            n_draws=end - begin,
            n_workers=len(raw),
            raw=raw[:, begin:end].astype("<f8").tobytes(),
            votes=votes[:, begin:end].astype("<f8").tobytes(),
        )


def _read_matrix(part: DrawPart, column: bytes | memoryview) -> NDArray[np.float64]:
    """Return a stored column as a matrix (M, n_draws) of workers and draws."""
    return np.frombuffer(column, dtype="<f8").reshape(part.n_workers, part.n_draws)


class _PreparedError(Exception):
    """Raised to end a fit once its bootstrap is prepared; the error carries the bootstrap."""

    def __init__(self, bootstrap: Bootstrap) -> None:
        super().__init__()
        self.bootstrap = bootstrap


class _InputChangedError(Exception):
    """Error that a run's answers or vectors changed after a task was stored."""


class _PreparingStore:
    """Draw store that ends a fit before its first draw, by raising `_PreparedError`."""

    def begin_bootstrap(self, bootstrap: Bootstrap) -> None:
        """Raise `_PreparedError` with the bootstrap."""
        raise _PreparedError(bootstrap)

    def read_stored_draws(self) -> None:
        """Return None; never called."""

    def store_draws(self, raw: Floats, votes: Floats) -> None:
        """Do nothing; never called."""


_prepared: dict[tuple[int, str], Bootstrap] = {}
"""Bootstrap of the run whose draws this process computes, by run and hash of the input."""


def compute_task_draws(turn: Turn, task: RunTask) -> None:
    """Compute the draws of a task, and store each chunk in a transaction of its own.

    Stores none where the answers have changed since or this process has another version of the
    code: the run's next turn then computes what is missing.
    """
    data = dict(task.payload or {})
    try:
        bootstrap = _get_bootstrap(turn, data["input_hash"], data["embedder_version"])
    except (_InputChangedError, RunInputError, RemedyError):
        return
    left: list[int] = data["chunks"]
    while left:
        turn.check_interruption()
        number, left = left[0], left[1:]
        columns = bootstrap.draws.chunks[number]
        began = turn.clock()
        raw, votes = bootstrap.compute_chunk(number)
        seconds = turn.clock() - began
        n_draws = raw.shape[1]
        with turn.open_fenced_transaction():
            # Of other answers; no other process can have stored this chunk under the same claim.
            DrawPart.objects.filter(
                run=turn.run_id, first__gte=columns.start, first__lt=columns.stop
            ).delete()
            store_part(turn.run_id, data["input_hash"], columns.start, raw, votes)
            store_task_progress(task, n_draws, {**data, "chunks": left}, n_draws, seconds)
    waiting = RunTask.objects.filter(run=turn.run_id, state=RunTask.State.WAITING)
    if not waiting.exists():
        _prepared.clear()


def _get_bootstrap(turn: Turn, input_hash: str, version_id: int | None) -> Bootstrap:
    """Return the bootstrap of a run, prepared once per process; raise `_InputChangedError`."""
    key = (turn.run_id, input_hash)
    if key not in _prepared:
        # Before, because two large crowds may not fit into memory.
        _prepared.clear()
        inputs = load_inputs(turn.run_id)
        if hash_input(inputs) != input_hash:
            raise _InputChangedError
        turn.check()
        try:
            prepare_bootstrap(inputs, _choose_vectors(inputs, version_id), _PreparingStore())
        except _PreparedError as error:
            _prepared[key] = error.bootstrap
    return _prepared[key]


def _choose_vectors(inputs: GradingInput, version_id: int | None) -> EmbedTexts:
    """Return the function that loads a run's stored vectors, or embeds its texts without any."""
    if version_id is None:
        return partial(embed, inputs.parameters)
    version = EmbedderVersion.objects.get(pk=version_id)

    def load_vectors(answers: Sequence[str], of_models: Sequence[str] | None) -> EmbeddedAnswers:
        """Return the stored vectors of the run's answers, in place of embedding the texts."""
        vectors = load_vectors_of_texts(version, [*answers, *(of_models or ())])
        if vectors is None:
            raise _InputChangedError
        n = len(answers)
        info = EmbedderInfo(
            inputs.parameters.embedder,
            version.model,
            version.revision,
            version.precision,
            version.dimension,
        )
        return EmbeddedAnswers(vectors[:n], None if of_models is None else vectors[n:], info)

    return load_vectors
