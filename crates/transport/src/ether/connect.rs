//! From sockets and addresses to a wire.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hostwire_link::packing::Timings;
use hostwire_link::seal::{End, JobKey, Life, Seals};
use hostwire_link::{CloseReason, Config, Counters, DropCause, Endpoint, Identity, Node};
use hostwire_packet::ht::LINE_LEN;

use super::agent::Shared;
use super::alarm::Alarm;
use super::core::Core;
use super::own::Own;
use super::{Address, Ether, FrameNumbers, Socket, rights};
use crate::addresses::Addresses;
use crate::error::{EnvironmentFault, LOST_AFTER, PeId, Silence, TransportError};
use crate::origin::{Origin, OriginWords};
use crate::wait::WaitLimits;
use crate::window::Window;

/// Frames on their way per link: fewest that keep a stream going, and enough for any.
const IN_FLIGHT_MIN: usize = 4;
const IN_FLIGHT_MAX: usize = 128;
/// Most lines that a frame can carry, however long it is: it counts them in a byte.
const LINES_PER_FRAME_MAX: usize = 255;
/// Most credits of one channel that a frame without packets returns: 3 in each of 255 NOPs.
const CREDITS_PER_FRAME: u16 = 765;
/// The first node number of links that only take up numbers. No job has so many PEs.
const PLACEHOLDER: u32 = 1 << 31;
/// A PE that waits on a core of its own looks at the wire as often before it gives the core
/// away between looks; fitted to about 200 us.
const LOOKS: u32 = 4000;
/// It looks as often again before it sleeps; fitted to about a millisecond.
const YIELDS: u32 = 1000;
const SPINS: u32 = 16;

/// A job, as one of its PEs sees it.
#[derive(Debug, Clone)]
pub struct Roster {
    /// The number of this PE.
    pub pe: PeId,
    /// A number that the PEs of this job know, and no other job.
    pub job: u64,
    /// Where the PEs of other hosts are, in the order of the numbers of all PEs; `None` for
    /// those of this host.
    pub peers: Vec<Option<Address>>,
    /// What encrypts the frames between hosts; `None` sends them bare. The same for all
    /// PEs: those that differ do not hear each other.
    pub secrets: Option<Secrets>,
}

/// What the PEs of a job have to know to encrypt their frames.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// The key of the job, which nobody else knows.
    pub key: JobKey,
    /// What every process has drawn, in the order of the numbers of the PEs.
    pub lives: Vec<Life>,
}

impl Secrets {
    /// The keys between this PE and those of other hosts.
    fn seals(
        &self,
        roster: &Roster,
        origin: &Origin,
        socket: &Socket,
    ) -> Result<Seals<FrameNumbers>, TransportError> {
        let pes = roster.peers.len();
        let wrong = || {
            let expected = format_args!("lives of {pes} PEs");
            TransportError::misused("making the keys of this PE", expected, self.lives.len())
        };
        let own = self.lives.get(roster.pe as usize).ok_or_else(wrong)?;
        if self.lives.len() != pes {
            return Err(wrong());
        }
        let own = End {
            node: Node(roster.pe),
            life: *own,
        };
        let pairs = self.lives.iter().zip(&roster.peers);
        let peers = pairs.map(|(life, peer)| peer.map(|_| *life));
        let witness = socket
            .fd()
            .try_clone_to_owned()
            .map_err(|e| TransportError::environment("keeping the socket of the wire open", e))?;
        let numbers = FrameNumbers::new(origin.clone(), OriginWords::new(pes)?)?;
        Ok(Seals::new(
            &self.key,
            own,
            peers,
            numbers.witnessed(witness)?,
        ))
    }
}

impl Default for EtherOptions {
    fn default() -> Self {
        Self {
            lost_after: LOST_AFTER,
        }
    }
}

/// What a wire may be told beside who is where.
#[derive(Debug, Clone)]
pub struct EtherOptions {
    /// How long a PE of another host may be silent before it is lost.
    pub lost_after: Duration,
}

