"""Models of the site: API tokens, invitation links, preferences."""

from crowdgrade.models.invitation_links import InvitationLink
from crowdgrade.models.preferences import Preferences, has_single_keys
from crowdgrade.models.tokens import ApiToken

__all__ = ["ApiToken", "InvitationLink", "Preferences", "has_single_keys"]
