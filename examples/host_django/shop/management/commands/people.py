"""Make the example's people."""

from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management.base import BaseCommand

PASSWORD = "snaglist"
ROLES = {"ana": None, "bo": "editor", "cy": "viewer", "dan": None}


class Command(BaseCommand):
    """Make ana (superuser), bo (editor), cy (viewer) and dan (no role), all with the password `snaglist`."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Make those who are missing."""
        for name, role in ROLES.items():
            user, made = User.objects.get_or_create(username=name, defaults={"first_name": name.title()})
            if made:
                user.set_password(PASSWORD)
                user.is_superuser = name == "ana"
                user.save()
            if role:
                user.groups.add(Group.objects.get_or_create(name=f"logs:default:{role}")[0])
            self.stdout.write(f"{name}: {role or ('superuser' if user.is_superuser else 'no role')}")
