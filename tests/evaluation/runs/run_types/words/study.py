"""Its study: a model says a line in other words, then in fewer, and the words are counted."""

import json
from pathlib import Path

from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.run_types import Study, StudyOutcome

SAY = Step("say", "{line}", parameters={"temperature": 1.0})
SHORTEN = Step("shorten", "Shorter: {said}")


def add_arguments(parser):
    parser.add_argument("lines", type=Path)
    parser.add_argument("--output", type=Path, required=True)


def _item(name, text):
    return Item(name, ({"role": "user", "content": text},))


def run(parameters, arguments, asking, progress):
    lines = arguments["lines"].read_text().splitlines()
    with StudyFolder(arguments["output"], asking, progress) as folder:
        said = folder.ask_step(SAY, [_item(f"say-{n}", line) for n, line in enumerate(lines)])
        items = [
            _item(f"shorten-{n}", f"Shorter: {said[f'say-{n}', 0].answer}")
            for n in range(len(lines))
            if said[f"say-{n}", 0].answer
        ]
        shorter = folder.ask_step(SHORTEN, items)
        words = {item: len(row.answer.split()) for (item, _), row in shorter.items()}
        found = {"system": folder.system, "words": words, "steps": folder.summarise_steps()}
        (arguments["output"] / "words.json").write_text(json.dumps(found))
        return StudyOutcome(f"{sum(words.values())} words", folder.complete)


STUDY = Study(
    help="count a model's words",
    description="",
    epilog="",
    add_arguments=add_arguments,
    run=run,
)
