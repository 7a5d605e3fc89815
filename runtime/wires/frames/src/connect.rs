//! From sockets and addresses to a wire.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hostwire_link::packing::Timings;
use hostwire_link::seal::{End, JobKey, Life, Seals};
use hostwire_link::{
    CloseReason, Config, Counters, DropCause, Endpoint, Identity, Node, frames_per_question,
};
use hostwire_packet::ht::LINE_LEN;
use hostwire_transport::addresses::Addresses;
use hostwire_transport::error::{EnvironmentFault, LOST_AFTER, PeId, Silence, TransportError};
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::window::Window;
use hostwire_transport::worker;

use super::agent::AgentShared;
use super::alarm::Alarm;
use super::core::FramesCore;
use super::ended_pes::EndedPes;
use super::own::Own;
use super::patience::Cores;
use super::{Address, Ether, FrameNumbers, HostPath, Socket, rights};

/// Frames in flight per link: the minimum that keeps a stream going.
const IN_FLIGHT_MIN: usize = 4;
const IN_FLIGHT_MAX: usize = 128;
/// Bytes in flight per link: as many of the longest Ethernet frames.
const IN_FLIGHT_BYTES_MAX: usize = IN_FLIGHT_MAX * 9000;
/// Retransmission timeout over TCP: that of TCP itself, which should retransmit first.
const RTO_BEHIND_TCP_NS: u64 = 200_000_000;
/// Most lines that a frame can carry, however long it is: it counts them in a byte.
const LINES_PER_FRAME_MAX: usize = 255;
/// Most credits of one channel that a frame without packets returns: 3 in each of 255 NOPs.
const CREDITS_PER_FRAME: u16 = 765;

/// A job, as one of its hosts sees it.
#[derive(Debug, Clone)]
pub struct Roster {
    /// The number of this host.
    pub host: u32,
    /// By PE: the number of its host.
    pub host_of: Arc<[u32]>,
    /// A number that the hosts of this job know, and no other job.
    pub job: u64,
    /// By number: where the other hosts are; `None` for this one.
    pub peers: Vec<Option<Address>>,
    /// The secrets that encrypt frames between hosts; `None` for no encryption. The same at all hosts: hosts
    /// that differ drop each other's frames.
    pub secrets: Option<Secrets>,
}

impl Roster {
    /// The PEs of a host.
    pub(super) fn pes_of(&self, host: u32) -> impl Iterator<Item = PeId> + '_ {
        pes_of(&self.host_of, host)
    }
}

/// The PEs of a host; `host_of` has the host of each PE.
pub(super) fn pes_of(host_of: &[u32], host: u32) -> impl Iterator<Item = PeId> + '_ {
    let all = (0..).zip(host_of);
    all.filter(move |(_, its)| **its == host).map(|(pe, _)| pe)
}

/// What the hosts of a job have to know to encrypt their frames.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// The key of the job, secret to all others.
    pub key: JobKey,
    /// By host: the life that the process with its endpoint has drawn.
    pub lives: Vec<Life>,
}

impl Secrets {
    /// The keys between this host and the others.
    fn seals(
        &self,
        roster: &Roster,
        fork_guard: &ForkGuard,
        socket: &Socket,
    ) -> Result<Seals<FrameNumbers>, TransportError> {
        let hosts = roster.peers.len();
        let wrong = || {
            let expected = format_args!("lives of {hosts} hosts");
            TransportError::misused("making the keys of this host", expected, self.lives.len())
        };
        let own = self.lives.get(roster.host as usize).ok_or_else(wrong)?;
        if self.lives.len() != hosts {
            return Err(wrong());
        }
        let own = End {
            node: Node(roster.host),
            life: *own,
        };
        let pairs = self.lives.iter().zip(&roster.peers);
        let peers = pairs.map(|(life, peer)| peer.map(|_| *life));
        let numbers = FrameNumbers::of(fork_guard, socket, hosts)?;
        Ok(Seals::new(&self.key, own, peers, numbers))
    }
}

impl Default for EtherOptions {
    fn default() -> Self {
        Self {
            lost_after: LOST_AFTER,
        }
    }
}

/// Options of a wire beside the roster.
#[derive(Debug, Clone)]
pub struct EtherOptions {
    /// How long a PE of another host may be silent before it is lost.
    pub lost_after: Duration,
}

impl Ether {
    /// Opens links to all other hosts and starts the agent, which applies their stores to `segments`: those of
    /// the PEs of this host in the order of their numbers. All segments of the job must have the same size;
    /// callers check this before.
    ///
    /// # Errors
    /// [`TransportError::Misused`] for a roster that does not fit;
    /// [`TransportError::Environment`], as [`EnvironmentFault::NoAnswer`] for a host that does not
    /// answer by `deadline`.
    pub fn connect(
        segments: Vec<Window>,
        socket: Socket,
        roster: &Roster,
        options: &EtherOptions,
        deadline: Instant,
    ) -> Result<Self, TransportError> {
        let ended = EndedPes::alone(roster.host_of.len() as u32)?;
        Self::connect_with(ended, segments, socket, roster, options, deadline)
    }

