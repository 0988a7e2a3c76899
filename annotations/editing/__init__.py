"""Making a question set by hand: its order, what is missing, what changed between versions.

    with draft_of(question_set) as draft:      # locked: who else edits or imports waits
        order = Order.of(draft)
        order.move(question, -1)
        order.save(draft)
    findings(draft)                            # what stands between a draft and its publishing
    add_language(draft, "ar")                  # and a Sheet holds what is said in it
    differences(older, newer)                  # what changed, in words

All doors use these: the pages of the editor, the API, the commands.
"""

from annotations.editing.checks import Finding, blocking, findings
from annotations.editing.consent import consent_template
from annotations.editing.deleting import Hanging, delete_item, hanging
from annotations.editing.differences import Change, Part, differences
from annotations.editing.drafts import PublishedError, StaleError, draft_of, free_id, seen
from annotations.editing.images import attach_image, drop_image
from annotations.editing.order import Order
from annotations.editing.translating import (
    Progress,
    Sheet,
    add_language,
    progress,
    remove_language,
    rows_of,
)

__all__ = [
    "Change",
    "Finding",
    "Hanging",
    "Order",
    "Part",
    "Progress",
    "PublishedError",
    "Sheet",
    "StaleError",
    "add_language",
    "attach_image",
    "blocking",
    "consent_template",
    "delete_item",
    "differences",
    "draft_of",
    "drop_image",
    "findings",
    "free_id",
    "hanging",
    "progress",
    "remove_language",
    "rows_of",
    "seen",
]
