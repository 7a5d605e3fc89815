//! Event traces of recordings.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::rc::Rc;

use hostwire_plan::file::nearest;

use crate::engine::{Event, Ps, Sim, TRACE_RECORD_BYTES, TraceError, TraceFilter, end_of};

use super::Recording;

/// Names that a message lists at most.
const NAMES_SHOWN_MAX: usize = 40;

/// The events that an event trace is to have. Times count as those of the recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Those for these components; all if there are none. `*` stands for any text.
    pub components: Vec<String>,
    /// Those of these kinds; all if there are none. `*` stands for any text.
    pub kinds: Vec<String>,
    /// Those from this time on.
    pub from: Ps,
    /// Those before this time, if there is one.
    pub until: Option<Ps>,
}

/// Why a recording could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// An event trace could not be begun.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Events are wanted of something that does not exist.
    #[error("no {what} is called {asked:?}; {}", there_are(near.as_deref(), known))]
    NoSuch {
        /// What: a component, a kind of events.
        what: &'static str,
        /// The name that was asked for.
        asked: String,
        /// The name that was meant, perhaps.
        near: Option<String>,
        /// Those that there are.
        known: String,
    },
}

fn there_are(near: Option<&str>, known: &str) -> String {
    match near {
        Some(near) => format!("did you mean {near:?}? There are: {known}"),
        None => format!("there are: {known}"),
    }
}

impl Events {
    /// Whether all names stand for something in `sim`.
    ///
    /// # Errors
    /// [`RecordError::NoSuch`].
    pub fn check<M: Event>(&self, sim: &Sim<M>) -> Result<(), RecordError> {
        filter(self, Ps::ZERO, sim).map(drop)
    }
}

/// Opens the file that an event trace goes to, when there is something to write.
pub(super) type Open = Box<dyn FnOnce() -> io::Result<Box<dyn Write>>>;

/// The event trace of a recording.
pub(super) enum EventTrace {
    /// It waits for a simulation.
    Wanted(Events, Open),
    /// It is being written.
    Written(TraceFile),
}

/// The file of a trace: the simulation writes to it, and the recording ends it.
#[derive(Clone)]
pub(super) struct TraceFile(Rc<RefCell<Out>>);

struct Out {
    file: BufWriter<Box<dyn Write>>,
    /// Bytes so far, and how many of them are the header.
    bytes: u64,
    header_bytes: u64,
    failed: Option<io::Error>,
    /// The simulation may go on behind the end of the trace.
    ended: bool,
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = self.0.borrow_mut();
        if out.ended {
            return Ok(bytes.len());
        }
        let written = out.file.write(bytes);
        match &written {
            Ok(len) => out.bytes += *len as u64,
            Err(error) => {
                // The simulation ignores errors, so the recording keeps the first one.
                let error = io::Error::new(error.kind(), error.to_string());
                out.failed.get_or_insert(error);
            }
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().file.flush()
    }
}

impl Recording {
    /// Writes these events of the first simulation that is watched from now on to what `open`
    /// opens then, in the format of [`TraceReader`](crate::engine::TraceReader).
    pub fn trace_events(
        &self,
        events: Events,
        open: impl FnOnce() -> io::Result<Box<dyn Write>> + 'static,
    ) {
        self.0.borrow_mut().events = Some(EventTrace::Wanted(events, Box::new(open)));
    }

    /// Checks that the wanted events have names in `sim`, so that an error comes before it boots.
    ///
    /// # Errors
    /// [`RecordError::NoSuch`].
    pub fn check_events<M: Event>(&self, sim: &Sim<M>) -> Result<(), RecordError> {
        match &self.0.borrow().events {
            Some(EventTrace::Wanted(events, _)) => events.check(sim),
            _ => Ok(()),
        }
    }

