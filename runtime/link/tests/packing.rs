//! [`Packing`] and an [`Endpoint`] as a transport drives them, in virtual time, against a list that
//! says what has to leave by when.

use hostwire_link::packing::{Leave, Look, Packing, Timings, Turn};
use hostwire_link::{Config, Endpoint, Identity, LinkId, Node, Ns};
use hostwire_packet::htoe::FrameRepr;
use proptest::prelude::*;

const TIMINGS: Timings = Timings::SOCKET;
/// The cost of sending a frame and of packing a store.
const FRAME_NS: u64 = 2_000;
const STORE_NS: u64 = 40;
const LOOK_NS: u64 = 50;
/// Lines of a full frame that do not follow each other in memory.
const LINES_PER_FRAME: u64 = 20;
const PEERS: u32 = 3;

/// A store, and when its frame left.
#[derive(Clone, Copy, Debug)]
struct Stored {
    at: Ns,
    left_at: Option<Ns>,
    /// Since when the PE had been using the wire without a pause.
    busy_since: Ns,
}

/// A PE, its agent and the far ends of its links.
struct Pe {
    now: Ns,
    packing: Packing,
    endpoint: Endpoint,
    links: Vec<LinkId>,
    peers: Vec<(Endpoint, LinkId)>,
    /// By link, in order.
    stored: Vec<Vec<Stored>>,
    /// By link: how many of those have arrived.
    arrived: Vec<usize>,
    frames: usize,
    /// When the agent takes its next turn, and whether it yields until then.
    alarm: Ns,
    agent_turns: usize,
    used_at: Ns,
    busy_since: Ns,
}

fn endpoint(node: u32) -> Endpoint {
    let identity = Identity {
        node: Node(node),
        job: 1,
        incarnation: 1,
    };
    let config = Config {
        packing: TIMINGS,
        buffers: [60_000; 3],
        frames_in_flight_max: 8_000,
        // Nothing but stores is to move the clock.
        keepalive_ns: u64::MAX,
        ..Config::default()
    };
    Endpoint::new(config, identity, 7).unwrap()
}

impl Pe {
    fn new() -> Self {
        let mut own = endpoint(0);
        let mut links = Vec::new();
        let mut peers = Vec::new();
        for node in 1..=PEERS {
            let link = own.link(Node(node)).unwrap();
            own.open(Ns(1), link).unwrap();
            let mut peer = endpoint(node);
            let back = peer.link(Node(0)).unwrap();
            peer.open(Ns(1), back).unwrap();
            links.push(link);
            peers.push((peer, back));
        }
        let mut pe = Self {
            now: Ns(1),
            packing: Packing::new(TIMINGS),
            endpoint: own,
            links,
            peers,
            stored: vec![Vec::new(); PEERS as usize],
            arrived: vec![0; PEERS as usize],
            frames: 0,
            alarm: Ns(1),
            agent_turns: 0,
            used_at: Ns(0),
            busy_since: Ns(0),
        };
        for _ in 0..8 {
            pe.transmit();
            pe.hear();
        }
        pe.open_windows();
        pe.compute(10_000_000);
        pe.frames = 0;
        pe
    }

    /// Runs slow start, so that only the packing policy holds stores back, and not the window.
    fn open_windows(&mut self) {
        // More frames than a test of streams stores at a time.
        let mut frames_least = 0;
        while frames_least < 100 {
            frames_least = usize::MAX;
            for at in 0..self.links.len() {
                let link = self.links[at];
                while self.endpoint.put(link, 0, &[0; 64]).is_ok() {
                    self.endpoint.flush(link);
                    self.deliver_unseen();
                }
                frames_least = frames_least.min(self.endpoint.frames_kept(link));
            }
            while self.endpoint.frames_kept_total() > 0 {
                self.deliver_unseen();
                self.now = self.now.after(100_000);
                self.hear();
            }
        }
    }

    /// What the endpoint sends before the test begins.
    fn deliver_unseen(&mut self) {
        self.endpoint.on_timeout(self.now);
        while let Some(transmit) = self.endpoint.poll_transmit(self.now) {
            let (peer, _) = &mut self.peers[transmit.peer.0 as usize - 1];
            if let Ok(Some(delivery)) = peer.receive(self.now, transmit.frame) {
                let (link, filled) = (delivery.link, delivery.filled());
                peer.release(self.now, link, filled).unwrap();
            }
        }
    }

    /// Receives the peers' frames: only sessions, acks and credits.
    fn hear(&mut self) {
        for (peer, _) in &mut self.peers {
            peer.on_timeout(self.now);
            while let Some(transmit) = peer.poll_transmit(self.now) {
                let heard = self.endpoint.receive(self.now, transmit.frame);
                if let Ok(Some(delivery)) = heard {
                    let filled = delivery.filled();
                    self.endpoint
                        .release(self.now, delivery.link, filled)
                        .unwrap();
                }
            }
        }
    }

