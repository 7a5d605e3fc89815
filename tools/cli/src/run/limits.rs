//! The limits of this machine and of this user.

use rustix::process::{Resource, getrlimit, setrlimit};

use super::start_error::StartError;

/// Descriptors that the launcher holds for each PE: PMI socket, standard
/// output, standard error.
const FDS_PER_PE: u64 = 3;
/// Descriptors besides those: its own three, signals, the board, and what is
/// open for a moment while a PE starts.
const FDS_SPARE: u64 = 32;

/// A limit of open files, as soft and hard value; `None` is unlimited.
pub type NofileLimit = (Option<u64>, Option<u64>);

/// Raises the launcher's own limit of open files as far as `pes` PEs need. Returns the limits as
/// they were, with which the PEs have to start.
pub fn make_room_for_descriptors(pes: u32) -> Result<NofileLimit, StartError> {
    let original = getrlimit(Resource::Nofile);
    let inherited = (original.current, original.maximum);
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let needed = u64::from(pes) * FDS_PER_PE + FDS_SPARE + open;
    if original.current.is_none_or(|soft| soft >= needed) {
        return Ok(inherited);
    }
    let mut raised = original;
    raised.current = raised.maximum;
    if raised.maximum.is_some_and(|hard| hard < needed) {
        let limit = raised.maximum.unwrap_or_default();
        return Err(StartError::Descriptors { pes, needed, limit });
    }
    setrlimit(Resource::Nofile, raised).map_err(|errno| StartError::System {
        what: "raise the limit of open files",
        errno,
    })?;
    Ok(inherited)
}

/// Checks that this user may have `pes` more processes. The kernel counts those
/// that run already, so this finds only what cannot work at all.
pub fn check_processes(pes: u32) -> Result<(), StartError> {
    let limit = getrlimit(Resource::Nproc).current;
    match limit {
        Some(limit) if limit < u64::from(pes) && !rustix::process::geteuid().is_root() => {
            Err(StartError::Processes { pes, limit })
        }
        _ => Ok(()),
    }
}

/// Checks that `bytes_per_pe` for each of `pes` PEs are no more than this
/// machine's memory.
pub fn check_memory(what: String, bytes_per_pe: Option<u64>, pes: u32) -> Result<(), StartError> {
    let Some(bytes_per_pe) = bytes_per_pe else {
        return Ok(());
    };
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let Some(machine_bytes) = memory_bytes(&meminfo) else {
        return Ok(());
    };
    let total = bytes_per_pe.checked_mul(u64::from(pes));
    if total.is_some_and(|total| total <= machine_bytes) {
        return Ok(());
    }
    Err(StartError::Memory {
        what,
        bytes_per_pe,
        pes,
        machine_bytes,
    })
}

/// `MemTotal` of /proc/meminfo, in bytes.
fn memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_meminfo() {
        let meminfo = "MemTotal:       24684032 kB\nMemFree: 1 kB\n";
        assert_eq!(memory_bytes(meminfo), Some(24_684_032 * 1024));
        assert_eq!(memory_bytes(""), None);
        assert_eq!(memory_bytes("MemTotal: much\n"), None);
    }

    #[test]
    fn more_than_the_machine_has_is_refused() {
        assert_eq!(check_memory("--heap".into(), None, 4096), Ok(()));
        assert_eq!(check_memory("--heap".into(), Some(4096), 4), Ok(()));
        for (bytes, pes) in [(1 << 60, 1), (u64::MAX, 4096)] {
            let error = check_memory("--heap".into(), Some(bytes), pes).unwrap_err();
            assert!(matches!(error, StartError::Memory { .. }));
        }
    }
}
