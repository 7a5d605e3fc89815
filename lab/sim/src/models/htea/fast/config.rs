//! Parameters of adapters and network.

use crate::engine::Ps;

/// Data of a packet: the paper's are all full lines.
pub const PAYLOAD_BYTES: u64 = 64;
/// A packet on the HyperTransport side and in a frame: a command of 8 bytes and a line.
pub(super) const PACKET_BYTES: u64 = 8 + PAYLOAD_BYTES;
const NOP_BYTES: u64 = 4;
/// Header and CRC-32 of HyperTransport over Ethernet (`docs/wire/htoe.md`).
const HTOE_BYTES: u64 = 16 + 4;
/// Longest Ethernet payload.
const MTU_BYTES: u64 = 1500;
const ETHERNET_PAYLOAD_BYTES_MIN: u64 = 46;
/// Preamble, header, FCS, gap between frames.
const ETHERNET_BYTES: u64 = 8 + 14 + 4 + 12;
/// Most NOPs that the header can count.
const NOPS_MAX: u64 = 255;
/// Nodes of the paper's single switch.
const NODES_MAX: u64 = 32;
const STAGES_MAX: u64 = 32;
const FRAMES_MAX: u64 = 1 << 30;
/// A TiB of data: no run is that long.
const PACKETS_MAX: u64 = 1 << 34;

/// The times of the parts of an adapter. The defaults are those of Table I, except the
/// marked ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Mapping and queuing of an outgoing packet: a latency.
    pub mapping: Ps,
    /// Credits, retry buffer and encapsulation of a frame with one packet: the stage is busy.
    pub encapsulation: Ps,
    /// Encapsulation of each further packet. **Assumed**: 18 dwords at 300 MHz.
    pub encapsulation_packet: Ps,
    /// Outgoing MAC: the latency of a frame with one packet. Longer frames take longer by
    /// their time on the wire.
    pub mac_out: Ps,
    /// Cable, cut-through switch, cable: a latency.
    pub switch: Ps,
    /// Incoming MAC: a latency.
    pub mac_in: Ps,
    /// De-encapsulation of a frame with one packet: the stage is busy.
    pub deencapsulation: Ps,
    /// De-encapsulation of each further packet. **Fitted** to 6.99 Gb/s.
    pub deencapsulation_packet: Ps,
    /// Encapsulation or de-encapsulation of a NOP. **Assumed**: one dword at 300 MHz.
    pub nop: Ps,
    /// Queuing of an incoming packet: a latency.
    pub queuing: Ps,
    /// A packet on a HyperTransport link: 72 bytes at 12.8 GB/s.
    pub ht_packet: Ps,
    /// A packet on its way from the adapter to the accelerator, where that takes longer.
    pub sink_packet: Ps,
    /// Rate of a port, in Gb/s.
    pub port_gb_s: u64,
}

impl Timing {
    /// The paper's.
    pub const PAPER: Timing = Timing {
        mapping: Ps::from_ns(192),
        encapsulation: Ps::from_ns(244),
        encapsulation_packet: Ps::from_ns(60),
        mac_out: Ps::from_ns(122),
        switch: Ps::from_ns(244),
        mac_in: Ps::from_ns(298),
        deencapsulation: Ps::from_ns(222),
        deencapsulation_packet: Ps(65_400),
        nop: Ps(3_333),
        queuing: Ps::from_ns(156),
        ht_packet: Ps(5_625),
        sink_packet: Ps::ZERO,
        port_gb_s: 10,
    };

    /// How long a stage is busy with a frame of `packets` and `nops`, if one packet takes
    /// `first` and each further one `packet`.
    fn stage(&self, first: Ps, packet: Ps, packets: u64, nops: u64) -> Ps {
        (first - packet) + packet * packets + self.nop * nops
    }

    pub(crate) fn encapsulate(&self, packets: u64, nops: u64) -> Ps {
        let (first, packet) = (self.encapsulation, self.encapsulation_packet);
        self.stage(first, packet, packets, nops)
    }

    pub(crate) fn deencapsulate(&self, packets: u64, nops: u64) -> Ps {
        let (first, packet) = (self.deencapsulation, self.deencapsulation_packet);
        self.stage(first, packet, packets, nops)
    }

    /// Time of a frame on a port, to the nearest picosecond: at most half of one in 672, the
    /// shortest frame at the highest rate.
    pub(super) fn wire(&self, packets: u64, nops: u64) -> Ps {
        let rate = self.port_gb_s.max(1);
        let bits_ps = wire_bytes(packets, nops).saturating_mul(8_000);
        Ps(bits_ps.saturating_add(rate / 2) / rate)
    }

    /// Time of a packet between the adapter's incoming buffers and the accelerator.
    pub(crate) fn out_of_adapter(&self) -> Ps {
        self.ht_packet.max(self.sink_packet)
    }
}

impl Timing {
    /// From the end of a frame's de-encapsulation until its sender has the answer: the way of
    /// one NOP through idle stages. Answers take no stage's time.
    pub(super) fn answer(&self) -> Ps {
        let out = self.encapsulation + self.mac_out + self.switch;
        out + self.mac_in + self.deencapsulation
    }
}

