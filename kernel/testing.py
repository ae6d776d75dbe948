"""The place of `snaglist.testing` in version 0.1, for those who import it from here."""

from snaglist.testing import Answer, Client, Contract, pytest_plugins, running_service

__all__ = ["Answer", "Client", "Contract", "pytest_plugins", "running_service"]
