"""Admin pages of question sets, their questions, collections and uploads.

Views are functions; `urls` lists them, and the admin site puts them behind its login. Every object
is loaded by its public id through `annotations.web.scope`, which applies the user's rights.
"""
