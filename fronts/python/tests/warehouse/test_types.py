"""Types and documentation of what hostwire.warehouse has."""

import ast
import inspect
from pathlib import Path

import pytest

import hostwire.warehouse as warehouse

STUB = Path(warehouse.__file__).with_name("__init__.pyi")
TREE = ast.parse(STUB.read_text())
TYPED = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def parameters_of(item):
    arguments = item.args
    names = [each.arg for each in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return names + ([arguments.kwarg.arg] if arguments.kwarg else [])


@pytest.mark.parametrize("name", warehouse.__all__)
def test_public_names_are_documented_and_have_types(name):
    value = getattr(warehouse, name)
    if name == "ENGINES":
        assert sorted(value) == ["datafusion", "duckdb", "polars"]
        return
    assert inspect.getdoc(value), name
    node = TYPED[name]
    if isinstance(node, ast.FunctionDef):
        assert list(inspect.signature(value).parameters) == parameters_of(node)
        return
    typed = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    own = {member: each for member, each in vars(value).items() if not member.startswith("_")}
    assert set(typed) == set(own), name
    for member, item in typed.items():
        assert inspect.getdoc(own[member]), f"{name}.{member}"
        if not item.decorator_list:
            assert list(inspect.signature(own[member]).parameters) == parameters_of(item), member
