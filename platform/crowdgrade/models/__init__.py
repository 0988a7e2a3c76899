"""What the site itself keeps."""

from crowdgrade.models.preferences import Preferences, takes_single_keys
from crowdgrade.models.tokens import ApiToken

__all__ = ["ApiToken", "Preferences", "takes_single_keys"]
