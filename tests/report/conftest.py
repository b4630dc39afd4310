"""One thread: the tables are small."""

import pytest
import torch


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)
