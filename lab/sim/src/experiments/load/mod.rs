//! Messages between all processors of a cluster, at given times or as fast as they arrive.
//!
//! A message is a run of bare stores into the memory of its target. It has arrived when its last
//! line is in memory there, which the simulation sees and no processor pays for. Its latency
//! counts from the time at which it was due, so waiting at the sender belongs to it.

mod board;
mod pattern;
mod sender;
mod summary;
mod trace;

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::Summary;
use crate::machine::Machine;
use crate::models::ht::opteron::{LINE_BYTES, OpteronEvent};
use crate::models::{DeviceEvent, Fabric};

use super::link_use::{LinkUse, LinkWatch};
use super::tccluster::memory;
use super::{ExperimentError, Monitor};

pub use pattern::{Arrivals, Load, Pacing, Pattern};
pub(super) use summary::Arrived;
pub use summary::{Bucket, FlowUse, Latencies};
pub use trace::{Bounds, read as read_trace};

pub(super) use board::Board;
use board::Watcher;
use sender::Sender;

/// Messages of a sender, in order.
pub type Messages = Box<dyn Iterator<Item = Message>>;

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Picoseconds from the begin of the run; `None`: as soon as the sender may.
    pub due_ps: Option<u64>,
    /// Index of the processor that gets it.
    pub to: usize,
    /// Its size, 1 or more. It takes whole words of 8 bytes.
    pub bytes: u64,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// Latencies of all messages, and by flow.
    pub latencies: Latencies,
    /// Every direction of every link.
    pub links: Vec<LinkUse>,
    /// The cost of the simulation.
    pub summary: Summary,
}

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'m> {
    /// Messages of a sender that may be on the way; more wait.
    pub in_flight_max: u64,
    /// Size of the largest message.
    pub bytes_max: u64,
    /// Events after which the run is given up.
    pub events_max: u64,
    /// Sees the run, and may end it.
    pub monitor: &'m Monitor,
}

/// Lets every processor send its messages, `senders[i]` from processor `i`, and waits until all
/// have arrived. The machine has booted.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end, or a message does not arrive.
pub fn run(
    machine: &mut Machine,
    senders: Vec<Messages>,
    limits: &Limits<'_>,
) -> Result<Delivered, ExperimentError> {
    let sockets = machine.sockets().len();
    let slot = limits.bytes_max.next_multiple_of(LINE_BYTES);
    let bases = (0..sockets).map(|socket| memory(machine, socket));
    let bases = bases.collect::<Result<Rc<[u64]>, _>>()?;
    let begin = machine.sim.now();
    let board = Rc::new(RefCell::new(Board::new(begin, sockets)));
    for socket in 0..sockets {
        let watcher = Watcher::new(socket, &board);
        machine.socket_mut(socket).observe(watcher);
    }
    let links = LinkWatch::new(&machine.sim);
    for (socket, messages) in senders.into_iter().enumerate().take(sockets) {
        let sender = Sender {
            me: socket,
            begin,
            messages,
            pending: None,
            ends_with_fence: false,
            in_flight_max: limits.in_flight_max,
            bases: Rc::clone(&bases),
            offset: socket as u64 * slot,
            board: Rc::clone(&board),
        };
        if let Some(core) = machine.start(socket, sender) {
            board.borrow_mut().set_core(socket, core);
        }
    }
    let components: Vec<_> = machine.sockets().iter().map(|s| s.component).collect();
    let wake = |sim: &mut Fabric| {
        let now = sim.now();
        let woken = board.borrow_mut().take_woken();
        for socket in woken {
            let core = board.borrow().core(socket);
            let event = DeviceEvent::Opteron(OpteronEvent::Wake { core });
            // The socket is a component, and now has not passed.
            let _ = sim.inject(now, components[socket], event);
        }
    };
    let ran = limits
        .monitor
        .run_stepping(&mut machine.sim, limits.events_max, wake);
    for socket in 0..sockets {
        machine.socket_mut(socket).end_observation();
    }
    let summary = ran?;
    let latencies = board.borrow_mut().finish()?;
    Ok(Delivered {
        links: links.used(&machine.sim, latencies.time),
        latencies,
        summary,
    })
}
