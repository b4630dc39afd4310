"""A small collection in files, and one thread: the tables are small."""

import pytest
import torch

from tests.cli.cases import case


@pytest.fixture
def files(tmp_path):
    """A folder with `x.parquet` and `excluded.csv`."""
    case().write(tmp_path)
    return tmp_path


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)
