"""The place of `snaglist.hosting` in version 0.1, for those who import it from here."""

from snaglist.hosting import create_wsgi, django_urls, flask_blueprint

__all__ = ["create_wsgi", "django_urls", "flask_blueprint"]
