"""Files of model answers, as one more kind of upload."""

from __future__ import annotations

from annotations.exchange.header import ColumnNames
from annotations.web.upload_kinds import UploadKind, register
from evaluation.imports import import_model_answers

register(
    UploadKind(
        "model-answers",
        "model answers",
        "One row for each answer of a language model: model, question and the answer. A column "
        "status may say that there is none: empty, refused or error. Upload the questions first.",
        "model,question,answer,status\nsmall-model,q1,The leaves lose their green.,text",
        "model=Name,question=Item,answer=Output",
        ColumnNames.parse,
        import_model_answers,
        ("keep_thinking",),
        names_questions=True,
        knows_who=True,
    )
)
