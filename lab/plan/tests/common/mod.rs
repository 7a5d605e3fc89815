//! A second, plain reading of the register values, written from the bit tables and sharing no
//! code with the crate: what would the hardware do?

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::{HashMap, HashSet};

use hostwire_plan::registers::Register;
use hostwire_plan::{AddressRange, Fabric, GlobalAddress, Plan, ProcessorPlan};

/// The reaction of a router to an address.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Action {
    Deliver,
    Link(u8),
}

/// Register contents after all writes.
pub struct File {
    config: HashMap<(u8, u16), u64>,
    extended: HashMap<u64, u64>,
    msr: HashMap<u32, u64>,
    peach2: HashMap<u16, u64>,
    ranges: Vec<Range>,
}

/// Addresses with `addr & mask` from `low` to `high` go to a node, and to its memory or a link.
struct Range {
    mask: u64,
    low: u64,
    high: u64,
    node: u64,
    link: Option<u64>,
}

impl File {
    pub fn of(processor: &ProcessorPlan) -> Self {
        let mut file = Self {
            config: HashMap::new(),
            extended: HashMap::new(),
            msr: HashMap::new(),
            peach2: HashMap::new(),
            ranges: Vec::new(),
        };
        for write in &processor.registers {
            let old = match write.register {
                Register::Config { function, offset } => {
                    file.config.entry((function, offset)).or_default()
                }
                Register::Msr(number) => file.msr.entry(number).or_default(),
                Register::Peach2(offset) => file.peach2.entry(offset).or_default(),
            };
            assert_eq!(
                write.value & !write.mask,
                0,
                "{write:?} writes bits outside its mask"
            );
            *old = (*old & !write.mask) | write.value;
            let new = *old;
            if write.register
                == (Register::Config {
                    function: 1,
                    offset: 0x114,
                })
            {
                file.extended.insert(file.config[&(1, 0x110)], new);
            }
        }
        file.ranges = file.decode_ranges();
        file
    }

    pub fn config(&self, function: u8, offset: u16) -> u64 {
        self.config.get(&(function, offset)).copied().unwrap_or(0)
    }

    pub fn msr(&self, number: u32) -> u64 {
        self.msr.get(&number).copied().unwrap_or(0)
    }

    pub fn mmio_ranges_in_use(&self) -> usize {
        (0..8)
            .filter(|i| self.config(1, 0x80 + 8 * i) & 3 == 3)
            .count()
            + (0..4)
                .filter(|i| {
                    self.extended
                        .get(&(3 << 28 | i))
                        .is_some_and(|m| m & 1 == 1)
                })
                .count()
    }

    fn decode_ranges(&self) -> Vec<Range> {
        let mut ranges = Vec::new();
        for i in 0..8 {
            let (base, limit) = (self.config(1, 0x40 + 8 * i), self.config(1, 0x44 + 8 * i));
            if base & 3 == 3 {
                let low =
                    (self.config(1, 0x140 + 8 * i) & 0xFF) << 40 | (base >> 16 & 0xFFFF) << 24;
                let high = (self.config(1, 0x144 + 8 * i) & 0xFF) << 40
                    | (limit >> 16 & 0xFFFF) << 24
                    | 0xFF_FFFF;
                ranges.push(Range {
                    mask: u64::MAX,
                    low,
                    high,
                    node: limit & 7,
                    link: None,
                });
            }
        }
        for i in 0..8 {
            let (base, limit) = (self.config(1, 0x80 + 8 * i), self.config(1, 0x84 + 8 * i));
            if base & 3 == 3 {
                let high_bits = self.config(1, 0x180 + 4 * i);
                let low = (high_bits & 0xFF) << 40 | (base >> 8 & 0xFF_FFFF) << 16;
                let high = (high_bits >> 16 & 0xFF) << 40 | (limit >> 8 & 0xFF_FFFF) << 16 | 0xFFFF;
                assert_eq!(
                    limit & 0x80,
                    0,
                    "NP must be 0: a TCCluster carries posted writes only"
                );
                let link = Some((limit >> 4 & 3) + 4 * (limit >> 6 & 1));
                ranges.push(Range {
                    mask: u64::MAX,
                    low,
                    high,
                    node: limit & 7,
                    link,
                });
            }
        }
        for i in 0..4 {
            let base = self.extended.get(&(2 << 28 | i)).copied().unwrap_or(0);
            let mask = self.extended.get(&(3 << 28 | i)).copied().unwrap_or(0);
            if mask & 1 == 1 {
                // Bits above 47 are compared with zero.
                let compared = !0 << 48 | (!(mask >> 8) & 0x1F_FFFF) << 27;
                let start = ((base >> 8) & 0x1F_FFFF) << 27 & compared;
                let link = Some((base >> 4 & 3) + 4 * (base >> 6 & 1));
                ranges.push(Range {
                    mask: compared,
                    low: start,
                    high: start,
                    node: base & 7,
                    link,
                });
            }
        }
        ranges
    }

