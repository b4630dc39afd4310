"""Models at rest: a folder with a description in JSON and weights in safetensors, no pickle."""

from __future__ import annotations

import copy
import hashlib
import json
import secrets
import shutil
from dataclasses import asdict, replace
from functools import partial
from importlib.metadata import version
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
import torch
from torch import nn

from tacit._files import write_atomically
from tacit.errors import ModelError
from tacit.estimator._names import OBJECTIVES, build
from tacit.estimator._plans import execution_of
from tacit.estimator._scaling import Scale
from tacit.fitting import Execution
from tacit.predictors import Standardised

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from tacit.estimator._classifier import BeliefClassifier

__all__ = ["DESCRIPTION", "WEIGHTS", "load", "save"]

DESCRIPTION: Final = "model.json"
WEIGHTS: Final = PurePath("weights.safetensors")
FORMAT: Final = 1
_PLAIN: Final = (str, int, float, bool, type(None))


def save(model: BeliefClassifier, folder: Path, *, overwrite: bool) -> None:
    """Store a model as a folder; at any moment it holds the old one, the new one, or is not there.

    Args:
        model: Fitted.
        folder: Where.
        overwrite: Whether to replace a model that is there.
    """
    from safetensors.torch import save as as_bytes

    has_model = (folder / DESCRIPTION).is_file()
    if has_model and not overwrite:
        raise ModelError(f"'{folder}' holds a model already; pass overwrite=True to replace it.")
    weights = as_bytes(_tensors(model))
    digest = hashlib.sha256(weights).hexdigest()
    try:
        if has_model:
            # The new description takes the old weights out of use and the new ones into it.
            name = f"{WEIGHTS.stem}-{digest[:16]}{WEIGHTS.suffix}"
            _write(model, folder, weights, name, digest)
            for path in folder.glob(f"{WEIGHTS.stem}*{WEIGHTS.suffix}"):
                if path.name != name:
                    path.unlink(missing_ok=True)
        else:
            _write_new(model, folder, weights, digest)
    except OSError as error:
        raise ModelError(
            f"'{folder}' cannot be written ({error.strerror or error}); choose another folder."
        ) from error