    fn arrive(&mut self, peer: usize, frame: &[u8]) {
        let (end, _) = &mut self.peers[peer];
        let Ok(Some(delivery)) = end.receive(self.now, frame) else {
            return;
        };
        for packet in delivery.packets.clone() {
            for (address, bytes) in hostwire_link::put::runs(&packet) {
                for number in 0..bytes.len() as u64 / 64 {
                    // Each has its number as its address.
                    let stored = self.arrived[peer];
                    assert_eq!(
                        address + number * 64,
                        stored as u64 * 128,
                        "order of stores"
                    );
                    self.stored[peer][stored].left_at = Some(self.now);
                    self.arrived[peer] += 1;
                }
            }
        }
        let (link, filled) = (delivery.link, delivery.filled());
        end.release(self.now, link, filled).unwrap();
    }

    fn transmit(&mut self) {
        self.packing.transmits();
        let mut left = Vec::new();
        while let Some(transmit) = self.endpoint.poll_transmit(self.now) {
            let (peer, link) = (transmit.peer.0 as usize - 1, transmit.link);
            let frame = transmit.frame.to_vec();
            let packets = FrameRepr::parse(&frame).unwrap().packets().len();
            self.frames += usize::from(packets > 0);
            self.arrive(peer, &frame);
            self.now = self.now.after(FRAME_NS);
            left.push(link);
        }
        if !left.is_empty() {
            self.packing.left(self.now);
        }
        for link in left {
            self.endpoint.is_sent(self.now, link);
        }
    }

    fn drive(&mut self) {
        self.hear();
        self.endpoint.on_timeout(self.now);
        self.transmit();
    }

    fn uses(&mut self) {
        // A pause that the agent may have seen.
        if self.now.since(self.used_at) > 2 * TIMINGS.aside_looking_max_ns {
            self.busy_since = self.now;
        }
        self.used_at = self.now;
    }

    fn give_back(&mut self) {
        if let Some(at) = self.packing.wake_agent_by(self.endpoint.deadline()) {
            self.alarm = at;
        }
        self.used_at = self.now;
    }

    /// As the transport does.
    fn store(&mut self, peer: usize) {
        self.catch_up(self.now);
        self.uses();
        let link = self.links[peer];
        let address = self.stored[peer].len() as u64 * 128;
        self.stored[peer].push(Stored {
            at: self.now,
            left_at: None,
            busy_since: self.busy_since,
        });
        self.now = self.now.after(STORE_NS);
        let line = [1; 64];
        if self.packing.joins(link) && self.endpoint.join(link, address, &line) {
            return;
        }
        if self.packing.is_at_rest()
            && let Some(transmit) = self.endpoint.put_alone(link, address, &line)
        {
            let frame = transmit.frame.to_vec();
            self.frames += 1;
            self.arrive(peer, &frame);
            self.now = self.now.after(FRAME_NS);
            self.endpoint.has_left(self.now, link);
            self.packing.left_alone(self.now, link);
            return self.give_back();
        }
        assert_eq!(self.endpoint.put(link, address, &line), Ok(64));
        if self.packing.is_crowded() {
            self.let_go();
        }
        if self.packing.accepted(link) {
            self.endpoint.flush(link);
        }
        let (unsent, now) = (self.endpoint.frames_unsent(link), self.now);
        let leave = self.packing.behind_store(unsent, || now);
        if matches!(leave, Leave::All(_)) {
            for link in self.packing.targets() {
                self.endpoint.flush(link);
            }
        }
        if leave != Leave::Nothing {
            self.endpoint.on_timeout(now);
            self.transmit();
        }
        self.give_back();
    }

    fn let_go(&mut self) {
        while let Some(link) = self.packing.let_go() {
            self.endpoint.flush(link);
        }
    }

    fn look(&mut self) {
        self.catch_up(self.now);
        self.uses();
        self.now = self.now.after(LOOK_NS);
        if self.packing.look() == Look::Drive {
            self.let_go();
            self.drive();
        }
        self.give_back();
    }

    fn compute(&mut self, ns: u64) {
        self.catch_up(self.now.after(ns));
    }

    /// The agent takes its turns until then.
    fn catch_up(&mut self, until: Ns) {
        while self.alarm <= until {
            self.now = self.now.max(self.alarm);
            self.agent_turns += 1;
            if self.packing.begin_turn(self.now) {
                self.let_go();
            }
            self.drive();
            let due = self.packing.due(self.endpoint.deadline());
            self.alarm = match self.packing.end_turn(self.now, false, due) {
                Turn::Again => self.now.after(1_000),
                Turn::Aside(ns) => self.now.after(ns),
                Turn::Sleep(until) => until,
            };
        }
        self.now = self.now.max(until);
    }

