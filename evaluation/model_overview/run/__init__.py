"""Model overview without database: combine views, compare them, and draw conclusions."""
