"""URLs of the account and token pages; the admin site puts them behind its login."""

from django.urls import path

from crowdgrade.pages import account, tokens

urlpatterns = [
    path("account/", account.edit_preferences, name="account"),
    path("tokens/", tokens.manage_tokens, name="tokens"),
    path("tokens/<uuid:token_id>/revoke/", tokens.revoke_token, name="token-revoke"),
]