    /// The rules.
    fn check(&self) -> Result<(), TestCaseError> {
        // The wire may be busy with other frames, or the agent may have its turn.
        const SLACK_NS: u64 = 25 * FRAME_NS;
        for stored in self.stored.iter().flatten() {
            let left_at = stored.left_at.expect("all have left at last");
            // The agent goes aside for twice as long as before, and at first for the hold time.
            let used_ns = stored.at.since(stored.busy_since) + 2 * TIMINGS.hold_ns;
            let aside_ns = (2 * used_ns).min(TIMINGS.aside_looking_max_ns);
            let max_ns = TIMINGS.hold_ns + aside_ns;
            let waited_ns = left_at.since(stored.at);
            prop_assert!(
                waited_ns <= max_ns + SLACK_NS,
                "{waited_ns} ns, at most {max_ns}: {stored:?}"
            );
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many stores to a peer.
    Stores(usize, u16),
    /// So many looks.
    Looks(u8),
    Compute(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let peer = 0..PEERS as usize;
    prop_oneof![
        4 => (peer.clone(), 1..4_u16).prop_map(|(peer, count)| Step::Stores(peer, count)),
        2 => (peer, 1..400_u16).prop_map(|(peer, count)| Step::Stores(peer, count)),
        2 => (1..100_u8).prop_map(Step::Looks),
        2 => (1..3_000_u64).prop_map(Step::Compute),
        2 => (1..2_000_000_u64).prop_map(Step::Compute),
    ]
}

proptest! {
    /// No store waits longer than the hold time, or than its PE has used the wire. The order of
    /// stores to each peer is kept. All leave without another call.
    #[test]
    fn what_a_pe_leaves_behind_leaves_in_time_and_in_order(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut pe = Pe::new();
        for step in steps {
            match step {
                Step::Stores(peer, count) => (0..count).for_each(|_| pe.store(peer)),
                Step::Looks(count) => (0..count).for_each(|_| pe.look()),
                Step::Compute(ns) => pe.compute(ns),
            }
        }
        pe.compute(5_000_000);
        pe.check()?;
    }
}

#[test]
fn a_lone_store_leaves_at_once() {
    let mut pe = Pe::new();
    for peer in [0, 1, 2] {
        let at = pe.now;
        pe.store(peer);
        let left_at = pe.stored[peer][0].left_at.unwrap();
        assert!(left_at.since(at) <= STORE_NS, "{peer}");
    }
    // So does one that follows after a long time without a look.
    pe.compute(1_000_000);
    let at = pe.now;
    pe.store(1);
    let left_at = pe.stored[1][1].left_at.unwrap();
    assert!(left_at.since(at) <= STORE_NS);
    assert_eq!(pe.frames, 4);
}

/// The second store waits for more. None come, and no call.
#[test]
fn the_last_stores_of_a_pe_that_computes_leave_within_the_hold_time() {
    const { assert!(TIMINGS.hold_ns <= 20_000) };
    for stores in [2, 3, 30, 100] {
        let mut pe = Pe::new();
        let slept_until = pe.alarm;
        (0..stores).for_each(|_| pe.store(0));
        let last = pe.stored[0][stores - 1];
        assert_eq!(last.left_at, None, "{stores} stores");
        assert!(
            slept_until.since(pe.now) > 1_000_000,
            "the agent was asleep"
        );
        assert!(
            pe.alarm.since(last.at) <= TIMINGS.hold_ns,
            "{stores} stores"
        );
        pe.compute(1_000_000);
        let left_at = pe.stored[0][stores - 1].left_at.unwrap();
        let waited_ns = left_at.since(last.at);
        assert!(
            waited_ns <= TIMINGS.hold_ns + 8 * FRAME_NS,
            "{stores} stores: {waited_ns} ns"
        );
    }
}

#[test]
fn who_looks_sends_what_waits() {
    let mut pe = Pe::new();
    pe.store(0);
    pe.store(0);
    assert_eq!(pe.stored[0][1].left_at, None);
    pe.look();
    assert!(pe.stored[0][1].left_at.is_some());
    assert_eq!(pe.frames, 2);
}

#[test]
fn a_stream_fills_its_frames() {
    const STORES: u64 = 10_000;
    let mut pe = Pe::new();
    (0..STORES).for_each(|_| pe.store(0));
    pe.look();
    let full = STORES.div_ceil(LINES_PER_FRAME);
    let frames = pe.frames as u64;
    // One alone, and frames that are sent early when the agent takes a turn or the time is over.
    assert!(
        frames <= full + full / 20 + 2,
        "{frames} frames, {full} full ones"
    );
    pe.check().unwrap();
}

/// The agent takes a few turns during a stream, and none while nothing happens.
#[test]
fn the_agent_comes_by_seldom() {
    let mut pe = Pe::new();
    let turns = pe.agent_turns;
    pe.compute(5_000_000_000);
    assert!(pe.agent_turns - turns <= 10);
    let (turns, begin) = (pe.agent_turns, pe.now);
    while pe.now.since(begin) < 5_000_000 {
        pe.store(0);
    }
    let turns = pe.agent_turns - turns;
    assert!(turns <= 5 + 5_000 / 160, "{turns} turns in 5 ms");
}
