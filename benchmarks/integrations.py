"""How much faster do Stanza and SuPar decode, and parse, with this library in their place?

``python benchmarks/integrations.py`` in an environment that has them, as
`tests/integrations/with_parsers.sh` makes one. Their own classes with random weights, on CPU, one
thread; sentences as long as those of English-EWT's test set. Times are processor time; each is the
least of several runs, and both decoders take turns.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from arborescence import integrations
from arborescence.integrations.patching import module_of, version_of
from arborescence.treebank import read
from inputs import TREEBANKS, projective_like

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
import random_models


def both(tool, call, runs):
    """Return the seconds of a call with the tool's own decoding, and with ours."""
    seconds = {False: [], True: []}
    for _ in range(runs):
        for ours in (False, True):
            if ours:
                integrations.patch(tool)
            start = time.process_time()
            call()
            seconds[ours].append(time.process_time() - start)
            integrations.unpatch(tool)
    return min(seconds[False]), min(seconds[True])


def batches(lengths, words=5000):
    """Yield model-like scores ``[b, d, h]`` of sentences sorted by length, as these tools batch."""
    rng = np.random.default_rng(1)
    part = []
    for n in sorted(lengths):
        part.append(n)
        if sum(part) >= words:
            yield padded(rng, part)
            part = []
    if part:
        yield padded(rng, part)


def padded(rng, lengths):
    """Return one batch, and its lengths."""
    size = max(lengths) + 1
    scores = np.full((len(lengths), size, size), -30, np.float32)
    for matrix, n in zip(scores, lengths, strict=True):
        matrix[: n + 1, : n + 1] = projective_like(rng, 1, n)[0].T
    return scores, np.array(lengths)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sentences", type=int, default=2077)
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    [test] = sorted((TREEBANKS / "English-EWT").glob("*test*"))
    lengths = [len(sentence) for sentence in read(test)]
    chosen = np.random.default_rng(0).permutation(lengths)[: given.sentences].tolist()
    made = list(batches(chosen))
    print(f"{len(chosen)} sentences, {sum(chosen)} words; microseconds of one core a sentence")
    print("| | own | arborescence | times faster |\n| --- | --- | --- | --- |", flush=True)

    def compare(what, tool, call):
        own, ours = both(tool, call, given.runs)
        micro = [f"{1e6 * seconds / len(chosen):,.0f}" for seconds in (own, ours)]
        print(f"| {what} | {micro[0]} | {micro[1]} | {own / ours:.1f} |", flush=True)

    here = [tool for tool in integrations.TOOLS if version_of(tool) in module_of(tool).VERSIONS]
    for tool in here:
        decode = module_of(tool).decode
        decode(*made[0])  # imports, and compiles
        with integrations.patch(tool):
            decode(*made[0])
        compare(f"{tool}: decoding", tool, partial(decode_all, decode, made))
    text = random_models.treebank(chosen)
    if "stanza" in here:
        for resolve in (False, True):
            processor = random_models.stanza_processor(text, resolve_head_constraints=resolve)
            document = random_models.stanza_document(text)
            how = "with" if resolve else "without"
            what = f"stanza: parsing, {how} head constraints"
            compare(what, "stanza", partial(processor.process, document))
    if "supar" in here:
        with tempfile.TemporaryDirectory() as folder:
            parser = random_models.supar_parser(Path(folder), text)
            file = Path(folder) / "test.conllx"
            file.write_text(random_models.as_conllx(text))
            for proj in (False, True):
                call = partial(parser.predict, str(file), tree=True, proj=proj, verbose=False)
                how = "projective" if proj else "non-projective"
                compare(f"supar: parsing, {how} trees", "supar", call)


def decode_all(decode, made):
    """Decode every batch."""
    for batch in made:
        decode(*batch)


if __name__ == "__main__":
    main()
