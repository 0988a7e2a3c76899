"""The editor: passages, questions, guidelines and consent of a draft, by hand."""
