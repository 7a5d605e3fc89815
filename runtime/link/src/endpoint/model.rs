//! The engine under a model checker: two real endpoints, a network that may
//! lose, double and reorder any frame, timers that may run out at any moment,
//! a host that may be restarted. Every order in which these things can happen
//! is tried, within the bounds of each test.
//!
//! Time stands still and every delay is 0. So the engine does everything at once, and
//! the checker decides when. The checker explores the real code, not a description of
//! it; `link/project.rs` says which states count as equal.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use hostwire_packet::ht::{Address, Dwords, PacketRepr, RequestRepr, UnitId};
use stateright::{Checker, Model, Property};

use super::*;
use crate::packing::Timings;

const NOW: Ns = Ns(1_000);

/// Numbers wrap with the second frame.
static RANDOM: LazyLock<u64> = LazyLock::new(|| Keys::random_for(65_535));

/// Bounds of what is explored.
#[derive(Clone, Debug)]
struct Bounds {
    config: Config,
    /// Packets that each node sends per session.
    packets: [u8; 2],
    /// Frames in flight per direction; more are lost.
    wire_max: usize,
    /// Frames that may be doubled.
    doubles: u8,
    /// Restarts of node 1.
    restarts: u8,
    /// Begin with an open link.
    open: bool,
}

/// One end: the endpoint, and the knowledge of its program.
#[derive(Clone)]
struct End {
    endpoint: Endpoint,
    link: LinkId,
    /// Packets sent in this session, and its tag.
    sent: u8,
    tag: u8,
    /// Packets got in this session, its tag, and tags that are over.
    got: u8,
    got_tag: Option<u8>,
    tag_min: u8,
    filled: Vec<Filled>,
}

#[derive(Clone)]
struct World {
    ends: [End; 2],
    /// Frames to node 0 and 1, sorted: any of them may come next.
    wires: [Vec<Vec<u8>>; 2],
    doubles: u8,
    restarts: u8,
    tags: u8,
    wrong: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Action {
    Send(usize),
    Transmit(usize),
    Deliver {
        to: usize,
        frame: usize,
        again: bool,
    },
    Lose {
        to: usize,
        frame: usize,
    },
    Ring(usize),
    Release(usize),
    Restart,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (node, end) in self.ends.iter().enumerate() {
            writeln!(
                f,
                "node {node}: {:?} sent {} of {} got {} of {:?}; {} frames to it",
                end.endpoint.is_open(end.link),
                end.sent,
                end.tag,
                end.got,
                end.got_tag,
                self.wires[node].len()
            )?;
        }
        write!(f, "{:?}", self.wrong)
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for end in &self.ends {
            for link in &end.endpoint.links {
                link.project(NOW, state);
            }
            (end.sent, end.tag, end.got, end.got_tag, end.tag_min).hash(state);
            end.filled.len().hash(state);
            end.endpoint.ready.hash(state);
        }
        self.wires.hash(state);
        (self.doubles, self.restarts, self.wrong.is_some()).hash(state);
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        let digest = |world: &Self| {
            let mut state = std::hash::DefaultHasher::new();
            world.hash(&mut state);
            state.finish()
        };
        digest(self) == digest(other)
    }
}

impl End {
    fn new(node: u32, life: u64, config: &Config) -> Self {
        let identity = Identity {
            node: Node(node),
            job: 1,
            incarnation: life,
        };
        // The same random numbers in every life: keys and first numbers repeat, as they
        // would one time in 65536.
        let mut endpoint = Endpoint::new(config.clone(), identity, *RANDOM).unwrap();
        let link = endpoint.link(Node(1 - node)).unwrap();
        endpoint.open(NOW, link).unwrap();
        Self {
            endpoint,
            link,
            sent: 0,
            tag: 0,
            got: 0,
            got_tag: None,
            tag_min: 0,
            filled: Vec::new(),
        }
    }

    fn take_events(&mut self, tags: &mut u8) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Opened { .. } => {
                    *tags += 1;
                    (self.sent, self.tag) = (0, *tags);
                    if let Some(tag) = self.got_tag.take() {
                        self.tag_min = tag + 1;
                    }
                    self.got = 0;
                    self.filled.clear();
                }
                Event::Closed { .. } => self.endpoint.open(NOW, self.link).unwrap(),
            }
        }
    }

    /// The address encodes session and number.
    fn send(&mut self) -> Result<(), SendError> {
        let address = u64::from(self.tag) << 16 | u64::from(self.sent) << 8;
        let address = Address::new(address).unwrap();
        let write = RequestRepr::posted_write(UnitId::MIN, address, Dwords::MIN);
        let packet = PacketRepr::new(write, &[0; 4]).unwrap();
        self.endpoint.send(self.link, &packet)?;
        self.endpoint.flush(self.link);
        self.sent += 1;
        Ok(())
    }

    fn receive(&mut self, frame: &[u8]) -> Result<(), String> {
        let Ok(Some(delivery)) = self.endpoint.receive(NOW, frame) else {
            return Ok(());
        };
        for packet in delivery.packets.clone() {
            let address = packet.control().address().unwrap().get();
            let (tag, number) = ((address >> 16) as u8, (address >> 8) as u8);
            if tag < self.tag_min || *self.got_tag.get_or_insert(tag) != tag {
                return Err(format!("a packet of session {tag}"));
            }
            if number != self.got {
                return Err(format!("packet {number} instead of {}", self.got));
            }
            self.got += 1;
        }
        if delivery.filled() != delivery.none_filled() {
            self.filled.push(delivery.filled());
        }
        Ok(())
    }

    fn has_work(&mut self) -> bool {
        let config = &self.endpoint.shared.config;
        let mut links = self.endpoint.links.iter_mut();
        links.any(|link| link.has_work(NOW, config) || link.has_timer())
    }

    fn credits(&self) -> Credits {
        self.endpoint.credits(self.link, VirtualChannel::Posted)
    }
}

