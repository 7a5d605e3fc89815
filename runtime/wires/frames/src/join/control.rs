//! The control connections of this host, made through the launcher: [`ControlConnections`] says
//! what they are for.
//!
//! [`ControlConnections`]: crate::ControlConnections

use std::os::fd::OwnedFd;
use std::time::Instant;

use hostwire_bootstrap::Bootstrap;
use hostwire_transport::PeId;

use super::card::Cards;
use crate::join::Result;
use crate::{Door, Interface, Party};

/// The launcher's key for the numbers of the parties that a party has reached, published by the PE
/// that speaks for it.
const REACHED: &str = "hostwire-reached";

/// Listens for the other hosts. `None` if that is not possible: then the job runs without control
/// connections.
pub fn listen(interface: &Interface) -> Option<Door> {
    Door::open(interface.ip?.into()).ok()
}

/// Makes the connections of this party (a host or a PE), in the PE that speaks for it and has
/// `card.control`. All PEs of the job have to call this, because it uses a fence of the launcher.
/// `own` is the number of this party, and `speakers` has the PE of each.
pub fn connect(
    launcher: &mut dyn Bootstrap,
    (own, speakers): (u32, &[PeId]),
    cards: &Cards,
    door: Option<Door>,
    deadline: Instant,
) -> Result<Vec<(u32, OwnedFd)>> {
    let card = |pe: &PeId| cards.get(pe);
    let party = Party {
        own,
        hosts: speakers
            .iter()
            .map(|pe| card(pe).map_or((None, None), |card| (card.control, card.life)))
            .collect(),
        key: card(&0).and_then(|card| card.key.clone()),
    };
    let calls = door.map(|door| door.call(party, deadline));
    if let Some(calls) = &calls {
        let reached = to_text(&calls.reached());
        launcher.put(REACHED, reached.as_bytes())?;
    }
    launcher.fence()?;
    let Some(calls) = calls else {
        return Ok(Vec::new());
    };
    let mut expected = Vec::new();
    for (host, first) in (0..).zip(speakers) {
        let listens = card(first).is_some_and(|card| card.control.is_some());
        // The one with the higher number calls.
        if host > own && listens {
            let reached = launcher.get(*first, REACHED)?;
            let reached = from_text(&String::from_utf8_lossy(&reached));
            expected.extend(reached.contains(&own).then_some(host));
        }
    }
    Ok(calls.meet(&expected, deadline))
}

fn to_text(hosts: &[u32]) -> String {
    let hosts: Vec<String> = hosts.iter().map(u32::to_string).collect();
    hosts.join(" ")
}

/// A word that is no number is ignored.
fn from_text(text: &str) -> Vec<u32> {
    let words = text.split(' ');
    words.filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_reached_comes_back() {
        for hosts in [&[][..], &[0], &[3, 70, 4_000_000_000]] {
            assert_eq!(from_text(&to_text(hosts)), hosts);
        }
        assert_eq!(from_text("1 x 99999999999 -2 5"), [1, 5]);
    }
}
