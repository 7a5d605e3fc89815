//! The link alone, between two devices that only send and release.

use hostwire_sim::engine::{Component, ComponentId, Context, Ps, RunError};
use hostwire_sim::models::ht::opteron::registers::FREQUENCY_MHZ;
use hostwire_sim::models::ht::{Buffers, Link, LinkConfig, LinkMode, PacketBuffers};
use hostwire_sim::models::ht::{Command, Packet, VirtualChannel};
use hostwire_sim::models::link::{Damage, End, LinkCounters, LinkEvent};
use hostwire_sim::models::pcie;
use hostwire_sim::models::{DeviceEvent, Fabric};
use proptest::prelude::*;

struct Device {
    link: ComponentId,
    end: End,
    /// Time to empty a buffer; `None`: never.
    release_after: Option<Ps>,
    got: Vec<(Ps, Packet)>,
    sent: usize,
}

impl Component<DeviceEvent> for Device {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Ht(LinkEvent::Deliver { packet, .. }) => {
                if let Some(after) = self.release_after {
                    let event = LinkEvent::Release {
                        end: self.end,
                        cost: PacketBuffers::of(&packet),
                    };
                    ctx.schedule(self.link, after, DeviceEvent::Ht(event));
                }
                self.got.push((ctx.now(), *packet));
            }
            DeviceEvent::Ht(LinkEvent::Sent { .. }) => self.sent += 1,
            _ => {}
        }
    }
}

struct Bench {
    sim: Fabric,
    link: ComponentId,
    a: ComponentId,
    b: ComponentId,
}

fn bench(config: LinkConfig, mode: LinkMode, release_after: Option<Ps>) -> Bench {
    let mut sim = Fabric::new();
    let link = sim.add("link", Link::new(config));
    let device = |end| Device {
        link,
        end,
        release_after,
        got: Vec::new(),
        sent: 0,
    };
    let a = sim.add("a", device(End::A));
    let b = sim.add("b", device(End::B));
    let model: &mut Link = sim.component_mut(link).unwrap();
    model.attach(End::A, a, 0);
    model.attach(End::B, b, 0);
    let (after, ready) = model.train(Ps::ZERO, mode);
    sim.inject(after, link, ready).unwrap();
    sim.run_until(Ps::from_us(5));
    Bench { sim, link, a, b }
}

impl Bench {
    fn submit(&mut self, end: End, packet: Packet) {
        let now = self.sim.now();
        self.sim
            .inject(
                now,
                self.link,
                DeviceEvent::Ht(LinkEvent::Submit {
                    end,
                    packet: Box::new(packet),
                }),
            )
            .unwrap();
    }

    fn got(&self, device: ComponentId) -> &[(Ps, Packet)] {
        &self.sim.component::<Device>(device).unwrap().got
    }

    fn numbers(&self, device: ComponentId) -> Vec<u64> {
        self.got(device)
            .iter()
            .map(|(_, packet)| packet.number)
            .collect()
    }

    fn model(&self) -> &Link {
        self.sim.component(self.link).unwrap()
    }
}

fn line(number: u64) -> Packet {
    Packet {
        number,
        ..Packet::write(0x1000, vec![number as u8; 64])
    }
}

fn read(number: u64) -> Packet {
    Packet {
        number,
        ..Packet::new(Command::Read { dwords: 1 }, 0x1000)
    }
}

#[test]
fn one_packet_takes_serialisation_and_propagation() {
    let mut bench = bench(
        LinkConfig::default(),
        LinkMode::symmetric(16, 800),
        Some(Ps::ZERO),
    );
    let start = bench.sim.now();
    bench.submit(End::A, line(1));
    bench.sim.run().unwrap();
    let took = bench.got(bench.b)[0].0 - start;
    // 72 B at 3.2 GB/s, 5 ns, at most a dword's wait and one CRC on the way.
    assert!(
        (Ps(27_500)..=Ps(27_500 + 1_250 + 2_500)).contains(&took),
        "{took}"
    );
}

