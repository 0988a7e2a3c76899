"""Fine-tune the packaged encoder as a cross-encoder that reads two answers together.

The word embeddings are unchanged, which halves memory and checkpoints. The learning rate falls
to 0 at the last step, or at the end of the time if that comes first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.consensus.inputs import Progress
from evaluation.core.backends.cross_encoder import EntailmentModel
from evaluation.core.backends.embedding import sentences
from evaluation.core.backends.embedding.contract import import_library
from evaluation.core.stats.cells import Floats, Integers
from evaluation.evidence.entailment.pairs import CLASSES, LabelledAnswers, QuestionSplit

PURPOSE = "training an entailment model"
BATCH = 16
LEARNING_RATE = 8e-5
WARM_UP = 0.1
# Texts are short answers: longer pairs are cut while training.
MOST_TOKENS = 128
# Batches whose pairs are sorted by length together, which halves the padding.
SORTED_BATCHES = 32
CHECKPOINT = "checkpoint.pt"
CHECKPOINT_SECONDS = 30.0
# Share of the training after which the first figures are reported.
EARLY = 0.1
# Parts of the progress bar: time and steps have no common unit.
PARTS = 1000

EarlyReport = Callable[[EntailmentModel, float], None]
"""Called with the model, ready to be used, and the share of the training that is over."""


@dataclass(frozen=True)
class TrainingSchedule:
    """Length of a training in epochs and at most in minutes, and the seed of its draws."""

    epochs: int
    minutes: float
    seed: int


@dataclass(frozen=True)
class TrainedModel:
    """A trained model, with the numbers of steps done and planned, and their duration.

    `seconds` is elapsed time; `processor_seconds` is the processor time of all threads.
    """

    model: EntailmentModel
    steps: int
    planned: int
    seconds: float
    processor_seconds: float


@dataclass(frozen=True)
class PairBatch:
    """Batch of text pairs (right answer, answer), with the row of each pair's answer."""

    rows: Integers
    pairs: Sequence[tuple[str, str]]