/// Bytes of a frame as hostwire's protocol engine counts them: without Ethernet.
pub(super) fn frame_bytes(packets: u64, nops: u64) -> u64 {
    let contents = packets
        .saturating_mul(PACKET_BYTES)
        .saturating_add(nops.saturating_mul(NOP_BYTES));
    contents.saturating_add(HTOE_BYTES)
}

/// Bytes of a frame on the wire, with everything that Ethernet puts around it.
pub(super) fn wire_bytes(packets: u64, nops: u64) -> u64 {
    frame_bytes(packets, nops).max(ETHERNET_PAYLOAD_BYTES_MIN) + ETHERNET_BYTES
}

/// A run. The defaults are the paper's eight nodes without optimisation, 1 GiB, 20 packets
/// per frame and 50 NOPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Nodes: one has the accelerator, all others send to it. 2 to 32.
    pub nodes: u64,
    /// Packets of 64 bytes that all senders send together, striped equally.
    pub packets: u64,
    /// Packets that a payload waits for.
    pub packets_per_frame: u64,
    /// NOPs that a frame of credits waits for.
    pub nops_per_frame: u64,
    /// Credits that a NOP returns: 1 to 3. The paper counts one; HyperTransport allows three.
    pub credits_per_nop: u64,
    /// Parallel encapsulation stages, each with its port: virtual link modulo stages.
    pub stages_out: u64,
    /// Parallel de-encapsulation stages, each with its port.
    pub stages_in: u64,
    /// The stages of an adapter share one port that is as fast as theirs together.
    pub multiplexed: bool,
    /// Gets that the accelerator's node has open on each virtual link. 0: senders send of
    /// themselves.
    pub gets: u64,
    /// Packets that a get asks for. The paper gives no size: **assumed** 4 KiB.
    pub get_packets: u64,
    /// Outgoing buffers of an adapter, in bytes.
    pub buffers_out_bytes: u64,
    /// Incoming buffers of an adapter, in bytes. Divided equally among the virtual links.
    pub buffers_in_bytes: u64,
    /// A buffer: command of up to 12 bytes and 64 of data.
    pub buffer_bytes: u64,
    /// Frames that an incoming MAC holds for its de-encapsulation stage, including the one in
    /// the stage. A frame that arrives when the MAC is full is lost. 0: no limit. Credits are
    /// for the buffers behind the stage.
    pub incoming_frames: u64,
    /// Frames without an ack that a sender keeps, where frames can be lost.
    pub retry_frames: u64,
    /// After so long without an ack a sender sends again, where frames can be lost.
    pub retry_timeout: Ps,
    /// Times of the parts.
    pub timing: Timing,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            nodes: 8,
            packets: (1 << 30) / PAYLOAD_BYTES,
            packets_per_frame: 20,
            nops_per_frame: 50,
            credits_per_nop: 1,
            stages_out: 1,
            stages_in: 1,
            multiplexed: false,
            gets: 0,
            get_packets: 64,
            buffers_out_bytes: 32 << 20,
            buffers_in_bytes: 32 << 20,
            buffer_bytes: 76,
            incoming_frames: 0,
            retry_frames: 1024,
            retry_timeout: Ps::from_us(1_000),
            timing: Timing::PAPER,
        }
    }
}

/// A configuration that cannot be. The caller is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A value is out of its range.
    #[error("{field} is {got}, expected {min} to {max}")]
    Range {
        /// Which.
        field: &'static str,
        /// Least.
        min: u64,
        /// Most.
        max: u64,
        /// Value given.
        got: u64,
    },
    /// A frame is longer than Ethernet carries.
    #[error("a frame of {count} {of} has {bytes} bytes, and the MTU is {MTU_BYTES}")]
    Mtu {
        /// `packets_per_frame` or `nops_per_frame`.
        field: &'static str,
        /// Packets or NOPs.
        of: &'static str,
        /// How many.
        count: u64,
        /// Length of the frame, without Ethernet.
        bytes: u64,
    },
    /// The stage takes longer for a further packet than for a frame with one.
    #[error("{field} is longer than that of a frame with one packet")]
    Stage {
        /// Which.
        field: &'static str,
    },
    /// Sender and receiver can wait for each other: no batch of credits is full, and the
    /// credits left do not fill a payload.
    #[error(
        "{credits} credits per virtual link can stop for ever: {needed} are needed for payloads of \
         {packets} packets and batches of {batch} credits"
    )]
    Deadlock {
        /// Credits of a virtual link.
        credits: u64,
        /// Credits that it needs.
        needed: u64,
        /// Packets per frame.
        packets: u64,
        /// Credits per batch.
        batch: u64,
    },
    /// The outgoing buffers do not hold one payload.
    #[error("outgoing buffers for {got} packets, and a payload has {needed}")]
    Outgoing {
        /// Packets that the buffers hold.
        got: u64,
        /// Packets of a payload.
        needed: u64,
    },
}

impl ConfigError {
    /// The field at fault.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Range { field, .. } | Self::Mtu { field, .. } | Self::Stage { field } => field,
            Self::Deadlock { .. } => "buffers_in",
            Self::Outgoing { .. } => "buffers_out",
        }
    }
}

