//! The `hostwire` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    hostwire_cli::main()
}
