"""Lines of a file block by block: the same as all at once, in bounded memory."""

import gzip
import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schedlab.instances import WorkloadError
from schedlab.instances.files import Folder, line_blocks, read_lines, reading
from schedlab.instances.files.reading import text_lines

PIECES = st.sampled_from([b"a", b"12 3", b"\n", b"\r", b"\r\n", b"\xc3\xa9", b"\xff", b"\x0c", b"\xef\xbb\xbf"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=30).map(b"".join), st.integers(3, 9), st.booleans())
def test_blocks_have_the_lines_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, chunk: int, packed: bool
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(gzip.compress(data) if packed else data)
    whole = read_lines(path)
    with monkeypatch.context() as m:
        m.setattr(reading, "CHUNK", chunk)
        blocks = list(line_blocks(path))
    assert [line for block in blocks for line in block] == whole


def test_a_large_file_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("1 0 10 60 24 -1 -1 24 3600 -1 1 5 1 -1 -1 -1 -1 -1\n" * 160_000)  # 8 MB, 8 blocks
    peaks = []
    for read in (lambda: sum(map(len, line_blocks(path))), lambda: len(read_lines(path))):
        tracemalloc.start()
        assert read() == 160_000
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < peaks[1] / 3


def test_faults_are_those_of_reading_all_lines(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="there is no such file"):
        list(line_blocks(tmp_path / "none"))
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"1 2\n" * 100)[:-9])
    with pytest.raises(WorkloadError, match="gzip data are damaged"):
        list(line_blocks(tmp_path / "bad.gz"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES.filter(lambda piece: piece != b"\xff"), max_size=30).map(b"".join), st.integers(1, 9))
def test_lines_with_their_ends_are_those_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, chunk: int
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(data)
    with monkeypatch.context() as m:
        m.setattr(reading, "CHUNK", max(chunk, 3))  # the byte order mark is in the first block
        found = list(text_lines(path))
    assert found == list(io.StringIO(data.removeprefix(b"\xef\xbb\xbf").decode(), newline=""))


def test_rows_of_a_table_are_read_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'name,note\r\na,"x\ny"\r\nb\r\nc,z\r\n'
    (tmp_path / "t.csv").write_bytes(text.encode())
    for chunk in (3, 20, 2**20):
        monkeypatch.setattr(reading, "CHUNK", chunk)
        folder = Folder(tmp_path)
        folder.faults.clear()  # there is no instance.toml
        assert [(r.line, r.cells) for r in folder.rows("t.csv", ["name", "note"])] == [
            (3, {"name": "a", "note": "x\ny"}),
            (5, {"name": "c", "note": "z"}),
        ]
        assert [(f.line, f.expected) for f in folder.faults] == [(4, "2 fields")]


def test_the_line_that_is_not_utf_8_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "CHUNK", 4)
    (tmp_path / "t.csv").write_bytes(b"name\na\n\xff\nb\n")
    folder = Folder(tmp_path)
    folder.faults.clear()
    assert [r.cells["name"] for r in folder.rows("t.csv", ["name"])] == ["a"]
    assert [(f.line, f.field, f.expected) for f in folder.faults] == [(3, "encoding", "UTF-8")]
    assert "0xff" in str(folder.faults[0])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["a", "12|3", "\n", "\r\n", "\u00e9", "\U0001f600"]), max_size=30).map("".join),
    st.sampled_from(["utf-16-le", "utf-16-be"]), st.integers(3, 9), st.booleans(),
)  # fmt: skip
def test_texts_in_utf_16_have_the_lines_of_those_in_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, encoding: str, chunk: int, packed: bool
) -> None:
    """As > of PowerShell writes them on Windows."""
    plain, path = tmp_path / "plain", tmp_path / "lines"
    plain.write_bytes(text.encode())
    data = ("\ufeff" + text).encode(encoding)
    path.write_bytes(gzip.compress(data) if packed else data)
    with monkeypatch.context() as m:
        m.setattr(reading, "CHUNK", chunk)
        assert [line for block in line_blocks(path) for line in block] == read_lines(plain)


def test_a_text_in_utf_16_that_was_cut_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\nb".encode("utf-16")[:-1])
    assert read_lines(path) == ["a", "\ufffd"]
