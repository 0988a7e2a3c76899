"""Backup and restoration of an installation: database, uploaded files and secret key.

A backup is one file, `NAME.tar.gz`: first a manifest (`archive.Manifest`), then the database, the
secret key and the uploads. `databases` copies and replaces a database, `archive` writes and checks
the file, `restoring` restores an installation from it.
"""
