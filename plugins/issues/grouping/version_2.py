"""The keys of version 2, as far as they lead to issues that the newest keys would not find.

Version 2 knew fewer lists of placeholders as one, and did not look into the quotations of a sentence. It took a message
that stands in quotes before key=value pairs for a value, so that different failures were one issue: those keys lead
nowhere, and each failure gets an issue of its own.
"""

from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.grouping.key import GroupingKey, key_masked_by
from snaglist.plugins.issues.grouping.phrases import mask_phrases_of_version_2
from snaglist.plugins.issues.grouping.spans import mask_quotations_of_version_2, quoted_message
from snaglist.plugins.issues.grouping.templates import masked_by, template


def key_of_version_2(event: Event, module_id: int | None) -> GroupingKey:
    """Return the key that version 2 gave an event."""
    return key_masked_by(template_of_version_2, event, module_id)


def template_of_version_2(message: str) -> str:
    """Return the template that version 2 made of a message."""
    said = quoted_message(message)
    if said is not None and said[1]:
        return template(message)
    return masked_by(mask_quotations_of_version_2, mask_phrases_of_version_2, message)