    /// Begins the event trace, if one is wanted and has not begun.
    ///
    /// # Errors
    /// [`RecordError`] if it cannot be written, or a name is unknown.
    pub fn watch_events<M: Event>(&self, sim: &mut Sim<M>) -> Result<(), RecordError> {
        let origin = self.0.borrow().origin;
        let wanted = self.0.borrow_mut().events.take();
        let (events, open) = match wanted {
            Some(EventTrace::Wanted(events, open)) => (events, open),
            begun => {
                self.0.borrow_mut().events = begun;
                return Ok(());
            }
        };
        let filter = filter(&events, origin, sim)?;
        let out = Out {
            file: BufWriter::new(open().map_err(TraceError::from)?),
            bytes: 0,
            header_bytes: 0,
            failed: None,
            ended: false,
        };
        let mut shared = TraceFile(Rc::new(RefCell::new(out)));
        sim.trace_to(Box::new(shared.clone()), filter)?;
        // A run that is killed soon leaves a trace, and not an empty file.
        shared.flush().map_err(TraceError::from)?;
        let header_bytes = shared.0.borrow().bytes;
        shared.0.borrow_mut().header_bytes = header_bytes;
        self.0.borrow_mut().events = Some(EventTrace::Written(shared));
        Ok(())
    }

    /// Ends the event trace, if there is one. Only then the trace is complete.
    ///
    /// # Errors
    /// If a part of it could not be written.
    pub fn end_events(&self) -> io::Result<()> {
        let Some(EventTrace::Written(shared)) = self.0.borrow_mut().events.take() else {
            return Ok(());
        };
        let mut out = shared.0.borrow_mut();
        out.ended = true;
        if let Some(error) = out.failed.take() {
            return Err(error);
        }
        let records = (out.bytes - out.header_bytes) / TRACE_RECORD_BYTES as u64;
        out.file.write_all(&end_of(records))?;
        out.file.flush()
    }
}

fn filter<M: Event>(events: &Events, origin: Ps, sim: &Sim<M>) -> Result<TraceFilter, RecordError> {
    let names: Vec<&str> = sim.ids().filter_map(|id| sim.name(id)).collect();
    let components = chosen("component", &events.components, &names)?;
    let kinds = chosen("kind of events", &events.kinds, M::KINDS)?;
    let ids = |set: BTreeSet<usize>| sim.ids().filter(|id| set.contains(&id.index())).collect();
    Ok(TraceFilter {
        components: components.map(ids),
        kinds: kinds.map(|set| set.into_iter().map(|kind| kind as u8).collect()),
        origin,
        from: events.from,
        until: events.until.unwrap_or(Ps::MAX),
    })
}

/// The places of the names that are asked for; `None` if none is, which means all.
fn chosen(
    what: &'static str,
    asked: &[String],
    names: &[&str],
) -> Result<Option<BTreeSet<usize>>, RecordError> {
    let mut places = BTreeSet::new();
    for pattern in asked {
        let found = names.iter().enumerate();
        let mut found = found.filter(|(_, name)| matches(pattern, name)).peekable();
        if found.peek().is_none() {
            return Err(RecordError::NoSuch {
                what,
                asked: pattern.clone(),
                near: nearest(pattern, names).map(str::to_owned),
                known: list(names),
            });
        }
        places.extend(found.map(|(place, _)| place));
    }
    Ok((!asked.is_empty()).then_some(places))
}

fn list(names: &[&str]) -> String {
    match names.split_at_checked(NAMES_SHOWN_MAX) {
        Some((shown, more @ [_, ..])) => {
            format!("{}, and {} more", shown.join(", "), more.len())
        }
        _ => names.join(", "),
    }
}

/// Whether a name is what a pattern says, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else {
            return false;
        };
        left = left.get(at + part.len()..).unwrap_or_default();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name, is) in [
            ("a.p0", "a.p0", true),
            ("a.p0", "a.p01", false),
            ("*", "", true),
            ("a*", "a.p0", true),
            ("a*", "b.a", false),
            ("*.p0", "a.p0", true),
            ("*.p0", "a.p0.l1", false),
            ("a*l2*b", "a.l2 - b", true),
            ("a*b*b", "a.b", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), is, "{pattern} {name}");
        }
    }
}