    /// As [`connect`](Self::connect), with a table that other processes also see.
    pub(super) fn connect_with(
        ended: EndedPes,
        segments: Vec<Window>,
        mut socket: Socket,
        roster: &Roster,
        options: &EtherOptions,
        deadline: Instant,
    ) -> Result<Self, TransportError> {
        let members: Vec<PeId> = roster.pes_of(roster.host).collect();
        check(roster, &members, segments.len())?;
        let (Some(pe), Some(segment)) = (members.first().copied(), segments.first().cloned())
        else {
            return Err(wrong_roster(roster, "no PE"));
        };
        hostwire_transport::sync::registered();
        rights::give_up(socket.rights())?;
        let remote = roster.peers.iter().flatten().count();
        let set = socket.set_peers(roster.host, roster.peers.clone());
        set.map_err(|error| naming_pes(error, roster))?;

        let patience = deadline.saturating_duration_since(Instant::now());
        let seals = roster.secrets.as_ref();
        let fork_guard = ForkGuard::new(pe)?;
        let seals = seals.map(|secrets| secrets.seals(roster, &fork_guard, &socket));
        let seals = seals.transpose()?;
        let config = config(
            &socket,
            seals.is_some(),
            remote,
            patience,
            options.lost_after,
        );
        let (endpoint, hosts) = endpoint(config, roster)?;

        let addresses = Addresses::new(roster.host_of.len() as u32, segment.memory())?;
        let windows = members.iter().copied().zip(segments);
        let own = Own::new(windows, ended.clone(), *addresses.map())?;
        let alarm = Alarm::new()
            .map_err(|e| TransportError::environment("making the timer of the agent", e))?;
        let mut core = FramesCore::new(endpoint, socket, alarm, own, seals);
        let now = core.now();
        for link in hosts.iter().filter_map(HostPath::link) {
            core.endpoint.open(now, link).map_err(no_link)?;
        }
        let wire = Self {
            fork_guard,
            pe,
            limits: WaitLimits::looking(members.len() as u32),
            cores: Cores::default(),
            host_of: Arc::clone(&roster.host_of),
            hosts: hosts.into(),
            ended,
            segment,
            addresses,
            shared: Arc::new(AgentShared::new(core)?),
            agent: None,
            control: None,
            has_finished: AtomicBool::new(false),
        };
        let wire = wire.start()?;
        wire.wait_until_open(roster, deadline)?;
        Ok(wire)
    }

    /// Starts the agent.
    pub(super) fn start(mut self) -> Result<Self, TransportError> {
        let shared = Arc::clone(&self.shared);
        let agent = worker::start("hostwire-ether", 256 << 10, move || shared.serve())
            .map_err(|e| TransportError::environment("starting the agent", e))?;
        self.agent = Some(agent);
        Ok(self)
    }

