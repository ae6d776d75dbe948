"""A message as text, for people."""

from snaglist.plugins.alerting.channels import Message


def lines(message: Message) -> list[str]:
    """Return the summary, a line for each item, what is left out, and the link when there is one."""
    document = message.document
    found = [message.summary]
    found += [f"{item['severity']}  {item['title']}  ({item['count']}×)" for item in document["items"]]
    if document["more"]:
        found.append(f"and {document['more']} more")
    return found


def link(message: Message) -> str:
    """Return the absolute link of a message, empty when the address of the service is not known."""
    document = message.document
    absolute = [item["url"] for item in document["items"] if item["url"].startswith("http")]
    return absolute[0] if len(absolute) == 1 and not document["more"] else str(document["url"])


def with_link(message: Message) -> str:
    """Return the whole text."""
    return "\n".join([*lines(message), *([link(message)] if link(message) else [])])
