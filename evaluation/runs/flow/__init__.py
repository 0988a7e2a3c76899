"""What runs of several types compute on plain records, without ORM and files."""
