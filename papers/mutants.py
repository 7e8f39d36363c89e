"""Small changes of inference that no test notices: ``python papers/mutants.py [COUNT] [--seed N]``.

Draws changes of the code in `PACKAGES`: another comparison, sign, number, connective, minimum for
maximum. For each, the tests of its package run uncompiled in a copy of the repository, then those
of the other packages. A change that passes all of them is printed with its place: the tests have a
hole there, or the change makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from mutations import ROOT, run

SOURCE = Path("src/arborescence")
PACKAGES = ("nonprojective", "projective", "inference", "core")
TESTS = (*PACKAGES, "distribution")  # tests/distribution tests sums and draws
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "max": "min"}


class Mutant(NamedTuple):
    """A change of one expression of a file."""

    path: Path  # from the root of the repository
    line: int
    old: str
    new: str
    text: str  # of the whole file with the change


def changed(node):
    """Return another node in place of this one, or None."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[only]) if type(only) in OTHER:
            new.ops = [OTHER[type(only)]()]
        case ast.BinOp() | ast.BoolOp() if type(new.op) in OTHER:
            new.op = OTHER[type(new.op)]()
        case ast.UnaryOp(op=ast.Not()):
            return new.operand
        case ast.Constant(value=bool()):
            new.value = not new.value
        case ast.Constant(value=int()):
            new.value += 1
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            new.func.id = NAMES[name]
        case _:
            return None
    return new


def expressions(tree):
    """Yield what functions compute: no annotations, decorators or default values."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                skipped = {
                    id(part)
                    for each in ast.walk(statement)
                    if isinstance(each, ast.AnnAssign | ast.FunctionDef | ast.Raise)
                    for part in ast.walk(getattr(each, "annotation", each))
                }
                yield from (part for part in ast.walk(statement) if id(part) not in skipped)


def mutants():
    """Return all changes of the packages."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / SOURCE / package).rglob("*.py")):
            data = path.read_bytes()
            starts = [0]
            for line in data.splitlines(keepends=True):
                starts.append(starts[-1] + len(line))
            for node in expressions(ast.parse(data)):
                new = changed(node)
                if new is None:
                    continue
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[node.end_lineno - 1] + node.end_col_offset
                written = f"({ast.unparse(new)})".encode()
                text = (data[:start] + written + data[end:]).decode()
                where = path.relative_to(ROOT), node.lineno
                found.append(Mutant(*where, data[start:end].decode(), written.decode(), text))
    return found


def survives(mutant, folder, own_only):
    """Tell whether the tests of its package, then those of the others, pass with the change."""
    path = folder / mutant.path
    before = path.read_text("utf-8")
    path.write_text(mutant.text, "utf-8")
    try:
        own = mutant.path.parts[2]
        others = () if own_only else (package for package in TESTS if package != own)
        packages = [own, *others]
        return all(run(f"tests/{package}", False, folder).returncode == 0 for package in packages)
    finally:
        path.write_text(before, "utf-8")


def main():
    """Draw changes, and print what the tests say of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=100, help="how many changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="changes of files with this text in their path")
    parser.add_argument("--own", action="store_true", help="only the tests of its own package")
    options = parser.parse_args()
    every = [one for one in mutants() if options.only in str(one.path)]
    chance = random.Random(options.seed)  # noqa: S311 (no secret)
    drawn = chance.sample(every, min(options.count, len(every)))
    left = 0
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder, "repository")
        leave_out = shutil.ignore_patterns(".*", "__pycache__", "site", "dist", "build")
        shutil.copytree(ROOT, copied, ignore=leave_out)
        used = {one.path.parts[2] for one in drawn} if options.own else TESTS
        for package in sorted(used):
            if (done := run(f"tests/{package}", False, copied)).returncode:
                raise SystemExit(f"without a change, tests/{package} fails:\n{done.stdout[-900:]}")
        for mutant in drawn:
            passed = survives(mutant, copied, options.own)
            left += passed
            said = f"{mutant.path}:{mutant.line}: {mutant.old} -> {mutant.new}"
            print("SURVIVES" if passed else "killed  ", " ".join(said.split()), flush=True)  # noqa: T201
    print(f"{left} of {len(drawn)} changes survive, of {len(every)} that there are")  # noqa: T201


if __name__ == "__main__":
    main()
