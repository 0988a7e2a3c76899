"""Upload types for model answers and for questions of model studies."""

from __future__ import annotations

from annotations.exchange.header import ColumnNames
from annotations.exchange.importing import (
    import_prompts,
    import_several_answers,
    import_word_problems,
)
from annotations.web.upload_kinds import UploadKind, register_upload_kind
from evaluation.runs.imports import import_model_answers

register_upload_kind(
    UploadKind(
        "model-answers",
        "model answers",
        "One row for each answer of a language model: model, question and the answer. A column "
        "status may give the reason for a missing answer: empty, refused or error. Or a log of "
        "Inspect (.eval, .json) or lm-evaluation-harness (samples_….jsonl). Upload the questions "
        "first.",
        "model,question,answer,status\nsmall-model,q1,The leaves lose their green.,text",
        "model=Name,question=Item,answer=Output",
        ColumnNames.parse,
        import_model_answers,
        ("model", "keep_thinking"),
        names_questions=True,
        knows_who=True,
        accept=".csv,.tsv,.jsonl,.ndjson,.xlsx,.eval,.json",
    )
)

register_upload_kind(
    UploadKind(
        "several-answers",
        "questions with their right answers",
        "A JSON list as published with MAQA. An answer may be a list of spellings of one answer.",
        '[{"question": "Which rivers flow through Ulm?", "answer": ["Danube", "Iller", "Blau"]}]',
        "",
        ColumnNames.parse,
        import_several_answers,
        knows_who=True,
        accept=".json,.jsonl",
        brings_questions=True,
    )
)
register_upload_kind(
    UploadKind(
        "word-problems",
        "math word problems",
        "The file of UMWP, or one like it: an object on each line.",
        '{"id": 1, "question": "Ann has 3 pens and buys 2. How many has she?", '
        '"answerable": true, "answer": [5]}',
        "",
        ColumnNames.parse,
        import_word_problems,
        knows_who=True,
        accept=".jsonl,.ndjson,.json",
        brings_questions=True,
    )
)
register_upload_kind(
    UploadKind(
        "prompts",
        "prompts in several wordings",
        "A JSON file of the ELOQUENT robustness task: items, each with its wordings and their "
        "languages.",
        '"items": [{"id": "1", "variants": [{"lang": "en", "prompt": "Tides, why?"}]}]',
        "",
        ColumnNames.parse,
        import_prompts,
        ("repair",),
        knows_who=True,
        accept=".json",
        brings_questions=True,
    )
)
