"""What can be seen in texts: language, spelling, copies, phrases of not knowing."""