impl Ether {
    /// Opens links to all PEs of other hosts and starts the agent, which applies what they
    /// store to `segment`, the own one. All segments have to be of one size; callers compare
    /// before.
    ///
    /// # Errors
    /// [`TransportError::Misused`] for a roster that does not fit;
    /// [`TransportError::Environment`], as [`EnvironmentFault::NoAnswer`] for a PE that does not
    /// answer by `deadline`.
    pub fn connect(
        segment: Window,
        mut socket: Socket,
        roster: &Roster,
        options: &EtherOptions,
        deadline: Instant,
    ) -> Result<Self, TransportError> {
        check(roster)?;
        crate::sync::registered();
        rights::give_up(socket.rights())?;
        let remote = roster.peers.iter().flatten().count();
        socket.set_peers(roster.pe, roster.peers.clone())?;

        let patience = deadline.saturating_duration_since(Instant::now());
        let seals = roster.secrets.as_ref();
        let origin = Origin::new(roster.pe)?;
        let seals = seals.map(|secrets| secrets.seals(roster, &origin, &socket));
        let seals = seals.transpose()?;
        let config = config(
            &socket,
            seals.is_some(),
            remote,
            patience,
            options.lost_after,
        );
        let (job, node) = (roster.job, Node(roster.pe));
        let identity = Identity {
            node,
            job,
            incarnation: wall_clock_ns(),
        };
        let mut endpoint = Endpoint::new(config, identity, wall_clock_ns()).map_err(no_link)?;
        // The numbers of the links of other PEs of this host.
        for number in 0..socket.first_link() {
            let placeholder = Node(PLACEHOLDER + number);
            endpoint.link(placeholder).map_err(no_link)?;
        }
        let mut links = Vec::new();
        for (pe, peer) in (0..).zip(&roster.peers) {
            links.push(match peer {
                None => None,
                Some(_) => Some(endpoint.link(Node(pe)).map_err(no_link)?),
            });
        }

        let addresses = Addresses::new(links.len() as u32, segment.memory())?;
        let own = Own::new(segment.clone(), roster.pe, addresses.map().clone())?;
        let alarm = Alarm::new()
            .map_err(|e| TransportError::environment("making the timer of the agent", e))?;
        let mut core = Core::new(endpoint, socket, alarm, own, seals);
        let now = core.now();
        for link in links.iter().flatten() {
            core.endpoint.open(now, *link).map_err(no_link)?;
        }
        let shared = Arc::new(Shared::new(core)?);
        let mut wire = Self {
            origin,
            pe: roster.pe,
            limits: limits(links.len() - remote),
            links,
            segment,
            addresses,
            shared: Arc::clone(&shared),
            agent: None,
            control: None,
        };
        let agent = std::thread::Builder::new()
            .name("hostwire-ether".into())
            .stack_size(256 << 10)
            .spawn(move || shared.serve())
            .map_err(|e| TransportError::environment("starting the agent", e))?;
        wire.agent = Some(agent);
        wire.wait_until_open(roster, deadline)?;
        Ok(wire)
    }

    fn wait_until_open(&self, roster: &Roster, deadline: Instant) -> Result<(), TransportError> {
        for (pe, address) in (0..).zip(&roster.peers) {
            let (Ok(link), Some(address)) = (self.link(pe), address) else {
                continue;
            };
            loop {
                let mut core = self.shared.lock();
                core.drive();
                let state = core.endpoint.is_open(link);
                let counters = core.counters();
                self.shared.release(core);
                let silence = match state {
                    Ok(true) => break,
                    // It was there, and has done all that it had to do.
                    Err(CloseReason::PeerFinished) => break,
                    Ok(false) if Instant::now() < deadline => {
                        self.shared.wait_for_frames(super::LOOK_AGAIN);
                        continue;
                    }
                    Ok(false) | Err(CloseReason::Unreachable { .. }) => silence(&counters),
                    Err(reason) => return super::ended(pe, reason),
                };
                return Err(TransportError::environment(
                    format!("connecting to PE {pe} at {address}"),
                    EnvironmentFault::NoAnswer {
                        pe,
                        address: address.to_string().into(),
                        silence,
                    },
                ));
            }
        }
        Ok(())
    }
}

