//! From the environment of a fresh process to an [`Attachment`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_transport::os::process::inherited_fd;
use hostwire_transport::shm::{self, Gathering, Meeting, Shm, ShmOptions};

use crate::attachment::Attachment;
use crate::board::{Activity, BOARD_FD_VARIABLE};
use crate::error::{Error, Result};
use crate::launch::{self, Bootstrap, LaunchError, Launched, Nodes};
use crate::layout::{Layout, Sizes};
use crate::settings::Settings;
use crate::status::Status;

/// Key of what PE 0 publishes.
const TICKET: &str = "hostwire-ticket";

pub(crate) fn join(sizes: impl FnOnce(Sizes, u32) -> Result<Sizes>) -> Result<Attachment> {
    let settings = Settings::from_env()?;
    let patience = Duration::from_secs(settings.attach_timeout_s);
    let board = board();
    let launcher = launch::connect(board.is_some(), patience).map_err(launch_failed)?;
    let (pe, pes) = launcher
        .as_ref()
        .map_or((0, 1), |launcher| (launcher.rank(), launcher.size()));
    let status = Status::new(board, pe);
    status.set(Activity::Attaching, None);
    let sizes = sizes(settings.sizes, pes)?;
    let layout = Layout::new(pes, sizes)?;
    let options = ShmOptions {
        stores_only: settings.stores_only,
        ..ShmOptions::default()
    };
    let attach = |meeting| {
        let ring_bytes = sizes.ring_bytes;
        let deadline = Instant::now() + patience;
        Shm::attach(
            pe,
            pes,
            layout.segment_bytes(),
            ring_bytes,
            meeting,
            deadline,
            options,
        )
    };
    let (wire, launched) = match launcher {
        None => (attach(Meeting::Alone)?, Launched::by_nobody(1)),
        Some(mut launcher) => {
            let (meeting, nodes) = meet(&mut *launcher)?;
            let wire = attach(meeting)?;
            // From here on everybody holds the lock that shows that it lives.
            launcher.fence().map_err(launch_failed)?;
            let launcher = Some(launcher);
            (wire, Launched { launcher, nodes })
        }
    };
    Attachment::assemble(Arc::new(wire), sizes, status, launched)
}

/// Learns from the launcher who is where and how to reach PE 0, or tells the others.
fn meet(launcher: &mut dyn Bootstrap) -> Result<(Meeting, Nodes)> {
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
        return Err(several_hosts(pe, &nodes));
    }
    let meeting = match gathering {
        Some(gathering) => Meeting::Host(gathering),
        None if pes == 1 => Meeting::Alone,
        None => {
            let ticket = launcher.get(0, TICKET).map_err(launch_failed)?;
            Meeting::Guest(String::from_utf8_lossy(&ticket).parse()?)
        }
    };
    Ok((meeting, nodes))
}

/// The whole text from PE 0, so that a user reads it once.
fn several_hosts(pe: u32, nodes: &Nodes) -> Error {
    let count = nodes.nodes().len();
    let own = nodes
        .node_of(pe)
        .and_then(|n| nodes.nodes().get(n as usize));
    let host = own.map_or("?", |node| node.host.as_str());
    let (noun, remedy) = match nodes.is_one_kernel() {
        true => (
            "network namespaces of one machine",
            "start all PEs in one of them, as containers with --network=host are",
        ),
        false => (
            "hosts",
            "start all PEs on one host (srun -N1, mpirun --host, mpiexec.hydra -hosts)",
        ),
    };
    Error::SeveralHosts(match pe {
        0 => format!(
            "the job spans {count} {noun}: {nodes}; the wire shm joins PEs of one host, for \
             several the wire ether is needed, which this build does not have: {remedy}"
        ),
        _ => format!(
            "PE {pe} runs on {host}, and the job spans {count} {noun}, where the wire shm joins \
             PEs of one: see what PE 0 says"
        ),
    })
}

/// The board of `hostwire run`. Without one nobody looks.
fn board() -> Option<hostwire_transport::Memory> {
    let number = std::env::var(BOARD_FD_VARIABLE).ok()?.parse().ok()?;
    let file = inherited_fd(number).ok()?;
    shm::map_whole(file).ok()
}

fn launch_failed(error: LaunchError) -> Error {
    Error::Launch(format!("cannot join the job: {error}"))
}