impl World {
    fn apply(&mut self, action: &Action, bounds: &Bounds) -> bool {
        match *action {
            Action::Send(node) => self.ends[node].send().is_ok(),
            Action::Transmit(node) => {
                let transmit = self.ends[node].endpoint.poll_transmit(NOW);
                let Some(frame) = transmit.map(|transmit| transmit.frame.to_vec()) else {
                    return false;
                };
                let wire = &mut self.wires[1 - node];
                if wire.len() < bounds.wire_max {
                    wire.push(frame);
                    wire.sort();
                }
                true
            }
            Action::Deliver { to, frame, again } => {
                let bytes = if again {
                    self.doubles -= 1;
                    self.wires[to][frame].clone()
                } else {
                    self.wires[to].remove(frame)
                };
                self.wrong = self.ends[to].receive(&bytes).err();
                true
            }
            Action::Lose { to, frame } => {
                self.wires[to].remove(frame);
                true
            }
            Action::Ring(node) => {
                let endpoint = &mut self.ends[node].endpoint;
                let rung = endpoint.links[0].ring(NOW, &mut endpoint.shared);
                endpoint.touch(NOW, 0);
                rung
            }
            Action::Release(node) => {
                let end = &mut self.ends[node];
                let Some(filled) = end.filled.pop() else {
                    return false;
                };
                end.endpoint.release(NOW, end.link, filled).unwrap();
                true
            }
            Action::Restart => {
                self.restarts -= 1;
                let life = 16 * (1 + u64::from(bounds.restarts - self.restarts));
                let old_min = self.ends[1].got_tag.map_or(0, |tag| tag + 1);
                let tag_min = self.ends[1].tag_min.max(old_min);
                self.ends[1] = End {
                    tag_min,
                    ..End::new(1, life, &bounds.config)
                };
                true
            }
        }
    }

    /// No further step is possible.
    fn is_over(&mut self) -> bool {
        let idle = self.ends.iter_mut().all(|end| !end.has_work());
        idle && self.wires.iter().all(Vec::is_empty)
    }

    fn is_done(&self, bounds: &Bounds) -> bool {
        let [a, b] = &self.ends;
        (a.sent, b.sent) == (bounds.packets[0], bounds.packets[1])
            && (a.got, b.got) == (b.sent, a.sent)
            && a.endpoint.is_open(a.link) == Ok(true)
            && b.endpoint.is_open(b.link) == Ok(true)
    }

    /// Each buffer is in exactly one state: the sender has its credit, a packet or a
    /// credit for it is in flight, it is filled, or its credit is owed. Packets and
    /// credits in flight are in frames that their sender still keeps.
    fn credits_add_up(&self) -> bool {
        [(0, 1), (1, 0)].into_iter().all(|(from, to)| {
            let (from, to) = (&self.ends[from], &self.ends[to]);
            if from.endpoint.is_open(from.link) != Ok(true)
                || to.endpoint.is_open(to.link) != Ok(true)
            {
                return true;
            }
            let (has, theirs) = (from.credits().has, to.credits());
            // The receiver counts at least as many credits as the sender has.
            has.command <= theirs.granted.command
                && theirs.granted.command + theirs.filled.command + theirs.owed.command
                    == to.endpoint.shared.config.buffers[0]
        })
    }
}

