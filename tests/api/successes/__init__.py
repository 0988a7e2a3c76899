"""What has to stand before each writing operation of the API can succeed, and what is sent then.

To add an operation, add a function under its `operationId` to the module of its subject. It makes
what it needs in Rana's graded set and returns what is sent:

    @succeeds("prompts_create")
    def _(world):
        return Sent({"name": "ours", "strategy": "closed", "template": "{question}"})

`test_contract` sends exactly that, which has to succeed, and then the same with values of the
schema's in place of some. What stands in the address comes from `route_values`, unless `ids` says
otherwise; Rana sends it, unless `by` says otherwise.
"""

from tests.api.successes import (
    collecting,
    decisions,
    language_models,
    paying,
    question_sets,
    runs,
    webhooks,
    writing,
)
from tests.api.successes.declaration import SUCCESSES, Sent

__all__ = [
    "SUCCESSES",
    "Sent",
    "collecting",
    "decisions",
    "language_models",
    "paying",
    "question_sets",
    "runs",
    "webhooks",
    "writing",
]
