"""The stubs say what the modules have: by stubtest, of mypy."""

import re
import subprocess
import sys

# Reports of stubtest about stubs that are right.
RIGHT = re.compile(
    "|".join(
        [
            # Modules that need PyTorch cannot be imported here.
            r"hostwire\.torch\b.* failed to import",
            # Programs get these objects and do not make them: warehouse/test_types.py checks the rest of them.
            r"^hostwire\.warehouse\.",
            # The signature of a native function has no value for a default that is not of a Python type.
            r'parameter "\w+" has a default value of Ellipsis, which is different from stub parameter default 0$',
            # Python has it since 3.12.
            r"\.__buffer__ is not present at runtime$",
            # Programs neither make nor end these.
            r"hostwire\.Request\.__init__ is inconsistent, stub does not have parameter",
            r"hostwire\.Job\.__del__ is not present in stub$",
        ]
    )
)

# Only the stubs are checked, not what they import.
CONFIG = """
[mypy]
ignore_missing_imports = true
[mypy-hostwire.*]
ignore_errors = true
"""


def test_the_stubs_agree_with_the_modules(tmp_path):
    config = tmp_path / "mypy.ini"
    config.write_text(CONFIG)
    command = [sys.executable, "-m", "mypy.stubtest", "hostwire", "--concise", "--mypy-config-file"]
    done = subprocess.run([*command, config], capture_output=True, text=True, cwd=tmp_path)
    said = done.stdout.splitlines()
    # stubtest has run to its end: a stub that it cannot read ends it before.
    assert any("Ellipsis" in line for line in said), done.stdout + done.stderr
    wrong = [line for line in said if not RIGHT.search(line)]
    assert not wrong, "\n".join(wrong)
