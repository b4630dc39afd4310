"""What the instances of a report look like: their pictures, or the beginning of their rows.

Read from the file of features as it stands, by row number, and only the rows that are shown. What
cannot be read is left out and said: a report does not need it.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from tacit.report._pictures import Picture, of_image, of_pixels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Looks", "Shown", "looks_of"]

N_COLUMNS: Final = 4
"""Columns of a table that are shown."""
_LONGEST: Final = 50
"""Characters of a value that are shown."""
_SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp")
_BLOCK: Final = 1 << 22
_DECIMAL: Final = re.compile(r"-?\d+\.\d+")
"""Numbers as CSV files hold them; what is written in another way stays as it is."""


class Shown(NamedTuple):
    """What is shown of an instance: one of the two.

    Attributes:
        picture: Its picture.
        cells: Names and values of the first columns of its row.
    """

    picture: Picture | None = None
    cells: tuple[tuple[str, str], ...] = ()


class Looks(NamedTuple):
    """What the instances look like.

    Attributes:
        shown: Of each row by its number, as far as it was found.
        note: Why there is nothing, or empty.
    """

    shown: Mapping[int, Shown]
    note: str


class _OtherDataError(Exception):
    """The data are not those of the run any more."""


class _Wanted(NamedTuple):
    """What is asked for.

    Attributes:
        rows: The ids of the rows, by their numbers.
        n_rows: How many rows the data must have.
        id_column: The column of ids, where one was named.
        columns: The columns that are features, where they were named.
    """

    rows: Mapping[int, str]
    n_rows: int
    id_column: str | None
    columns: Sequence[str] | None


def looks_of(
    recipe: Mapping[str, Any], rows: Mapping[int, str], n_rows: int, data: Path | None = None
) -> Looks:
    """Find out what some instances look like.

    Args:
        recipe: Of the run: where its data are, and which columns count.
        rows: The ids of the rows to show, by their numbers.
        n_rows: How many rows the run had.
        data: Where the data are now, if elsewhere.
    """
    place = Path(str(recipe.get("data"))) if data is None else data
    wanted = _Wanted(rows, n_rows, recipe.get("id_column"), recipe.get("columns"))
    if not rows:
        return Looks({}, "")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of huge or odd images, which the run has read
            return Looks(_reader(place)(place, wanted), "")
    except _OtherDataError as error:
        return Looks({}, f"The features in '{place}' are not shown: {error}.")
    except FileNotFoundError:
        return Looks({}, f"The features are not shown: '{place}' is not there any more.")
    except Exception as error:  # many libraries, and nothing that a report must have
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        return Looks(
            {}, f"The features in '{place}' are not shown: they cannot be read ({reason})."
        )


def _reader(place: Path) -> Callable[[Path, _Wanted], dict[int, Shown]]:
    if place.is_dir():
        return _from_folder
    readers = {
        (".parquet", ".pq"): _from_parquet,
        (".csv", ".tsv", ".csv.gz", ".tsv.gz"): _from_csv,
        (".npy",): _from_npy,
        (".npz",): _from_npz,
    }
    for suffixes, reader in readers.items():
        if place.name.lower().endswith(suffixes):
            return reader
    raise _OtherDataError("their format is unknown")


def _from_folder(place: Path, wanted: _Wanted) -> dict[int, Shown]:
    from PIL import Image

    found = {}
    for row, name in wanted.rows.items():
        path = _image_at(place, name)
        if path is not None:
            with Image.open(path) as image:
                found[row] = Shown(of_image(image))
    if not found:
        raise _OtherDataError("the images of the run are not there any more")
    return found


def _image_at(folder: Path, name: str) -> Path | None:
    """The image of an id: its name, perhaps without its suffix, and nothing outside the folder."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    endings = ("", *_SUFFIXES, *(suffix.upper() for suffix in _SUFFIXES))
    places = (folder / f"{name}{ending}" for ending in endings)
    return next((place for place in places if place.is_file()), None)


def _from_npy(place: Path, wanted: _Wanted) -> dict[int, Shown]:
    return _from_array(np.load(place, mmap_mode="r", allow_pickle=False), wanted)


def _from_npz(place: Path, wanted: _Wanted) -> dict[int, Shown]:
    with np.load(place, allow_pickle=False) as file:
        (key,) = (key for key in file.files if key in ("X", "features", "images"))
        return _from_array(file[key], wanted)


