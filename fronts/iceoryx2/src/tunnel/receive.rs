//! How a tunnel receives: samples into shared memory, as far as there is room, and all in the order in which it was sent.

use hostwire::station::{Buffer, Claim};
use hostwire::{Error, PeId, Source};

use super::{Notice, Tunnel, Under, from};
use crate::message::{self, Kind};
use crate::peers::{COMING_MAX, Coming, State};
use crate::ports::{NoRoom, Ports};

/// Other messages than samples are not longer than this.
const SAID_BYTES_MAX: usize = 4096;

impl Tunnel {
    /// Takes what has come from peers, and begins to receive it.
    pub(super) fn claim(&mut self) -> Result<bool, Error> {
        let mut has_done = false;
        // A peer that has this tunnel's name, and whose own name it does not have.
        if let Some(envelope) = self.station.peek(from(Source::Any))?
            && !self.peers.contains_key(&envelope.from)
            && let Err(why) = self.begin(envelope.from)
        {
            self.notices.push(Notice::Lost(envelope.from, why));
            // What it has left keeps nobody else from being seen.
            while let Some((claim, _)) = self.station.claim(from(envelope.from))? {
                self.station.receive_claimed(claim, None)?;
            }
        }
        let peers: Vec<PeId> = self.peers.keys().copied().collect();
        for pe in peers {
            has_done |= self.make_room(pe);
            while self.may_claim(pe) {
                let Some((claim, envelope)) = self.station.claim(from(pe))? else {
                    break;
                };
                has_done = true;
                let Some(peer) = self.peers.get_mut(&pe) else {
                    break;
                };
                let Some((kind, number)) = message::read_tag(envelope.tag) else {
                    let what = "is of another version, or no tunnel";
                    self.notices.push(Notice::Unclear(pe, what));
                    let _ = self.station.receive_claimed(claim, None);
                    continue;
                };
                peer.coming.push_back(Coming {
                    kind,
                    number,
                    data: envelope.data,
                    state: State::Waits(claim, envelope),
                });
                self.make_room(pe);
            }
        }
        Ok(has_done)
    }

    fn may_claim(&self, pe: PeId) -> bool {
        let Some(peer) = self.peers.get(&pe) else {
            return false;
        };
        // What waits for room is waited for, so that all is in order.
        let waits =
            matches!(peer.coming.back(), Some(one) if matches!(one.state, State::Waits(..)));
        !waits && peer.coming.len() < COMING_MAX
    }

    /// Begins to receive the last message, if there is room for it.
    fn make_room(&mut self, pe: PeId) -> bool {
        let Some(peer) = self.peers.get_mut(&pe) else {
            return false;
        };
        let Some(mut one) = peer.coming.pop_back() else {
            return false;
        };
        let State::Waits(claim, envelope) = one.state else {
            peer.coming.push_back(one);
            return false;
        };
        let service = peer.offers.get(&one.number);
        let service = service.and_then(|number| self.services.get_mut(number));
        let room: Option<Box<dyn Buffer>> = match (one.kind, service) {
            (Kind::Sample, Some(service)) => {
                let Ports::Topic(topic) = &mut service.ports else {
                    return self.drop_claim(pe, claim);
                };
                match topic.room(envelope.len_bytes) {
                    Ok(room) => Some(Box::new(room)),
                    Err(NoRoom::Now) => {
                        one.state = State::Waits(claim, envelope);
                        peer.coming.push_back(one);
                        return false;
                    }
                    Err(NoRoom::Never(why)) => {
                        let name = service.description.name.clone();
                        self.notices.push(Notice::Fails(name, Box::new(why)));
                        return self.drop_claim(pe, claim);
                    }
                }
            }
            (Kind::Sample, None) => return self.drop_claim(pe, claim),
            _ if envelope.len_bytes > SAID_BYTES_MAX && one.kind != Kind::Header => {
                let what = "sends a message that is too long";
                self.notices.push(Notice::Unclear(pe, what));
                return self.drop_claim(pe, claim);
            }
            (Kind::Header, Some(service)) => match &service.ports {
                Ports::Topic(topic) if topic.header_bytes() == envelope.len_bytes => {
                    Some(Box::new(vec![0_u8; envelope.len_bytes]))
                }
                _ => return self.drop_claim(pe, claim),
            },
            (Kind::Header, None) => return self.drop_claim(pe, claim),
            _ => Some(Box::new(vec![0_u8; envelope.len_bytes])),
        };
        match self.station.receive_claimed(claim, room) {
            Ok(Some(ticket)) => {
                self.under_way.insert(ticket, Under::Receive(pe));
                one.state = State::Comes(ticket);
                peer.coming.push_back(one);
            }
            // Its sender has ended: that is told by what watches it.
            Ok(None) => {}
            Err(why) => self.lose(pe, why),
        }
        true
    }

    fn drop_claim(&mut self, pe: PeId, claim: Claim) -> bool {
        if let Err(why) = self.station.receive_claimed(claim, None) {
            self.lose(pe, why);
        }
        true
    }
}
