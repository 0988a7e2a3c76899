"""REST views to delete, erase and undo."""
