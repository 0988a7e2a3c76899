"""Whether somebody says that they use assistive technology: by choice, and taken back at any time.

It is about their health, or comes close. So it is kept for one end, to see whether a rule for pay
or rejections turn out worse for those who use it, and read for that alone, of groups: no page, no
file and no address for programs says it of one person.
"""

from __future__ import annotations

from django.db import transaction

from annotations.answering import signals
from annotations.models import Submission


@transaction.atomic
def note(submission: Submission, *, used: bool) -> None:
    """Keep it, or keep it no more; nothing is kept of who withdrew or came in a file.

    Who says it is not counted either, where a collection counts how answers are written. Where it
    does not, nothing is switched off: that would stand beside the answers and tell who said it.
    """
    can_say = Submission.objects.filter(pk=submission.pk, withdrawn_at=None).filter(
        source=Submission.Source.COLLECTED
    )
    if not can_say.update(assistive=used):
        return
    submission.assistive = used
    if used and submission.version.collection.signals:
        signals.switch(submission, off=True)
