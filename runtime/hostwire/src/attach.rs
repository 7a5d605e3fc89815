//! From the environment of a fresh process to an [`Attachment`].

pub(crate) mod over_hosts;
mod window;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hostwire_transport::faults::Faulty;
use hostwire_transport::os::process::inherited_fd;
use hostwire_transport::record::{self, Recorder};
use hostwire_transport::shm::{self, Gathering, Host, Meeting, Shm, ShmOptions};
use hostwire_transport::terms::Terms;
use hostwire_transport::wrap::StoresOnly;
use hostwire_transport::{ForkGuard, Wire};
use hostwire_virtual::Modelled;

use crate::attachment::Attachment;
use crate::board::{Activity, BOARD_FD_VARIABLE};
use crate::error::{Error, LaunchStep, Result};
use crate::layout::{self, Layout, Sizes};
use crate::settings::{
    FAULTS, INSECURE_WIRE, INSECURE_WIRE_WARNING, RECORD, Settings, WireChoice, WireName, misspelt,
};
use crate::status::Status;
use hostwire_bootstrap::{Bootstrap, Deadline, LaunchError, Launched, Nodes};

/// What a PE has with the wires of these names, in errors.
const STORES: &str = "HOSTWIRE_WIRE=stores";
const FABRIC: &str = "HOSTWIRE_WIRE=fabric";
/// What counters say of the wire of a PE in virtual time.
const MODEL: &str = "model";
/// Key of what PE 0 publishes.
const TICKET: &str = "hostwire-ticket";

pub(crate) fn join(sizes: impl FnOnce(Sizes, u32) -> Result<Sizes>) -> Result<Attachment> {
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
    let sizes = sizes(settings.sizes(), pes)?;
    let segment = Segment {
        terms: terms(&settings, pes, sizes)?,
        deadline: deadline.at(),
    };
    let (wire, launched, name) = connect(&settings, &segment, launcher, is_ours)?;
    crate::error::name_hosts(&launched.nodes);
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
    let in_window = settings.wire == WireChoice::Named(WireName::Window);
    // A launcher of virtual time says it beside the settings.
    let model = hostwire_virtual::inherited()?;
    let is_modelled = model.is_some();
    let mut taken = match in_window {
        true => WireName::Window,
        false => WireName::Shm,
    };
    let within_host = |wire| {
        let wire: Arc<dyn Wire> = match model {
            Some(fds) => Arc::new(Modelled::new(wire, fds)?),
            None => Arc::new(wire),
        };
        within_host(wire, settings)
    };
    let (wire, launched): (Arc<dyn Wire>, _) = match launcher {
        None => {
            let wire = match in_window {
                true => window::attach(settings, segment, None)?,
                false => segment.attach(Host::only(0, 1)?, Meeting::Alone)?,
            };
            let wire = recorded(within_host(wire)?, settings)?;
            (wire, Launched::by_nobody(1))
        }
        Some(mut launcher) => {
            let (pe, pes) = (launcher.rank(), launcher.size());
            let (meeting, nodes) = match in_window {
                true => (None, Nodes::meet(&mut *launcher).map_err(launch_failed)?),
                false => meet(&mut *launcher)?,
            };
            let wire: Arc<dyn Wire> = match meeting {
                Some(meeting) => {
                    let wire = segment.attach(Host::only(pe, pes)?, meeting)?;
                    within_host(wire)?
                }
                None if in_window => {
                    let wire = window::attach(settings, segment, Some(&mut *launcher))?;
                    within_host(wire)?
                }
                None => {
                    over_hosts::allow(settings, pe, &nodes)?;
                    if settings.insecure_wire && pe == 0 && !is_ours {
                        warn_of_insecure_wire();
                    }
                    let wires = over_hosts::attach(settings, segment, &mut *launcher, &nodes);
                    let (wires, between) = wires?;
                    taken = between;
                    wires
                }
            };
            let wire = recorded(wire, settings)?;
            // From here on every PE holds the lock that shows that it is alive.
            launcher.fence().map_err(launch_failed)?;
            let launcher = Some(launcher);
            (wire, Launched { launcher, nodes })
        }
    };
    let name = if is_modelled { MODEL } else { taken.name() };
    Ok((wire, launched, name))
}

/// What a PE has to have in common with all others.
fn terms(settings: &Settings, pes: u32, sizes: Sizes) -> Result<Terms> {
    const ALL_OR_NONE: [&str; 4] = [RECORD.variable, FAULTS.variable, STORES, FABRIC];
    let set = [
        settings.record.is_some(),
        settings.faults.is_some(),
        settings.wire == WireChoice::Named(WireName::Stores),
        settings.wire == WireChoice::Named(WireName::Fabric),
    ];
    let bits = set.iter().zip(0..).map(|(set, bit)| u64::from(*set) << bit);
    Ok(Terms {
        version: layout::VERSION,
        segment_bytes: Layout::new(pes, sizes)?.segment_bytes() as u64,
        ring_bytes: sizes.ring_bytes as u64,
        settings: &ALL_OR_NONE,
        set: bits.sum(),
    })
}

/// What all PEs must have alike, and the deadline for joining.
struct Segment {
    terms: Terms,
    deadline: Instant,
}

impl Segment {
    /// Shares memory with the other PEs of a host.
    fn attach(&self, host: Host, meeting: Meeting) -> Result<Shm> {
        let options = ShmOptions::default();
        let wire = Shm::attach(host, &self.terms, meeting, self.deadline, options);
        Ok(wire?)
    }
}

/// The wire of a job of one host, as the settings want it.
fn within_host(wire: Arc<dyn Wire>, settings: &Settings) -> Result<Arc<dyn Wire>> {
    Ok(match settings.faults {
        Some(faults) => Arc::new(Faulty::new(wire, faults)?),
        None if settings.wire == WireChoice::Named(WireName::Stores) => {
            Arc::new(StoresOnly::new(wire)?)
        }
        None => wire,
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

/// One line from one PE, if the launcher is not `hostwire run`, which says it itself.
/// It is no error if nobody reads it.
fn warn(what: &str) {
    let text = format!("hostwire: warning: {what}\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn launch_failed(fault: LaunchError) -> Error {
    LaunchStep::Join.failed(fault)
}