def _from_array(array: NDArray[Any], wanted: _Wanted) -> dict[int, Shown]:
    _check_rows(len(array), wanted)
    rows = sorted(wanted.rows)
    values = np.asarray(array[rows])
    if values.ndim == 2:
        names = [f"feature {column}" for column in range(min(N_COLUMNS, values.shape[1]))]
        return {
            row: Shown(cells=_cells(names, each)) for row, each in zip(rows, values, strict=True)
        }
    images = values[:, np.newaxis] if values.ndim == 3 else values
    low, high = _scale(images)
    return {
        row: Shown(of_pixels(image, low, high)) for row, image in zip(rows, images, strict=True)
    }


def _scale(images: NDArray[Any]) -> tuple[float, float]:
    """What is black and what is white: the scale of whole numbers, the range of others."""
    if images.dtype.kind == "u":
        return 0.0, float(np.iinfo(images.dtype).max)
    return float(images.min()), float(images.max())


def _from_parquet(place: Path, wanted: _Wanted) -> dict[int, Shown]:
    with pq.ParquetFile(place) as file:
        _check_rows(file.metadata.num_rows, wanted)
        id_name, names = _chosen(file.schema_arrow.names, wanted)
        return _from_groups(_groups(file, _columns(id_name, names), wanted), id_name, names, wanted)


def _groups(file: Any, columns: list[str], wanted: _Wanted) -> Iterator[tuple[int, Any]]:
    """The row groups in which there is a row that is wanted."""
    start, rows = 0, np.array(sorted(wanted.rows))
    for number in range(file.num_row_groups):
        stop = start + file.metadata.row_group(number).num_rows
        if ((rows >= start) & (rows < stop)).any():
            yield start, file.read_row_group(number, columns=columns)
        start = stop


def _from_csv(place: Path, wanted: _Wanted) -> dict[int, Shown]:
    tabs = place.name.lower().endswith((".tsv", ".tsv.gz"))
    options = {
        "read_options": pa.csv.ReadOptions(block_size=_BLOCK),
        "parse_options": pa.csv.ParseOptions(
            delimiter="\t" if tabs else ",", newlines_in_values=True
        ),
    }
    with pa.csv.open_csv(str(place), **options) as file:
        id_name, names = _chosen(file.schema.names, wanted)
    columns = _columns(id_name, names)
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(columns, pa.string()), include_columns=columns
    )

    def batches() -> Iterator[tuple[int, Any]]:
        start = 0
        with pa.csv.open_csv(str(place), convert_options=convert, **options) as file:
            for batch in file:
                yield start, batch
                start += len(batch)
        _check_rows(start, wanted)

    return _from_groups(batches(), id_name, names, wanted)


def _from_groups(
    groups: Iterator[tuple[int, Any]], id_name: str | None, names: Sequence[str], wanted: _Wanted
) -> dict[int, Shown]:
    """The rows that are wanted out of parts of a table; refuses others in their places."""
    found = {}
    for start, table in groups:
        for row in (row for row in sorted(wanted.rows) if start <= row < start + len(table)):
            if id_name is not None:
                name = str(table.column(id_name)[row - start].as_py())
                if name != wanted.rows[row]:
                    raise _OtherDataError(f"row {row} is called {name}, not {wanted.rows[row]}")
            values = [table.column(name)[row - start].as_py() for name in names]
            found[row] = Shown(cells=_cells(names, values))
    return found


def _chosen(names: Sequence[str], wanted: _Wanted) -> tuple[str | None, list[str]]:
    """The column of ids, if there is one, and the first of the others, features if named."""
    id_name = wanted.id_column or ("id" if "id" in names else None)
    if id_name is not None and id_name not in names:
        raise _OtherDataError(f"they have no column {id_name}")
    others = [name for name in names if name != id_name]
    features = [name for name in wanted.columns or () if name in others]
    return id_name, (features or others)[:N_COLUMNS]


def _columns(id_name: str | None, names: list[str]) -> list[str]:
    return names if id_name is None else [id_name, *names]


def _check_rows(n_rows: int, wanted: _Wanted) -> None:
    if n_rows != wanted.n_rows:
        raise _OtherDataError(f"they have {n_rows:,} rows now, and had {wanted.n_rows:,}")


def _cells(names: Sequence[str], values: Any) -> tuple[tuple[str, str], ...]:
    return tuple(
        (str(name), _value(value))
        for name, value in zip(names, list(values)[: len(names)], strict=True)
    )


def _value(value: Any) -> str:
    """A value in few characters."""
    text = "" if value is None else str(value)
    if isinstance(value, float | np.floating) or _DECIMAL.fullmatch(text):
        return f"{float(text):.6g}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
