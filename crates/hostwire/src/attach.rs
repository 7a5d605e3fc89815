//! From the environment of a fresh process to an [`Attachment`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_transport::os::process::inherited_fd;
use hostwire_transport::shm::{self, Gathering, Meeting, Shm, ShmOptions};

use crate::attachment::Attachment;
use crate::board::{Activity, BOARD_FD_VARIABLE};
use crate::error::{Error, Result};
use crate::layout::{Layout, Sizes};
use crate::pmi::{self, LaunchEnv};
use crate::settings::Settings;
use crate::status::Status;

/// Keys of what PE 0 publishes.
const TICKET: &str = "hostwire-ticket";
const HOST: &str = "hostwire-host";

pub(crate) fn join(sizes: impl FnOnce(Sizes, u32) -> Result<Sizes>) -> Result<Attachment> {
    let settings = Settings::from_env()?;
    let launcher = launcher()?;
    let (pe, pes) = launcher
        .as_ref()
        .map_or((0, 1), |client| (client.rank(), client.size()));
    let status = Status::new(board(), pe);
    status.set(Activity::Attaching, None);
    let sizes = sizes(settings.sizes, pes)?;
    let layout = Layout::new(pes, sizes)?;
    let deadline = Instant::now() + Duration::from_secs(settings.attach_timeout_s);
    let options = ShmOptions {
        stores_only: settings.stores_only,
        ..ShmOptions::default()
    };
    let attach = |meeting| {
        let ring_bytes = sizes.ring_bytes;
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
    let (wire, launcher) = match launcher {
        None => (attach(Meeting::Alone)?, None),
        Some(mut client) => {
            let meeting = meet(&mut client)?;
            let wire = attach(meeting)?;
            // From here on everybody holds the lock that shows that it lives.
            client.barrier().map_err(launcher_failed)?;
            (wire, Some(client))
        }
    };
    Attachment::assemble(Arc::new(wire), sizes, status, launcher)
}

fn launcher() -> Result<Option<pmi::Client>> {
    match pmi::launch_environment() {
        LaunchEnv::Singleton => Ok(None),
        LaunchEnv::Pmi1 => pmi::Client::from_env().map_err(launcher_failed),
        LaunchEnv::Unsupported { variables } => Err(Error::Launch(format!(
            "the environment shows a job ({}), but no launcher that hostwire can talk to; \
             start it with hostwire run or mpiexec.hydra",
            variables.join(", ")
        ))),
    }
}

/// Learns from the launcher how to reach PE 0, or tells the others.
fn meet(client: &mut pmi::Client) -> Result<Meeting> {
    let host = host_identity()?;
    if client.size() == 1 {
        return Ok(Meeting::Alone);
    }
    if client.rank() == 0 {
        let gathering = Gathering::open(client.size())?;
        let put = |client: &mut pmi::Client, key, value: &str| {
            client.put(key, value).map_err(launcher_failed)
        };
        put(client, TICKET, &gathering.ticket().to_string())?;
        put(client, HOST, &host)?;
        client.barrier().map_err(launcher_failed)?;
        return Ok(Meeting::Host(gathering));
    }
    client.barrier().map_err(launcher_failed)?;
    let there = client.get(HOST).map_err(launcher_failed)?;
    if there != host {
        return Err(Error::Launch(format!(
            "PE {} runs on host {host} and PE 0 on {there}: the wire shm joins PEs of one host",
            client.rank()
        )));
    }
    let ticket = client.get(TICKET).map_err(launcher_failed)?;
    Ok(Meeting::Guest(ticket.parse()?))
}

/// Equal for two processes exactly if they can share memory by descriptor.
fn host_identity() -> Result<String> {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy().into_owned();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link("/proc/self/ns/net")
        .map(|link| link.to_string_lossy().into_owned())
        .unwrap_or_default();
    let identity = format!("{name}/{}/{namespace}", boot.trim());
    // The launcher's values are words.
    Ok(identity.replace([' ', '='], "_"))
}

/// The board of `hostwire run`. Without one nobody looks.
fn board() -> Option<hostwire_transport::Memory> {
    let number = std::env::var(BOARD_FD_VARIABLE).ok()?.parse().ok()?;
    let file = inherited_fd(number).ok()?;
    shm::map_whole(file).ok()
}

fn launcher_failed(error: pmi::PmiError) -> Error {
    Error::Launch(format!("the launcher: {error}"))
}
