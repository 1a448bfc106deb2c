"""The lines of a log, plain or gz."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from .workload import WorkloadError

GZIP = b"\x1f\x8b"


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file, gz or not; the first one is line 1. Any line ends; what is not UTF-8 becomes U+FFFD.

    Raises WorkloadError if there is no such file or it cannot be read.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise WorkloadError(f"{path}: there is no such file") from None
    except OSError as e:
        raise WorkloadError(f"{path}: cannot be read ({e.strerror})") from e
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as e:
            raise WorkloadError(f"{path}: the gzip data are damaged ({e}); fetch or unpack the file again") from e
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    # not splitlines(): it also breaks at form feeds and the like, and the numbers would not be those of an editor
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]
