"""What statistics spare changes no answer: random filters of all types, with pruning and without, by Arrow and all engines."""

import os
from pathlib import Path

import pytest
from conftest import ENGINES

FOLDER = str(Path(__file__).parent)
# As the random tests of hostwire.
SEED = os.environ.get("HOSTWIRE_TEST_SEED", "20110516")

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from readers import compare
SETTINGS = {}

def main(w):
    compared, spared = compare(w, *sys.argv[2:])
    assert compared > 40 and spared > 400, (compared, spared)
"""


@pytest.mark.parametrize("reader", ["arrow", *ENGINES])
def test_pruning_changes_no_answer(warehouse, reader):
    warehouse(1, PROGRAM, arguments=[FOLDER, reader, SEED])
