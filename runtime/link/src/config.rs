use hostwire_packet::htoe::{OVERHEAD, SESSION_LEN};

use crate::error::ConfigError;
use crate::packing::Timings;

/// Shortest frame that every endpoint has to take: a reset frame, or one
/// packet of any kind with NOPs in front.
pub const FRAME_LEN_MIN: usize = 128;

/// Most bytes that may be added to each frame on its way.
pub const ADDED_BYTES_MAX: usize = 256;

/// Most frames in flight per link. The bound keeps the numbers of a session far from those of the previous
/// one: see `docs/link.md`.
pub const FRAMES_IN_FLIGHT_MAX: u16 = 8192;

const _: () = assert!(OVERHEAD + SESSION_LEN <= FRAME_LEN_MIN);

/// The behaviour of an endpoint, the same for all its links. The two ends of a link may
/// have different values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Longest frame sent or taken, in bytes without Ethernet header:
    /// the MTU. [`FRAME_LEN_MIN`] to 65535; 1500 by default.
    pub frame_len_max: usize,
    /// Bytes that are added to each frame between here and the path, such as those of
    /// encryption or of the headers of IP and UDP: a path that takes 1280 bytes takes
    /// frames that are shorter by this. At most [`ADDED_BYTES_MAX`]; 0 by default.
    pub added_bytes: usize,
    /// Whether a frame that is nearly full is padded to its full length: for a path that takes
    /// frames of one length together. Off by default.
    pub pads_full_frames: bool,
    /// Buffers per link that the peer may fill: posted, non-posted, response.
    /// Each is one command credit and one data credit. Not 0. They are
    /// promises: this crate keeps no packet that it has received.
    pub buffers: [u16; 3],
    /// Packets per link that wait here for credits: posted, non-posted, response. 0 turns the queue off, and
    /// the caller has to wait.
    pub queue_packets_max: [u16; 3],
    /// Frames per link that are kept until they are acknowledged,
    /// 1 to [`FRAMES_IN_FLIGHT_MAX`]. After a loss fewer are kept for a while, but for this reason never fewer
    /// than 32.
    pub frames_in_flight_max: u16,
    /// The number of frames that all links together keep. A link without a frame may
    /// always have one, so this bound cannot stop any link.
    pub pool_frames_max: usize,
    /// Received frames that all links together keep because an earlier frame is missing. If not 0, only
    /// missing frames are sent again, and the receiver has to call
    /// [`take_early`](crate::Endpoint::take_early). 0 by default, as in the paper: all frames after a missing
    /// one are dropped and sent again.
    pub early_frames_max: usize,
    /// The times of packing. The endpoint itself uses only `hold_ns`: a frame that is not full waits for more
    /// packets until this long after the previous frame.
    pub packing: Timings,
    /// Longest time that an ack waits for a frame that can carry it.
    pub ack_delay_ns: u64,
    /// After so many frames an ack waits no longer.
    pub ack_frames: u16,
    /// If so many credits are owed on one channel (posted, non-posted, response), a frame is sent only for
    /// them: the bulk of bulk NOPs. May be more than the number of buffers, because credits go back after
    /// `credit_delay_ns` at the latest, and at once if the peer may have none left.
    pub credit_batch: [u16; 3],
    /// Longest time that a credit is owed.
    pub credit_delay_ns: u64,
    /// Retransmission timeout before the first round trip has been measured.
    pub rto_initial_ns: u64,
    /// Shortest retransmission timeout.
    pub rto_min_ns: u64,
    /// Longest retransmission timeout.
    pub rto_max_ns: u64,
    /// First interval between reset frames of a link that opens; it doubles
    /// up to 64 times this.
    pub hello_ns: u64,
    /// A link that does not open in this time is closed. `u64::MAX`: never.
    pub open_timeout_ns: u64,
    /// A link whose peer acknowledges nothing for this long is closed, but not before the peer has been asked
    /// four times. While the kernel of its host answers
    /// ([`Endpoint::host_answered`](crate::Endpoint::host_answered)), the peer may be silent for
    /// [`STOPPED_LIMITS`](crate::silence::STOPPED_LIMITS) times as long. `u64::MAX`: never.
    pub dead_after_ns: u64,
    /// A peer that has been silent for this long is asked for an ack. So an end that
    /// sends nothing also notices the death of its peer. `u64::MAX`: never.
    pub keepalive_ns: u64,
}

impl Default for Config {
    /// For a local network and a receive ring with room for all `buffers`.
    fn default() -> Self {
        Self {
            frame_len_max: 1500,
            added_bytes: 0,
            pads_full_frames: false,
            buffers: [1024, 256, 256],
            queue_packets_max: [64, 32, 64],
            frames_in_flight_max: 128,
            pool_frames_max: 8192,
            early_frames_max: 0,
            packing: Timings::ADAPTER,
            ack_delay_ns: 25_000,
            ack_frames: 32,
            credit_batch: [256, 64, 64],
            credit_delay_ns: 100_000,
            rto_initial_ns: 20_000_000,
            rto_min_ns: 1_000_000,
            rto_max_ns: 200_000_000,
            hello_ns: 10_000_000,
            open_timeout_ns: 30_000_000_000,
            dead_after_ns: 10_000_000_000,
            keepalive_ns: 1_000_000_000,
        }
    }
}

impl Config {
    /// No wait of a link that begins is shorter than this, except the wait to fill a frame.
    pub(crate) fn shortest_wait_ns(&self) -> u64 {
        self.ack_delay_ns
            .min(self.credit_delay_ns)
            .min(self.rto_min_ns)
            .min(self.hello_ns)
            .min(self.keepalive_ns)
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ConfigError`], caller's fault.
    pub fn check(&self) -> Result<(), ConfigError> {
        let bounded = |field, min: u64, max: u64, got: u64| {
            if (min..=max).contains(&got) {
                Ok(())
            } else {
                Err(ConfigError {
                    field,
                    min,
                    max,
                    got,
                })
            }
        };
        bounded(
            "frame_len_max",
            FRAME_LEN_MIN as u64,
            u16::MAX.into(),
            self.frame_len_max as u64,
        )?;
        bounded(
            "added_bytes",
            0,
            ADDED_BYTES_MAX as u64,
            self.added_bytes as u64,
        )?;
        for buffers in self.buffers {
            bounded("buffers", 1, u16::MAX.into(), buffers.into())?;
        }
        bounded(
            "frames_in_flight_max",
            1,
            FRAMES_IN_FLIGHT_MAX.into(),
            self.frames_in_flight_max.into(),
        )?;
        bounded("ack_frames", 1, u16::MAX.into(), self.ack_frames.into())?;
        for batch in self.credit_batch {
            bounded("credit_batch", 1, u16::MAX.into(), batch.into())?;
        }
        bounded("rto_min_ns", 1, self.rto_max_ns, self.rto_min_ns)?;
        bounded("rto_initial_ns", 1, self.rto_max_ns, self.rto_initial_ns)?;
        bounded("hello_ns", 1, u64::MAX, self.hello_ns)
    }
}
