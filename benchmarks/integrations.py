"""How much faster do Stanza and SuPar decode, and parse, with this library in their place?

``python benchmarks/integrations.py`` in an environment that has them (`tests/integrations/run.sh`
shows how one is made). Their own classes with random weights, on CPU, one thread; sentences as long
as those of English-EWT's test set. Times are processor time; each is the least of several runs, and
both decoders take turns.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from arborescence import integrations
from arborescence.integrations.patching import module_of, version_of
from arborescence.treebank import read
from inputs import TREEBANKS, projective_like
from timing import table

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import random_models


def both(tool, call, runs):
    """Return the seconds of a call with the tool's own decoding, and with ours."""
    seconds = {False: [], True: []}
    for _ in range(runs):
        for ours in (False, True):
            if ours:
                integrations.install(tool)
            start = time.process_time()
            call()
            seconds[ours].append(time.process_time() - start)
            integrations.uninstall(tool)
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


def row(what, own, ours, sentences):
    """Return a line of the table."""
    micro = [f"{1e6 * seconds / sentences:,.0f}" for seconds in (own, ours)]
    return [what, *micro, f"{own / ours:.1f}"]


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
    rows = []
    for tool in integrations.TOOLS:
        if version_of(tool) not in module_of(tool).VERSIONS:
            print(f"({tool} is not installed: left out)")
            continue
        decode = module_of(tool).decode
        seconds = both(tool, lambda decode=decode: [decode(*batch) for batch in made], given.runs)
        rows.append(row(f"{tool}: decoding", *seconds, len(chosen)))
    text = random_models.treebank(chosen)
    if version_of("stanza"):
        for resolve in (False, True):
            processor = random_models.stanza_processor(text, resolve_head_constraints=resolve)
            document = random_models.stanza_document(text)
            seconds = both("stanza", lambda: processor.process(document), given.runs)  # noqa: B023
            how = "with" if resolve else "without"
            rows.append(row(f"stanza: parsing {how} head constraints", *seconds, len(chosen)))
    if version_of("supar"):
        with tempfile.TemporaryDirectory() as folder:
            parser = random_models.supar_parser(Path(folder), text)
            file = Path(folder) / "test.conllx"
            file.write_text(random_models.as_conllx(text))
            for proj in (False, True):
                seconds = both(
                    "supar",
                    lambda: parser.predict(str(file), tree=True, proj=proj, verbose=False),  # noqa: B023
                    given.runs,
                )
                how = "projective" if proj else "non-projective"
                rows.append(row(f"supar: parsing, {how} trees", *seconds, len(chosen)))
    print(f"{len(chosen)} sentences, {sum(chosen)} words; microseconds a sentence")
    table(["", "own", "arborescence", "times faster"], rows)


if __name__ == "__main__":
    main()
