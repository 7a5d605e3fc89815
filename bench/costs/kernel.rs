//! What the kernel counts for this process.

use std::fs;

use super::Failed;

/// Memory in KiB, and open files.
#[derive(Clone, Copy)]
pub struct Counted([u64; 4]);

impl Counted {
    pub const NAMES: [&'static str; 4] = [
        "private memory, KiB",
        "shared memory, KiB",
        "page tables, KiB",
        "open files",
    ];

    /// Shared memory is what all PEs of the host have in memory, divided by their number: a page counts as half a page where two
    /// have touched it.
    pub fn of_this_process() -> Result<Self, Failed> {
        let status = fs::read_to_string("/proc/self/status")?;
        let shares = fs::read_to_string("/proc/self/smaps_rollup")?;
        let files = fs::read_dir("/proc/self/fd")?.count() as u64;
        Ok(Self([
            kib(&status, "RssAnon:")?,
            kib(&shares, "Pss_Shmem:")?,
            kib(&status, "VmPTE:")?,
            files,
        ]))
    }

    pub fn values(&self) -> [u64; 4] {
        self.0
    }
}

/// The number in the line of `text` that begins with `name`.
fn kib(text: &str, name: &str) -> Result<u64, Failed> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number
        .ok_or_else(|| format!("the kernel does not say {name}"))?
        .parse()?)
}
