"""REST API as a whole: authentication, rate limits, errors, schema and documentation page.

The resources are in the packages' `api` modules; `crowdgrade.api` lists their URLs.
"""
