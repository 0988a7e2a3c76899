"""Pages of payments: worker list, single submissions, bonuses, files and invitations."""
