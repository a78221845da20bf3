"""Exceptions, with the messages that the program prints.

Every error has ``exit_code``, the exit code of ``sotto`` (docs/cli.md).
"""


class Error(RuntimeError):
    """Base of all errors. The message is one line: name, value, what is allowed, what to do."""

    #: The exit code of the program for this error.
    exit_code: int = 1


class ConfigError(Error, ValueError):
    """Bad usage or configuration (2)."""

    exit_code = 2


class DataError(Error):
    """Unusable data (3)."""

    exit_code = 3


class PrivacyError(Error):
    """A plan does not protect as configured, or exceeds a budget (4)."""

    exit_code = 4


class NetworkError(Error):
    """A peer or the network failed (5)."""

    exit_code = 5


class CryptoError(Error):
    """Cryptography failed, or a peer could not be authenticated (5)."""

    exit_code = 5


class DivergedError(Error):
    """Models are not finite any more (1)."""