def _write_new(model: BeliefClassifier, folder: Path, weights: bytes, digest: str) -> None:
    """Write a folder beside its place and move it there."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ModelError(f"'{folder}' is something else already; choose another name.")
    beside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.partial")
    try:
        beside.mkdir(parents=True)
        _write(model, beside, weights, str(WEIGHTS), digest)
        beside.rename(folder)
    except ModelError as error:
        raise ModelError(str(error).replace(str(beside), str(folder))) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write(model: BeliefClassifier, folder: Path, weights: bytes, name: str, digest: str) -> None:
    """Write the weights, and then the description that names them."""
    described = _description(model, name, digest)
    text = json.dumps(described | {"sha256": _digest(described)}, indent=1, ensure_ascii=False)
    for path, body in ((folder / name, weights), (folder / DESCRIPTION, text.encode())):
        write_atomically(path, partial(_pour, body), error=ModelError)


def _pour(body: bytes, file: BinaryIO) -> None:
    file.write(body)


def load(
    kind: type[BeliefClassifier], folder: Path, *, predictor: Any, device: str
) -> BeliefClassifier:
    """Read a model.

    Args:
        kind: Class of the model.
        folder: Where it is.
        predictor: The network or function that it was made with, where that was not a name.
        device: Where to predict.
    """
    described = _read_description(folder)
    settings = dict(described["settings"])
    if execution := settings["execution"]:
        settings["execution"] = Execution(**execution)
    settings["predictor"] = _predictor(settings["predictor"], predictor, folder)
    model = kind(**{**settings, "device": device})
    model.classes_ = np.asarray(described["classes"]["names"], dtype=described["classes"]["type"])
    model.feature_shape_ = tuple(described["feature_shape"])
    model.sparse_ = described["sparse"]
    model.dtype_ = np.dtype(described["precision"])
    model.n_features_in_ = model.feature_shape_[0]
    if described["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(described["feature_names"], dtype=object)
    model.log_class_mass_ = np.asarray(described["log_class_mass"], dtype=model.dtype_)
    model.held_out_evidence_ = described["held_out_evidence"]
    model.networks_ = _networks(model, folder, described)
    return model


def _predictor(stored: str | None, passed: Any, folder: Path) -> Any:
    """The name that was stored, or what was passed where there was none."""
    if stored is None and passed is None:
        raise ModelError(
            f"'{folder}' was made with a network of somebody's own, which only its weights are "
            "kept of; pass the same network, or the function that builds it, as `predictor`."
        )
    if stored is not None and passed is not None:
        raise ModelError(
            f"'{folder}' was made with predictor {stored!r}; leave `predictor` out, which is for "
            "networks of your own."
        )
    return passed if stored is None else stored


def _tensors(model: BeliefClassifier) -> dict[str, Tensor]:
    return {
        f"{number}.{name}": tensor.detach().cpu().contiguous().clone()
        for number, network in enumerate(model.networks_)
        for name, tensor in network.state_dict().items()
    }


def _description(model: BeliefClassifier, weights: str, digest: str) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    return {
        "what": "a model of tacit",
        "format": FORMAT,
        "tacit": version("tacit-learn"),
        "torch": torch.__version__,
        "weights": {"file": weights, "sha256": digest, "members": len(model.networks_)},
        "settings": _settings(model),
        "standardised": isinstance(model.networks_[0], Standardised),
        "classes": {"names": model.classes_.tolist(), "type": model.classes_.dtype.str},
        "precision": model.dtype_.name,
        "feature_shape": list(model.feature_shape_),
        "sparse": model.sparse_,
        "feature_names": None if names is None else list(names),
        "log_class_mass": model.log_class_mass_.tolist(),
        "held_out_evidence": getattr(model, "held_out_evidence_", None),
    }


def _settings(model: BeliefClassifier) -> dict[str, Any]:
    """The constructor's arguments, as far as JSON can say them."""
    own = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in model.get_params(deep=False).items()
    }
    plain: dict[str, Any] = {
        name: value if isinstance(value, _PLAIN) else None for name, value in own.items()
    }
    kinds: dict[type, str] = {kind: name for name, kind in OBJECTIVES.items()}
    if plain["objective"] is None:
        plain["objective"] = kinds.get(type(model.objective), "rq")
    if plain["mass"] is None:
        plain["mass"] = "auto"
    if model.execution is not None:
        plain["execution"] = asdict(replace(model.execution, device="auto"))
    return plain | {"classes": None}


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    try:
        described = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelError(
            f"'{folder}' is no model: it has no {DESCRIPTION}; pass the folder that `save` wrote."
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"'{path}' cannot be read ({error}); it is damaged: go back to a copy."
        ) from error
    if not isinstance(described, dict) or described.get("what") != "a model of tacit":
        raise ModelError(f"'{path}' does not describe a model of tacit; pass another folder.")
    if described.get("format") != FORMAT:
        raise ModelError(
            f"'{path}' has format {described.get('format')} and this tacit reads {FORMAT}; use the "
            f"tacit that wrote it ({described.get('tacit')})."
        )
    digest = described.pop("sha256", None)
    if digest != _digest(described):
        raise ModelError(f"'{path}' was changed after it was written; go back to a copy.")
    return described


def _digest(described: dict[str, Any]) -> str:
    plain = json.dumps(described, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(plain.encode()).hexdigest()


def _networks(model: BeliefClassifier, folder: Path, described: dict[str, Any]) -> list[nn.Module]:
    from safetensors.torch import load as from_bytes

    path = folder / described["weights"]["file"]
    try:
        body = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"'{path}' cannot be read ({error.strerror}); go back to a copy."
        ) from error
    if hashlib.sha256(body).hexdigest() != described["weights"]["sha256"]:
        raise ModelError(
            f"'{path}' is not what was written: it is truncated or was changed; go back to a copy."
        )
    tensors = from_bytes(body)
    device = execution_of(model).torch_device()
    return [
        _member(model, tensors, f"{number}.", described["standardised"]).to(device).eval()
        for number in range(described["weights"]["members"])
    ]


def _member(
    model: BeliefClassifier, tensors: dict[str, Tensor], prefix: str, standardised: bool
) -> nn.Module:
    state = {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
    scale = Scale(state["mean"], state["deviation"]) if standardised else None
    network = _skeleton(model, scale)
    try:
        network.load_state_dict(state)
    except (RuntimeError, AttributeError) as error:
        first = str(error).splitlines()[-1].strip()
        raise ModelError(
            f"The network passed as `predictor` does not fit the stored weights ({first}); pass "
            "the one that the model was made with."
        ) from error
    return network


def _skeleton(model: BeliefClassifier, scale: Scale | None) -> nn.Module:
    """A member before its weights are put in."""
    generator = torch.Generator().manual_seed(0)
    if isinstance(model.predictor, str):
        shape, n_classes = model.feature_shape_, len(model.classes_)
        return build(
            model.predictor,
            shape,
            n_classes,
            generator,
            scale=scale,
            sparse=model.sparse_,
            dtype=model.dtype_,
        )
    if isinstance(model.predictor, nn.Module):
        return copy.deepcopy(model.predictor)
    return model.predictor(generator)
