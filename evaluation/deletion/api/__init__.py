"""REST views that delete, erase and undo."""
