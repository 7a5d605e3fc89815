//! Parameters of a socket. Sources: the doc comments here, collected in
//! `docs/sim/opteron.md`.

use crate::engine::Ps;

/// Times and sizes of one processor model.
#[derive(Clone, Debug, PartialEq)]
pub struct OpteronConfig {
    /// Number of cores.
    pub cores: u8,
    /// Bytes of DRAM behind this socket's memory controller.
    pub memory_bytes: u64,
    /// Write-combining buffers per core, 64 bytes each.
    pub wc_buffers: usize,
    /// Time to issue the eight 8-byte stores of a line; fewer stores take their
    /// share.
    pub store_line: Ps,
    /// Work of a core for each put and each line of a message that a program of the
    /// message library sends, besides the stores.
    pub send_work: Ps,
    /// The time of an `sfence` after the buffers have drained.
    pub sfence: Ps,
    /// Bytes of posted stores that a core can have issued ahead of the link.
    pub posting_bytes: usize,
    /// System request queue, crossbar and I/O bridge: from the store path to
    /// the link's transmitter.
    pub out: Ps,
    /// From the link's receiver through I/O bridge and crossbar to the memory
    /// controller.
    pub inbound: Ps,
    /// From one link's receiver to another link's transmitter.
    pub hop: Ps,
    /// From the memory controller's queue to visible in memory.
    pub memory_write: Ps,
    /// Shortest time between two lines at the memory controller.
    pub memory_line: Ps,
    /// Uncached load of local memory, from issue to use.
    pub memory_read: Ps,
    /// Part of an uncached I/O load that the host adds to every dword.
    pub io_read: Ps,
    /// Part of an uncached I/O load that the host adds once.
    pub io_read_first: Ps,
    /// Transmit places per link and virtual channel.
    pub port_depth: usize,
    /// Reads of all cores that may be under way at once: source tags. Source: HyperTransport has
    /// five bits for them.
    pub source_tags: u8,
    /// Time from the issue of a load ahead to that of what follows it, in thousandths of
    /// `store_line`. Assumed: 125, as of an 8-byte store.
    pub load_issue_per_mille: u16,
    /// The moment of an uncached load of local memory at which memory is looked at, in thousandths of
    /// `memory_read`. Assumed: 500, half of the load.
    pub memory_sample_per_mille: u16,
}

impl OpteronConfig {
    /// Family 10h "Shanghai" as in the TCCluster prototypes.
    ///
    /// | parameter | value | source |
    /// |---|---|---|
    /// | cores, memory, clock | 4, 8 GiB, 2.8 GHz | paper, VI |
    /// | wc_buffers | 8 | paper, VI |
    /// | store_line | 11.516 ns | **fitted** to the 5,300 MB/s peak (T7), as MiB/s |
    /// | send_work | 12.898 ns | **fitted** to 2,500 MB/s in sends of 64 B (T6), as MiB/s |
    /// | sfence | 6.108 ns | **fitted** to 2,000 MB/s ordered (T5), as MiB/s, behind `send_work` |
    /// | posting_bytes | 126 KiB | **fitted** to the place of the peak, 256 KiB (T7) |
    /// | out, inbound | 47.716 ns | **fitted** to 227 ns (T1); only the sum is determined |
    /// | hop | 25 ns | assumed, within the "< 50 ns" of T3 |
    /// | memory_write | 18.3 ns | assumed, part of T1's sum |
    /// | memory_line | 5 ns | DDR2-800, two channels: 12.8 GB/s |
    /// | memory_read | 74 ns | McCalpin, family 10h C2 in two sockets |
    /// | io_read, io_read_first | 35, 13 ns | as K8; not used by TCCluster |
    /// | port_depth | 8 | assumed; it only has to cover `out` |
    pub fn shanghai() -> OpteronConfig {
        OpteronConfig {
            cores: 4,
            memory_bytes: 8 << 30,
            wc_buffers: 8,
            store_line: Ps(11_516),
            send_work: Ps(12_898),
            sfence: Ps(6_108),
            posting_bytes: 126 << 10,
            out: Ps(47_716),
            inbound: Ps(47_716),
            hop: Ps(25_000),
            memory_write: Ps(18_300),
            memory_line: Ps(5_000),
            memory_read: Ps(74_000),
            io_read: Ps(35_000),
            io_read_first: Ps(13_000),
            port_depth: 8,
            source_tags: 32,
            load_issue_per_mille: 125,
            memory_sample_per_mille: 500,
        }
    }

    /// Time from the issue of a load ahead to that of what follows it.
    pub fn load_issue(&self) -> Ps {
        per_mille(self.store_line, self.load_issue_per_mille)
    }

    /// Host part of an I/O load before the link.
    pub fn io_read_out(&self) -> Ps {
        Ps(self.io_read.0 / 2)
    }

    /// Host part of an I/O load after the link.
    pub fn io_read_in(&self) -> Ps {
        self.io_read - self.io_read_out()
    }

    /// From the issue of an uncached load to the moment when memory is looked at.
    pub fn memory_sample(&self) -> Ps {
        per_mille(self.memory_read, self.memory_sample_per_mille)
    }

    /// Opteron 246 (K8) as in the host of the HTX board.
    ///
    /// | parameter | value | source |
    /// |---|---|---|
    /// | cores, memory, clock | 1, 2 GiB, 2 GHz | paper, section 5 |
    /// | wc_buffers | 1 | K8 up to revision C keeps one line open |
    /// | store_line | 16 ns | assumed: 4 cycles per 8-byte store; the link is slower |
    /// | send_work | 18 ns | assumed: as many cycles as that of a TCCluster core; to send and to take a message |
    /// | sfence | 10 ns | assumed: 20 cycles |
    /// | posting_bytes | 512 | assumed: 8 lines |
    /// | out, inbound | 17.5 ns | half of `io_read` each |
    /// | hop, memory_write, memory_line | 25, 18.3, 10 ns | assumed; DDR-400 two channels |
    /// | memory_read | 60 ns | McCalpin, K8 |
    /// | io_read | 35 ns | **fitted** to Table V (H6 to H8), with `io_read_first` |
    /// | io_read_first | 13 ns | **fitted** to Table V |
    pub fn opteron_246() -> OpteronConfig {
        OpteronConfig {
            cores: 1,
            memory_bytes: 2 << 30,
            wc_buffers: 1,
            store_line: Ps(16_000),
            send_work: Ps(18_000),
            sfence: Ps(10_000),
            posting_bytes: 512,
            out: Ps(17_500),
            inbound: Ps(17_500),
            hop: Ps(25_000),
            memory_write: Ps(18_300),
            memory_line: Ps(10_000),
            memory_read: Ps(60_000),
            io_read: Ps(35_000),
            io_read_first: Ps(13_000),
            port_depth: 8,
            source_tags: 32,
            load_issue_per_mille: 125,
            memory_sample_per_mille: 500,
        }
    }
}

/// So many thousandths of a time.
fn per_mille(time: Ps, share: u16) -> Ps {
    Ps(time.0.saturating_mul(u64::from(share)) / 1_000)
}
