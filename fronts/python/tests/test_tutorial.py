"""The programs of docs/python.md print what it says."""

import re
import shlex
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[3] / "docs" / "python.md").read_text()
BLOCKS = re.findall(
    r"^```python (\S+)\n(.*?)^```\n\s*^```console\n\$ (.*?)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL
)


def test_each_program_is_found():
    assert len(BLOCKS) == TEXT.count("```python ") == 7


@pytest.mark.parametrize(("name", "program", "command", "output"), BLOCKS, ids=[b[0] for b in BLOCKS])
def test_it_prints_what_it_says(run, name, program, command, output):
    words = shlex.split(command)
    assert words[:3] == ["hostwire", "run", "-n"]
    assert words[4:] == ["python", name]
    assert run(int(words[3]), program) == sorted(output.splitlines())
