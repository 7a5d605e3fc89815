//! A network in virtual time that loses, doubles, delays, reorders and damages
//! frames, with hosts that pause and die; and the bookkeeping that finds out
//! what went wrong. One seed decides everything.

mod host;
mod random;
mod traffic;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hostwire_link::{CloseReason, Config, Node, Ns};

pub use host::Host;
pub use random::Random;

/// The faults that the network gives to frames. Probabilities are per million.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub loss_ppm: u32,
    pub duplicate_ppm: u32,
    pub damage_ppm: u32,
    /// Frames that are held back by up to `late_ns`, so that others overtake.
    pub late_ppm: u32,
    pub late_ns: u64,
    /// Time on the wire.
    pub delay_ns: u64,
    /// Longer frames are lost.
    pub frame_len_max: usize,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            loss_ppm: 0,
            duplicate_ppm: 0,
            damage_ppm: 0,
            late_ppm: 0,
            late_ns: 50_000,
            delay_ns: 2_000,
            frame_len_max: usize::MAX,
        }
    }
}

impl Faults {
    /// A bad day.
    pub fn all() -> Self {
        Self {
            loss_ppm: 20_000,
            duplicate_ppm: 20_000,
            damage_ppm: 10_000,
            late_ppm: 20_000,
            ..Self::default()
        }
    }
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub config: Config,
    pub faults: Faults,
    /// Pairs of hosts that talk to each other.
    pub pairs: Vec<(usize, usize)>,
    /// Packets that each end of a pair sends the other, by channel: posted,
    /// non-posted, response.
    pub packets: [u32; 3],
    /// Received packets whose buffers are kept for up to `keep_ns`.
    pub keep_ppm: u32,
    pub keep_ns: u64,
}

impl Plan {
    pub fn pair(config: Config, packets: [u32; 3]) -> Self {
        Self {
            config,
            faults: Faults::default(),
            pairs: vec![(0, 1)],
            packets,
            keep_ppm: 0,
            keep_ns: 0,
        }
    }
}

/// Events of a host at random times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Does nothing for this time, as if stopped by a signal.
    Pause { for_ns: u64 },
    /// Forgets everything and begins a new life.
    Restart,
    /// Ends and does not come back.
    Die,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Frame { to: usize, bytes: Vec<u8> },
    Wake { host: usize },
    Fate { host: usize, fate: Fate },
}

/// The network with its hosts.
pub struct Net {
    pub now: Ns,
    pub hosts: Vec<Host>,
    pub random: Random,
    pub plan: Plan,
    events: BinaryHeap<Reverse<(Ns, u64, What)>>,
    order: u64,
    /// No frame passes between these two before the time.
    cut: Vec<(usize, usize, Ns)>,
    pub frames: u64,
    /// Whether a closed link is a failure.
    pub closing_is_wrong: bool,
}

impl Net {
    pub fn new(plan: Plan, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let count = plan.pairs.iter().map(|&(a, b)| a.max(b) + 1).max().unwrap();
        let hosts = (0..count)
            .map(|node| Host::new(node, 1, &plan, &mut random))
            .collect();
        let mut net = Self {
            now: Ns(1_000),
            hosts,
            random,
            plan,
            events: BinaryHeap::new(),
            order: 0,
            cut: Vec::new(),
            frames: 0,
            closing_is_wrong: true,
        };
        for host in 0..count {
            net.hosts[host].open_all(net.now);
            net.serve(host);
        }
        net
    }