    /// The northbridge's two stages.
    pub fn opteron(&self, addr: u64) -> Action {
        let mut claims = self
            .ranges
            .iter()
            .filter(|r| (r.low..=r.high).contains(&(addr & r.mask)));
        let claim = claims
            .next()
            .unwrap_or_else(|| panic!("no range holds {addr:#x}"));
        assert!(claims.next().is_none(), "two ranges hold {addr:#x}");
        let (node, link) = (claim.node, claim.link);
        if node == self.config(0, 0x60) & 7 {
            return link.map_or(Action::Deliver, |l| Action::Link(l as u8));
        }
        let request = self.config(0, 0x40 + 4 * node as u16) & 0x1FF;
        assert!(
            request.is_power_of_two() && request > 1,
            "row {node} is {request:#x}"
        );
        Action::Link(request.trailing_zeros() as u8 - 1)
    }

    /// Port by mask and bounds.
    pub fn peach2(&self, addr: u64) -> Action {
        let read = |offset: u16| self.peach2.get(&offset).copied().unwrap_or(0);
        let ports: Vec<u16> = (0..4)
            .filter(|p| {
                let masked = addr & read(0x20 * p);
                masked >= read(0x20 * p + 8) && masked <= read(0x20 * p + 0x10)
            })
            .collect();
        assert_eq!(ports.len(), 1, "{addr:#x} matches ports {ports:?}");
        if ports[0] == 3 {
            Action::Deliver
        } else {
            Action::Link(ports[0] as u8)
        }
    }

    /// Whether a core's access to the address is memory, by TOP_MEM, TOP_MEM2 and IORRs.
    pub fn is_memory(&self, addr: u64) -> bool {
        for pair in 0..2 {
            let base = self.msr(0xC001_0016 + 2 * pair);
            let mask = self.msr(0xC001_0017 + 2 * pair);
            let bits = mask & 0xFFFF_FFFF_F000;
            if mask >> 11 & 1 == 1 && addr & bits == base & bits {
                return base >> 3 & 3 == 3;
            }
        }
        if addr < 1 << 32 {
            return addr < self.msr(0xC001_001A);
        }
        self.msr(0xC001_0010) >> 21 & 1 == 1 && addr < self.msr(0xC001_001D)
    }

    /// Memory type by MTRRs; they must not contradict each other.
    pub fn memory_type(&self, addr: u64) -> u64 {
        let mut found = None;
        for pair in 0..8 {
            let (base, mask) = (self.msr(0x200 + 2 * pair), self.msr(0x201 + 2 * pair));
            let bits = mask & 0xFFFF_FFFF_F000;
            if mask >> 11 & 1 == 1 && addr & bits == base & bits {
                let kind = base & 0xFF;
                assert!(
                    found.is_none_or(|f| f == kind),
                    "MTRRs disagree at {addr:#x}"
                );
                found = Some(kind);
            }
        }
        found.unwrap_or(self.msr(0x2FF) & 0xFF)
    }
}

