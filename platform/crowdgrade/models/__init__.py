"""What the site itself keeps."""

from .tokens import ApiToken

__all__ = ["ApiToken"]
