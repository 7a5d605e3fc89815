//! The clocks of programs in virtual time.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;

use super::super::start_error::StartError;
use crate::beside;

/// What is loaded into programs before the C library.
const CLOCKS: &str = "libhostwire_clock.so";
const PRELOAD: &str = "LD_PRELOAD";

/// How programs get the clocks of the model: a value for [`PRELOAD`].
pub struct Clocks(OsString);

impl Clocks {
    /// The library before those that the user has loaded anyway.
    ///
    /// # Errors
    /// [`StartError::Cluster`] if it is not there.
    pub fn find() -> Result<Self, StartError> {
        let library = beside::library(CLOCKS).map_err(StartError::Cluster)?;
        let mut value = library.into_os_string();
        if let Some(before) = std::env::var_os(PRELOAD).filter(|value| !value.is_empty()) {
            value.push(":");
            value.push(before);
        }
        Ok(Self(value))
    }

    /// The variable that a program gets.
    pub fn variable(&self) -> (&'static str, &OsStr) {
        (PRELOAD, &self.0)
    }
}

/// Whether the system loads this program with libraries. A script counts as one that it does.
pub fn is_dynamic(program: &Path) -> bool {
    let Ok(mut file) = std::fs::File::open(program) else {
        return true;
    };
    let mut head = [0; 4096];
    let len = file.read(&mut head).unwrap_or(0);
    elf_is_dynamic(head.get(..len).unwrap_or_default())
}

/// Whether one of the program headers of a 64-bit ELF file names an interpreter.
fn elf_is_dynamic(head: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    let half = |at: usize| Some(u16::from_le_bytes(*head.get(at..)?.first_chunk()?));
    let is_elf = head.starts_with(b"\x7fELF\x02\x01");
    let (Some(entry_bytes), Some(entries)) = (half(54), half(56)) else {
        return true;
    };
    let offset = head.get(32..).and_then(<[u8]>::first_chunk);
    let offset = offset.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let kinds = (0..usize::from(entries)).filter_map(|index| {
        let at = usize::try_from(offset).ok()?;
        let at = at.checked_add(index.checked_mul(entry_bytes.into())?)?;
        head.get(at..)?
            .first_chunk()
            .copied()
            .map(u32::from_le_bytes)
    });
    !is_elf || kinds.into_iter().any(|kind| kind == INTERPRETER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_an_interpreter_are_static() {
        let program = |kind: u32| {
            let mut head = vec![0; 64 + 56];
            head[..6].copy_from_slice(b"\x7fELF\x02\x01");
            head[32] = 64;
            head[54] = 56;
            head[56] = 1;
            head[64..68].copy_from_slice(&kind.to_le_bytes());
            head
        };
        assert!(elf_is_dynamic(&program(3)));
        assert!(!elf_is_dynamic(&program(1)));
        assert!(elf_is_dynamic(b"#!/bin/sh\n"));
        assert!(is_dynamic(&std::env::current_exe().unwrap()));
        assert!(!elf_is_dynamic(&program(1)[..66]));
    }
}
