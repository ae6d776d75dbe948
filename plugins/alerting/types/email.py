"""The type `email`: through the mail server of the configuration, which the operator chose."""

import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from email.utils import format_datetime

from snaglist.kernel import Call, Invalid, clip, times
from snaglist.plugins.alerting.channels import ChannelType, Message, NotDelivered, Opening, Send, Target
from snaglist.plugins.alerting.channels.contract import CONNECT_SECONDS, TOTAL_SECONDS
from snaglist.plugins.alerting.types import texts

_SUBJECT = 200
_NO_SERVER = "E-mail needs a mail server: set smtp.host in the configuration."


def _check(call: Call, target: Target) -> str:
    if not call.setting("smtp.host"):
        raise Invalid(f"type: {_NO_SERVER}")
    if not _sender(call):
        raise Invalid("type: E-mail needs a sender: set smtp.from in the configuration.")
    name, _, domain = str(target["recipients"][0]).partition("@")
    return f"{name[:1]}…@{domain}"


@contextmanager
def _open(opening: Opening) -> Iterator[Send]:
    def send(message: Message) -> None:
        if not opening.call.setting("smtp.host"):
            raise NotDelivered(_NO_SERVER, answered=True)
        mail = _mail(opening.call, message, opening.target["recipients"])
        try:
            with _signed_in(opening.call) as server:
                server.send_message(mail)
        except smtplib.SMTPRecipientsRefused as error:
            raise NotDelivered("The mail server refused all recipients: check them.", answered=True) from error
        except smtplib.SMTPResponseException as error:
            raise NotDelivered(f"The mail server answered {error.smtp_code}: see its log.", answered=True) from error
        except (OSError, smtplib.SMTPException, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            what = f"The mail server did not answer ({reason}): check smtp.host, smtp.port and smtp.tls."
            raise NotDelivered(what, answered=False) from error

    yield send


@contextmanager
def _signed_in(call: Call) -> Iterator[smtplib.SMTP]:
    """Connect and sign in; all of it, and what is sent then, takes `TOTAL_SECONDS` at most."""
    tls, host, port = call.setting("smtp.tls"), call.setting("smtp.host"), call.setting("smtp.port")
    context = ssl.create_default_context()
    server = smtplib.SMTP_SSL(timeout=CONNECT_SECONDS, context=context) if tls == "tls" else smtplib.SMTP(
        timeout=CONNECT_SECONDS
    )  # fmt: skip
    watchdog = threading.Timer(TOTAL_SECONDS, _abort, (server,))
    watchdog.daemon = True
    watchdog.start()
    try:
        server._host = host  # type: ignore[attr-defined]  # only the constructor, which connects at once, sets it
        server.connect(host, port)
        if tls == "starttls":
            server.starttls(context=context)
        if call.setting("smtp.user"):
            server.login(call.setting("smtp.user"), call.setting("smtp.password"))
        yield server
        with suppress(OSError, smtplib.SMTPException):  # the mail is taken already
            server.quit()
    finally:
        watchdog.cancel()
        server.close()


def _abort(server: smtplib.SMTP) -> None:
    with suppress(OSError):
        if server.sock is not None:
            server.sock.shutdown(socket.SHUT_RDWR)


def _mail(call: Call, message: Message, recipients: list[str]) -> EmailMessage:
    mail = EmailMessage()
    sender = _sender(call)
    mail["Subject"] = clip(" ".join(f"[{message.document['application']}] {message.summary}".split()), _SUBJECT)
    mail["From"] = sender
    mail["To"] = ", ".join(recipients)
    mail["Date"] = format_datetime(times.read(call.now))
    # Equal for all attempts, so that mail programs can tell a repeated mail.
    mail["Message-ID"] = f"<{message.delivery}@{sender.rpartition('@')[2].rstrip('>') or 'snaglist'}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(texts.with_link(message) + "\n")
    return mail


def _sender(call: Call) -> str:
    return str(call.setting("smtp.from") or call.setting("smtp.user"))


EMAIL = ChannelType(("recipients",), _check, _open, needs=("smtp.host",))
