//! Parameters of a PEACH2 chip.

use crate::engine::Ps;

/// A chip. Sources of the values are in `docs/sim/tca.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipConfig {
    /// Clock of the logic: 250 MHz (tca-peach2, section III.G).
    pub clock_mhz: u32,
    /// Bytes that the inside of the chip moves in a clock: at 250 MHz as many as its links. That of PEACH2 is
    /// **assumed**; PEACH3's is twice as wide.
    pub bus_bytes: u32,
    /// From a port's pins to the chip's inside. With `egress_cycles` **fitted** to A10.
    pub ingress_cycles: u64,
    /// From the inside to a port's pins.
    pub egress_cycles: u64,
    /// Largest payload of a TLP: 256 bytes (section IV.A.1). A power of two.
    pub payload_bytes: u64,
    /// Largest read request. **Assumed.** A power of two.
    pub read_bytes: u64,
    /// Reads of data that the DMA controller has open. **Assumed.**
    pub read_tags: usize,
    /// Reads of the descriptor table that are open. **Assumed.**
    pub table_reads: usize,
    /// Descriptors that are fetched and wait. **Assumed.**
    pub descriptors_ahead: usize,
    /// Largest read of the descriptor table. **Assumed.** A power of two.
    pub table_read_bytes: u64,
    /// Time of the DMA controller between two TLPs, without that on the wire. **Fitted** to
    /// A4.
    pub dma_gap: Ps,
    /// TLPs between the DMA controller and a port. **Assumed.**
    pub dma_places: usize,
    /// Data that was read and waits to be written, pipelined DMA. **Assumed.**
    pub dma_buffer_bytes: u64,
    /// A buffer of a ring port is held so long after a write to the host's memory has gone to
    /// port north; writes to GPUs and to nodes beyond free it at once. **Assumed**, in order
    /// that A11 and A12 differ as they do; see `docs/sim/tca.md`.
    pub host_hold: Ps,
    /// Clocks that an instruction of the management processor takes: those of the smallest NIOS II
    /// core, which needs at least 6. That it is this core is **assumed**.
    pub instruction_cycles: u64,
    /// More clocks if the instruction reaches a register. **Assumed.**
    pub register_cycles: u64,
    /// Partial reconfiguration of port south. **Assumed**: the paper announces it.
    pub reconfiguration: Ps,
    /// How long the management processor waits for a link: the timeouts of the PCI Express
    /// training states Polling and Configuration.
    pub training_limit: Ps,
    /// Packet buffer behind the registers: the DDR3 of the board. Its size is **assumed**.
    pub memory_bytes: u64,
}

impl Default for ChipConfig {
    fn default() -> Self {
        ChipConfig {
            clock_mhz: 250,
            bus_bytes: 16,
            ingress_cycles: 31,
            egress_cycles: 31,
            payload_bytes: 256,
            read_bytes: 512,
            read_tags: 16,
            table_reads: 2,
            descriptors_ahead: 32,
            table_read_bytes: 256,
            dma_gap: Ps(7_035),
            dma_places: 16,
            dma_buffer_bytes: 16 << 10,
            host_hold: Ps::from_ns(400),
            instruction_cycles: 6,
            register_cycles: 10,
            reconfiguration: Ps::from_us(10_000),
            training_limit: Ps::from_us(24_000),
            memory_bytes: 256 << 20,
        }
    }
}

impl ChipConfig {
    pub(super) fn ingress(&self) -> Ps {
        Ps::from_cycles(self.ingress_cycles, self.clock_mhz)
    }

    pub(super) fn instruction(&self) -> Ps {
        Ps::from_cycles(self.instruction_cycles, self.clock_mhz)
    }

    pub(super) fn register_access(&self) -> Ps {
        Ps::from_cycles(self.register_cycles, self.clock_mhz)
    }

    pub(super) fn egress(&self) -> Ps {
        Ps::from_cycles(self.egress_cycles, self.clock_mhz)
    }
}
