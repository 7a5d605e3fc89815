//! From the environment of a fresh process to an [`Attachment`].

use std::io::Write;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hostwire_bootstrap::settings::in_environment;
use hostwire_bootstrap::{
    Alone, Bootstrap, Deadline, Joined, Joining, LaunchError, Launched, Meets, Nodes, Segment,
};
use hostwire_transport::faults::Faulty;
use hostwire_transport::os::process::inherited_fd;
use hostwire_transport::record::{self, Recorder};
use hostwire_transport::shm::{self, Gathering, Host, Meeting};
use hostwire_transport::terms::Terms;
use hostwire_transport::{ForkGuard, PeId, Wire};
use hostwire_virtual::{self as modelled, Modelled};

use crate::attachment::Attachment;
use crate::board::{Activity, BOARD_FD_VARIABLE};
use crate::error::{Error, LaunchStep, Result};
use crate::layout::{self, Layout, Sizes};
use crate::settings::{
    FAULTS, INSECURE_WIRE, INSECURE_WIRE_WARNING, RECORD, Settings, WireChoice, WireName, misspelt,
};
use crate::status::Status;

/// The name of the wire in the counters of a PE in virtual time.
const MODEL: &str = "model";
/// The launcher's key under which PE 0 publishes its ticket.
const TICKET: &str = "hostwire-ticket";

impl Attachment {
    /// Attaches to the job that this process was started in, as
    /// [`Job::attach`](crate::Job::attach) does. `sizes` gets the sizes that the
    /// environment says, and the number of PEs. Nothing runs in the background yet:
    /// [`start`](Self::start).
    pub fn join(sizes: impl FnOnce(Sizes, u32) -> Result<Sizes>) -> Result<Self> {
        join(sizes)
    }
}

/// The most bytes of a heap for which nobody asks, of a PE whose hardware is a model: what the memory of that hardware allows, and not that
/// of this machine. `None` on real hardware.
///
/// # Errors
/// [`Error::Environment`] if the launcher says something that cannot be.
pub fn modelled_heap_bytes() -> Result<Option<usize>> {
    let room = modelled::room_bytes()?;
    Ok(room.map(|bytes| heap_within(usize::try_from(bytes).unwrap_or(usize::MAX))))
}

/// The largest power of two that leaves a quarter of the room of a segment for its other parts.
fn heap_within(room_bytes: usize) -> usize {
    let most = room_bytes - room_bytes / 4;
    most.checked_ilog2().map_or(0, |bits| 1 << bits)
}

fn join(sizes: impl FnOnce(Sizes, u32) -> Result<Sizes>) -> Result<Attachment> {
    ForkGuard::process_has_joined_none()?;
    let settings = Settings::from_env()?;
    let deadline = Deadline::after(Duration::from_secs(settings.attach_timeout_s));
    let board = board();
    // `hostwire run`, which prints its own messages.
    let is_ours = board.is_some();
    let launcher = hostwire_bootstrap::connect(is_ours, deadline).map_err(launch_failed)?;
    let (pe, pes) = launcher
        .as_ref()
        .map_or((0, 1), |launcher| (launcher.rank(), launcher.size()));
    if pe == 0 && !is_ours {
        warn_of_misspelt_settings();
    }
    let status = Status::new(board, pe);
    status.set(Activity::Attaching, None);
    let mut usual = settings.sizes();
    if let (None, Some(bytes)) = (settings.heap_bytes, modelled_heap_bytes()?) {
        usual.heap_bytes = usual.heap_bytes.min(bytes);
    }
    let sizes = sizes(usual, pes)?;
    let segment = Segment {
        terms: terms(&settings, pes, sizes)?,
        deadline: deadline.at(),
    };
    let (wire, launched, name) = connect(&settings, &segment, launcher, is_ours)?;
    let has_launcher = launched.launcher.is_some();
    let mut attachment = Attachment::assemble(wire, sizes, status, launched)?;
    attachment.publish(name, settings.stats);
    if has_launcher {
        attachment.remember();
    }
    attachment.wire.begin()?;
    Ok(attachment)
}

