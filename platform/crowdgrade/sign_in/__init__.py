"""Sign-in by OpenID Connect and second factor, by django-allauth with rules of this site."""
