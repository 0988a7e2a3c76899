"""What REST views of features share: runs that are done, messages in JSON, conflicts."""
