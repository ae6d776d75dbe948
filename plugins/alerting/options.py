"""Configuration keys of the area."""

from snaglist.kernel import Option

OPTIONS = (
    Option("alerts.max_event_age_hours", 24, "events that are older alert nobody; 0: of any age", 0, 87_600),
    Option("alerts.max_per_hour", 60, "messages of an application; the rest goes into a digest", 1, 1_000_000),
    Option("alerts.retry_seconds", 30, "before the second attempt; doubles with each further one", 1, 3600),
    Option("alerts.interval_seconds", 60, "how often rules are looked at without new events; 0: off", 0, 3600),
    Option("smtp.host", "", "mail server for channels of the type email; empty: there are none"),
    Option("smtp.port", 587, "of the mail server", 1, 65535),
    Option("smtp.user", "", "empty: no sign-in"),
    Option("smtp.password", "", "of smtp.user"),
    Option("smtp.from", "", "sender of mails; empty: smtp.user"),
    Option("smtp.tls", "starttls", "how the connection is secured", choices=("starttls", "tls", "none")),
)
