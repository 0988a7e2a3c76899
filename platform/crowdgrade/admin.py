"""Admin pages of users, their API tokens and the tasks of runs, for operators only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Field
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.admin import ModelAdmin, TabularInline
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from annotations.models import is_operator
from crowdgrade.models import ApiToken
from crowdgrade.sign_in.views import find_openid_link
from evaluation.models import RunTask

# Django's own pages of both go by Django's permissions, which do not count here. Groups only
# bundle such permissions, so they get no page.
admin.site.unregister(User)
admin.site.unregister(Group)

ROLES = {
    "is_active": (
        "May sign in",
        "Switch it off instead of deleting an account: what it made stays.",
    ),
    "is_staff": (
        "Requester",
        "Makes question sets, works in teams, grades. Viewers and experts do without: a set is "
        "shared with them on its own page.",
    ),
    "is_superuser": ("Operator", "Sees and may do everything, also with what others own."),
}
"""Label and help text of the user fields that make a role."""


class TokensInline(TabularInline):
    """List of an account's API tokens on its admin page; operators can revoke them."""

    model = ApiToken
    extra = 0
    can_delete = True
    hide_title = True  # the row shows the name already
    verbose_name_plural = "API tokens: mark one at the bin and save to revoke it"
    fields = readonly_fields = ("name", "created", "expiry", "last_used_at")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: a token is shown only to its user, once, when created."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user is an operator."""
        return is_operator(request.user)

    has_change_permission = has_delete_permission = has_view_permission


@admin.register(User)
class OperatorsUserAdmin(UserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]
    """Admin pages of accounts, for operators; staff are requesters, superusers operators."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "describe_role", "is_active", "last_login")
    list_filter = ()
    actions = None  # the bar of actions sets an inline style, which the CSP blocks
    fieldsets = (
        (None, {"fields": ("username", "format_password_state")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Role", {"fields": tuple(ROLES)}),
    )
    # `format_password_state` in place of the password field, which would show the hash.
    readonly_fields = ("format_password_state",)
    add_fieldsets = (  # type: ignore[assignment]
        (None, {"fields": ("username", "usable_password", "password1", "password2", "is_staff")}),
    )

    def get_inlines(self, request: HttpRequest, obj: User | None) -> tuple[type[TokensInline], ...]:
        """Return the list of API tokens; none on the page that adds an account."""
        return () if obj is None else (TokensInline,)

    @admin.display(description="Password")
    def format_password_state(self, user: User) -> str:
        """Return HTML that shows whether a password is set, with a link to set another."""
        if user.has_usable_password():
            state, text = "set", "One is set."
        elif find_openid_link(user.pk) is not None:
            state, text = "openid", "No password is set: this user signs in by OpenID Connect."
        else:
            state, text = "none", "No password is set: this user cannot sign in."
        address = reverse("admin:auth_user_password_change", args=[user.pk])
        return format_html(
            '<span data-password="{}">{}</span> <a href="{}">Set another one</a>',
            *(state, text, address),
        )

    @admin.display(description="Role")
    def describe_role(self, user: User) -> str:
        """Return the label of an account's role."""
        if not user.is_active:
            return "may not sign in"
        if user.is_superuser:
            return "operator"
        return "requester" if user.is_staff else "sees what is shared"

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Return the form field, with special label and help text for the roles."""
        if db_field.name in ROLES:
            kwargs["label"], kwargs["help_text"] = ROLES[db_field.name]
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Return whether the user is an operator; Django's permissions do not count."""
        return is_operator(request.user)

    def has_view_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return whether the user is an operator."""
        return is_operator(request.user)

    has_add_permission = has_module_permission
    has_change_permission = has_delete_permission = has_view_permission


@admin.register(RunTask)
class RunTaskAdmin(ModelAdmin):
    """List of the tasks of all runs: which background process computed what, and when."""

    list_display = (
        *(
            "format_run_link",
            "get_task_number",
            "kind",
            "state",
            "process",
            "n_items",
            "started_at",
            "format_duration",
        ),
        "crashes",
    )
    list_display_links = None  # a task has no page
    list_filter = ()
    list_select_related = ("run__version__question_set",)
    search_fields = ("process", "subject", "=run__public_id")
    ordering = ("-pk",)
    actions = None  # as above
    list_per_page = 50
    show_full_result_count = False

    def get_urls(self) -> list[Any]:
        """Return the URL of the list only, because a task has no page of its own."""
        name = "evaluation_runtask_changelist"
        return [pattern for pattern in super().get_urls() if pattern.name == name]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """Return the list under its own title, as no task can be selected."""
        return super().changelist_view(request, {"title": "Tasks of runs", **(extra_context or {})})

    def get_queryset(self, request: HttpRequest) -> Any:
        """Return the tasks without their data, which may be copies of answers."""
        return super().get_queryset(request).defer("payload")

    @admin.display(description="Run")
    def format_run_link(self, task: RunTask) -> str:
        """Return HTML with a link to the page of the task's run."""
        return format_html(
            '<a href="{}">{}</a>',
            reverse("admin:run", args=[task.run.public_id]),
            f"{task.run.get_kind_display()} of {task.run.version.question_set.name}",
        )

    @admin.display(description="Task")
    def get_task_number(self, task: RunTask) -> int:
        """Return the number of a task in its run, from 1."""
        return task.number + 1

    @admin.display(description="Seconds")
    def format_duration(self, task: RunTask) -> str:
        """Return the duration of a task as text in seconds; "" if it has not ended."""
        if task.started_at is None or task.ended_at is None:
            return ""
        return f"{(task.ended_at - task.started_at).total_seconds():.1f}"

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Return whether the user is an operator; Django's permissions do not count."""
        return is_operator(request.user)

    def has_view_permission(self, request: HttpRequest, obj: RunTask | None = None) -> bool:
        """Return whether the user is an operator."""
        return is_operator(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: background processes write the rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: RunTask | None = None) -> bool:
        """Return False: the rows are a log."""
        return False

    has_delete_permission = has_change_permission
