"""MultiQ&A over files: items and replies read (`reading`), evaluated and written (`evaluating`)."""
