//! Programs that use MPI, too, begun and ended in either order.

use std::fs;
use std::process::Command;

use hostwire_testing::{Need, is_installed, left_out, need, own_session};

use crate::build::{oshrun, tree, work};
use crate::succeeds;

const PROGRAM: &str = "\
#include <mpi.h>
#include <shmem.h>
#include <string.h>
static long word;
int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    int mpi_begins = argc > 1 && argv[1][0] == 'm', mpi_ends = argc > 1 && argv[1][1] == 'm';
    if (mpi_begins)
        MPI_Init(&argc, &argv);
    shmem_init();
    if (!mpi_begins)
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != shmem_my_pe() || size != shmem_n_pes() || size < 2)
        return 1;
    for (int i = 0; i < 10; i++) {
        shmem_long_atomic_inc(&word, (rank + 1) % size);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        shmem_barrier_all();
    }
    if (word != 10 || sum != size * (size - 1) / 2)
        return 2;
    if (mpi_ends)
        MPI_Finalize();
    shmem_finalize();
    if (!mpi_ends)
        MPI_Finalize();
    return 0;
}
";

/// With the MPI whose compiler is `mpicc`, started by each of `launchers`.
fn runs_with(mpicc: &str, need: &Need, launchers: impl Fn() -> Vec<Command>) {
    let Some(tree) = tree() else { return };
    if !is_installed(mpicc, need) {
        return;
    }
    // Debian has the wrapper in one package and the header in another.
    let header = work().join(format!("{mpicc}.header.c"));
    fs::write(&header, "#include <mpi.h>\n").expect("the program can be written");
    let found = Command::new(mpicc).arg("-E").arg(&header).output();
    if !found.is_ok_and(|output| output.status.success()) {
        return left_out(need, format!("{mpicc} has no mpi.h"));
    }
    let source = work().join(format!("{mpicc}.c"));
    let program = work().join(format!("{mpicc}.program"));
    fs::write(&source, PROGRAM).expect("the program can be written");
    let lib = tree.join("lib");
    let mut compile = Command::new(mpicc);
    compile.arg("-I").arg(tree.join("include")).arg(&source);
    compile.arg(format!("-L{}", lib.display()));
    compile.arg(format!("-Wl,-rpath,{}", lib.display()));
    succeeds(compile.args(["-lshmem", "-o"]).arg(&program));
    for order in ["mm", "ms", "sm", "ss"] {
        for mut launcher in launchers() {
            succeeds(launcher.arg(&program).arg(order));
        }
    }
}

#[test]
fn programs_with_mpich() {
    let Some(tree) = tree() else { return };
    runs_with("mpicc.mpich", &need::MPICH, || {
        let mut hydra = Command::new("mpiexec.hydra");
        hydra.args(["-n", "2"]);
        vec![hydra, oshrun(tree, 2)]
    });
}

#[test]
fn programs_with_open_mpi() {
    runs_with("mpicc.openmpi", &need::OPEN_MPI_HEADERS, || {
        let mut mpirun = Command::new("mpirun.openmpi");
        mpirun.args(["--allow-run-as-root", "--oversubscribe", "-np", "2"]);
        own_session(&mut mpirun, &work().join("mpirun"));
        vec![mpirun]
    });
}
