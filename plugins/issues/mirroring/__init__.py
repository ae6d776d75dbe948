"""Mirrored issues: items of an issue tracker, and the traces that they leave on issues of other origins."""

from snaglist.plugins.issues.mirroring.service import (
    Mirrored,
    create_mirrored,
    link_external,
    move_external,
    update_mirrored,
)

__all__ = ["Mirrored", "create_mirrored", "link_external", "move_external", "update_mirrored"]
