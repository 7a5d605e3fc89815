//! A program that was copied to this host. It is in a memory file, which goes with the starter and its PEs.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

use super::super::crew::input_output;
use super::super::start_error::StartError;

/// The program, as far as it has come.
pub struct Program(File);

impl Program {
    /// Adds bytes to a program, which is made if there is none.
    pub fn add(program: &mut Option<Program>, bytes: &[u8]) -> Result<(), StartError> {
        let Program(file) = match program {
            Some(program) => program,
            None => program.insert(Program::new()?),
        };
        let written = file.write_all(bytes);
        written.map_err(input_output("keep a copy of the program in memory"))
    }

    fn new() -> Result<Program, StartError> {
        let make = |flags| memfd_create("program", flags | MemfdFlags::CLOEXEC);
        let file = match make(MemfdFlags::EXEC) {
            // Linux before 6.3.
            Err(Errno::INVAL) => make(MemfdFlags::empty()),
            made => made,
        };
        let file = file.map_err(|errno| StartError::System {
            what: "make a memory file from which a program may be run",
            errno,
        })?;
        Ok(Program(file.into()))
    }

    /// Where PEs find it, while it is there. Interpreters of scripts open it by this name themselves.
    pub fn path(&self) -> PathBuf {
        let (pid, fd) = (std::process::id(), self.0.as_raw_fd());
        format!("/proc/{pid}/fd/{fd}").into()
    }
}
