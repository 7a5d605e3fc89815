use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use hostwire_link::{
    CloseReason, Config, Endpoint, Event, Filled, Identity, LinkId, Node, Ns, Progress, SendError,
};
use hostwire_packet::ht::VirtualChannel;

use super::Plan;
use super::random::Random;
use super::traffic::{Incoming, Outgoing};

/// One end of the links to one peer.
struct Side {
    link: LinkId,
    open: bool,
    outgoing: Outgoing,
    incoming: Incoming,
}

/// Packets whose buffers are given back later.
struct Kept {
    at: Ns,
    link: LinkId,
    filled: Filled,
}

/// An endpoint and its program.
pub struct Host {
    pub node: usize,
    pub life: u64,
    pub endpoint: Endpoint,
    pub inbox: Vec<Vec<u8>>,
    pub away_until: Ns,
    pub woken_at: Option<Ns>,
    pub delivered: u64,
    pub lost: Vec<(Node, CloseReason)>,
    /// As agreed, for each link that opened.
    pub frame_lens: Vec<usize>,
    /// Whether closed links are opened again.
    pub reopens: bool,
    packets: [u32; 3],
    sides: BTreeMap<usize, Side>,
    kept: Vec<Option<Kept>>,
    due: BinaryHeap<Reverse<(Ns, usize)>>,
    next_epoch: u32,
}

fn node(host: usize) -> Node {
    Node(host as u32 + 100)
}

impl Host {
    pub fn new(host: usize, life: u64, plan: &Plan, random: &mut Random) -> Self {
        let identity = Identity {
            node: node(host),
            job: 7,
            incarnation: life << 20,
        };
        // Receivers that keep early frames, and such as keep few or none.
        let config = Config {
            early_frames_max: [0, 3, 64][random.below(3) as usize],
            ..plan.config.clone()
        };
        let mut endpoint = Endpoint::new(config, identity, random.next()).unwrap();
        let sides = plan
            .pairs
            .iter()
            .filter_map(|&(a, b)| match host {
                host if host == a => Some(b),
                host if host == b => Some(a),
                _ => None,
            })
            .map(|peer| {
                let side = Side {
                    link: endpoint.link(node(peer)).unwrap(),
                    open: false,
                    outgoing: Outgoing::default(),
                    incoming: Incoming::default(),
                };
                (peer, side)
            })
            .collect();
        Self {
            node: host,
            life,
            endpoint,
            inbox: Vec::new(),
            away_until: Ns(0),
            woken_at: None,
            delivered: 0,
            lost: Vec::new(),
            frame_lens: Vec::new(),
            reopens: false,
            packets: plan.packets,
            sides,
            kept: Vec::new(),
            due: BinaryHeap::new(),
            next_epoch: 1,
        }
    }

    /// The state that outlives a host: frames that wait for it, and the records that
    /// the checks need.
    pub fn inherit(&mut self, old: Self) {
        self.inbox = old.inbox;
        self.delivered = old.delivered;
        self.lost = old.lost;
        self.reopens = old.reopens;
        self.next_epoch = old.next_epoch;
        for (peer, side) in old.sides {
            self.sides.get_mut(&peer).unwrap().incoming = side.incoming;
        }
    }

    pub fn open_all(&mut self, now: Ns) {
        for side in self.sides.values() {
            self.endpoint.open(now, side.link).unwrap();
        }
    }

    pub fn is_away(&self, now: Ns) -> bool {
        now < self.away_until
    }

    pub fn receive(&mut self, now: Ns, bytes: &[u8], plan: &Plan, random: &mut Random) {
        let mut early = self.receive_one(now, bytes, plan, random);
        while let Some(frame) = early.and_then(|link| self.endpoint.take_early(link)) {
            early = self.receive_one(now, &frame, plan, random);
        }
    }

    /// The link that the frame was delivered on.
    fn receive_one(
        &mut self,
        now: Ns,
        bytes: &[u8],
        plan: &Plan,
        random: &mut Random,
    ) -> Option<LinkId> {
        let Ok(Some(delivery)) = self.endpoint.receive(now, bytes) else {
            self.take_events(now);
            return None;
        };
        self.take_events(now);
        let peer = delivery.peer.0 as usize - 100;
        let side = self.sides.get_mut(&peer).unwrap();
        assert_eq!(side.link, delivery.link);
        let mut now_free = delivery.filled();
        for packet in delivery.packets.clone() {
            side.incoming.check(&packet);
            self.delivered += 1;
            if random.happens(plan.keep_ppm) {
                now_free.except(&packet);
                let mut filled = delivery.none_filled();
                filled.add(&packet);
                let at = now.after(random.below(plan.keep_ns));
                self.due.push(Reverse((at, self.kept.len())));
                self.kept.push(Some(Kept {
                    at,
                    link: delivery.link,
                    filled,
                }));
            }
        }
        let link = delivery.link;
        self.endpoint.release(now, link, now_free).unwrap();
        Some(link)
    }

