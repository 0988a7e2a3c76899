"""Send invitation links by mail, and store for each address whether the server accepted it."""

from __future__ import annotations

import logging
import re
import smtplib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.validators import validate_email
from django.db.models import F, Sum
from django.utils import timezone

from annotations.models import QuestionSet
from crowdgrade.invitation_links.links import create_invitation_link, renew_invitation_link
from crowdgrade.models.invitation_links import InvitationLink

logger = logging.getLogger(__name__)

MOST_ADDRESSES: Final = 20
"""Addresses of one form: the server is asked for each while the page waits."""
MOST_A_DAY: Final = 100
"""Mails of one user in 24 hours, refused ones too; operators have no limit."""
PAUSE: Final = timedelta(minutes=1)
"""Time before a mail is sent again."""
FAILURES: Final = {
    "connection": "the mail server cannot be reached",
    "login": "the mail server refuses the site's user name or password",
    "refused": "the mail server refuses the address",
    "server": "the mail server refuses the mail",
}
"""Sentence by the code of a mail that was not accepted."""
OFFERS: Final = {
    InvitationLink.Role.VIEWER: "see everything of the question set",
    InvitationLink.Role.EXPERT: (
        "judge answers of the question set without knowing whose they are"
    ),
    InvitationLink.Role.REQUESTER: "make question sets of your own",
}
"""What the person who joins may do, by role; the name of a question set follows."""
SUBJECT: Final = "Invitation to Crowdgrade"
BODY: Final = """{inviter} invites you to Crowdgrade. You can {offer}{name}.

Open this link to join. It is for you alone, works once and is valid until {until} UTC:

{link}

If you do not know {inviter}, ignore this mail.
"""


@dataclass(frozen=True)
class MailResult:
    """Result of a mail to one address; `error` is a key of `FAILURES`, "" if accepted.

    `address` is the link's URL, for the user to copy if the mail was not accepted.
    """

    link: InvitationLink
    error: str
    address: str

    @property
    def reason(self) -> str:
        """Sentence on the failure; "" if the mail was accepted."""
        return FAILURES.get(self.error, "")


def parse_mail_addresses(text: str) -> list[str]:
    """Return the distinct mail addresses in a text, in order.

    Raises ValidationError (`invalid_email`, `too_many`), which names what is wrong.
    """
    found = list(dict.fromkeys(part for part in re.split(r"[\s,;]+", text) if part))
    wrong = [one for one in found if not _is_mail_address(one)]
    if wrong:
        raise ValidationError(
            "No mail addresses: %(wrong)s.", "invalid_email", {"wrong": ", ".join(wrong[:5])}
        )
    if len(found) > MOST_ADDRESSES:
        raise ValidationError(
            "%(n)s addresses; at most %(most)s fit one form.",
            "too_many",
            {"n": len(found), "most": MOST_ADDRESSES},
        )
    return found


def count_mails_left(user_id: int) -> int:
    """Return how many mails a user may still send, after those of the last 24 hours."""
    since = timezone.now() - timedelta(days=1)
    rows = InvitationLink.objects.filter(created_by=user_id, mailed_at__gt=since)
    return max(0, MOST_A_DAY - (rows.aggregate(n=Sum("n_mails"))["n"] or 0))


def invite_by_mail(
    maker_id: int,
    role: str,
    note: str,
    question_set: QuestionSet | None,
    addresses: Iterable[str],
    build_address: Callable[[str], str],
) -> list[MailResult]:
    """Create and send a link for each mail address; return the results in order.

    `build_address` returns the URL of a token. Call it outside of a transaction: a server may take
    seconds.
    """
    made = []
    for email in addresses:
        link, token = create_invitation_link(maker_id, role, note, question_set, email)
        made.append((link, build_address(token)))
    return _send_links(made)


def mail_invitation_again(link: InvitationLink, build_address: Callable[[str], str]) -> MailResult:
    """Send an invitation again with a new link and return the result.

    The earlier link becomes invalid.
    """
    (mailed,) = _send_links([(link, build_address(renew_invitation_link(link)))])
    return mailed


def _send_links(made: list[tuple[InvitationLink, str]]) -> list[MailResult]:
    """Send all links over one connection, even if some fail; return a result for each."""
    connection = get_connection()
    error = _find_mail_error(connection.open)
    results = []
    for link, address in made:
        message = _build_invitation_mail(link, address, connection)
        code = error or _find_mail_error(message.send)
        # By query: the person may have used the link while the next mail is sent.
        rows = InvitationLink.objects.filter(pk=link.pk)
        rows.update(mailed_at=timezone.now(), mail_error=code, n_mails=F("n_mails") + 1)
        results.append(MailResult(link, code, address))
    _find_mail_error(connection.close)
    return results


def _build_invitation_mail(
    link: InvitationLink, address: str, connection: BaseEmailBackend
) -> EmailMessage:
    """Return the invitation mail with its link."""
    # A name with a line break could look like text of the site.
    name = " ".join(link.question_set.name.split()) if link.question_set else ""
    values = {
        "inviter": link.created_by.get_username(),
        "offer": OFFERS[InvitationLink.Role(link.role)],
        "name": f" “{name}”" if name else "",
        "until": f"{link.expires_at:%-d %B %Y, %H:%M}",
        "link": address,
    }
    body = BODY.format(**values)
    return EmailMessage(SUBJECT, body, to=[link.email], connection=connection)


def _find_mail_error(act: Callable[[], object]) -> str:
    """Call `act` and return the key of `FAILURES` for its exception; "" if it raises none.

    The log gets the type of the exception alone: its text may hold addresses and parts of the mail.
    """
    try:
        act()
    except Exception as error:
        logger.warning("an invitation cannot be sent: %s", type(error).__name__)
        if isinstance(error, smtplib.SMTPAuthenticationError):
            return "login"
        if isinstance(error, smtplib.SMTPRecipientsRefused):
            return "refused"
        is_connection = isinstance(error, OSError) and not isinstance(error, smtplib.SMTPException)
        gone = smtplib.SMTPServerDisconnected | smtplib.SMTPConnectError
        return "connection" if is_connection or isinstance(error, gone) else "server"
    return ""


def _is_mail_address(text: str) -> bool:
    """Return whether a text is a mail address."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True