/// Connects this PE with the others. Also gives the name of the wire that was taken.
fn connect(
    settings: &Settings,
    segment: &Segment,
    launcher: Option<Box<dyn Bootstrap>>,
    is_ours: bool,
) -> Result<(Arc<dyn Wire>, Launched, &'static str)> {
    let named = settings.wire.named().map(WireName::entry);
    let is_alone = launcher.is_none();
    let mut launcher = launcher.unwrap_or_else(|| Box::new(Alone::default()));
    let (pe, pes) = (launcher.rank(), launcher.size());
    // A launcher of virtual time passes the model beside the settings.
    let mut model = modelled::inherited()?;
    let is_modelled = model.is_some();
    let mut within_host = |wire: Arc<dyn Wire>| {
        let wire: Arc<dyn Wire> = match model.take() {
            Some(fds) => Arc::new(Modelled::new(wire, fds)?),
            None => wire,
        };
        within_host(wire, settings)
    };
    let (wire, nodes, name) = match named.map(|entry| entry.meeting) {
        Some(Meets::Anywhere(join)) => {
            let nodes = match is_alone {
                true => Nodes::one(1),
                false => Nodes::meet(&mut *launcher).map_err(launch_failed)?,
            };
            crate::error::name_hosts(&nodes);
            let joined = join(joining(settings, segment, &mut *launcher, &nodes))?;
            (within_host(joined.wire)?, nodes, joined.name)
        }
        _ => {
            let (meeting, nodes) = match is_alone {
                true => (Some(Meeting::Alone), Nodes::one(1)),
                false => meet(&mut *launcher)?,
            };
            crate::error::name_hosts(&nodes);
            match meeting {
                Some(meeting) => {
                    let wire = segment.attach(Host::only(pe, pes)?, meeting)?;
                    let name = named.filter(|entry| !entry.spans_hosts());
                    let name = name.map_or(WireName::Shm.name(), |entry| entry.name);
                    (within_host(Arc::new(wire))?, nodes, name)
                }
                None => {
                    let joined = between_hosts(settings, segment, &mut *launcher, &nodes, is_ours)?;
                    (joined.wire, nodes, joined.name)
                }
            }
        }
    };
    let wire = recorded(wire, settings)?;
    // From here on every PE holds the lock that shows that it is alive.
    launcher.fence().map_err(launch_failed)?;
    let launcher = (!is_alone).then_some(launcher);
    let name = if is_modelled { MODEL } else { name };
    Ok((wire, Launched { launcher, nodes }, name))
}

/// Connects this PE with all others, on its own host and on other hosts, over the wire
/// that the settings name, or the fastest one.
fn between_hosts(
    settings: &Settings,
    segment: &Segment,
    launcher: &mut dyn Bootstrap,
    nodes: &Nodes,
    is_ours: bool,
) -> Result<Joined> {
    let pe = launcher.rank();
    allow(settings, pe, nodes)?;
    if settings.insecure_wire && pe == 0 && !is_ours {
        warn_of_insecure_wire();
    }
    let fastest = || WireName::fastest_first().first().copied();
    let wire = settings.wire.named().or_else(fastest);
    match wire.map(|wire| wire.entry().meeting) {
        Some(Meets::BetweenHosts(join)) => Ok(join(joining(settings, segment, launcher, nodes))?),
        _ => {
            let why = "none is known".into();
            Err(launch_failed(LaunchError::NoWire { why }))
        }
    }
}

/// What a wire has to know to join the PEs.
fn joining<'a>(
    settings: &'a Settings,
    segment: &'a Segment,
    launcher: &'a mut dyn Bootstrap,
    nodes: &'a Nodes,
) -> Joining<'a> {
    Joining {
        launcher,
        nodes,
        segment,
        wire: settings.wire.named().map(WireName::name),
        lost_after: Duration::from_secs(settings.lost_after_s),
        faults: settings.faults,
        is_insecure: settings.insecure_wire,
        says_choice: settings.stats,
        lookup: &in_environment,
    }
}

/// Whether the settings allow this job to span hosts.
fn allow(settings: &Settings, pe: PeId, nodes: &Nodes) -> Result<()> {
    let WireChoice::Named(wire) = settings.wire else {
        return Ok(());
    };
    if !wire.spans_hosts() {
        return Err(launch_failed(LaunchError::SeveralHosts {
            pe,
            nodes: nodes.clone(),
            wire: wire.name(),
            between: WireChoice::listed_between_hosts(),
        }));
    }
    match wire.wants_insecure() && !settings.insecure_wire {
        true => Err(launch_failed(LaunchError::Insecure { wire: wire.name() })),
        false => Ok(()),
    }
}

/// What all PEs have to set, or none.
static ALL_OR_NONE: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let wires = WireName::ALL
        .into_iter()
        .filter_map(|wire| wire.entry().named_by_all);
    [RECORD.variable, FAULTS.variable]
        .into_iter()
        .chain(wires)
        .collect()
});

/// What a PE has to have in common with all others.
fn terms(settings: &Settings, pes: u32, sizes: Sizes) -> Result<Terms> {
    let named = settings
        .wire
        .named()
        .and_then(|wire| wire.entry().named_by_all);
    let is_set = |name: &str| match name {
        name if name == RECORD.variable => settings.record.is_some(),
        name if name == FAULTS.variable => settings.faults.is_some(),
        name => named == Some(name),
    };
    let bits = ALL_OR_NONE
        .iter()
        .zip(0..)
        .map(|(name, bit)| u64::from(is_set(name)) << bit);
    Ok(Terms {
        version: layout::VERSION,
        size_names: &Sizes::NAMES,
        sizes: sizes.each().map(|bytes| bytes as u64),
        segment_bytes: Layout::new(pes, sizes)?.segment_bytes() as u64,
        settings: &ALL_OR_NONE,
        set: bits.sum(),
    })
}