impl Config {
    /// Nodes that send.
    pub fn senders(&self) -> u64 {
        self.nodes.saturating_sub(1)
    }

    /// Credits that each virtual link begins with.
    pub fn credits(&self) -> u64 {
        let buffers = self.buffers_in_bytes / self.buffer_bytes.max(1);
        buffers / self.senders().max(1)
    }

    /// Rate of each physical port, in Gb/s.
    pub fn port_gb_s(&self) -> u64 {
        let queues = match self.multiplexed {
            true => self.stages_in.max(self.stages_out),
            false => 1,
        };
        self.timing.port_gb_s.saturating_mul(queues)
    }

    /// Physical ports of an adapter with so many stages.
    pub fn ports(&self, stages: u64) -> u64 {
        if self.multiplexed { 1 } else { stages }
    }

    /// Packets that a sender's outgoing buffers hold.
    pub fn outgoing_packets(&self) -> u64 {
        self.buffers_out_bytes / self.buffer_bytes.max(1)
    }

    /// Credits that a frame of NOPs returns.
    pub fn credit_batch(&self) -> u64 {
        self.nops_per_frame.saturating_mul(self.credits_per_nop)
    }

    /// Checks ranges and combinations.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn check(&self) -> Result<(), ConfigError> {
        let bounded = |field, min, max, got| match got {
            _ if (min..=max).contains(&got) => Ok(()),
            _ => Err(ConfigError::Range {
                field,
                min,
                max,
                got,
            }),
        };
        bounded("nodes", 2, NODES_MAX, self.nodes)?;
        bounded("data", 1, PACKETS_MAX, self.packets)?;
        bounded("packets_per_frame", 1, u64::MAX, self.packets_per_frame)?;
        bounded("nops_per_frame", 1, NOPS_MAX, self.nops_per_frame)?;
        bounded("credits_per_nop", 1, 3, self.credits_per_nop)?;
        bounded("outgoing_stages", 1, STAGES_MAX, self.stages_out)?;
        bounded("incoming_stages", 1, STAGES_MAX, self.stages_in)?;
        bounded("gets", 0, 1 << 20, self.gets)?;
        bounded("get", 1, 1 << 20, self.get_packets)?;
        bounded("buffer", 1, 1 << 20, self.buffer_bytes)?;
        bounded("port_rate", 1, 1_000, self.timing.port_gb_s)?;
        bounded("incoming_frames", 0, FRAMES_MAX, self.incoming_frames)?;
        bounded("retry_frames", 1, FRAMES_MAX, self.retry_frames)?;
        bounded("retry_timeout", 1_000, u64::MAX, self.retry_timeout.0)?;
        bounded("ht_packet", 1, u64::MAX, self.timing.ht_packet.0)?;
        self.check_mtu()?;
        let timing = &self.timing;
        for (field, first, packet) in [
            (
                "encapsulation_packet",
                timing.encapsulation,
                timing.encapsulation_packet,
            ),
            (
                "deencapsulation_packet",
                timing.deencapsulation,
                timing.deencapsulation_packet,
            ),
        ] {
            if packet > first {
                return Err(ConfigError::Stage { field });
            }
        }
        self.check_buffers()
    }

    fn check_mtu(&self) -> Result<(), ConfigError> {
        for (field, of, count, bytes) in [
            (
                "packets_per_frame",
                "packets",
                self.packets_per_frame,
                frame_bytes(self.packets_per_frame, 0),
            ),
            (
                "nops_per_frame",
                "NOPs",
                self.nops_per_frame,
                frame_bytes(0, self.nops_per_frame),
            ),
        ] {
            if bytes > MTU_BYTES {
                return Err(ConfigError::Mtu {
                    field,
                    of,
                    count,
                    bytes,
                });
            }
        }
        Ok(())
    }

    fn check_buffers(&self) -> Result<(), ConfigError> {
        let (packets, batch) = (self.packets_per_frame, self.credit_batch());
        if self.outgoing_packets() < packets {
            return Err(ConfigError::Outgoing {
                got: self.outgoing_packets(),
                needed: packets,
            });
        }
        // A sender with too few credits for a payload and a receiver that owes too few for a
        // batch: `packets - 1` and `batch - 1` are the most that can lie idle.
        let needed = packets.saturating_add(batch) - 1;
        if self.credits() < needed {
            return Err(ConfigError::Deadlock {
                credits: self.credits(),
                needed,
                packets,
                batch,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_rate_carries_what_it_says() {
        for port_gb_s in 1..=1_000 {
            let timing = Timing {
                port_gb_s,
                ..Timing::PAPER
            };
            for (packets, nops) in [(0, 1), (1, 0), (0, 50), (20, 0)] {
                let want = wire_bytes(packets, nops) as f64 * 8_000.0 / port_gb_s as f64;
                let got = timing.wire(packets, nops).0 as f64;
                let off = (got / want - 1.0).abs();
                assert!(off < 1e-3, "{port_gb_s} Gb/s: {got} ps instead of {want}");
            }
        }
    }
}