    fn at(&mut self, at: Ns, what: What) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, what)));
    }

    pub fn fate(&mut self, after_ns: u64, host: usize, fate: Fate) {
        self.at(self.now.after(after_ns), What::Fate { host, fate });
    }

    pub fn partition(&mut self, a: usize, b: usize, for_ns: u64) {
        self.cut.push((a, b, self.now.after(for_ns)));
    }

    /// Lets the time pass until `done`; `false` if no event is left or `until` comes
    /// first.
    pub fn run(&mut self, until: Ns, done: impl Fn(&Self) -> bool) -> bool {
        while !done(self) {
            let Some(Reverse((at, _, _))) = self.events.peek() else {
                return false;
            };
            if *at > until {
                self.now = until;
                return false;
            }
            self.step();
        }
        true
    }

    fn step(&mut self) {
        let Some(Reverse((at, _, what))) = self.events.pop() else {
            return;
        };
        self.now = self.now.max(at);
        match what {
            What::Frame { to, bytes } => {
                if self.hosts[to].is_away(self.now) {
                    self.hosts[to].inbox.push(bytes);
                    return;
                }
                self.hosts[to].receive(self.now, &bytes, &self.plan, &mut self.random);
                self.serve(to);
            }
            What::Wake { host } => {
                self.hosts[host].woken_at = None;
                if !self.hosts[host].is_away(self.now) {
                    self.serve(host);
                }
            }
            What::Fate { host, fate } => match fate {
                Fate::Pause { for_ns } => {
                    let until = self.now.after(for_ns);
                    self.hosts[host].away_until = until;
                    self.at(until, What::Wake { host });
                }
                Fate::Restart => {
                    let life = self.hosts[host].life + 1;
                    let old = std::mem::replace(
                        &mut self.hosts[host],
                        Host::new(host, life, &self.plan, &mut self.random),
                    );
                    self.hosts[host].inherit(old);
                    self.hosts[host].open_all(self.now);
                    self.serve(host);
                }
                Fate::Die => self.hosts[host].away_until = Ns::MAX,
            },
        }
    }

    /// Lets a host do all it can, and puts its frames on the wire.
    fn serve(&mut self, host: usize) {
        let now = self.now;
        for bytes in std::mem::take(&mut self.hosts[host].inbox) {
            self.hosts[host].receive(now, &bytes, &self.plan, &mut self.random);
        }
        loop {
            self.hosts[host].work(now, &self.plan, &mut self.random);
            if let Some((peer, reason)) = self.hosts[host].lost.first() {
                assert!(!self.closing_is_wrong, "{host} lost {peer}: {reason}");
            }
            let mut sent = false;
            while let Some((to, bytes)) = self.hosts[host].transmit(now) {
                sent = true;
                self.carry(host, to, bytes);
            }
            if !sent {
                break;
            }
        }
        if let Some(at) = self.hosts[host].wakes_at(now) {
            let at = at.max(now.after(1));
            if self.hosts[host].woken_at.is_none_or(|earlier| at < earlier) {
                self.hosts[host].woken_at = Some(at);
                self.at(at, What::Wake { host });
            }
        }
    }

    fn carry(&mut self, from: usize, to: usize, bytes: Vec<u8>) {
        self.frames += 1;
        let faults = self.plan.faults;
        let now = self.now;
        self.cut.retain(|&(_, _, until)| until > now);
        let cut = |&(a, b, _): &(usize, usize, Ns)| (a, b) == (from, to) || (b, a) == (from, to);
        if self.cut.iter().any(cut)
            || bytes.len() > faults.frame_len_max
            || self.random.happens(faults.loss_ppm)
        {
            return;
        }
        let copies = 1 + u64::from(self.random.happens(faults.duplicate_ppm));
        for _ in 0..copies {
            let mut bytes = bytes.clone();
            if self.random.happens(faults.damage_ppm) {
                self.random.damage(&mut bytes);
            }
            let mut delay_ns = faults.delay_ns;
            if self.random.happens(faults.late_ppm) {
                delay_ns += self.random.below(faults.late_ns);
            }
            self.at(now.after(delay_ns), What::Frame { to, bytes });
        }
    }

    /// Runs until every packet has been delivered and acknowledged, and every
    /// credit is back where it was.
    pub fn run_to_the_end(&mut self, limit_ns: u64) {
        let until = self.now.after(limit_ns);
        let finished = self.run(until, |net| net.hosts.iter().all(Host::is_done));
        if !finished {
            let states: Vec<_> = self.hosts.iter().map(Host::state).collect();
            panic!("stuck at {:?}:\n{}", self.now, states.join("\n"));
        }
        for host in &self.hosts {
            host.check_credits(&self.plan);
        }
    }

    pub fn delivered(&self) -> u64 {
        self.hosts.iter().map(|host| host.delivered).sum()
    }

    pub fn lost_links(&self) -> Vec<(usize, Node, CloseReason)> {
        let lost = |host: &Host| {
            let node = host.node;
            host.lost
                .iter()
                .map(move |&(peer, reason)| (node, peer, reason))
                .collect::<Vec<_>>()
        };
        self.hosts.iter().flat_map(lost).collect()
    }
}

/// Says how to repeat a run that failed.
pub struct Seed(pub u64);

impl Drop for Seed {
    #[expect(clippy::print_stderr, reason = "what a failed test has to say")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let test = std::thread::current();
            let test = test.name().unwrap_or("").to_owned();
            eprintln!(
                "failed with seed {0}; repeat with\n    HOSTWIRE_NET_SEED={0} cargo test -p \
                 hostwire-link --test network -- --include-ignored {test}",
                self.0
            );
        }
    }
}

/// Runs a test with `count` seeds, or with the one of the environment.
pub fn seeds(count: u64, test: impl Fn(u64)) {
    let only = std::env::var("HOSTWIRE_NET_SEED")
        .ok()
        .map(|seed| seed.parse().expect("HOSTWIRE_NET_SEED is a number"));
    let seeds = only.map_or(0..count, |seed: u64| seed..seed + 1);
    for seed in seeds {
        let _say = Seed(seed);
        test(seed);
    }
}
