"""Pages of the site itself, behind its login."""
