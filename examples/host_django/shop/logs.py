"""snaglist in this site: who is signed in, who may do what, and who can be assigned."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import HttpRequest

from snaglist.hosting import create_wsgi


def identity(request: HttpRequest, application: str | None) -> Mapping[str, Any] | None:
    """Return the person who is signed in, with the roles for an application."""
    user = request.user
    if not user.is_authenticated:
        return None
    return {"id": str(user.pk), "label": user.get_full_name() or user.get_username(), "roles": roles(user, application)}


def roles(user: Any, application: str | None) -> list[str]:
    """Return the roles of a user: groups are named `logs:<application>:<role>`."""
    if user.is_superuser:
        return ["owner"]
    prefix = f"logs:{application}:"
    return [name.removeprefix(prefix) for name in user.groups.values_list("name", flat=True) if name.startswith(prefix)]


def people(request: HttpRequest, application: str) -> Iterable[Mapping[str, Any]]:
    """Return whom issues of an application can be assigned to: everybody with a role there."""
    users = get_user_model().objects.filter(is_active=True).order_by("username")
    return [
        {"id": str(user.pk), "label": user.get_full_name() or user.get_username()}
        for user in users
        if roles(user, application)
    ]


service = create_wsgi(
    data=settings.DATA / "snaglist",
    identity=identity,
    assignable_users=people,
    jobs=True,
)