    fn take_events(&mut self, now: Ns) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Opened {
                    peer,
                    link,
                    frame_len,
                } => {
                    self.frame_lens.push(frame_len);
                    let side = self.sides.get_mut(&(peer.0 as usize - 100)).unwrap();
                    assert_eq!(side.link, link);
                    assert!(!side.open, "opened twice");
                    side.open = true;
                    side.incoming.restart();
                    side.outgoing = Outgoing {
                        epoch: self.next_epoch,
                        sent: [0; 3],
                    };
                    self.next_epoch += 1;
                }
                Event::Closed { peer, link, reason } => {
                    let side = self.sides.get_mut(&(peer.0 as usize - 100)).unwrap();
                    side.open = false;
                    self.lost.push((peer, reason));
                    if self.reopens {
                        self.endpoint.open(now, link).unwrap();
                    }
                }
            }
        }
    }

    /// Lets the clock, then the program run.
    pub fn work(&mut self, now: Ns, plan: &Plan, random: &mut Random) {
        if self.endpoint.deadline().is_some_and(|at| at <= now) {
            self.endpoint.on_timeout(now);
        }
        while let Some(&Reverse((at, index))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            let kept = self.kept[index].take().unwrap();
            assert_eq!(kept.at, at);
            self.endpoint.release(now, kept.link, kept.filled).unwrap();
        }
        if self.due.is_empty() {
            self.kept.clear();
        }
        self.take_events(now);
        for side in self.sides.values_mut() {
            // Bursts of all kinds of lengths.
            for _ in 0..1 + random.below(40) {
                if !side.open || !send_one(&mut self.endpoint, side, plan, random) {
                    break;
                }
            }
        }
    }

    pub fn transmit(&mut self, now: Ns) -> Option<(usize, Vec<u8>)> {
        let transmit = self.endpoint.poll_transmit(now)?;
        Some((transmit.peer.0 as usize - 100, transmit.frame.to_vec()))
    }

    pub fn wakes_at(&self, now: Ns) -> Option<Ns> {
        let kept = self.due.peek().map(|&Reverse((at, _))| at);
        let unsent = |side: &Side| side.open && side.outgoing.sent != self.packets;
        // A program that has more to send looks again soon.
        let program = self.sides.values().any(unsent).then(|| now.after(3_000));
        [self.endpoint.deadline(), kept, program]
            .into_iter()
            .flatten()
            .min()
    }

    /// Everything sent and acknowledged, everything received, all credits back.
    pub fn is_done(&self) -> bool {
        self.due.is_empty()
            && self.sides.values().all(|side| {
                side.open
                    && side.outgoing.sent == self.packets
                    && side.incoming.got == self.packets
                    && self.endpoint.frames_kept(side.link) == 0
                    && VirtualChannel::ALL.into_iter().all(|channel| {
                        let credits = self.endpoint.credits(side.link, channel);
                        credits.owed == Default::default()
                            && self.endpoint.queued(side.link, channel) == 0
                    })
            })
    }

    pub fn check_credits(&self, plan: &Plan) {
        for side in self.sides.values() {
            for channel in VirtualChannel::ALL {
                let buffers = plan.config.buffers[channel.index()];
                let credits = self.endpoint.credits(side.link, channel);
                for (name, got) in [("has", credits.has), ("granted", credits.granted)] {
                    assert_eq!(
                        (got.command, got.data),
                        (buffers, buffers),
                        "{} {channel} {name}",
                        self.node
                    );
                }
                assert_eq!(credits.filled, Default::default());
            }
        }
    }

    pub fn state(&self) -> String {
        let sides = self.sides.iter().filter(|(_, side)| {
            !side.open || side.outgoing.sent != self.packets || side.incoming.got != self.packets
        });
        let sides: Vec<_> = sides
            .map(|(peer, side)| {
                format!(
                    "  {peer}: open {} sent {:?} got {:?} kept {} credits {:?}",
                    side.open,
                    side.outgoing.sent,
                    side.incoming.got,
                    self.endpoint.frames_kept(side.link),
                    VirtualChannel::ALL.map(|c| self.endpoint.credits(side.link, c)),
                )
            })
            .collect();
        format!(
            "host {} deadline {:?} {:?}\n{}",
            self.node,
            self.endpoint.deadline(),
            self.endpoint.counters(),
            sides.join("\n")
        )
    }
}

/// Sends a packet of a channel picked at random that has some left; `false` if
/// none has, or there is no room.
fn send_one(endpoint: &mut Endpoint, side: &mut Side, plan: &Plan, random: &mut Random) -> bool {
    let left = |channel: &VirtualChannel| {
        side.outgoing.sent[channel.index()] < plan.packets[channel.index()]
    };
    let channels: Vec<_> = VirtualChannel::ALL.into_iter().filter(left).collect();
    let Some(&channel) = channels.get(random.below(channels.len() as u64) as usize) else {
        return false;
    };
    let sent = if channel == VirtualChannel::Posted && random.below(4) == 0 {
        let sent = side.outgoing.sent[channel.index()];
        let most = plan.packets[channel.index()] - sent;
        // One packet more than the credits is as good as many more, and faster.
        let has = endpoint.credits(side.link, channel).has.command;
        let count = most
            .min(1 + random.below(60) as u32)
            .min(u32::from(has) + 1);
        let (address, lines) = side.outgoing.next_lines(count);
        let accepted = endpoint.put(side.link, address, &lines);
        accepted
            .inspect(|len| assert_eq!(len % 64, 0))
            .map(|len| len / 64)
    } else {
        let packet = side.outgoing.next(channel, random);
        endpoint.send(side.link, &packet.as_repr()).map(|()| 1)
    };
    match sent {
        Ok(packets) => {
            side.outgoing.sent[channel.index()] += packets as u32;
            match random.below(50) {
                0 => endpoint.flush(side.link),
                1 => {
                    let ticket = endpoint.ticket(side.link).unwrap();
                    assert!(!matches!(
                        endpoint.progress(side.link, ticket),
                        Progress::Lost(_)
                    ));
                }
                _ => {}
            }
            true
        }
        Err(SendError::Full { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}
