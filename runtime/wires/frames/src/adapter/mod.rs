//! The adapter of a host whose PEs share one endpoint.
//!
//! As the HTEA of the papers, it serves all processes of its host: it has the only socket and the
//! virtual links, one to each other host. It is a process of its own (`process`), so that a PE that is
//! killed, stopped or faulty does not take the wire from the others. PEs write their stores into queues in
//! memory that they share with it (`memory`, `queue`); it packs them into frames (`serve`), and applies
//! received frames to the segments of the PEs. A PE uses it through a [`Guest`], which is a transport.
//!
//! | file | |
//! |---|---|
//! | `memory.rs` | the memory that PEs and adapter share |
//! | `queue.rs` | the queue of stores to the adapter |
//! | `guest.rs` | the side of a PE |
//! | `serve.rs` | the adapter's loop |
//! | `announce.rs` | telling other hosts that a PE has ended |
//! | `process.rs` | the process of the adapter |

mod announce;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod guest;
mod memory;
mod process;
mod queue;
mod serve;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use hostwire_transport::error::TransportError;
use hostwire_transport::shm::{LivenessWatch, Shm};
use hostwire_transport::window::Window;
use hostwire_transport::worker;

pub use self::guest::Guest;
pub use self::memory::AdapterMemory;
use self::serve::Server;
use super::{ControlConnections, Ether, EtherOptions, Roster, Socket};

/// Everything that the adapter of a host needs.
#[derive(Debug)]
pub struct Adapter {
    /// The memory that it shares with the PEs.
    pub adapter_memory: AdapterMemory,
    /// The segments of the PEs, in the order of their numbers.
    pub segments: Vec<Window>,
    /// Which of them live.
    pub watch: LivenessWatch,
    /// Which PE is on which host, and where hosts are reached.
    pub roster: Roster,
    /// Options of the wire.
    pub options: EtherOptions,
    /// The control connections, which show which hosts have ended.
    pub control: Option<Arc<ControlConnections>>,
    /// By when the other hosts have to answer.
    pub deadline: Instant,
}

impl Adapter {
    /// The adapter of the host of a PE.
    pub fn new(
        shm: &Shm,
        adapter_memory: &AdapterMemory,
        roster: Roster,
        deadline: Instant,
    ) -> Self {
        Self {
            adapter_memory: adapter_memory.clone(),
            segments: shm.windows().to_vec(),
            watch: shm.watch(),
            roster,
            options: EtherOptions::default(),
            control: None,
            deadline,
        }
    }

    /// Starts it in a process of its own, which owns the socket from now on. [`Guest::join`] tells all PEs
    /// whether it reaches the other hosts.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if the process cannot be made.
    pub fn start(self, socket: Socket) -> Result<(), TransportError> {
        self.adapter_memory.begin(socket.rights());
        let mut kept = socket.fds();
        kept.extend(self.watch.fd());
        if let Some(control) = &self.control {
            kept.extend(control.fds());
        }
        if process::is_adapter(&kept)? {
            self.serve(socket);
            process::end();
        }
        Ok(())
    }

    /// Starts it as a thread of this process, for tests.
    pub(super) fn start_thread(self, socket: Socket) -> Result<(), TransportError> {
        self.adapter_memory.begin(socket.rights());
        worker::start(process::NAME, 1 << 20, move || self.serve(socket))
            .map_err(|e| TransportError::environment("starting the adapter of this host", e))?;
        Ok(())
    }

    /// Serves until all PEs of this host have ended.
    fn serve(self, socket: Socket) {
        let adapter_memory = self.adapter_memory.clone();
        let watch = self.watch.clone();
        let place = adapter_memory.here();
        let served = watch.enter(place).and_then(|()| self.connect(socket));
        match served {
            Ok(server) => {
                adapter_memory.say_serving();
                server.run();
            }
            Err(error) => adapter_memory.say_failed(&error.to_string()),
        }
        watch.leave(place);
    }

    fn connect(self, socket: Socket) -> Result<Server, TransportError> {
        let Self {
            adapter_memory,
            segments,
            watch,
            roster,
            options,
            control,
            deadline,
        } = self;
        let ended = adapter_memory.ended_pes()?;
        let ether =
            Ether::connect_with(ended, segments.clone(), socket, &roster, &options, deadline)?;
        let ether = match control {
            Some(control) => ether.with_control(control),
            None => ether,
        };
        Server::new(ether, adapter_memory, segments, watch, deadline)
    }
}