impl Model for Bounds {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let mut world = World {
            ends: [End::new(0, 16, &self.config), End::new(1, 16, &self.config)],
            wires: [Vec::new(), Vec::new()],
            doubles: self.doubles,
            restarts: self.restarts,
            tags: 0,
            wrong: None,
        };
        if self.open {
            while world
                .ends
                .iter()
                .any(|end| end.endpoint.is_open(end.link) != Ok(true))
            {
                for node in [0, 1] {
                    while world.apply(&Action::Transmit(node), self) {
                        let to = 1 - node;
                        let last = world.wires[to].len() - 1;
                        world.apply(
                            &Action::Deliver {
                                to,
                                frame: last,
                                again: false,
                            },
                            self,
                        );
                        world.ends[to].take_events(&mut world.tags);
                    }
                }
            }
        }
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.wrong.is_some() {
            return;
        }
        for node in [0, 1] {
            let end = &world.ends[node];
            let open = end.endpoint.is_open(end.link) == Ok(true);
            if open && end.sent < self.packets[node] {
                actions.push(Action::Send(node));
            }
            if !end.endpoint.ready.is_empty() {
                actions.push(Action::Transmit(node));
            }
            actions.push(Action::Ring(node));
            if !end.filled.is_empty() {
                actions.push(Action::Release(node));
            }
            for frame in 0..world.wires[node].len() {
                let to = node;
                actions.push(Action::Deliver {
                    to,
                    frame,
                    again: false,
                });
                actions.push(Action::Lose { to, frame });
                if world.doubles > 0 {
                    actions.push(Action::Deliver {
                        to,
                        frame,
                        again: true,
                    });
                }
            }
        }
        if world.restarts > 0 {
            actions.push(Action::Restart);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut world = world.clone();
        if !world.apply(&action, self) {
            return None;
        }
        for end in &mut world.ends {
            end.take_events(&mut world.tags);
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "nothing lost, doubled, reordered or mixed",
                |_, world: &World| world.wrong.is_none(),
            ),
            Property::always("credits add up", |_, world: &World| world.credits_add_up()),
            // An end that has something to send is not stuck.
            Property::always("no deadlock", |bounds: &Bounds, world: &World| {
                let held = world.ends.iter().any(|end| !end.filled.is_empty());
                held || !world.clone().is_over() || world.is_over_with_all(bounds)
            }),
            Property::sometimes("all arrives", |bounds: &Bounds, world: &World| {
                world.is_done(bounds) && world.clone().is_over()
            }),
        ]
    }
}

impl World {
    /// As `is_over`, but a program that still has packets finds room for them.
    fn is_over_with_all(&self, bounds: &Bounds) -> bool {
        let mut world = self.clone();
        let room =
            |(node, end): (usize, &mut End)| end.sent < bounds.packets[node] && end.send().is_ok();
        self.is_done(bounds) || world.ends.iter_mut().enumerate().any(room)
    }
}

fn config() -> Config {
    Config {
        frame_len_max: 128,
        buffers: [1, 1, 1],
        queue_packets_max: [0, 0, 0],
        frames_in_flight_max: 2,
        packing: Timings {
            hold_ns: 0,
            ..Timings::ADAPTER
        },
        ack_delay_ns: 0,
        credit_delay_ns: 0,
        open_timeout_ns: u64::MAX,
        dead_after_ns: u64::MAX,
        keepalive_ns: u64::MAX,
        ..Config::default()
    }
}

#[expect(clippy::print_stderr, reason = "how much was explored")]
fn explore(bounds: Bounds) {
    let checker = bounds.checker().threads(2).spawn_bfs().join();
    eprintln!(
        "{} states, depth {}",
        checker.unique_state_count(),
        checker.max_depth()
    );
    checker.assert_properties();
}

fn one_way(packets: u8) -> Bounds {
    Bounds {
        config: config(),
        packets: [packets, 0],
        wire_max: 2,
        doubles: 0,
        restarts: 0,
        open: true,
    }
}

/// One way, one buffer, two frames in flight, numbers that wrap.
#[test]
fn one_credit_across_the_wrap() {
    explore(one_way(2));
}

#[test]
#[ignore = "slow"]
fn one_credit_doubled_frames() {
    explore(Bounds {
        doubles: 1,
        ..one_way(2)
    });
}

#[test]
#[ignore = "slow"]
fn one_credit_three_packets() {
    explore(one_way(3));
}

#[test]
#[ignore = "slow"]
fn both_ways() {
    explore(Bounds {
        packets: [1, 1],
        ..one_way(1)
    });
}

/// Numbers, credits and queues with more than one of each.
#[test]
#[ignore = "slow"]
fn two_credits_and_a_queue() {
    explore(Bounds {
        config: Config {
            buffers: [2, 1, 1],
            queue_packets_max: [1, 0, 0],
            ..config()
        },
        ..one_way(2)
    });
}

/// The handshake from nothing, with any frame lost.
#[test]
#[ignore = "slow"]
fn handshake() {
    explore(Bounds {
        open: false,
        ..one_way(1)
    });
}

/// A restart at any moment, while frames of the earlier life are in flight. Keys and
/// first numbers of the new life are those of the old one.
#[test]
#[ignore = "slow"]
fn restart_of_the_receiver() {
    explore(Bounds {
        restarts: 1,
        ..one_way(1)
    });
}

#[test]
#[ignore = "slow"]
fn restart_of_the_sender() {
    explore(Bounds {
        restarts: 1,
        packets: [0, 1],
        ..one_way(0)
    });
}
