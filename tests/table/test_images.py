import numpy as np
import pytest
from PIL import Image

from tacit.errors import InvalidInputError
from tacit.table import read_features


def save_image(path, array, mode=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array, mode).save(path)


def colours(*shape, kind=np.uint8, seed=0):
    return np.random.default_rng(seed).integers(0, np.iinfo(kind).max, shape).astype(kind)


def test_folder_of_images_is_read_in_the_order_of_names(tmp_path):
    arrays = {
        name: colours(3, 4, 3, seed=row) for row, name in enumerate(["b/x.png", "a.bmp", "b.tif"])
    }
    for name, array in arrays.items():
        save_image(tmp_path / name, array)
    features = read_features(tmp_path)
    assert features.ids.to_pylist() == ["a", "b", "b/x"]
    assert (features.values.dtype, features.values.shape) == (np.float32, (3, 3, 3, 4))
    for values, name in zip(features.values, ["a.bmp", "b.tif", "b/x.png"], strict=True):
        assert np.allclose(values, arrays[name].transpose(2, 0, 1) / 255)
    assert (features.names, features.notes, features.source) == ((), (), str(tmp_path))


@pytest.mark.parametrize("suffix", ["png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "PNG"])
def test_every_format_is_read(tmp_path, suffix):
    save_image(tmp_path / f"x.{suffix}", np.full((8, 9, 3), 100, np.uint8))
    values = read_features(tmp_path).values
    assert values.shape == (1, 3, 8, 9)
    assert np.allclose(values, 100 / 255, atol=0.02)


def test_ids_keep_their_suffixes_where_two_would_be_the_same(tmp_path):
    for name in ("a.png", "a.bmp", "b.png"):
        save_image(tmp_path / name, colours(2, 2))
    assert read_features(tmp_path).ids.to_pylist() == ["a.bmp", "a.png", "b.png"]


@pytest.mark.parametrize(
    ("mode", "channels"),
    [("1", 1), ("L", 1), ("LA", 2), ("P", 3), ("RGB", 3), ("RGBA", 4), ("CMYK", 3), ("I;16", 1)],
)
def test_modes_become_channels_between_0_and_1(tmp_path, mode, channels):
    image = Image.fromarray(np.full((4, 5, 3), 255, np.uint8)).convert(
        "I" if mode == "I;16" else mode
    )
    if mode == "I;16":
        image = Image.fromarray(np.full((4, 5), 65535, np.uint16))
    image.save(tmp_path / ("x.tif" if mode in ("CMYK", "LA") else "x.png"))
    values = read_features(tmp_path).values
    assert values.shape == (1, channels, 4, 5)
    assert values.max() == 1.0
    assert values.min() >= 0.0


def test_transparent_palette_becomes_four_channels(tmp_path):
    image = Image.fromarray(colours(4, 5, 3)).convert("P")
    image.save(tmp_path / "x.png", transparency=0)
    assert read_features(tmp_path).values.shape == (1, 4, 4, 5)


def test_floating_point_pixels_stay_as_they_are(tmp_path):
    array = np.linspace(-5, 900, 20, dtype=np.float32).reshape(4, 5)
    save_image(tmp_path / "x.tif", array)
    assert np.array_equal(read_features(tmp_path).values[0, 0], array)


def test_hidden_files_are_passed_over_and_others_noted(tmp_path):
    save_image(tmp_path / "x.png", colours(2, 2))
    for name in (".hidden.png", "labels.csv", ".cache/y.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("no image")
    features = read_features(tmp_path)
    assert features.ids.to_pylist() == ["x"]
    assert features.notes == ("1 files are no images and were passed over: labels.csv.",)


def test_images_of_different_sizes_are_refused(tmp_path):
    save_image(tmp_path / "a.png", colours(2, 3))
    for other in (colours(3, 2), colours(2, 3, 3)):
        save_image(tmp_path / "b.png", other)
        with pytest.raises(
            InvalidInputError,
            match=r"b.png`: has \d channels of .* and `.*a.png` has 1 channels of",
        ):
            read_features(tmp_path)


def test_image_of_integers_is_refused(tmp_path):
    save_image(tmp_path / "x.tif", np.array([[70000, 1]], np.int32))
    with pytest.raises(InvalidInputError, match=r"`: holds pixels of int32, whose scale nobody"):
        read_features(tmp_path)


def test_image_with_several_pages_is_refused(tmp_path):
    pages = [Image.fromarray(colours(2, 2, seed=page)) for page in range(2)]
    pages[0].save(tmp_path / "x.tif", save_all=True, append_images=pages[1:])
    with pytest.raises(InvalidInputError, match=r"x.tif`: holds several images; save each"):
        read_features(tmp_path)


def test_infinite_pixel_is_named(tmp_path):
    save_image(tmp_path / "x.tif", np.array([[1.0, np.inf]], np.float32))
    with pytest.raises(InvalidInputError, match=r"row 0 \(id x\): at \(0, 0, 1\) is infinite"):
        read_features(tmp_path)


@pytest.mark.parametrize("keep", [0, 20, -40])
def test_damaged_image_is_named(tmp_path, keep):
    save_image(tmp_path / "a.png", colours(20, 20))
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:keep])
    with pytest.raises(InvalidInputError, match=r"b.png`: cannot be read as an image \(.*write"):
        read_features(tmp_path)


def test_name_that_is_no_text_is_refused(tmp_path):
    save_image(tmp_path / "x.png", colours(2, 2))
    (tmp_path / "x.png").rename(tmp_path / "\udcff.png")
    with pytest.raises(InvalidInputError, match=r"whose name .* is not UTF-8; rename it"):
        read_features(tmp_path)


def test_folder_without_images_is_refused(tmp_path):
    (tmp_path / "part-0.parquet").touch()
    with pytest.raises(InvalidInputError, match=r"without images \(but with part-0.parquet\)"):
        read_features(tmp_path)


def test_choice_of_columns_is_refused(tmp_path):
    save_image(tmp_path / "x.png", colours(2, 2))
    for argument in ("columns", "id_column"):
        with pytest.raises(InvalidInputError, match=f"`{argument}` must be left out"):
            read_features(tmp_path, **{argument: "x"})


def test_closed_folder_is_refused(tmp_path, monkeypatch):
    def scan(path):
        raise PermissionError(13, "Permission denied", path)

    save_image(tmp_path / "x.png", colours(2, 2))
    monkeypatch.setattr("os.scandir", scan)
    with pytest.raises(InvalidInputError, match="may not be read; grant permission to read it"):
        read_features(tmp_path)


def test_16_bits_that_older_pillows_call_integers_are_16_bits(tmp_path, monkeypatch):
    save_image(tmp_path / "x.png", np.array([[65535, 13107]], np.uint16))
    image = Image.fromarray(np.array([[65535, 13107]], np.int32))
    image.format = "PNG"
    monkeypatch.setattr("PIL.Image.open", lambda _: image)
    assert np.allclose(read_features(tmp_path).values, [[[[1.0, 0.2]]]])
