"""Parts of the REST API common to all endpoints: authentication, limits, errors, schema.

The resources are in the packages' `api` modules; `crowdgrade.api` lists their URLs.
"""
