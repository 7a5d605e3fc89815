//! PEs that are processes: each has a coroutine in the run that stands for it, carries out its
//! requests, and waits for it while it runs.
//!
//! The coroutine and code that runs in it make the same events, so a program that is compiled into
//! a run and the same program as a process have the same event hash.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use hostwire_transport::wire::{Bell, Clock};
use hostwire_transport::{ChainLimits, PeId, TransportError, Wire};
use hostwire_virtual::{Arming, Begun, ModelEnd, Next, Request};

use crate::engine::{Ps, Summary};
use crate::record::Recording;

use super::run::run_in;
use super::{CallCosts, Platform, Settings, VirtualWire, WireError};

/// Callbacks that watch a run.
pub struct Watch<'a> {
    /// Called every few milliseconds, with how far the run has come. `Break` ends it.
    pub run: &'a dyn Fn(&Summary) -> ControlFlow<()>,
    /// Called while a PE that could hand its turn over does not, with the time of its turn, and the
    /// real time for which it has not. `Break` ends the run.
    pub turn: &'a dyn Fn(PeId, Ps, Duration) -> ControlFlow<()>,
    /// Called when a PE has handed its turn over, with the time of that turn. All that it has
    /// written since the last call counts as written at that time.
    pub handed_over: &'a dyn Fn(PeId, Ps, Takes),
    /// Gets what PEs do that takes time, on a track for each.
    pub recording: Option<&'a Recording>,
}

/// A longer wait has no limit: a day, which no run lasts.
const DOZE_MAX: Ps = Ps(86_400_000_000_000_000);

/// What is served alike for all PEs.
#[derive(Clone, Copy)]
struct Terms<'a> {
    /// When the run began.
    begin: Ps,
    costs: CallCosts,
    watch: &'a Watch<'a>,
}

/// Whether a PE takes part in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It does.
    Part,
    /// It does no longer.
    Leave,
}

/// Runs a job of processes that have begun, the first one as PE 0: see [`run`](super::run()).
/// `costs` has the costs of calls beside the time of the hardware. `settings` need not have the
/// length of segments. Times count from here on: those of `settings`, those that PEs see, and those
/// of the result. Only the hash includes the boot.
///
/// # Errors
/// As [`run`](super::run()); [`WireError::Pe`] if a PE asks for what cannot be;
/// [`WireError::Interrupted`] if the watch ends the run.
pub fn run_processes<'a, 'w: 'a>(
    platform: impl Into<Platform<'a, 'w>>,
    settings: &Settings,
    (pes, costs): (Vec<Begun>, &CallCosts),
    watch: &Watch<'_>,
) -> Result<Summary, WireError> {
    let segment_bytes = pes.first().map_or(0, |pe| pe.segment.len_bytes());
    let platform = platform.into();
    let begin = platform.sim().now();
    let settings = Settings {
        segment_bytes,
        until: settings.until.map(|until| begin + until),
        origin: begin,
        ..settings.clone()
    };
    if let Some(recording) = watch.recording {
        for pe in 0..pes.len() {
            recording.add_track(format!("PE {pe}"));
        }
    }
    let (ends, segments): (Vec<ModelEnd>, Vec<_>) =
        pes.into_iter().map(|pe| (pe.end, pe.segment)).unzip();
    let failed = RefCell::new(None);
    let stopped = RefCell::new(false);
    let program = |wire: Arc<VirtualWire>| {
        let Some(end) = ends.get(wire.pe() as usize) else {
            return;
        };
        let terms = Terms {
            begin,
            costs: *costs,
            watch,
        };
        match serve(&wire, end, terms) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => *stopped.borrow_mut() = true,
            Err(error) => {
                failed.borrow_mut().get_or_insert(error);
            }
        }
    };
    let watch_all = |summary: &Summary| match *stopped.borrow() || failed.borrow().is_some() {
        true => ControlFlow::Break(()),
        false => (watch.run)(summary),
    };
    let before = platform.sim().summary();
    let ran = run_in(segments, platform, &settings, &watch_all, &program);
    match failed.into_inner() {
        Some(error) => Err(WireError::Pe(error)),
        None => ran.map(|all| Summary {
            events: all.events - before.events,
            virtual_time: all.virtual_time - before.virtual_time,
            wall: all.wall - before.wall,
            ..all
        }),
    }
}

