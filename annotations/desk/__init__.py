"""The admin's pages about what people wrote: question sets, their questions, files that come in.

Views are plain functions in modules of one noun each; `urls` lists them, and the site puts them
behind its login. Every object is found by `annotations.web.scope`, and by its public id.
"""
