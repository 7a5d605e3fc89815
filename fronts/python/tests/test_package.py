"""What the wheel has: the launcher, types, documentation, the benchmark."""

import ast
import importlib.metadata
import inspect
import subprocess
from pathlib import Path

import pytest
from conftest import HOSTWIRE

import hostwire

STUB = Path(hostwire.__file__).with_name("__init__.pyi")
CLUSTER = Path(__file__).parents[3] / "examples" / "clusters" / "htx-pair.toml"


def stub_classes():
    tree = ast.parse(STUB.read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def test_the_launcher_is_of_this_version():
    said = subprocess.run([HOSTWIRE, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.split()[:2] == ["hostwire", importlib.metadata.version("hostwire")]
    assert hostwire.__version__ == importlib.metadata.version("hostwire")


def test_it_says_what_it_is():
    metadata = importlib.metadata.metadata("hostwire")
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert metadata["Description"].startswith("# hostwire for Python")
    assert STUB.with_name("py.typed").is_file()


def test_all_public_names_have_types():
    tree = ast.parse(STUB.read_text())
    names = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    assert names == hostwire.__all__
    assert all(hasattr(hostwire, name) for name in names)


@pytest.mark.parametrize("name", sorted(stub_classes()))
def test_types_are_those_of_the_class(name):
    node, cls = stub_classes()[name], getattr(hostwire, name)
    typed = {item.name: item for item in node.body if hasattr(item, "name")}
    public = {member for member in dir(cls) if not member.startswith("_")}
    # Members that every named tuple has.
    public -= {"count", "index"} if issubclass(cls, tuple) else set()
    named = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
    assert public == {member for member in typed if not member.startswith("_")} | named
    for member, item in typed.items():
        if member == "__buffer__":
            continue  # Python has it since 3.12.
        assert hasattr(cls, member), member
        if item.decorator_list or member.startswith("__"):
            continue
        parameters = list(inspect.signature(getattr(cls, member)).parameters)
        arguments = item.args.args + item.args.kwonlyargs
        assert parameters == [argument.arg for argument in arguments], member


@pytest.mark.parametrize("name", hostwire.__all__)
def test_everything_is_documented(name):
    cls = getattr(hostwire, name)
    assert cls.__doc__
    for member, value in vars(cls).items():
        if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
            assert inspect.getdoc(getattr(cls, member)), f"{name}.{member}"


def test_a_program_alone_is_a_job_of_one_pe(run):
    with hostwire.Job() as job:
        assert (job.pe, job.pes, job.node(0), job.node(1)) == (0, 1, 0, None)
        assert repr(job) == "<hostwire.Job: PE 0 of 1>"
        array = job.zeros((2, 3), "int16")
        assert repr(array) == "<hostwire.Array shape=(2, 3) dtype=int16>"
        assert (array.shape, array.dtype, array.size, array.nbytes, len(array)) == (
            (2, 3),
            "int16",
            6,
            12,
            2,
        )
    assert repr(job) == "<hostwire.Job, closed>"


def test_the_status_of_abort_is_that_of_the_job(run):
    status, text = run(
        2,
        """
        job = hostwire.Job()
        if job.pe == 1:
            job.abort(7, "enough")
        job.barrier()
        """,
        fails=True,
    )
    assert status == 7, text


@pytest.mark.parametrize("pes", [1, 2])
def test_the_benchmark_prints_a_table(run, pes):
    lines = run(
        pes,
        """
        import hostwire.bench
        hostwire.bench.main(["--bytes", "8", "4096", "--work-bytes", "8192"])
        """,
    )
    rows = {line.split()[0]: line.split() for line in lines if " B " in line}
    assert set(rows) == {"8", "4096"}
    assert all(unit in ("ns", "us", "ms") for row in rows.values() for unit in (row[3], row[7], row[11]))
    assert all(row[5] == row[9] == "GB/s" for row in rows.values())


def test_virtual_time_is_the_same_each_time(run):
    program = """
        with hostwire.Job() as job:
            words, other = job.zeros(1, "uint64"), 1 - job.pe
            job.barrier()
            begin_s = job.clock_s()
            for number in range(1, 11):
                if job.pe == 0:
                    words.put(other, [number])
                words.wait_until(">=", number)
                if job.pe == 1:
                    words.put(other, [number])
            print(job.pe, round((job.clock_s() - begin_s) * 1e12), "ps")
            assert job.world.all_reduce(np.ones(1000)).sum() == 2000
        """
    first = run(2, program, launcher=["--cluster", CLUSTER])
    assert first == run(2, program, launcher=["--cluster", CLUSTER])
    # A round trip over a network of this kind takes some microseconds.
    assert all(1_000 < int(line.split()[1]) < 1_000_000_000 for line in first)
