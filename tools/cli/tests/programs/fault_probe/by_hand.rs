//! Attaching without the library's `Job::attach`, as a hostile program could do.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire::layout::VERSION;
use hostwire::settings::Settings;
use hostwire::{Layout, Sizes};
use hostwire_bootstrap::{Bootstrap, Deadline, Nodes};
use hostwire_transport::Wire;
use hostwire_transport::shm::{Host, Meeting, Shm, ShmOptions, Ticket};
use hostwire_transport::terms::Terms;

/// A PE that holds its wire in its own hands.
pub struct ByHand {
    pub wire: Arc<dyn Wire>,
    pub sizes: Sizes,
    pub launcher: Box<dyn Bootstrap>,
}

/// The sizes that `hostwire run` or the user has set.
fn sizes() -> Sizes {
    let (set, usual) = (Settings::from_env().ok(), Sizes::default());
    let heap_bytes = set.as_ref().and_then(|set| set.heap_bytes);
    let ring_bytes = set.as_ref().and_then(|set| set.ring_bytes);
    Sizes {
        heap_bytes: heap_bytes.unwrap_or(usual.heap_bytes),
        ring_bytes: ring_bytes.unwrap_or(usual.ring_bytes),
        ..Sizes::USUAL
    }
}

/// For a hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// The first half: every PE knows how to find PE 0.
pub fn meet() -> Result<Box<dyn Bootstrap>, Box<dyn Error>> {
    let launcher = hostwire_bootstrap::connect(true, Deadline::after(PATIENCE))?;
    let mut launcher = launcher.ok_or("no launcher in the environment")?;
    Nodes::meet(&mut *launcher)?;
    Ok(launcher)
}

/// Attaches any PE but PE 0. `before` sees the ticket before it is used.
pub fn attach(
    before: impl FnOnce(&str) -> Result<(), Box<dyn Error>>,
) -> Result<ByHand, Box<dyn Error>> {
    let mut launcher = meet()?;
    let text = String::from_utf8(launcher.get(0, "hostwire-ticket")?)?;
    before(&text)?;
    let ticket: Ticket = text.parse()?;
    let sizes = sizes();
    let terms = Terms {
        version: VERSION,
        segment_bytes: Layout::new(launcher.size(), sizes)?.segment_bytes() as u64,
        size_names: &Sizes::NAMES,
        sizes: sizes.each().map(|bytes| bytes as u64),
        settings: &[],
        set: 0,
    };
    let deadline = Instant::now() + PATIENCE;
    let meeting = Meeting::Guest(ticket);
    let wire = Shm::attach(
        Host::only(launcher.rank(), launcher.size())?,
        &terms,
        meeting,
        deadline,
        ShmOptions::default(),
    )?;
    launcher.fence()?;
    Ok(ByHand {
        wire: Arc::new(wire),
        sizes,
        launcher,
    })
}