#[test]
fn a_full_link_carries_64_of_72_bytes_less_the_crc() {
    for (width, mhz, raw) in [(16, 800, 3.2e9), (8, 200, 0.4e9), (16, 400, 1.6e9)] {
        let mut bench = bench(
            LinkConfig::default(),
            LinkMode::symmetric(width, mhz),
            Some(Ps::ZERO),
        );
        (0..20_000).for_each(|n| bench.submit(End::A, line(n)));
        bench.sim.run().unwrap();
        let got = bench.got(bench.b);
        let time = (got[got.len() - 1].0 - got[0].0).as_s();
        let rate = (got.len() - 1) as f64 * 64.0 / time;
        let want = raw * 64.0 / 72.0 * 512.0 / 516.0;
        assert!(
            (rate / want - 1.0).abs() < 1e-4,
            "{width} bit {mhz} MHz: {rate:.0} instead of {want:.0}"
        );
    }
}

/// Every clock that has a code, at every width, as the formula has it: 64 of 72 bytes, and
/// the share of the periodic CRC, or four bytes of CRC per packet from 1,200 MHz on.
#[test]
fn every_clock_and_width_carries_what_the_formula_says() {
    const PACKETS: u64 = 1_000;
    let clocks = FREQUENCY_MHZ.into_iter().filter(|mhz| *mhz > 0);
    for (mhz, width) in clocks.flat_map(|mhz| [2, 4, 8, 16, 32].map(|width| (mhz, width))) {
        let mode = LinkMode::symmetric(width, mhz);
        // Buffers that never bind, also on the widest and fastest link.
        let config = LinkConfig {
            buffers: [Buffers::HT_CORE; 2],
            ..LinkConfig::default()
        };
        let mut bench = bench(config, mode, Some(Ps::ZERO));
        (0..PACKETS).for_each(|n| bench.submit(End::A, line(n)));
        bench.sim.run().unwrap();
        let got = bench.got(bench.b);
        let time = (got[got.len() - 1].0 - got[0].0).as_s();
        let rate = (got.len() - 1) as f64 * 64.0 / time;
        let share = if mode.retry {
            64.0 / 76.0
        } else {
            64.0 / 72.0 * 512.0 / 516.0
        };
        let want = mode.raw_bytes_per_s(End::A) * share;
        assert!(
            (rate / want - 1.0).abs() < 1e-3,
            "{width} bit {mhz} MHz: {rate:.0} instead of {want:.0}"
        );
    }
}

#[test]
fn gen3_pays_a_crc_per_packet_instead() {
    let mut bench = bench(
        LinkConfig::default(),
        LinkMode::symmetric(16, 2_400),
        Some(Ps::ZERO),
    );
    (0..10_000).for_each(|n| bench.submit(End::A, line(n)));
    bench.sim.run().unwrap();
    let counters = bench.model().counters(End::A);
    assert_eq!(
        counters.wire_bytes,
        4 * (10_000 * 19 + counters.controls * 2)
    );
}

#[test]
fn credits_bound_what_is_in_flight_and_the_report_says_so() {
    let config = LinkConfig {
        buffers: [Buffers {
            command: [4; 3],
            data: [2; 3],
        }; 2],
        ..LinkConfig::default()
    };
    let mut bench = bench(config, LinkMode::symmetric(16, 800), None);
    (0..5).for_each(|n| bench.submit(End::A, line(n)));
    let Err(RunError::Stalled { report, .. }) = bench.sim.run() else {
        panic!("must stall")
    };
    assert_eq!(bench.numbers(bench.b), [0, 1]);
    let want = "link waits for posted data credit from end A (3 packets queued, \
                the first a write of 64 B to 0x1000), held by b";
    assert!(report.to_string().contains(want), "{report}");
}

