import errno
import os

import pytest

from tacit._files import write_atomically
from tacit.errors import TacitError


def test_file_is_the_old_one_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")

    def write(file):
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"

    write_atomically(path, write)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError("odd"), KeyboardInterrupt()])
def test_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")

    def write(file):
        file.write(b"half")
        raise error

    with pytest.raises(type(error)):
        write_atomically(path, write)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, r"\(the disk is full\); .* untouched: free some space"),
        (errno.EDQUOT, r"\(the disk quota is used up\)"),
        (errno.EROFS, r"\(its folder is read-only\); .*: choose another folder"),
        (errno.EACCES, r"\(its folder may not be written to\)"),
        (errno.EIO, r"\(the system says: Input/output error\); .*: make room or choose another"),
    ],
)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_what_the_system_refuses_is_said(tmp_path, monkeypatch, number, sentence, call):
    path = tmp_path / "a"
    path.write_text("old")

    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(f"os.{call}", refuse)
    with pytest.raises(TacitError, match=rf"'{path}' cannot be written {sentence}"):
        write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_odd_places_are_refused(tmp_path):
    (tmp_path / "folder" / "full").mkdir(parents=True)
    (tmp_path / "file").touch()
    for name, sentence in (
        ("gone/a", "its folder is not there"),
        ("file/a", "its folder is a file"),
        ("folder", "a folder has that name"),
        ("x" * 300, "its name is too long"),
    ):
        with pytest.raises(TacitError, match=sentence):
            write_atomically(tmp_path / name, lambda file: file.write(b"new"))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_closed_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(TacitError, match="may not be written to"):
        write_atomically(tmp_path / "a", lambda file: file.write(b"new"))
    tmp_path.chmod(0o700)


def test_error_is_of_the_kind_that_is_asked_for(tmp_path):
    class OwnError(TacitError):
        pass

    with pytest.raises(OwnError, match="cannot be written"):
        write_atomically(tmp_path / "gone" / "a", lambda file: file.write(b""), error=OwnError)


def test_permissions_are_those_of_any_new_file(tmp_path):
    write_atomically(tmp_path / "a", lambda file: file.write(b"new"))
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


@pytest.mark.parametrize("name", ["é" * 127, "🙂" * 63, "x" * 255, ".hidden"])
def test_names_of_any_length_work(tmp_path, name):
    write_atomically(tmp_path / name, lambda file: file.write(b"new"))
    assert (tmp_path / name).read_text() == "new"


def test_folder_that_cannot_be_synchronised_does_no_harm(tmp_path, monkeypatch):
    sync = os.fsync

    def fsync(number):
        if os.path.isdir(f"/proc/self/fd/{number}"):  # noqa: PTH112
            raise OSError(errno.EINVAL, "not here")
        sync(number)

    monkeypatch.setattr("os.fsync", fsync)
    write_atomically(tmp_path / "a", lambda file: file.write(b"new"))
    assert (tmp_path / "a").read_text() == "new"
