from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Hostwire(Package):
    """One address space over many processes that is only written across the wire: OpenSHMEM, a provider of libfabric for
    MPI, and a launcher, over shared memory, Ethernet, RDMA, and hardware that is modelled in virtual time."""

    homepage = "https://github.com/hostwire/hostwire"
    url = "https://github.com/hostwire/hostwire/releases/download/v@VERSION@/hostwire-@VERSION@.tar.gz"
    git = "https://github.com/hostwire/hostwire.git"

    license("MIT OR Apache-2.0")

    version("main", branch="main")
    version("@VERSION@", sha256="@SHA256@")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("rust@1.95:", type="build")

    requires("platform=linux")

    def install(self, spec, prefix):
        # It compiles, too, and cargo brings the crates that Cargo.lock names.
        make("install", f"PREFIX={prefix}")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def installation_works(self):
        Executable(self.prefix.bin.hostwire)("run", "-n", "2", "true")
