from __future__ import annotations

import pytest
import torch

from tacit.fitting._augment import AUGMENTATIONS, mirrored, shifted


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


def test_about_half_of_the_images_are_turned_round_and_nothing_else():
    images = torch.arange(400 * 2 * 3 * 4).view(400, 2, 3, 4).float()
    found = mirrored(images, torch.Generator().manual_seed(3))
    turned = (found == images.flip(3)).flatten(1).all(1)
    kept = (found == images).flatten(1).all(1)
    assert bool((turned ^ kept).all())
    assert 150 < int(turned.sum()) < 250
    assert found.equal(mirrored(images, torch.Generator().manual_seed(3)))


def test_shifting_and_mirroring_does_both():
    images = torch.zeros(300, 1, 5, 5)
    images[:, 0, 2, 4] = 1  # at the right edge, in the middle
    both = AUGMENTATIONS["shift_mirror"]
    assert both is not None
    columns = both(images, torch.Generator().manual_seed(0)).sum((0, 1, 2)).bool()
    assert columns.tolist() == [True, True, False, True, True]