/// The wire of a job of one host, as the settings want it.
fn within_host(wire: Arc<dyn Wire>, settings: &Settings) -> Result<Arc<dyn Wire>> {
    Ok(match settings.faults {
        Some(faults) => Arc::new(Faulty::new(wire, faults)?),
        None => match settings.wire.named().map(|wire| wire.entry().meeting) {
            Some(Meets::OnHost(wrap)) => wrap(wire)?,
            _ => wire,
        },
    })
}

/// The wire of a PE whose hardware is a model and that joins no job, as the settings want it.
pub(crate) fn as_settings_want(wire: Arc<dyn Wire>, settings: &Settings) -> Result<Arc<dyn Wire>> {
    recorded(within_host(wire, settings)?, settings)
}

/// A wire of any job, with a recorder around it if the settings want one.
fn recorded(wire: Arc<dyn Wire>, settings: &Settings) -> Result<Arc<dyn Wire>> {
    let Some(folder) = &settings.record else {
        return Ok(wire);
    };
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let options = record::Options {
        folder: folder.into(),
        limit_bytes: settings.record_limit_bytes as u64,
        epoch: since_1970.unwrap_or_default().saturating_sub(wire.now()),
    };
    Ok(Arc::new(Recorder::new(wire, &options)?))
}

/// Learns from the launcher where each PE is and how to reach PE 0, or publishes it. No
/// meeting if the job spans hosts.
fn meet(launcher: &mut dyn Bootstrap) -> Result<(Option<Meeting>, Nodes)> {
    let (pe, pes) = (launcher.rank(), launcher.size());
    let gathering = match pe {
        0 if pes > 1 => Some(Gathering::open(pes)?),
        _ => None,
    };
    if let Some(gathering) = &gathering {
        let ticket = gathering.ticket().to_string();
        launcher
            .put(TICKET, ticket.as_bytes())
            .map_err(launch_failed)?;
    }
    let nodes = Nodes::meet(launcher).map_err(launch_failed)?;
    if nodes.nodes().len() > 1 {
        return Ok((None, nodes));
    }
    let meeting = match gathering {
        Some(gathering) => Meeting::Host(gathering),
        None if pes == 1 => Meeting::Alone,
        None => {
            let ticket = launcher.get(0, TICKET).map_err(launch_failed)?;
            Meeting::Guest(String::from_utf8_lossy(&ticket).parse()?)
        }
    };
    Ok((Some(meeting), nodes))
}

/// The board of `hostwire run`. Other launchers have none.
fn board() -> Option<hostwire_transport::Memory> {
    let number = std::env::var(BOARD_FD_VARIABLE).ok()?.parse().ok()?;
    let file = inherited_fd(number).ok()?;
    shm::map_whole(file).ok()
}

fn warn_of_insecure_wire() {
    warn(&format!("{INSECURE_WIRE}=1: {INSECURE_WIRE_WARNING}"));
}

fn warn_of_misspelt_settings() {
    for sentence in misspelt() {
        warn(&sentence);
    }
}

/// One line from one PE. Not under `hostwire run`, which prints the warning itself. It is
/// no error if nobody reads it.
fn warn(what: &str) {
    let text = format!("hostwire: warning: {what}\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn launch_failed(fault: LaunchError) -> Error {
    LaunchStep::Join.failed(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_leaves_room_for_the_rest_of_a_segment() {
        let gib = 1 << 30;
        for (room, heap) in [(8 * gib, 4 * gib), (2 * gib - 4096, gib), (3, 2), (0, 0)] {
            assert_eq!(heap_within(room), heap);
        }
    }

    #[test]
    fn no_wire_between_hosts_by_accident() {
        let nodes = Nodes::one(2);
        let settings = |wire| Settings {
            wire: WireChoice::Named(wire),
            ..Settings::from_lookup(|_| None).unwrap()
        };
        for wire in [WireName::Ether, WireName::Xdp, WireName::Udp, WireName::Tcp] {
            assert_eq!(allow(&settings(wire), 0, &nodes), Ok(()));
        }
        let bare = settings(WireName::Fabric);
        let wire = WireName::Fabric;
        let refused = Err(launch_failed(LaunchError::Insecure { wire: wire.name() }));
        assert_eq!(allow(&bare, 0, &nodes), refused);
        let insecure_wire = true;
        let allowed = Settings {
            insecure_wire,
            ..bare
        };
        assert_eq!(allow(&allowed, 0, &nodes), Ok(()));
        for wire in [WireName::Shm, WireName::Stores] {
            let refused = allow(&settings(wire), 0, &nodes);
            let nodes = nodes.clone();
            let fault = LaunchError::SeveralHosts {
                pe: 0,
                nodes,
                wire: wire.name(),
                between: WireChoice::listed_between_hosts(),
            };
            assert_eq!(refused, Err(launch_failed(fault)));
        }
    }
}
