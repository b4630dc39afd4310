"""What became of a run, as one HTML file that needs nothing else."""

from tacit.report._report import ids_of_run, write_report

__all__ = ["ids_of_run", "write_report"]
