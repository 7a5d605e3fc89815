//! Parameters of an adapter. Their sources: `docs/sim/htea.md`.

use hostwire_link::packing::Timings;
use hostwire_link::{Config as LinkConfig, Endpoint, Identity, Node};
use hostwire_packet::htoe::HeaderRepr;
use hostwire_plan::{EthernetPlan, HteaPlan};

use crate::engine::Ps;
use crate::models::ethernet::{EtherFrame, SwitchConfig};

/// Bytes of a frame with one packet: header and CRC-32, command and a line.
const ONE_PACKET_BYTES: usize = 16 + 4 + 8 + 64;

/// What an adapter and its port take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdapterConfig {
    /// The times and buffers of its parts.
    pub parts: HteaPlan,
    /// Of its port.
    pub bytes_per_s: u64,
    /// Adapters on the switch.
    pub adapters: u16,
}

impl AdapterConfig {
    /// Of `adapters` adapters on a network.
    pub fn new(parts: HteaPlan, network: &EthernetPlan, adapters: u16) -> AdapterConfig {
        AdapterConfig {
            parts,
            bytes_per_s: network.port_bytes_per_s,
            adapters,
        }
    }

    /// Packets of each virtual link that these buffers hold.
    fn share(&self, buffers_bytes: u64) -> u16 {
        let peers = u64::from(self.adapters.saturating_sub(1)).max(1);
        let packets = buffers_bytes / self.parts.buffer_bytes.max(1) / peers;
        u16::try_from(packets).unwrap_or(u16::MAX).max(1)
    }

    /// The endpoint of adapter `me`.
    ///
    /// # Errors
    /// A text, if it cannot be made.
    pub(super) fn endpoint(&self, me: u16) -> Result<Endpoint, String> {
        let parts = &self.parts;
        let (out, within) = (
            self.share(parts.buffers_out_bytes),
            self.share(parts.buffers_in_bytes),
        );
        let defaults = LinkConfig::default();
        let small = |value: u64| u16::try_from(value).unwrap_or(u16::MAX);
        let config = LinkConfig {
            frame_len_max: usize::try_from(parts.frame_bytes).unwrap_or(usize::MAX),
            buffers: [within, 1, 1],
            queue_packets_max: [out, 1, 1],
            frames_in_flight_max: small(parts.frames_in_flight),
            packing: Timings {
                hold_ns: parts.hold_ps / 1_000,
                ..Timings::ADAPTER
            },
            credit_batch: [small(parts.credit_batch), 1, 1],
            credit_delay_ns: parts.credit_delay_ps / 1_000,
            ack_delay_ns: parts.ack_delay_ps / 1_000,
            ack_frames: small(parts.ack_frames),
            hello_ns: parts.hello_ps / 1_000,
            rto_initial_ns: parts.retry_first_ps / 1_000,
            rto_min_ns: parts.retry_min_ps / 1_000,
            // A run ends when nothing happens any more.
            keepalive_ns: u64::MAX,
            ..defaults
        };
        let identity = Identity {
            node: Node(u32::from(me)),
            job: 1,
            incarnation: 1,
        };
        let endpoint = Endpoint::new(config, identity, u64::from(me) << 32);
        endpoint.map_err(|error| error.to_string())
    }

    pub(super) fn mapping(&self) -> Ps {
        Ps(self.parts.mapping_ps)
    }

    pub(super) fn mac_in(&self) -> Ps {
        Ps(self.parts.mac_in_ps)
    }

    pub(super) fn queuing(&self) -> Ps {
        Ps(self.parts.queuing_ps)
    }

    /// How long a frame keeps the encapsulation stage.
    pub(super) fn encapsulation(&self, frame: &EtherFrame) -> Ps {
        let parts = &self.parts;
        self.stage(frame, parts.encapsulation_ps, parts.encapsulation_packet_ps)
    }

    /// How long a frame keeps the de-encapsulation stage.
    pub(super) fn deencapsulation(&self, frame: &EtherFrame) -> Ps {
        let parts = &self.parts;
        self.stage(
            frame,
            parts.deencapsulation_ps,
            parts.deencapsulation_packet_ps,
        )
    }

    fn stage(&self, frame: &EtherFrame, first_ps: u64, packet_ps: u64) -> Ps {
        // Frames come from endpoints, which make headers.
        let contents = HeaderRepr::parse(&frame.bytes).map(|(_, contents)| contents);
        let (packets, nops) = contents.map_or((0, 0), |contents| (contents.packets, contents.nops));
        let rest = Ps(packet_ps) * u64::from(packets) + Ps(self.parts.nop_ps) * u64::from(nops);
        Ps(first_ps.saturating_sub(packet_ps)) + rest
    }

    /// How long the port sends a frame.
    pub(super) fn wire(&self, frame: &EtherFrame) -> Ps {
        frame.time(self.bytes_per_s)
    }

    /// From the outgoing MAC's begin until the end of a frame is at the other end of the port: the
    /// published time of a frame with one packet, and the additional wire time of longer frames.
    pub(super) fn mac_out(&self, frame: &EtherFrame) -> Ps {
        let time = self.wire(frame);
        let one = EtherFrame {
            from: 0,
            to: 0,
            bytes: vec![0; ONE_PACKET_BYTES],
        };
        let published = Ps(self.parts.mac_out_ps) + time - self.wire(&one);
        published.max(time)
    }
}

/// The switch of a network.
pub fn switch(network: &EthernetPlan) -> SwitchConfig {
    SwitchConfig {
        bytes_per_s: network.port_bytes_per_s,
        latency: Ps(network.switch_ps),
        cuts_through: true,
        buffer_bytes: network.switch_buffer_bytes,
        lost_per_million: network.lost_per_million,
        doubled_per_million: network.doubled_per_million,
        delayed_per_million: network.delayed_per_million,
        delay: Ps(network.delay_ps),
        seed: network.seed,
    }
}
