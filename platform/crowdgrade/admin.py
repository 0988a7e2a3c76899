"""Users, for operators; what requesters do has pages of its own in the rooms' `admin` packages."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class OperatorsUserAdmin(UserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]
    """Who may sign in: staff are requesters, superusers operators. Operators only."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ()
    actions = None  # their bar sets a style that the policy refuses
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Role", {"fields": ("is_active", "is_staff", "is_superuser")}),
    )
    add_fieldsets = (  # type: ignore[assignment]
        (None, {"fields": ("username", "usable_password", "password1", "password2", "is_staff")}),
    )
