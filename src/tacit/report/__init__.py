"""What became of a run, as one HTML file that needs nothing else."""

from tacit.report._report import write_report

__all__ = ["write_report"]
