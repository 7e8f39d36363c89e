"""Each kernel that Python calls is declared, with its types: only those are compiled ahead."""

import ast
import importlib
import inspect
import pkgutil
import types

import pytest

import arborescence
from arborescence.compiling.signatures import RecordType, arguments_of, declared
from arborescence.core import tree

jit = pytest.importorskip("arborescence.compiling.jit")


def modules():
    for info in pkgutil.walk_packages(arborescence.__path__, "arborescence."):
        if not any(part in info.name for part in (".torch", "tensor", "__main__", "._kernels")):
            try:
                yield importlib.import_module(info.name)
            except ImportError:  # an extra that is not installed
                continue


class Calls(ast.NodeVisitor):
    """Collect the kernels that a module's Python code mentions."""

    def __init__(self, module):
        self.module = module
        self.found = set()
        self.own = [set()]

    def visit_FunctionDef(self, node):
        if any("kernel" in ast.unparse(decorator) for decorator in node.decorator_list):
            return
        inner = list(ast.walk(node))
        self.own.append(
            {each.arg for each in inner if isinstance(each, ast.arg)}
            | {
                each.id
                for each in inner
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
        )
        for statement in node.body:
            self.visit(statement)
        self.own.pop()

    def visit_Name(self, node):
        if not any(node.id in names for names in self.own):
            self.note(vars(self.module).get(node.id))

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name):
            holder = vars(self.module).get(node.value.id)
            if isinstance(holder, types.ModuleType):
                self.note(getattr(holder, node.attr, None))
        self.generic_visit(node)

    def note(self, what):
        if isinstance(what, jit.Kernel):
            function = what.py_func
            self.found.add(f"{function.__module__}.{function.__name__}".partition(".")[2])


@pytest.mark.skipif(
    not isinstance(tree.tree_kernel, jit.Kernel), reason="kernels are not the JIT's"
)
def test_what_python_calls_is_declared():
    called = {}
    for module in modules():
        calls = Calls(module)
        calls.visit(ast.parse(inspect.getsource(module)))
        called |= dict.fromkeys(calls.found, module.__name__)
    names = {export.name for export in declared()}
    assert {name: where for name, where in called.items() if name not in names} == {}
    assert names - called.keys() == set()


@pytest.mark.parametrize("export", list(declared()), ids=lambda export: export.name)
def test_declared_types_are_those_of_the_kernel(export):
    function = getattr(importlib.import_module(export.module), export.function)
    function = getattr(function, "py_func", function)
    kinds = [list(records(arguments_of(signature))) for signature in export.signatures]
    assert kinds == kinds[:1] * len(kinds)
    for kind, fields in kinds[0]:
        assert fields == len(kind._fields)
    if not inspect.isbuiltin(function):
        wanted = inspect.signature(function).parameters.values()
        for signature in export.signatures:
            given = arguments_of(signature)
            assert len(given) == len(wanted)
            for argument, parameter in zip(given, wanted, strict=True):
                if isinstance(argument, RecordType):
                    assert parameter.annotation == argument.load().__name__


def records(arguments):
    """All records among these arguments: the class, and the number of fields."""
    for argument in arguments:
        if isinstance(argument, RecordType):
            yield argument.load(), len(argument.fields)
            yield from records(argument.fields)
