"""A backend of `torch.distributed`: CPU tensors move by puts.

    import hostwire.torch
    import torch.distributed as dist

    dist.init_process_group("hostwire")

Start the program with `torchrun --nproc-per-node 4 program.py`, or with `hostwire run -n 4 python
program.py`, or by what else starts PEs. After the last, importing this module joins the job and sets
MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE, if none of them is set.

The process leaves the job when it ends. docs/python.md of the repository says what there is.
"""

import torch.distributed as dist

from . import _launch
from ._group import HostwireGroup, create

__all__ = ["HostwireGroup", "job"]


def job():
    """The hostwire.Job that the process groups of this process use.

    Before the first group there is one only if a launcher of hostwire has started this process;
    otherwise it raises EnvironmentFault.
    """
    return _launch.job()[0]


# A second import, by `importlib.reload` for one, finds it there.
if "hostwire" not in dist.Backend.backend_list:
    dist.Backend.register_backend("hostwire", create, extended_api=True, devices=["cpu"])
_launch.prepare_environment()
