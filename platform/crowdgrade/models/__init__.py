"""What the site itself keeps."""

from crowdgrade.models.tokens import ApiToken

__all__ = ["ApiToken"]