/// Does what a PE asks for, until it takes part no longer. `Break`: the watch wants no more.
fn serve(
    wire: &VirtualWire,
    end: &ModelEnd,
    terms: Terms<'_>,
) -> Result<ControlFlow<()>, TransportError> {
    let Terms {
        begin,
        costs,
        watch,
    } = terms;
    if let Some(chains) = wire.capabilities().chains {
        end.tell_chains(chains.chain_limits());
    }
    let mut told = 0;
    let mut answer = Ok(());
    loop {
        for pe in wire.ended(told) {
            end.tell_ended(pe);
            told += 1;
        }
        let idle = |idle| (watch.turn)(end.pe(), wire.now() - begin, idle);
        let (request, arming, spent) = match end.next((wire.now() - begin).0, answer, &idle)? {
            Next::Request {
                request,
                arming,
                spent_ps,
            } => (request, arming, Ps(spent_ps)),
            Next::Gone => {
                (watch.handed_over)(end.pe(), wire.now() - begin, Takes::Leave);
                return Ok(ControlFlow::Continue(()));
            }
            Next::Stopped => return Ok(ControlFlow::Break(())),
        };
        let takes = match request {
            Request::End => Takes::Leave,
            _ => Takes::Part,
        };
        (watch.handed_over)(end.pe(), wire.now() - begin, takes);
        // The PE has looked at its memory as it is now. What arrives while it computes has to end
        // the sleep.
        if arming != Arming::No {
            wire.arm(Duration::MAX);
        }
        let spent = spent + cost(&costs, &request);
        let since = wire.now();
        if spent > Ps::ZERO {
            wire.compute(spent)?;
            record(watch, end.pe(), (since, wire.now()), || {
                "compute".to_owned()
            });
        }
        if arming == Arming::Looked {
            wire.poll()?;
        }
        if request == Request::End {
            end.release((wire.now() - begin).0);
            return Ok(ControlFlow::Continue(()));
        }
        let (what, since) = (watch.recording.map(|_| name(&request)), wire.now());
        answer = carry_out(wire, request);
        record(watch, end.pe(), (since, wire.now()), || {
            what.unwrap_or_default()
        });
    }
}

/// The cost of the call that led to a request.
fn cost(costs: &CallCosts, request: &Request) -> Ps {
    Ps(match request {
        Request::Store { .. } | Request::Word { .. } | Request::Line { .. } | Request::Chain(_) => {
            costs.store_ps
        }
        Request::Fence | Request::Quiet => costs.fence_ps,
        Request::Look | Request::Yield | Request::Sleep | Request::Doze(_) => costs.look_ps,
        Request::Nap(_) | Request::End => 0,
    })
}

/// Records what a PE did, if it took time.
fn record(watch: &Watch<'_>, pe: PeId, (begin, end): (Ps, Ps), what: impl FnOnce() -> String) {
    if let Some(recording) = watch.recording
        && begin < end
    {
        recording.push_span(pe, begin, end, what());
    }
}

/// A request in recordings.
fn name(request: &Request) -> String {
    match request {
        Request::Store { pe, bytes, .. } => format!("store {} B to PE {pe}", bytes.len()),
        Request::Word { pe, .. } => format!("store a word to PE {pe}"),
        Request::Line { pe, .. } => format!("store a line to PE {pe}"),
        Request::Chain(blocks) => format!("chain of {} blocks", blocks.len()),
        Request::Fence => "fence".to_owned(),
        Request::Quiet => "quiet".to_owned(),
        Request::Look | Request::Yield => "look".to_owned(),
        Request::Sleep | Request::Doze(_) => "wait for a store".to_owned(),
        Request::Nap(_) => "sleep".to_owned(),
        Request::End => "leave".to_owned(),
    }
}

fn carry_out(wire: &VirtualWire, request: Request) -> Result<(), TransportError> {
    match request {
        Request::Store {
            pe,
            offset_bytes,
            bytes,
        } => wire.store(pe, offset_bytes, &bytes),
        Request::Word {
            pe,
            offset_bytes,
            value,
        } => wire.store_word(pe, offset_bytes, value),
        Request::Line {
            pe,
            offset_bytes,
            header,
            payload,
        } => wire.store_line(pe, offset_bytes, header, &payload),
        Request::Chain(blocks) => match wire.capabilities().chains {
            Some(chains) => chains.put_chain(&blocks),
            None => ChainLimits::NONE.check(&blocks, wire.pes(), wire.segment().memory()),
        },
        Request::Fence => wire.fence(),
        Request::Quiet => wire.quiet(),
        Request::Look => wire.poll().map(drop),
        Request::Yield => {
            wire.yield_now();
            Ok(())
        }
        Request::Sleep => {
            wire.sleep(Duration::MAX);
            Ok(())
        }
        Request::Doze(limit_ps) => match Ps(limit_ps) {
            limit if limit < DOZE_MAX => wire.doze(limit),
            _ => {
                wire.sleep(Duration::MAX);
                Ok(())
            }
        },
        Request::Nap(time_ps) => wire.rest(Ps(time_ps)),
        Request::End => Ok(()),
    }
}
