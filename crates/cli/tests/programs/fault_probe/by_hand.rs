//! Attaching without the library's `Job::attach`, as somebody could who means no good.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire::pmi::Client;
use hostwire::{Layout, Sizes, settings};
use hostwire_transport::Transport;
use hostwire_transport::shm::{Meeting, Shm, ShmOptions, Ticket};

/// A PE that holds its wire in its own hands.
pub struct ByHand {
    pub wire: Arc<dyn Transport>,
    pub sizes: Sizes,
    pub client: Client,
}

/// The sizes that `hostwire run` or the user has set.
fn sizes() -> Sizes {
    let bytes = |name, default| {
        let value = std::env::var(name).ok();
        value
            .and_then(|v| settings::parse_bytes(&v))
            .unwrap_or(default)
    };
    let default = Sizes::default();
    Sizes {
        ring_bytes: bytes(settings::RING, default.ring_bytes),
        heap_bytes: bytes(settings::HEAP, default.heap_bytes),
    }
}

/// Attaches any PE but PE 0. `before` sees the ticket before it is used.
pub fn attach(
    before: impl FnOnce(&str) -> Result<(), Box<dyn Error>>,
) -> Result<ByHand, Box<dyn Error>> {
    let mut client = Client::from_env()?.ok_or("no launcher in the environment")?;
    client.barrier()?;
    let text = client.get("hostwire-ticket")?;
    before(&text)?;
    let ticket: Ticket = text.parse()?;
    let sizes = sizes();
    let segment_bytes = Layout::new(client.size(), sizes)?.segment_bytes();
    let deadline = Instant::now() + Duration::from_secs(60);
    let meeting = Meeting::Guest(ticket);
    let wire = Shm::attach(
        client.rank(),
        client.size(),
        segment_bytes,
        sizes.ring_bytes,
        meeting,
        deadline,
        ShmOptions::default(),
    )?;
    client.barrier()?;
    Ok(ByHand {
        wire: Arc::new(wire),
        sizes,
        client,
    })
}
