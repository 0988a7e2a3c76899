"""Logs of downloads, sign-ins and important actions, such as delete, erase or send to a panel.

Their entries outlive the objects that they describe.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.access import Access
from annotations.models.base import AppendOnly, Record


class AuditEntry(AppendOnly):
    """Log entry of one important action; it is never changed or deleted.

    `counts` has the numbers of dependent rows by name. `inputs` are the hashes of the inputs of its
    runs, by which files kept elsewhere can still be matched. Read by the former owner, by the user
    who acted, and by operators. `done_by` is None if a worker withdrew their own answers.
    """

    class Action(models.TextChoices):
        """Kind of action; a long action has one entry at its request and one at its end."""

        ARCHIVE = "archive", "archived"
        RESTORE = "restore", "restored"
        DELETE = "delete", "deletion asked for"
        DELETED = "deleted", "deleted"
        UNDO = "undo", "undoing asked for"
        UNDONE = "undone", "undone"
        ERASE = "erase", "erasure asked for"
        ERASED = "erased", "erased"
        ACCEPT = "accept", "people accepted at once"
        ACCEPT_OFF = "accept_off", "accepting at once taken back"
        GROUP_ASKED = "group_ask", "group asked for on a panel"
        GROUP_MADE = "group_made", "group made on a panel"
        GROUP_REFUSED = "group_no", "group refused by a panel"

    access = Access(owner="owner", people="done_by")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="audit_of_own"
    )
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="audit_entries"
    )
    action = models.CharField(max_length=10, choices=Action.choices)
    kind = models.CharField(max_length=20, help_text="What it was, such as question_set or run.")
    object_id = models.UUIDField(help_text="The public id that it had.")
    name = models.CharField(max_length=300)
    counts = models.JSONField(default=dict, blank=True)
    inputs = models.JSONField(default=list, blank=True)
    reference = models.CharField(
        max_length=200, blank=True, help_text="Its name elsewhere, such as on a panel."
    )

    class Meta:
        verbose_name_plural = "audit entries"
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    action__in=[
                        "archive", "restore", "delete", "deleted", "undo", "undone", "erase",
                        "erased", "accept", "accept_off", "group_ask", "group_made", "group_no",
                    ]
                ),
                name="audit_action_is_known",
            ),
        ]  # fmt: skip
        indexes = [models.Index(fields=["owner", "-id"], name="audit_newest")]

    def __str__(self) -> str:
        return f"{self.name}: {self.action}"


class ExportRead(Record):
    """Record of a download by a signed-in user; stored before the first byte is sent.

    It outlives the set and the run, so it holds their ids and no key of them. A background process
    deletes it after EXPORT_LOG_DAYS.

    Attributes
    ----------
    set_name : name of the question set then, "" if the file belongs to none.
    address : name of the address, such as admin:export-answers. file : name of the file.
    lines : of a CSV, TSV, JSON Lines or text file, with its heading; None for others.
    n_bytes : sent. is_complete : whether the whole file was sent, as far as the server knows.
    """

    class Interface(models.TextChoices):
        """Interface by which a file was downloaded."""

        PAGE = "page", "page"
        REST = "rest", "REST API"

    access = Access(owner="user")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="export_reads"
    )
    interface = models.CharField(max_length=4, choices=Interface.choices)
    set_id = models.UUIDField(null=True)
    set_name = models.CharField(max_length=200, blank=True)
    run_id = models.UUIDField(null=True)
    address = models.CharField(max_length=100)
    file = models.CharField(max_length=255)
    lines = models.PositiveBigIntegerField(null=True)
    n_bytes = models.PositiveBigIntegerField(default=0)
    is_complete = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["-created_at"], name="export_read_newest")]

    def __str__(self) -> str:
        return self.file


class SignInEvent(Record):
    """Log entry of a sign-in, a refused one, or a change of the ways to sign in.

    It outlives its account. A background process deletes it after EXPORT_LOG_DAYS.

    Attributes
    ----------
    name : user name at that time, "" if no account has the name that was typed.
    detail : such as password, openid, totp, or the code of a refusal.
    address : IP address of the client; None for the command line.
    """

    class Event(models.TextChoices):
        """Kind of event, such as a sign-in or a new second factor."""

        SIGNED_IN = "signed_in", "signed in"
        FAILED = "failed", "wrong password"
        REFUSED = "refused", "refused after the OpenID provider"
        CODE_FAILED = "code_failed", "wrong code"
        LINKED = "linked", "linked with the OpenID provider"
        UNLINKED = "unlinked", "link removed"
        FACTOR_ADDED = "factor_added", "second factor added"
        FACTOR_REMOVED = "factor_off", "second factor removed"
        FACTOR_USED = "factor_used", "second factor used"
        CODES_MADE = "codes_made", "recovery codes made anew"

    access = Access(owner="user")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="sign_ins"
    )
    name = models.CharField(max_length=150, blank=True)
    event = models.CharField(max_length=12, choices=Event.choices)
    detail = models.CharField(max_length=40, blank=True)
    address = models.GenericIPAddressField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["-created_at"], name="sign_in_newest"),
            models.Index(fields=["address", "-created_at"], name="sign_in_by_address"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.event}"