#[test]
fn channels_do_not_block_each_other_but_reads_stay_behind_writes() {
    let config = LinkConfig {
        buffers: [Buffers {
            command: [4, 4, 4],
            data: [1, 1, 1],
        }; 2],
        ..LinkConfig::default()
    };
    let mut bench = bench(config, LinkMode::symmetric(16, 800), None);
    bench.submit(End::A, line(0));
    bench.submit(End::A, line(1)); // no data credit
    bench.submit(End::A, read(2)); // may not pass the write before it
    bench.submit(
        End::A,
        Packet {
            pass_pw: true,
            ..Packet::new(Command::ReadResponse, 0)
        },
    );
    bench.submit(End::B, read(3));
    assert!(bench.sim.run().is_err());
    assert_eq!(bench.got(bench.b).len(), 2, "the write and the response");
    assert_eq!(bench.got(bench.b)[1].1.channel(), VirtualChannel::Response);
    assert_eq!(bench.numbers(bench.a), [3], "the other direction is free");
}

#[test]
fn gen1_counts_damage_and_delivers_it() {
    let config = LinkConfig {
        damage: [Damage::At(vec![2]), Damage::Never],
        ..LinkConfig::default()
    };
    let mut bench = bench(config, LinkMode::symmetric(16, 800), Some(Ps::ZERO));
    (0..3).for_each(|n| bench.submit(End::A, line(n)));
    bench.sim.run().unwrap();
    let damaged: Vec<_> = bench
        .got(bench.b)
        .iter()
        .map(|(_, packet)| packet.damaged)
        .collect();
    assert_eq!(damaged, [false, true, false]);
    assert_eq!(bench.model().counters(End::A).crc_errors, 1);
}

#[test]
fn gen3_gives_up_after_seven_retries() {
    let config = LinkConfig {
        damage: [Damage::Every(1), Damage::Never],
        ..LinkConfig::default()
    };
    let mut bench = bench(config, LinkMode::symmetric(16, 2_000), Some(Ps::ZERO));
    bench.submit(End::A, line(0));
    let Err(RunError::Stalled { report, .. }) = bench.sim.run() else {
        panic!("must stall")
    };
    assert!(bench.model().has_failed());
    assert_eq!(bench.model().counters(End::A).crc_errors, 8);
    // The packet itself went back to the queue with the last retry.
    assert!(report.to_string().contains("retries spent"), "{report}");
}

#[test]
fn submitting_to_a_link_that_is_down_is_reported() {
    let mut sim = Fabric::new();
    let link = sim.add("link", Link::new(LinkConfig::default()));
    sim.inject(
        Ps::ZERO,
        link,
        DeviceEvent::Ht(LinkEvent::Submit {
            end: End::A,
            packet: Box::new(line(0)),
        }),
    )
    .unwrap();
    let error = sim.run().unwrap_err().to_string();
    assert!(
        error.contains("initialisation of the link (1 packets queued"),
        "{error}"
    );
}

/// Counts what comes over links of either family, and empties buffers at once.
#[derive(Default)]
struct Sink {
    ht: usize,
    pcie: usize,
    links: Vec<ComponentId>,
}

impl Component<DeviceEvent> for Sink {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        let end = End::B;
        let (link, release) = match event {
            DeviceEvent::Ht(LinkEvent::Deliver { packet, .. }) => {
                self.ht += 1;
                let cost = PacketBuffers::of(&packet);
                let release = LinkEvent::Release { end, cost };
                (self.links[0], DeviceEvent::Ht(release))
            }
            DeviceEvent::Pcie(LinkEvent::Deliver { packet, .. }) => {
                self.pcie += 1;
                let cost = packet.cost();
                let release = LinkEvent::Release { end, cost };
                (self.links[1], DeviceEvent::Pcie(release))
            }
            _ => return,
        };
        ctx.schedule(link, Ps::ZERO, release);
    }
}

