//! On other systems than Linux: the commands that need Linux report that they need it.

/// A command that takes any arguments and says that it needs Linux.
macro_rules! needs_linux {
    ($name:ident, $about:literal) => {
        pub mod $name {
            use std::ffi::OsString;
            use std::process::ExitCode;

            #[doc = $about]
            #[derive(Debug, clap::Args)]
            pub struct Args {
                #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
                _any: Vec<OsString>,
            }

            pub fn main(_: &Args) -> ExitCode {
                crate::report::line(concat!(
                    stringify!($name),
                    " needs Linux; plan, sim and reproduce work here"
                ));
                ExitCode::from(crate::USAGE_STATUS)
            }
        }
    };
}

needs_linux!(run, "Run a parallel program (Linux only)");
needs_linux!(bench, "Measure a machine, and hostwire on it (Linux only)");
needs_linux!(lend, "Lend memory of a host (Linux only)");
needs_linux!(
    borrow,
    "Run a program in memory of other hosts (Linux only)"
);
needs_linux!(
    compare,
    "Compare a program on wires and modelled hardware (Linux only)"
);
needs_linux!(doctor, "Say which wires this machine can use (Linux only)");
needs_linux!(env, "Print what makes MPI use hostwire (Linux only)");
needs_linux!(
    stats,
    "Show the counters of the wires of running jobs (Linux only)"
);
needs_linux!(
    window,
    "Make, show or clear a region of memory that several hosts map (Linux only)"
);
