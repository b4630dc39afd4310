"""Taxonomies in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from tacit.sources import Taxonomy

__all__ = ["read_taxonomy"]


def read_taxonomy(path: str | os.PathLike[str]) -> Taxonomy:
    r"""Read a tree of names, of which the leaves are the classes.

    Args:
        path: A YAML or JSON file of names that hold names, nested to any depth (at most 100), or a
            Parquet or CSV file with the columns `name` and `parent`. There a row without a parent
            is at the top; if there is none, what is named as a parent only is. How likely the
            classes are within what is above them stands in a column `weight`, empty for what is no
            leaf; in YAML and JSON beside the tree: `tree`, the names, and `weights`, a number for
            each leaf, are then all that the file has at its top.

    Raises:
        InvalidInputError: If the file cannot be used; if a name comes twice, is below itself, or
            is below one that is not there; if some leaves have weights and others do not. The
            sentence names the place.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "tree.yaml")
        ...     _ = path.write_text("sports: [tennis, golf]\narts:\n  music: [opera]\n")
        ...     tree = read_taxonomy(path)
        >>> tree.classes, tree.leaves_below("sports")
        (('tennis', 'golf', 'opera'), ('tennis', 'golf'))
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "tree.csv")
        ...     _ = path.write_text("name,parent,weight\ntennis,sports,3\ngolf,sports,1\n")
        ...     tree = read_taxonomy(path)
        >>> tree.weights
        {'tennis': 3.0, 'golf': 1.0}
    """
    from tacit.table._read_taxonomy import read

    return read(path)