/// Sends a write to the first, a middle and the last address of every processor's memory from
/// every processor and follows it through the registers. No cycle of channels may wait for each other.
pub fn check_delivery(plan: &Plan) {
    let processors: Vec<_> = plan.nodes().iter().flat_map(|n| &n.processors).collect();
    let number: HashMap<_, _> = processors
        .iter()
        .enumerate()
        .map(|(i, p)| (p.id, i))
        .collect();
    let files: Vec<_> = processors.iter().map(|p| File::of(p)).collect();
    let mut ends = vec![[None; 8]; processors.len()];
    for (i, processor) in processors.iter().enumerate() {
        for link in &processor.links {
            ends[i][link.link.index()] = link.peer.map(|p| (number[&p.processor], p.link.get()));
        }
    }
    let opteron = plan.fabric() == Fabric::TcCluster;
    let mut waits = Waits::default();
    for (target, part) in processors.iter().enumerate() {
        let range = part.memory;
        for addr in [
            range.start.0,
            range.start.0 + range.bytes / 3,
            range.last().0,
        ] {
            assert_eq!(plan.owner_of(GlobalAddress(addr)), Some(part.id.node));
            let act = |f: &File| {
                if opteron {
                    f.opteron(addr)
                } else {
                    f.peach2(addr)
                }
            };
            let actions: Vec<_> = files.iter().map(act).collect();
            let mut ends = ends.clone();
            let mut crossings = HashMap::new();
            for adapter in plan.adapters() {
                let mut targets = adapter.targets.iter();
                let holds = |range: &AddressRange| (range.start.0..=range.last().0).contains(&addr);
                let to = targets.find(|(range, _)| holds(range));
                let to = to.map(|(_, to)| plan.adapters()[*to].port);
                let port = adapter.port;
                let at = number[&port.processor];
                let far = to.map(|to| (number[&to.processor], to.link.get()));
                ends[at][port.link.index()] = far;
                crossings.extend(far.map(|far| ((at, port.link.get()), far)));
            }
            for (source, file) in files.iter().enumerate() {
                if opteron {
                    let local = processors[source].id.node == part.id.node;
                    assert_eq!(file.is_memory(addr), local, "{source} at {addr:#x}");
                    let kind = file.memory_type(addr);
                    let fine = if local { kind == 6 } else { kind <= 1 };
                    assert!(fine, "{source} at {addr:#x}: type {kind}");
                }
                let way = follow(&actions, &ends, source, target);
                let hops = way.len();
                waits.add(&way, &crossings);
                if addr == range.start.0 && (source + target) % 7 == 0 {
                    let id = processors[source].id;
                    let route = plan.route_from_processor(id, range.start).expect("a route");
                    assert_eq!(route.len(), hops, "{id} to {addr:#x}");
                }
            }
        }
    }
    waits.check();
}

/// A channel by processor and link: out of the processor, from one adapter to another, or from an
/// adapter into its processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Channel {
    Out(usize, u8),
    Between((usize, u8), (usize, u8)),
    In(usize, u8),
}

/// Which channel a packet in another one can wait for.
#[derive(Default)]
struct Waits(HashMap<Channel, HashSet<Channel>>);

impl Waits {
    fn add(&mut self, way: &[(usize, u8)], crossings: &HashMap<(usize, u8), (usize, u8)>) {
        let channels = way.iter().flat_map(|&(at, link)| {
            let mut channels = vec![Channel::Out(at, link)];
            if let Some(&far) = crossings.get(&(at, link)) {
                channels.extend([Channel::Between((at, link), far), Channel::In(far.0, far.1)]);
            }
            channels
        });
        let channels: Vec<_> = channels.collect();
        for pair in channels.windows(2) {
            self.0.entry(pair[0]).or_default().insert(pair[1]);
        }
    }

    /// Takes away channels that wait for nothing until none is left.
    fn check(mut self) {
        loop {
            let before = self.0.len();
            let waiting: HashSet<Channel> = self.0.keys().copied().collect();
            self.0
                .retain(|_, next| next.iter().any(|next| waiting.contains(next)));
            if self.0.len() == before {
                break;
            }
        }
        assert!(self.0.is_empty(), "these can deadlock: {:?}", self.0);
    }
}

/// Processor and link of each hop from `source` to `target`, by what each processor does.
fn follow(
    actions: &[Action],
    ends: &[[Option<(usize, u8)>; 8]],
    source: usize,
    target: usize,
) -> Vec<(usize, u8)> {
    let mut at = source;
    let mut entered = None;
    let mut way = Vec::new();
    while let Action::Link(link) = actions[at] {
        assert_ne!(
            entered,
            Some(link),
            "a packet from {source} to {target} returns at {at}"
        );
        let (next, port) = ends[at][usize::from(link)].expect("the link leads somewhere");
        way.push((at, link));
        (at, entered) = (next, Some(port));
        assert!(
            way.len() <= actions.len(),
            "a packet from {source} to {target} circles"
        );
    }
    assert_eq!(
        at, target,
        "a packet from {source} arrived at the wrong processor"
    );
    way
}
