"""PyTorch's own tests of a backend pass, but for those whose reason is here."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from conftest import BIN

RANKS = 3
LIMIT_S = 3000
# Tests that fail, and the reason of each.
FAILS = {
    "test_SyncBatchNorm_process_group": "needs torchvision",
    "test_accumulate_gradients_no_sync": "makes its model on GPUs alone",
    "test_accumulate_gradients_no_sync_allreduce_hook": "makes its model on GPUs alone",
    "test_accumulate_gradients_no_sync_allreduce_with_then_hook": "makes its model on GPUs alone",
    "test_accumulate_gradients_no_sync_grad_is_view": "makes its model on GPUs alone",
    "test_all_to_all_cuda": "needs a GPU",
    "test_all_to_all_cuda_complex": "needs a GPU",
    "test_all_to_all_full_group_cuda": "needs a GPU",
    "test_batch_isend_irecv_op_err": "needs a GPU",
    "test_batch_isend_irecv_mixed_backend_err": "needs a GPU",
    "test_new_subgroups_with_group_param": "needs four ranks",
    "test_barrier_timeout_full_group": "expects the words of another backend",
    "test_barrier_timeout_global": "expects the words of another backend",
    "test_monitored_barrier_gloo": "hostwire has none",
    "test_monitored_barrier_gloo_subgroup": "hostwire has none",
    "test_monitored_barrier_gloo_rank_0_timeout": "hostwire has none",
    "test_sparse_all_reduce_sum": "hostwire has none",
}
PROGRAM = Path(__file__).with_name("pytorch_own.py")


def test_pytorchs_own_tests(tmp_path):
    command = [BIN / "hostwire", "run", "-n", RANKS, BIN / "python", PROGRAM, tmp_path]
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=LIMIT_S,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    ends = defaultdict(dict)
    for line in done.stdout.splitlines():
        if line.startswith('{"test"'):
            end = json.loads(line)
            ends[end["test"]][end["rank"]] = end
    unexpected = []
    for test, by_rank in ends.items():
        failed = [end for end in by_rank.values() if end["how"] == "failed"]
        assert len(by_rank) == RANKS, test
        if bool(failed) != (test in FAILS):
            unexpected.append((test, [end["why"] for end in failed]))
    assert not unexpected, unexpected
    passed = [test for test, by_rank in ends.items() if by_rank[0]["how"] == "ok"]
    print(f"{len(passed)} passed, {len(FAILS)} fail as they should, of {len(ends)}")
    # PyTorch has renamed only some of them.
    assert len(passed) > 50 and set(FAILS) <= set(ends)