class Training:
    """Training of one entailment model, which can continue from a checkpoint in its folder.

    `identity` names data and options; a checkpoint of another identity is not used.
    """

    def __init__(
        self,
        answers: LabelledAnswers,
        split: QuestionSplit,
        schedule: TrainingSchedule,
        identity: str,
    ) -> None:
        self.answers, self.split, self.schedule = answers, split, schedule
        self.identity = identity
        self.torch = import_library("torch", PURPOSE)
        library = import_library("transformers", PURPOSE)
        folder = sentences.find_minilm_folder()
        sentences.check_minilm_hashes(folder)
        self.classes = sorted(set(answers.classes))
        self.torch.manual_seed(schedule.seed)
        names = dict(enumerate(self.classes))
        logging = import_library("transformers.utils.logging", PURPOSE)
        verbosity = logging.get_verbosity()
        # It reports that the new classes have no weights yet.
        logging.set_verbosity_error()
        with sentences.hide_progress_bars():
            self.tokenizer = library.AutoTokenizer.from_pretrained(folder)
            self.model = library.AutoModelForSequenceClassification.from_pretrained(
                folder,
                num_labels=len(names),
                id2label=names,
                label2id={name: code for code, name in names.items()},
                dtype=self.torch.float32,
            )
        logging.set_verbosity(verbosity)
        for parameter in self.model.base_model.embeddings.parameters():
            parameter.requires_grad = False
        self.optimizer = self.torch.optim.AdamW(
            [weights for weights in self.model.parameters() if weights.requires_grad],
            lr=LEARNING_RATE,
        )
        self.step, self.seconds, self.processor_seconds = 0, 0.0, 0.0
        self.epoch, self.batches = -1, list[PairBatch]()
        self.per_epoch = -(-len(split.training) // BATCH)
        self.planned = schedule.epochs * self.per_epoch

    @property
    def share(self) -> float:
        """Completed share of the training, 0 to 1: of the steps or of the time, the greater."""
        return min(
            1.0,
            max(self.step / self.planned, self.seconds / (60 * self.schedule.minutes)),
        )

    def train(
        self, folder: Path, report_early: EarlyReport, progress: Progress | None
    ) -> TrainedModel:
        """Train until the steps or the minutes are over, with checkpoints; return the model."""
        self._load_checkpoint(folder)
        saved_at, is_early = self.seconds, self.share < EARLY
        while self.share < 1:
            began, used = time.monotonic(), time.process_time()
            self._train_on_next_batch()
            self.step += 1
            self.seconds += time.monotonic() - began
            self.processor_seconds += time.process_time() - used
            if progress is not None:
                progress("training", round(PARTS * self.share), PARTS)
            if self.seconds - saved_at > CHECKPOINT_SECONDS:
                self._save_checkpoint(folder)
                saved_at = self.seconds
            if is_early and self.share >= EARLY:
                is_early = False
                report_early(self.build_model(), self.share)
        self._save_checkpoint(folder)
        return TrainedModel(
            self.build_model(), self.step, self.planned, self.seconds, self.processor_seconds
        )

    def build_model(self) -> EntailmentModel:
        """Return the model in its current state, in evaluation mode."""
        return EntailmentModel("in training", self.model.eval(), self.tokenizer, "")

    def _train_on_next_batch(self) -> None:
        """Train on the next batch of pairs."""
        torch, batch = self.torch, self._get_batch()
        # Of its own step, so that a continued training is the same.
        torch.manual_seed(self.schedule.seed + self.step)
        first, second = zip(*batch.pairs, strict=True)
        features = self.tokenizer(
            list(first),
            list(second),
            truncation="longest_first",
            max_length=MOST_TOKENS,
            padding=True,
            return_tensors="pt",
        )
        classes = self.answers.classes
        labels = torch.tensor([self.classes.index(classes[row]) for row in batch.rows.tolist()])
        rise = min(1.0, (self.step + 1) / (WARM_UP * self.planned))
        for group in self.optimizer.param_groups:
            group["lr"] = LEARNING_RATE * rise * (1 - self.share)
        loss = self.model.train()(**features, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def _get_batch(self) -> PairBatch:
        """Return the batch of the current step, drawing the pairs at the first step of an epoch."""
        epoch, place = divmod(self.step, self.per_epoch)
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = draw_batches(
                self.answers, self.split.training, self.schedule.seed, epoch
            )
        return self.batches[place]

    def _save_checkpoint(self, folder: Path) -> None:
        """Write the checkpoint into the folder, replacing the earlier one only when complete."""
        state = {
            "identity": self.identity,
            "step": self.step,
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        unfinished = folder / f"{CHECKPOINT}.new"
        self.torch.save(state, unfinished)
        unfinished.replace(folder / CHECKPOINT)

    def _load_checkpoint(self, folder: Path) -> None:
        """Continue from the checkpoint in the folder, if it has one."""
        if not (folder / CHECKPOINT).is_file():
            return
        # weights_only: a file of pickled code must not be run.
        state = self.torch.load(folder / CHECKPOINT, weights_only=True)
        self.step, self.seconds = state["step"], state["seconds"]
        self.processor_seconds = state["processor_seconds"]
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])


def draw_batches(
    answers: LabelledAnswers, rows: Integers, seed: int, epoch: int
) -> list[PairBatch]:
    """Return an epoch's batches in random order; pairs in a batch have about equal length.

    A batch is padded to its longest pair, so pairs are sorted by length, 32 batches at a time.
    """
    rng = np.random.default_rng([seed, 3, epoch])
    order = rng.permutation(rows)
    pairs = answers.draw_pairs(order.tolist(), rng)
    lengths = np.array([len(first) + len(second) for first, second in pairs])
    part = np.arange(len(order)) // (BATCH * SORTED_BATCHES)
    by_length = np.lexsort((lengths, part))
    batches = [
        PairBatch(order[places], [pairs[place] for place in places.tolist()])
        for places in np.split(by_length, range(BATCH, len(order), BATCH))
    ]
    return [batches[index] for index in rng.permutation(len(batches)).tolist()]


def read_checkpoint_identity(folder: Path) -> str | None:
    """Return the identity of the training whose checkpoint is in a folder; None without one."""
    if not (folder / CHECKPOINT).is_file():
        return None
    torch = import_library("torch", PURPOSE)
    try:
        state: Mapping[str, Any] = torch.load(folder / CHECKPOINT, weights_only=True)
        return str(state["identity"])
    except Exception:  # whatever torch raises for a damaged file: it is no checkpoint of ours
        return None


def compute_probabilities_by_class(
    model: EntailmentModel,
    pairs: Sequence[tuple[str, str]],
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Floats]:
    """Return the probabilities of pairs of texts, by the name of the class."""
    shares = model.compute_class_probabilities(pairs, progress)
    return {
        name: shares[:, code]
        for code, name in model.labels.items()
        if name in set(CLASSES.values())
    }
