"""Record of a graded file of answers: the grading, and the files it was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.exchange import AnswerFile, ModelAnswerFile
from evaluation.consensus.signatures import combine_hashes
from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.grading.run.grading import Grading


@dataclass(frozen=True)
class FileGrading:
    """A grading with its input files, from which all result tables are written.

    Attributes
    ----------
    answers, models : the files as they were read. input_hashes : SHA-256 of each input file.
    asked : what a chat model was asked, by step: requests, tokens, cost. is_complete : whether each
        of these has its reply.
    """

    grading: Grading
    answers: AnswerFile
    models: ModelAnswerFile | None
    input_hashes: dict[str, str]
    asked: Sequence[Mapping[str, Any]] = ()
    is_complete: bool = True

    @property
    def input_hash(self) -> str:
        """One SHA-256 hash of all input files together."""
        return combine_hashes(self.input_hashes.values())

    @property
    def warnings(self) -> list[str]:
        """Warnings about the files and the grading, each as a sentence."""
        of_models = self.models.warnings if self.models else []
        of_files: list[Message | str] = [*self.answers.warnings, *of_models]
        return TERMINAL.all_said([*of_files, *self.grading.warnings])
