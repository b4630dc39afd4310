"""Features as they come out of a file, and the one way to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["Features", "read_features"]


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a collection, one row per instance.

    Attributes:
        values: The numbers, float32 and C-contiguous: `(rows, features)` of a table, `(rows,
            channel, height, width)` of images. Of an `.npy` file that holds just that it is a
            memory map, copied on write: what is written to it never reaches the file.
        ids: What each row is called, a pyarrow array of int64 or large_string without nulls or
            repetitions; None where the file has no ids, and rows go by their numbers, from 0.
        names: The names of the features; empty where the file names none.
        source: The path as it was given.
        notes: What is odd without being wrong, a sentence each.
    """

    values: NDArray[np.float32]
    ids: pa.Array | None
    names: tuple[str, ...]
    source: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)


def read_features(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
) -> Features:
    r"""Read the features of a collection from a file or a folder of images.

    | path | holds |
    |---|---|
    | `.parquet`, `.pq`, `.csv`, `.tsv`, `.csv.gz` | a column per feature, perhaps one of ids |
    | `.npy` | `(rows, features)`, or images as `(rows, [channel,] height, width)` |
    | `.npz` | the same under "X", "features" or "images", and perhaps "ids" |
    | a folder | images of one size: png, jpg, jpeg, tif, tiff, webp, bmp |

    Whole numbers, decimals and booleans become float32. Images of bytes (or of 16 bits) are scaled
    to lie between 0 and 1; those of floating-point numbers stay as they are. They come in the order
    of their names. The id of an image is its name without the suffix, with the folders below `path`
    in front; where two would have the same, all suffixes stay.

    A CSV file is UTF-8, with the names of the columns in its first line. Its ids are whole numbers
    if all of them are written as such ("7", not "007"), else text; other files say which they hold.

    Args:
        path: The file or folder.
        id_column: The column of ids, or the key in an `.npz` file; unless given, the column
            "id", or the key "ids", if there is one.
        columns: The columns that are features; unless given, all but the ids.

    Returns:
        The features. What is odd, such as a feature that is the same in all rows, is in their
        `notes`.

    Raises:
        InvalidInputError: If the file is missing, damaged or empty; if a feature is not a number,
            missing, infinite or NaN somewhere; if an id is missing or comes twice; if images
            differ in size. The sentence names the file, the row and the column.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "features.csv")
        ...     _ = path.write_text("id,width,height\na,1.5,2\nb,3,4.25\n")
        ...     features = read_features(path)
        >>> features.values
        array([[1.5 , 2.  ],
               [3.  , 4.25]], dtype=float32)
        >>> features.ids.to_pylist(), features.names
        (['a', 'b'], ('width', 'height'))
    """
    from tacit.table._read_features import read

    return read(path, id_column, columns)
