"""What goes wrong, with the message that the program would print.

Every error has ``exit_code``, what ``sotto`` ends with (docs/cli.md).
"""


class Error(RuntimeError):
    """Base of all errors. The message is one line: name, value, what is allowed, what to do."""

    #: What the program would end with.
    exit_code: int = 1


class ConfigError(Error, ValueError):
    """Bad usage or configuration (2)."""

    exit_code = 2


class DataError(Error):
    """Unusable data (3)."""

    exit_code = 3


class PrivacyError(Error):
    """A plan does not protect as configured, or a budget does not allow it (4)."""

    exit_code = 4


class NetworkError(Error):
    """A peer or the network failed (5)."""

    exit_code = 5


class CryptoError(Error):
    """Cryptography failed, or a peer could not be authenticated (5)."""

    exit_code = 5


class DivergedError(Error):
    """Models are not finite any more (1)."""
