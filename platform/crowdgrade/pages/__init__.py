"""Pages on the user's own account and API tokens, behind the login."""
