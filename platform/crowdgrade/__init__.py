"""Django project of the site: settings, URLs and processes that join annotations and evaluation."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("crowdgrade")
except PackageNotFoundError:  # a checkout that was never installed
    __version__ = "0+unknown"
