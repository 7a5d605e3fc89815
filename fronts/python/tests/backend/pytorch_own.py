"""PyTorch's own tests of a backend, in the processes of one job: what `test_pytorch_own.py` starts.

    hostwire run -n 3 python pytorch_own.py FOLDER [TEST...]

PyTorch starts new processes for each of its tests, which all import PyTorch first. Here the same
processes run one test after the other, each with a default group of its own. Each rank prints a line of
JSON for each test: its name, how it ended (ok, skipped, failed), and why.
"""

import json
import os
import sys
import traceback
import unittest
from datetime import timedelta
from pathlib import Path

import hostwire.torch

JOB = hostwire.torch.job()
FOLDER = Path(sys.argv[1])
# The tests read these when they are imported.
os.environ["BACKEND"] = "hostwire"
os.environ["WORLD_SIZE"] = str(JOB.pes)
os.environ["TEMP_DIR"] = str(FOLDER)
os.environ["INIT_METHOD"] = f"file://{FOLDER}/of-the-test"

import torch.distributed as dist  # noqa: E402
from torch.testing._internal import common_distributed, common_utils  # noqa: E402
from torch.testing._internal.distributed import distributed_test as own  # noqa: E402

# PyTorch keeps these only for its own backends.
for feature in ("ddp", "subgroup"):
    common_distributed.DistTestCases.backend_feature[feature].add("hostwire")
# One second must suffice, also on a machine that is busy.
own.Barrier.sync.__func__.__defaults__ = (None, 100)
LIMIT = timedelta(seconds=60)


class Tests(own.TestDistBackend, own.DistributedTest._DistTestBase):
    """All of them, with groups of processes that are there already."""


def reason_of_exit(code):
    """Tests that cannot run here end their process with a number that says why."""
    skips = common_distributed.TEST_SKIPS.values()
    return next((skip.message for skip in skips if skip.exit_code == code), None)


def run(name):
    """How the test ended here, and why."""
    test = Tests(name)
    test.rank = JOB.pe
    test.file_name = str(FOLDER / f"file-{name}")
    own.Barrier.barrier_id = 0
    dist.init_process_group(
        "hostwire",
        init_method=f"file://{FOLDER}/group-{name}",
        world_size=JOB.pes,
        rank=JOB.pe,
        timeout=LIMIT,
    )
    common_utils.set_rng_seed()
    try:
        getattr(test, name)()
    except unittest.SkipTest as skipped:
        return "skipped", str(skipped)
    except SystemExit as ended:
        reason = reason_of_exit(ended.code)
        return ("skipped", reason) if reason else ("failed", f"exit status {ended.code}")
    except Exception:
        return "failed", traceback.format_exc()
    return "ok", ""


def main():
    for folder in ("barrier", "test_dir", "init_dir"):
        (FOLDER / folder).mkdir(exist_ok=True)
    # A failure may have brought ranks out of step; they meet here.
    store = dist.FileStore(str(FOLDER / "meeting"), JOB.pes)
    every = sorted(name for name in dir(Tests) if name.startswith("test_"))
    for name in sys.argv[2:] or every:
        how, why = run(name)
        print(json.dumps({"test": name, "rank": JOB.pe, "how": how, "why": why}), flush=True)
        store.set(f"{name}-{JOB.pe}", "ended")
        store.wait([f"{name}-{pe}" for pe in range(JOB.pes)], timedelta(minutes=10))
        if dist.is_initialized():
            dist.destroy_process_group()
        if JOB.pe == 0:
            for path in (FOLDER / "barrier").iterdir():
                path.unlink()
        store.set(f"{name}-{JOB.pe}-left", "left")
        store.wait([f"{name}-{pe}-left" for pe in range(JOB.pes)], timedelta(minutes=10))


main()