/// Why a peer does not answer, as far as the frames that were dropped tell.
fn silence(counters: &Counters) -> Silence {
    let seen = |cause| counters.dropped(cause) > 0;
    if seen(DropCause::Sealed) {
        Silence::Sealed
    } else if seen(DropCause::Unsealed) {
        Silence::Unsealed
    } else if seen(DropCause::Forged) {
        Silence::Forged
    } else {
        Silence::Unknown
    }
}

/// Why a link cannot be made.
fn no_link(why: impl core::fmt::Display) -> TransportError {
    let detail = why.to_string().into();
    TransportError::environment(
        "making the links of this PE",
        EnvironmentFault::Links { detail },
    )
}

/// The roster has this PE, and no more PEs than links can be numbered for.
fn check(roster: &Roster) -> Result<(), TransportError> {
    let what = "joining the PEs of a job";
    let pes = roster.peers.len();
    if roster.peers.get(roster.pe as usize) != Some(&None) {
        let expected = "a roster with this PE, without an address";
        return Err(TransportError::misused(
            what,
            expected,
            format_args!("PE {} in one of {pes} PEs", roster.pe),
        ));
    }
    if pes >= PLACEHOLDER as usize {
        let expected = format_args!("fewer than {PLACEHOLDER} PEs");
        return Err(TransportError::misused(what, expected, pes));
    }
    Ok(())
}

/// Frames that a PE keeps of all its peers because one before them is missing: 1.5 MB of frames of 1500 bytes.
const EARLY_MAX: usize = 1024;

/// No more frames on their way than the peers have room for.
fn config(
    socket: &Socket,
    is_sealed: bool,
    remote: usize,
    patience: Duration,
    lost_after: Duration,
) -> Config {
    let per_link = socket.frames_max() / remote.max(1);
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let frames_in_flight_max = per_link.clamp(IN_FLIGHT_MIN, IN_FLIGHT_MAX) as u16;
    let default = Config::default();
    let frame_len_max = Core::frame_len_max(socket, is_sealed);
    // Applied as they come, so what holds them is the receive ring: credits for as many
    // lines as all frames on their way can carry.
    let lines_per_frame = (frame_len_max / LINE_LEN).min(LINES_PER_FRAME_MAX) as u16;
    let lines = frames_in_flight_max.saturating_mul(lines_per_frame);
    let [posted, non_posted, response] = default.buffers;
    let posted = posted.max(lines);
    let [batch, non_posted_batch, response_batch] = default.credit_batch;
    let batch = batch.max(posted / 4).min(CREDITS_PER_FRAME);
    Config {
        buffers: [posted, non_posted, response],
        // A stream gets a frame of credits for each few messages of frames, not for each of them.
        credit_batch: [batch, non_posted_batch, response_batch],
        frame_len_max,
        // As much memory, however long frames are.
        pool_frames_max: default.pool_frames_max * default.frame_len_max
            / frame_len_max.max(default.frame_len_max),
        added_bytes: Core::added_bytes(is_sealed) + socket.header_bytes(),
        pads_full_frames: socket.joins_frames(),
        frames_in_flight_max,
        early_frames_max: EARLY_MAX,
        packing: Timings::SOCKET,
        open_timeout_ns: ns(patience),
        dead_after_ns: ns(lost_after),
        // Asked often enough before it is given up.
        keepalive_ns: default.keepalive_ns.min(ns(lost_after) / 8).max(1),
        ..default
    }
}

/// The wire only moves while somebody looks, so a PE that waits looks early: one of
/// `here` PEs of this host.
fn limits(here: usize) -> WaitLimits {
    let local = WaitLimits::for_pes(here as u32);
    let (looks, yields) = match local == WaitLimits::DEDICATED {
        true => (LOOKS, YIELDS),
        false => (0, local.yields),
    };
    WaitLimits {
        spins: SPINS,
        pauses: 0,
        looks,
        yields,
        ..local
    }
}

/// Never 0.
fn wall_clock_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ns = since.map_or(1, |time| time.as_nanos());
    u64::try_from(ns).unwrap_or(u64::MAX).max(1)
}
