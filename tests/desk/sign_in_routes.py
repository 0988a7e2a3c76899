"""Rules of the addresses of signing in, by the names of django-allauth.

Here nobody has a second factor, and no OpenID provider is set: tests/crowdgrade/sign_in tries both.
"""

from tests.desk.rules import ABSENT, LOGIN, NOWHERE, PUBLIC, SIGNED_IN, Route, Rule, form, get, post

SIGN_IN: dict[str, Route] = {
    "account_login": get(Rule(LOGIN, LOGIN, LOGIN, LOGIN, LOGIN, LOGIN)),
    "account_reauthenticate": form(SIGNED_IN),
    "sign-in-again": get(SIGNED_IN),
    "openid-begin": post(NOWHERE),
    "openid-callback": get(NOWHERE),
    "openid-unlink": post(ABSENT),
    "mfa_authenticate": form(PUBLIC),
    "mfa_reauthenticate": form(SIGNED_IN),
    "mfa_index": get(SIGNED_IN),
    "mfa_activate_totp": form(SIGNED_IN),
    "mfa_deactivate_totp": form(ABSENT),
    "mfa_view_recovery_codes": get(ABSENT),
    "mfa_generate_recovery_codes": form(SIGNED_IN),
    "mfa_download_recovery_codes": get(ABSENT),
}
