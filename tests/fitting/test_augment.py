from __future__ import annotations

import pytest
import torch

from tacit.fitting._augment import shifted


def moved(image, down, right, reach):
    """The referee: one pixel at a time."""
    _, height, width = image.shape
    found = torch.zeros_like(image)
    for row in range(height):
        for column in range(width):
            y, x = row + down - reach, column + right - reach
            if 0 <= y < height and 0 <= x < width:
                found[:, row, column] = image[:, y, x]
    return found


@pytest.mark.parametrize(("shape", "reach"), [((3, 2, 8, 9), 1), ((2, 1, 40, 33), 2)])
def test_each_image_is_moved_whole(generator, shape, reach):
    images = torch.rand(shape, generator=generator)
    found = shifted(images, generator)
    steps = range(2 * reach + 1)
    for image, result in zip(images, found, strict=True):
        ways = [moved(image, down, right, reach) for down in steps for right in steps]
        assert sum(result.equal(way) for way in ways) == 1


def test_all_steps_occur_and_the_generator_decides(generator):
    images = torch.rand(1, 1, 5, 7, generator=generator).expand(300, -1, -1, -1)
    found = shifted(images, torch.Generator().manual_seed(3))
    assert len(found.flatten(1).unique(dim=0)) == 9
    assert found.equal(shifted(images, torch.Generator().manual_seed(3)))
    assert not found.equal(shifted(images, torch.Generator().manual_seed(4)))