    fn wait_until_open(&self, roster: &Roster, deadline: Instant) -> Result<(), TransportError> {
        for (path, address) in self.hosts.iter().zip(&roster.peers) {
            let pe = path.first;
            let (Some(link), Some(address)) = (path.link(), address) else {
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
                    // The host was there and has already finished.
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

/// Why a peer does not answer, as far as dropped frames show.
pub(super) fn silence(counters: &Counters) -> Silence {
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

/// Sockets name hosts, but users know PEs: replaces a host by its first PE.
fn naming_pes(error: TransportError, roster: &Roster) -> TransportError {
    let first = |host| roster.pes_of(host).next().unwrap_or(host);
    match error {
        TransportError::Environment {
            what,
            fault: EnvironmentFault::Disagreement { pe, with, about },
        } => TransportError::Environment {
            what,
            fault: EnvironmentFault::Disagreement {
                pe: first(pe),
                with: first(with),
                about,
            },
        },
        error => error,
    }
}

/// The error that a link cannot be made.
pub(super) fn no_link(why: impl core::fmt::Display) -> TransportError {
    let detail = why.to_string().into();
    TransportError::environment(
        "making the links of this PE",
        EnvironmentFault::Links { detail },
    )
}

/// The endpoint of this host, and the ways to the others.
fn endpoint(config: Config, roster: &Roster) -> Result<(Endpoint, Vec<HostPath>), TransportError> {
    let identity = Identity {
        node: Node(roster.host),
        job: roster.job,
        incarnation: wall_clock_ns(),
    };
    let mut endpoint = Endpoint::new(config, identity, wall_clock_ns()).map_err(no_link)?;
    let mut hosts = Vec::new();
    for (host, peer) in (0..).zip(&roster.peers) {
        hosts.push(HostPath {
            link: match peer {
                None => OnceLock::new(),
                Some(_) => OnceLock::from(endpoint.link(Node(host)).map_err(no_link)?),
            },
            first: roster.pes_of(host).next().unwrap_or(PeId::MAX),
            pes: roster.pes_of(host).count() as u32,
        });
    }
    Ok((endpoint, hosts))
}

/// The roster has this host, its PEs have segments, and each PE has a host.
fn check(roster: &Roster, members: &[PeId], segments: usize) -> Result<(), TransportError> {
    let hosts = roster.peers.len();
    if roster.peers.get(roster.host as usize) != Some(&None) {
        return Err(wrong_roster(roster, "another place for this one"));
    }
    if members.len() != segments {
        let got = format!("{segments} segments for PEs {members:?}");
        return Err(wrong_roster(roster, &got));
    }
    let is_nowhere = |host: &u32| *host as usize >= hosts;
    match roster.host_of.iter().position(is_nowhere) {
        Some(pe) => Err(wrong_roster(roster, &format!("PE {pe} on none of them"))),
        None => Ok(()),
    }
}

fn wrong_roster(roster: &Roster, got: &str) -> TransportError {
    let hosts = roster.peers.len();
    TransportError::misused(
        "joining the hosts of a job",
        "this host, without an address, its PEs with a segment each, and a host for each PE",
        format_args!("host {} of {hosts}, {got}", roster.host),
    )
}

/// Most early frames that an endpoint keeps from all its peers together, and most bytes if they are longer.
const EARLY_MAX: usize = 1024;
const EARLY_BYTES_MAX: usize = EARLY_MAX * 9000;

/// No more frames in flight than the peers have room for.
pub(super) fn config(
    socket: &Socket,
    is_sealed: bool,
    remote: usize,
    patience: Duration,
    lost_after: Duration,
) -> Config {
    let frame_len_max = FramesCore::frame_len_max(socket, is_sealed);
    let per_link = socket.frames_max() / remote.max(1);
    let in_flight_max = IN_FLIGHT_MAX.min(IN_FLIGHT_BYTES_MAX / frame_len_max.max(1));
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let frames_in_flight_max = per_link.min(in_flight_max).max(IN_FLIGHT_MIN) as u16;
    let default = Config::default();
    let (rto_min_ns, ack_delay_ns) = match socket.loses_nothing() {
        // A sender that waits for an ack asks for it.
        true => (RTO_BEHIND_TCP_NS, default.credit_delay_ns),
        false => (default.rto_min_ns, default.ack_delay_ns),
    };
    // Frames are applied as they come, so only the receive ring holds them: credits for as many lines as all
    // frames in flight can carry.
    let lines_per_frame = (frame_len_max / LINE_LEN).min(LINES_PER_FRAME_MAX) as u16;
    let lines = frames_in_flight_max.saturating_mul(lines_per_frame);
    let [posted, non_posted, response] = default.buffers;
    let posted = posted.max(lines);
    let [batch, non_posted_batch, response_batch] = default.credit_batch;
    // With long frames, a frame only for credits costs more than it is worth. Several frames of credits leave
    // together, with the ack that the sender asks for.
    let batch = match socket.loses_nothing() {
        true => lines_per_frame.saturating_mul(frames_per_question(frames_in_flight_max)),
        false => batch.max(posted / 4).min(CREDITS_PER_FRAME),
    };
    Config {
        buffers: [posted, non_posted, response],
        // A stream gets a frame of credits for a few batches of frames, not for each batch.
        credit_batch: [batch, non_posted_batch, response_batch],
        frame_len_max,
        // The same memory for all lengths of frames.
        pool_frames_max: default.pool_frames_max * default.frame_len_max
            / frame_len_max.max(default.frame_len_max),
        added_bytes: FramesCore::added_bytes(is_sealed) + socket.header_bytes(),
        pads_full_frames: socket.joins_frames(),
        frames_in_flight_max,
        early_frames_max: EARLY_MAX.min(EARLY_BYTES_MAX / frame_len_max.max(1)),
        ack_delay_ns,
        rto_min_ns,
        rto_initial_ns: default.rto_initial_ns.max(rto_min_ns),
        packing: Timings::SOCKET,
        open_timeout_ns: ns(patience),
        dead_after_ns: ns(lost_after),
        // A peer is asked often enough before it is given up.
        keepalive_ns: default.keepalive_ns.min(ns(lost_after) / 8).max(1),
        ..default
    }
}

/// Never 0.
pub(super) fn wall_clock_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ns = since.map_or(1, |time| time.as_nanos());
    u64::try_from(ns).unwrap_or(u64::MAX).max(1)
}
