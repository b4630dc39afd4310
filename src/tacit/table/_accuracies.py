"""How often sources of votes are right, as a file says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = ["Accuracies", "read_accuracies"]


@dataclass(frozen=True, eq=False)
class Accuracies:
    """How often each source of votes is right, by name.

    Attributes:
        source: The path as it was given.
        shares: The share of right votes of each source, from 0 to 1.
    """

    source: str
    shares: Mapping[str, float]

    def of(self, names: Sequence[str], path: Path) -> list[float]:
        """The accuracies of sources that vote; refuses one without.

        Args:
            names: What they are called.
            path: The file of the votes, for messages.
        """
        from tacit.table._errors import did_you_mean, listed, refused

        missing = [name for name in names if name not in self.shares]
        if missing:
            raise refused(
                self.source,
                f"has no accuracy of {listed(missing)}{did_you_mean(missing[0], self.shares)}, "
                f"which votes in `{path}`",
                "write one for each source",
            )
        return [self.shares[name] for name in names]

    def check_voting(self, names: Iterable[str]) -> None:
        """Refuse accuracies of what is no source of votes.

        Args:
            names: What the sources of all votes are called.
        """
        from tacit.table._errors import did_you_mean, listed, refused

        known = [*names]
        unknown = [name for name in self.shares if name not in known]
        if unknown:
            raise refused(
                self.source,
                f"has an accuracy of {listed(unknown)}, which no votes come from"
                f"{did_you_mean(unknown[0], known)}",
                f"name the sources, {listed(known)}",
            )


def read_accuracies(path: str | os.PathLike[str]) -> Accuracies:
    r"""Read how often sources of votes are right, as `votes` of `read_beliefs`.

    Args:
        path: A Parquet or CSV file with the columns `source` and `accuracy`, or a JSON file of
            accuracies by the names of their sources.

    Raises:
        InvalidInputError: If the file cannot be used; the sentence names the source.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "accuracies.csv")
        ...     _ = path.write_text("source,accuracy\nann,0.9\nben,0.6\n")
        ...     accuracies = read_accuracies(path)
        >>> accuracies.shares
        {'ann': 0.9, 'ben': 0.6}
    """
    from tacit.table._read_accuracies import read

    return read(path)
