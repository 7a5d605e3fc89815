//! The wires shm and window.

use std::fs;

use hostwire::settings::WireName;
use hostwire_transport::flush::{Instructions, instructions};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{MembarrierCommand, membarrier};

use super::Finding;

pub const TOPIC: WireName = WireName::Shm;
/// The approximate memory that a PE maps of each peer with the default heap.
const SEGMENT_BYTES: u64 = 256 << 20;

pub fn findings() -> Vec<Finding> {
    vec![
        memory_files(),
        barriers(),
        address_space(),
        memory(),
        flushes(),
    ]
}

/// What a window with the contract flushed needs.
fn flushes() -> Finding {
    let (name, found) = ("flushed lines", instructions());
    match found {
        Instructions::None => Finding::no(
            WireName::Window,
            name,
            "this processor has no instruction that is known to write lines back",
            "windows with another contract",
        ),
        found => Finding::ok(
            WireName::Window,
            name,
            format!("written back and dropped by {}", found.name()),
        ),
    }
}

fn memory_files() -> Finding {
    let name = "memory files";
    let made = || -> rustix::io::Result<()> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("hostwire-doctor", flags)?;
        ftruncate(&file, 4096)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)
    };
    match made() {
        Ok(()) => Finding::ok(TOPIC, name, "can be made and sealed"),
        Err(error) => Finding::no(
            TOPIC,
            name,
            format!("cannot be made and sealed: {error}"),
            "a kernel of 3.17 or later, and a sandbox that allows memfd_create",
        ),
    }
}

fn barriers() -> Finding {
    match membarrier(MembarrierCommand::RegisterGlobalExpedited) {
        Ok(()) => Finding::ok(
            TOPIC,
            "membarrier",
            "expedited: sleepers pay for being woken",
        ),
        Err(error) => Finding::note(
            TOPIC,
            "membarrier",
            format!("not there ({error}): every put pays for a fence"),
            "a kernel of 4.16 or later, and a sandbox that allows membarrier",
        ),
    }
}

fn address_space() -> Finding {
    match getrlimit(Resource::As).current {
        Some(bytes) if bytes < 64 * SEGMENT_BYTES => Finding::note(
            TOPIC,
            "address space",
            format!("limited to {} MiB", bytes >> 20),
            "every PE maps the segments of all: ulimit -v unlimited, or a smaller --heap",
        ),
        _ => Finding::ok(TOPIC, "address space", "enough"),
    }
}

fn memory() -> Finding {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = |field: &str| -> Option<u64> {
        let line = info.lines().find(|line| line.starts_with(field))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let machine = kib("MemTotal:").unwrap_or(0) << 10;
    let limit = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ]
    .iter()
    .find_map(|path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok())
    .filter(|limit| *limit < machine);
    let found = format!("{} MiB in all", machine >> 20);
    match limit {
        None => Finding::ok(TOPIC, "memory", found),
        Some(limit) => Finding::note(
            TOPIC,
            "memory",
            format!("{found}, {} MiB for this container", limit >> 20),
            "what PEs use of their heaps counts there: choose --heap accordingly",
        ),
    }
}