/// One device takes both families, one simulation has both, and each is as fast as alone.
#[test]
fn links_of_both_families_stand_in_one_machine() {
    const COUNT: usize = 500;
    let mut sim = Fabric::new();
    let ht = sim.add("ht", Link::new(LinkConfig::default()));
    let pcie = sim.add("pcie", pcie::Link::new(pcie::LinkConfig::default()));
    let links = vec![ht, pcie];
    let sink = sim.add(
        "sink",
        Sink {
            links,
            ..Sink::default()
        },
    );
    let model: &mut Link = sim.component_mut(ht).unwrap();
    model.attach(End::B, sink, 0);
    let (after, ready) = model.train(Ps::ZERO, LinkMode::symmetric(16, 800));
    sim.inject(after, ht, ready).unwrap();
    let model: &mut pcie::Link = sim.component_mut(pcie).unwrap();
    model.attach(End::B, sink, 1);
    sim.run_until(Ps::from_us(5));
    let end = End::A;
    for number in 0..COUNT {
        let packet = Box::new(line(number as u64));
        let submit = DeviceEvent::Ht(LinkEvent::Submit { end, packet });
        sim.inject(sim.now(), ht, submit).unwrap();
        let tlp = pcie::Tlp::write(Default::default(), 1 << 32, &[1; 256]).unwrap();
        let packet = tlp.into();
        let submit = DeviceEvent::Pcie(LinkEvent::Submit { end, packet });
        sim.inject(sim.now(), pcie, submit).unwrap();
    }
    sim.run().unwrap();
    let got: &Sink = sim.component(sink).unwrap();
    assert_eq!((got.ht, got.pcie), (COUNT, COUNT));
    let rate = |counters: LinkCounters| {
        let time = (counters.last_end - counters.first_begin.unwrap()).as_s();
        counters.payload_bytes as f64 / time / 1e9
    };
    let ht_gb_s = rate(sim.component::<Link>(ht).unwrap().counters(end));
    assert!(
        (ht_gb_s / (3.2 * 64.0 / 72.0 * 512.0 / 516.0) - 1.0).abs() < 1e-3,
        "{ht_gb_s}"
    );
    let pcie_gb_s = rate(sim.component::<pcie::Link>(pcie).unwrap().counters(end));
    // With DLLPs between the TLPs where acknowledgements have waited too long.
    assert!(
        (pcie_gb_s / (4.0 * 256.0 / 280.0) - 1.0).abs() < 0.02,
        "{pcie_gb_s}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damage in both directions, slow receivers, small buffers: every packet
    /// arrives once, in order within its channel, undamaged; all credits return.
    #[test]
    fn retry_loses_repeats_and_reorders_nothing(
        count in 1u64..60,
        per_million in prop::sample::select(vec![0u32, 20_000, 150_000]),
        seed in any::<u64>(),
        release_ns in 0u64..200,
        command in 1u8..6,
        data in 1u8..6,
        kinds in prop::collection::vec(any::<bool>(), 60),
    ) {
        let damage = |seed| Damage::Random { hits: per_million, of: 1_000_000, seed };
        let config = LinkConfig {
            buffers: [Buffers { command: [command; 3], data: [data; 3] }; 2],
            damage: [damage(seed), damage(!seed)],
            retry_attempts_max: 200,
            ..LinkConfig::default()
        };
        let mut bench = bench(config, LinkMode::symmetric(16, 2_000), Some(Ps::from_ns(release_ns)));
        for end in [End::A, End::B] {
            for n in 0..count {
                bench.submit(end, if kinds[n as usize] { line(n) } else { read(n) });
            }
        }
        bench.sim.run().unwrap();
        for device in [bench.a, bench.b] {
            prop_assert!(bench.got(device).iter().all(|(_, packet)| !packet.damaged));
            for channel in [VirtualChannel::Posted, VirtualChannel::NonPosted] {
                let got: Vec<_> = bench.got(device).iter()
                    .filter(|(_, packet)| packet.channel() == channel).map(|(_, packet)| packet.number).collect();
                let want: Vec<_> = (0..count)
                    .filter(|&n| kinds[n as usize] == (channel == VirtualChannel::Posted)).collect();
                prop_assert_eq!(got, want);
            }
            prop_assert_eq!(bench.sim.component::<Device>(device).unwrap().sent as u64, count);
        }
    }
}
