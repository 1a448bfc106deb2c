"""Damage to the bytes of a file, of the kinds that damaged transfers, bad exports and hostile hands make."""

import random
import re
from collections.abc import Callable

Damage = Callable[[random.Random, bytes], bytes]

NUMBERS = [
    b"0", b"-1", b"-0", b"1e400", b"-1e400", b"1e308", b"1e-320", b"nan", b"NaN", b"inf", b"-Infinity", b"0.5", b"1_000",
    b"0x10", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616",
    b"-9223372036854775809", b"9" * 400, b"9" * 5000, b"1." + b"3" * 400, b"10000000000", b"1000000", b"99999999",
    b"0x" + b"f" * 5000, "²".encode(), "٣".encode(), "\uff11".encode(), b"+7", b"1e9", b"2000000", b"00000000000000000001",
]  # fmt: skip
TEXTS = [
    b"", b" ", b"\x00", b"\x1b[31m", b"[/red]", b"\x7f", b"\x85", "\u2028".encode(), b"\xff\xfe", b"\xc3", b"\xed\xa0\x80",
    b'"', b"'", b"\\", b"\\ud800", b"\r", b"\r\n", b"\n\n", b"\x0c", b"\x1c", b",", b";", b"|", b"=", b":", b"#", b"+", b"[", b"{", b"]",
    b"null", b"true", b"None", b"../../etc/passwd", b"/dev/zero", b"%s%n{0}", "é\u0301\U0001f600".encode(), b"\xef\xbb\xbf",
    b"default", b"x" * 300, b"x" * 200_000, b"x " * 50_000, b"- " * 50_000, b"a=" * 50_000, b" " * 200_000, b"1:" * 50_000,
    b"[" * 3000, b'{"a":' * 3000, b'"' * 200_001, b"'" * 200_001, b"\t" * 100_000 + b"x", b"1" * 200_000 + b"x", b"a." * 2_000,
]  # fmt: skip
TOKEN = re.compile(rb"[^\s,;|=:\[\]{}\"']+")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


def flip(rng: random.Random, data: bytes) -> bytes:
    """Some bytes are others."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if found:
            found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def cut(rng: random.Random, data: bytes) -> bytes:
    """The end, or a piece, is missing."""
    a, b = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    return data[:a] if rng.random() < 0.5 else data[:a] + data[b:]


def lines(rng: random.Random, data: bytes) -> bytes:
    """Lines are doubled, dropped, moved, cut."""
    found = data.split(b"\n")
    k = rng.randrange(len(found))
    what = rng.randrange(5)
    if what == 0:
        found[k:k] = [found[k]] * rng.choice([1, 2, 1000])
    elif what == 1:
        del found[k : k + rng.choice([1, 2, len(found)])]
    elif what == 2:
        rng.shuffle(found)
    elif what == 3:
        found[k] = found[k][: rng.randint(0, len(found[k]))]
    else:
        found[k] += rng.choice([b",", b",,,", b"|", b" 7", b"\t", b";"])
    return b"\n".join(found)


def _at(rng: random.Random, data: bytes, what: re.Pattern[bytes], new: list[bytes]) -> bytes:
    places = list(what.finditer(data))
    if not places:
        return rng.choice(new) + data
    found = rng.choice(places)
    return data[: found.start()] + rng.choice(new) + data[found.end() :]


def number(rng: random.Random, data: bytes) -> bytes:
    """A number is an extreme one, or none."""
    return _at(rng, data, NUMBER, NUMBERS)


def token(rng: random.Random, data: bytes) -> bytes:
    """A word is another one, of the file or odd, or a number."""
    own = TOKEN.findall(data) or [b""]
    return _at(rng, data, TOKEN, [rng.choice(own), rng.choice(TEXTS), rng.choice(NUMBERS)])


def repeat(rng: random.Random, data: bytes) -> bytes:
    """A word stands there many times."""
    own = TOKEN.findall(data) or [b"x"]
    word = rng.choice(own)
    return data.replace(word, (word + rng.choice([b"", b" ", b",", b":", b"+"])) * rng.choice([2, 30, 5000]), 1)


def insert(rng: random.Random, data: bytes) -> bytes:
    """Something odd stands in between."""
    k = rng.randint(0, len(data))
    return data[:k] + rng.choice(TEXTS) + data[k:]


def everywhere(rng: random.Random, data: bytes) -> bytes:
    """A sign or word is another one in the whole file."""
    marks = [b",", b"\n", b" ", b";", b"|", b"=", b'"', *TOKEN.findall(data)[:20]]
    new = rng.choice([b"", b"\t", b"\r\n", b"\r", b"0", b"\x00", *NUMBERS[:20]])
    return data.replace(rng.choice(marks), new)


REPLACED = (b"2147483648", b"9" * 5000, b"-1", b"nan", b"0", b"x", b"1e400", b"0.5")
PLACES = 12  # of so many numbers of a file each is replaced in turn, unless a format has less


def whole_file(data: bytes) -> list[bytes | None]:
    """Damages of a whole file, always in the same order; None: a directory stands there."""
    rows = data.split(b"\n")
    middle = len(data) // 2
    return [
        None,
        b"",
        b"\xef\xbb\xbf" + data,
        data.replace(b"\n", b"\r\n"),
        data[:middle],
        data[:middle] + b"\x00" + data[middle:],
        data[:middle] + b"\xff\xfe\xc3" + data[middle:],
        data + data,
        b"\n".join([rows[0], *rows]),
        b"\n".join([*rows[:-2], *rows[-2:-1] * 3, *rows[-1:]]),
    ]


def replaced_numbers(data: bytes, places: int = PLACES) -> list[bytes]:
    """The file with one of some numbers replaced, which are spread over the file; always in the same order."""
    found = list(NUMBER.finditer(data))
    chosen = found[:: max(1, len(found) // places)][:places]
    return [data[: m.start()] + new + data[m.end() :] for m in chosen for new in REPLACED]


DAMAGES: tuple[Damage, ...] = (flip, cut, lines, number, number, number, token, token, repeat, insert, everywhere)


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The file with one to three damages."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        data = rng.choice(DAMAGES)(rng, data)
    return data
