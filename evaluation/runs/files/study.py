"""Ask a model in the steps of a study, and store the replies in the journal of a folder.

A study asks a model in steps (reword, answer, judge ...), each with its own prompt. The replies of
a step are stored as ``manage.py ask`` stores them, so that the same command continues an
interrupted study.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import Progress
from evaluation.runs.files.asking import AskSettings, ask_until_signal
from evaluation.runs.files.journal import Configuration, Journal, ReplyRow
from evaluation.runs.flow.asking.asker import EndReason, Outcome
from evaluation.runs.flow.asking.plan import Item, hash_prompt, plan_requests
from evaluation.runs.flow.asking.summary import Budget, Prices


class EndedEarlyError(Exception):
    """Error: a study's step ended before all requests were sent; replies so far are stored.

    Reasons are the budget, Ctrl-C, a full disk, or too many failures. The message is for people.
    """


@dataclass(frozen=True)
class Step:
    """One step of a study (such as rewording): its name, prompt and parameters.

    Attributes
    ----------
    name : name of the step in the journal, the summary and the progress.
    template, system : template and system text, stored as its prompt with a hash.
    parameters : override those of `AskSettings`, such as the temperature; None leaves one out.
    """

    name: str
    template: str
    system: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


class StudyFolder:
    """The folder of a study and the model that it asks; locked inside a `with` block.

    `system` is the name of the model in the tables. Raises InputError if the folder cannot be used,
    ChatError if the model's back-end cannot be opened.
    """

    def __init__(self, folder: Path, asking: AskSettings, progress: Progress) -> None:
        self.asking, self._progress = asking, progress
        self._journal = Journal(folder)
        self.system = asking.get_table_name(asking.get_chat_model())
        self._asked: dict[str, tuple[Configuration, list[ReplyRow]]] = {}

    def __enter__(self) -> Self:
        self._journal.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._journal.__exit__(*error)

    def ask_step(
        self, step: Step, items: Sequence[Item], asking: AskSettings | None = None
    ) -> dict[tuple[str, int], ReplyRow]:
        """Send a step's requests that lack a reply; return all replies by item id and sample.

        Parameters
        ----------
        items : conversations with ids that are unique in the step.
        asking : another model to ask, such as a judge; None for that of the study.

        Raises
        ------
        EndedEarlyError
            Requests are left that were not sent. A reply of status ERROR is a row.
        """
        asking = asking or self.asking
        model = asking.get_chat_model()
        parameters = asking.build_request_parameters(step.parameters)
        # The step is part of the name: steps of one model differ in prompt and parameters.
        configuration = self._journal.find_or_name_configuration(
            Configuration(
                *(2 * (f"{asking.get_table_name(model)} ({step.name})",)),
                *(model.kind, model.address, model.model),
                *(step.name, step.system, step.template, hash_prompt(step.system, step.template)),
                *(parameters, asking.seed),
            )
        )
        planned = plan_requests(model, items, parameters, asking.seed)
        outcome = ask_until_signal(
            model,
            planned,
            self._journal.open_reply_store(model, configuration),
            asking.settings,
            Budget(asking.prices or Prices(), asking.budget, self._sum_model_cost(configuration)),
            lambda done, total: self._progress(step.name, done, total),
        )
        if outcome.end is not EndReason.DONE or outcome.n_left:
            raise EndedEarlyError(_format_early_end(step, outcome))
        keys = ((entry.request.id, entry.request.sample) for entry in planned)
        rows = {
            both: self._journal.rows[configuration.id, *both].build_table_row(asking.keep_thinking)
            for both in keys
        }
        self._asked.setdefault(configuration.id, (configuration, []))[1].extend(rows.values())
        return rows

    def reject_replies(self, rows: Iterable[ReplyRow]) -> None:
        """Mark replies as unusable, so that the same command sends their requests again."""
        for row in rows:
            self._journal.reject_reply(row)

    def find_raw_reply(self, row: ReplyRow) -> Any:
        """Return the server's raw answer for a reply, with values such as token probabilities."""
        return self._journal.find_raw_reply(row.key)

    @property
    def complete(self) -> bool:
        """Whether every request so far has a reply; empty and refused ones count as replies."""
        return all(not row.status.is_missing for _, rows in self._asked.values() for row in rows)

    def summarise_steps(self) -> list[dict[str, Any]]:
        """Return one summary per step so far: model, replies by status, tokens, cost."""
        return [
            _summarise_step(configuration, rows) for configuration, rows in self._asked.values()
        ]

    def _sum_model_cost(self, wanted: Configuration) -> float:
        """Return the cost of all replies of one model, in all steps."""
        # Over all steps, whatever their names: the budget is for the model.
        return sum(
            self._journal.sum_costs(configuration)
            for configuration in self._journal.configurations.values()
            if (configuration.backend, configuration.address, configuration.model)
            == (wanted.backend, wanted.address, wanted.model)
        )


def _format_early_end(step: Step, outcome: Outcome) -> str:
    """Return a sentence that a study's step ended early, with the reason."""
    return (
        f"{step.name}: {outcome.n_left:,} of {outcome.n_planned:,} not asked"
        + (f": {outcome.reason}" if outcome.reason else "")
        + (f" (spent {outcome.cost:.4f} now)" if outcome.cost else "")
    )


def _summarise_step(configuration: Configuration, rows: Sequence[ReplyRow]) -> dict[str, Any]:
    """Return a step's entry of the summary: counts by status and error, tokens, cost."""
    statuses = Counter(row.status.value for row in rows)
    return {
        "step": configuration.strategy,
        "model": configuration.name,
        "prompt_hash": configuration.prompt_hash,
        "parameters": configuration.parameters,
        "seed": configuration.seed,
        "requests": len(rows),
        "statuses": {status.value: statuses[status.value] for status in AnswerStatus},
        "with_thinking": sum(bool(row.thinking) for row in rows),
        "errors": dict(Counter(row.error for row in rows if row.error)),
        "prompt_tokens": sum(row.prompt_tokens or 0 for row in rows),
        "completion_tokens": sum(row.completion_tokens or 0 for row in rows),
        "cost": sum(row.cost for row in rows),
        "seconds": sum(row.seconds for row in rows),
    }
