//! What gdb is told.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

use super::Start;

/// The shell that starts the program: gdb itself cannot start scripts.
const SHELL: &str = "/bin/sh";
/// Signals that programs get for their own mistakes.
const CRASHES: &str = "SIGSEGV SIGABRT SIGBUS SIGFPE SIGILL SIGSYS";
/// More of a stack helps nobody: a program that calls itself without end has thousands.
const FRAMES_MAX: u32 = 64;

/// gdb at the terminal. The arguments of the program follow.
pub fn asking(gdb: &Path, program: &Path) -> Command {
    let mut command = Command::new(gdb);
    command.args(["-q", "--args"]).arg(program);
    command
}

/// gdb that asks nothing, and prints nothing unless the program crashes: then its stacks, on standard error. Standard
/// input and output are the program's. The arguments of the program follow.
pub fn silent(gdb: &Path, program: &Path, pe: u32) -> Result<Start, Errno> {
    let script = memfd_create("gdb", MemfdFlags::CLOEXEC)?;
    let mut script = File::from(script);
    let shell = std::env::var("SHELL").ok();
    let written = script.write_all(text(pe, shell.as_deref()).as_bytes());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let script = OwnedFd::from(script);
    let mut command = Command::new(gdb);
    command
        .args(["-q", "-nx", "-batch-silent"])
        .args(["-iex", "set auto-load python-scripts off"])
        .args(["-iex", "set auto-load gdb-scripts off"])
        .arg("-x")
        .arg(format!("/proc/self/fd/{}", script.as_raw_fd()))
        .args(["--args", SHELL, "-c", "exec \"$0\" \"$@\""])
        .arg(program)
        // gdb starts the shell by another one; not every shell of a user can do that.
        .env("SHELL", SHELL)
        // It would look for sources on the network.
        .env_remove("DEBUGINFOD_URLS");
    Ok(Start {
        command,
        inherit: vec![Arc::new(script)],
        tells_signals: true,
    })
}

/// The script. The program gets the variables that it has without gdb.
fn text(pe: u32, shell: Option<&str>) -> String {
    let shell = match shell.filter(|shell| !shell.contains('\n')) {
        Some(shell) => format!("set environment SHELL {shell}"),
        None => "unset environment SHELL".to_owned(),
    };
    format!(
        "\
set pagination off
set confirm off
set width 0
set disable-randomization off
{shell}
unset environment LINES
unset environment COLUMNS
handle all nostop noprint pass
handle {CRASHES} stop print pass
define stacks
  printf \"signal %d in thread %d\\n\", $_siginfo.si_signo, $_thread
  thread apply all -s bt {FRAMES_MAX}
end
run
if $_isvoid($_exitcode) && $_isvoid($_exitsignal)
  pipe stacks | sed -e '/^$/d' -e 's/^/PE {pe}: /' 1>&2
  handle {CRASHES} nostop noprint
  continue
end
if $_isvoid($_exitsignal)
  quit $_exitcode
end
quit 128 + $_exitsignal
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_the_shell_of_its_user() {
        assert!(text(3, Some("/bin/fish")).contains("\nset environment SHELL /bin/fish\n"));
        for none in [None, Some("a\nquit")] {
            assert!(text(3, none).contains("\nunset environment SHELL\n"));
        }
    }
}
