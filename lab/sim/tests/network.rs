//! NICs, cables and a switch.

use hostwire_plan::htx::PortKind;
use hostwire_sim::engine::{ComponentId, Ps};
use hostwire_sim::experiments::htx_board::{HtxHost, Setup, add_host};
use hostwire_sim::experiments::htx_ping_pong::{PARTS, Pair, ping_pong};
use hostwire_sim::models::ht::cable::Cable;
use hostwire_sim::models::ht::link_port::LinkPortConfig;
use hostwire_sim::models::ht::nic::{Nic, NicConfig};
use hostwire_sim::models::ht::opteron::registers::{MemoryType, msr};
use hostwire_sim::models::ht::opteron::{Op, Opteron, OpteronConfig, OpteronEvent, Script};
use hostwire_sim::models::ht::switch::{Switch, SwitchConfig};
use hostwire_sim::models::link::Damage;
use hostwire_sim::models::{DeviceEvent, Fabric};

fn plug(sim: &mut Fabric, a: (ComponentId, u8), b: (ComponentId, u8), damage: [Damage; 2]) {
    let cable = sim.add("cable", Cable::new(Ps::from_ns(5), damage));
    for (end, (device, port)) in [a, b].into_iter().enumerate() {
        sim.component_mut::<Cable>(cable)
            .unwrap()
            .plug(end as u8, device, port);
        if let Some(nic) = sim.component_mut::<Nic>(device) {
            assert!(nic.connect(port, cable, end as u8));
        }
        if let Some(switch) = sim.component_mut::<Switch>(device) {
            assert!(switch.connect(port, cable, end as u8));
        }
    }
}

fn run(sim: &mut Fabric, host: &HtxHost, ops: Vec<Op>) {
    let core = sim
        .component_mut::<Opteron>(host.host)
        .unwrap()
        .load(Script::new(ops))
        .unwrap();
    let event = DeviceEvent::Opteron(OpteronEvent::Step { core });
    sim.inject(sim.now(), host.host, event).unwrap();
}

/// `count` messages with their number in the first word.
fn messages(to: u64, count: u64) -> Vec<Op> {
    let send = NicConfig::htx_board(0).send_base + (to << 12);
    let message = |n: u64| Op::Store {
        address: send,
        data: n.to_le_bytes().repeat(2),
    };
    (0..count).flat_map(|n| [message(n), Op::Fence]).collect()
}

fn received(sim: &Fabric, host: &HtxHost, count: u64) -> Vec<u64> {
    let ring = NicConfig::htx_board(0).ring_base;
    let memory = &sim.component::<Opteron>(host.host).unwrap().memory;
    let word = |address: u64| {
        let mut bytes = [0; 8];
        memory.read(address, &mut bytes);
        u64::from_le_bytes(bytes)
    };
    (0..count).map(|slot| word(ring + 128 * slot)).collect()
}

#[test]
fn damaged_frames_are_sent_again() {
    const COUNT: u64 = 30;
    for per_million in [0, 100_000, 400_000] {
        let mut sim = Fabric::new();
        let nic = |id| NicConfig {
            ring_slots: COUNT,
            ..NicConfig::htx_board(id)
        };
        let hosts =
            [0, 1].map(|id| add_host(&mut sim, &format!("host {id}"), &Setup::default(), nic(id)));
        let damage = |seed| Damage::Random {
            hits: per_million,
            of: 1_000_000,
            seed,
        };
        plug(
            &mut sim,
            (hosts[0].nic, 0),
            (hosts[1].nic, 0),
            [damage(1), damage(2)],
        );
        sim.run_until(Ps::from_us(20));
        run(&mut sim, &hosts[0], messages(1, COUNT));
        sim.run().unwrap();
        assert_eq!(
            received(&sim, &hosts[1], COUNT),
            (0..COUNT).collect::<Vec<_>>()
        );
        let port = sim
            .component::<Nic>(hosts[0].nic)
            .unwrap()
            .link_port(0)
            .unwrap();
        assert_eq!(port.repeated() > 0, per_million > 0);
        let status = hosts[1].host;
        let mut line = [0; 8];
        sim.component::<Opteron>(status)
            .unwrap()
            .memory
            .read(NicConfig::htx_board(0).ring_base + 64, &mut line);
        assert_eq!(
            line,
            [1, 0, 0, 0, 0, 0, 16, 0],
            "first status: count 1, source 0, 16 bytes"
        );
    }
}

#[test]
fn a_switch_joins_four_hosts() {
    const HOSTS: u16 = 4;
    let mut sim = Fabric::new();
    let nic = |id| NicConfig {
        routes: vec![0; HOSTS.into()],
        ..NicConfig::htx_board(id)
    };
    let hosts: Vec<_> = (0..HOSTS)
        .map(|id| add_host(&mut sim, &format!("host {id}"), &Setup::default(), nic(id)))
        .collect();
    let switch = sim.add(
        "switch",
        Switch::new(SwitchConfig::default(), 4, vec![0, 1, 2, 3]),
    );
    for (port, host) in hosts.iter().enumerate() {
        plug(
            &mut sim,
            (host.nic, 0),
            (switch, port as u8),
            [Damage::Every(7), Damage::Every(5)],
        );
    }
    sim.run_until(Ps::from_us(20));
    for (id, host) in hosts.iter().enumerate() {
        let ops = (0..u64::from(HOSTS))
            .filter(|&to| to != id as u64)
            .flat_map(|to| messages(to, 5));
        run(&mut sim, host, ops.collect());
    }
    sim.run().unwrap();
    for host in &hosts {
        assert_eq!(
            sim.component::<Nic>(host.nic).unwrap().counters().completed,
            15
        );
    }
    assert_eq!(sim.component::<Switch>(switch).unwrap().unroutable, 0);
}

/// Unlike a store over TCCluster, a device's write invalidates caches: a poll of
/// cacheable memory sees the completer's status.
#[test]
fn device_writes_invalidate_caches() {
    let mut sim = Fabric::new();
    let hosts = [0, 1].map(|id| {
        add_host(
            &mut sim,
            &format!("host {id}"),
            &Setup::default(),
            NicConfig::htx_board(id),
        )
    });
    plug(
        &mut sim,
        (hosts[0].nic, 0),
        (hosts[1].nic, 0),
        [Damage::Never, Damage::Never],
    );
    sim.run_until(Ps::from_us(20));
    let receiver = sim.component_mut::<Opteron>(hosts[1].host).unwrap();
    receiver
        .registers
        .write_msr(msr::MTRR_DEFAULT, 1 << 11 | MemoryType::WriteBack as u64);
    receiver.mappings[0].page_type = None;
    let status = NicConfig::htx_board(0).ring_base + 64;
    run(
        &mut sim,
        &hosts[1],
        vec![Op::Poll {
            address: status,
            not: vec![0; 4],
        }],
    );
    run(&mut sim, &hosts[0], messages(1, 1));
    sim.run().unwrap();
}

#[test]
fn a_nic_with_a_crossbar_forwards() {
    let mut sim = Fabric::new();
    let routes = [vec![0, 0, 0], vec![0, 0, 1], vec![0, 0, 0]];
    let hosts: Vec<_> = (0u16..3)
        .zip(routes)
        .map(|(id, routes)| {
            let ports = vec![LinkPortConfig::atoll(100); 2];
            let nic = NicConfig {
                ports,
                routes,
                crossbar_cycles: 4,
                ..NicConfig::htx_board(id)
            };
            add_host(&mut sim, &format!("host {id}"), &Setup::default(), nic)
        })
        .collect();
    for (left, right) in [((0, 0), (1, 0)), ((1, 1), (2, 0))] {
        let end = |(host, port): (usize, u8)| (hosts[host].nic, port);
        plug(
            &mut sim,
            end(left),
            end(right),
            [Damage::Every(4), Damage::Every(3)],
        );
    }
    sim.run_until(Ps::from_us(20));
    run(&mut sim, &hosts[0], messages(2, 10));
    sim.run().unwrap();
    assert_eq!(received(&sim, &hosts[2], 10), (0..10).collect::<Vec<_>>());
    assert_eq!(
        sim.component::<Nic>(hosts[1].nic)
            .unwrap()
            .counters()
            .forwarded,
        10
    );
}

#[test]
fn messages_for_nobody_are_counted() {
    let mut sim = Fabric::new();
    let host = add_host(&mut sim, "host", &Setup::default(), NicConfig::htx_board(0));
    sim.run_until(Ps::from_us(20));
    run(&mut sim, &host, messages(9, 3));
    sim.run().unwrap();
    assert_eq!(
        sim.component::<Nic>(host.nic)
            .unwrap()
            .counters()
            .unroutable,
        3
    );
}

/// Two hosts answer each other, and the parts of a message's time are its time, to the picosecond.
#[test]
fn the_parts_of_a_ping_pong_sum_up() {
    let time = |setup: Setup, port: PortKind, payload: usize| {
        let pair = Pair {
            setup,
            phase: 0,
            port,
            propagation: Ps::from_ns(5),
            nic: NicConfig::htx_board(0),
            processor: OpteronConfig::opteron_246(),
        };
        let result = ping_pong(&pair, payload, |sim, _, after| {
            while sim.step().is_some() {
                after(sim);
            }
            Ok(())
        });
        let result = result.unwrap();
        let sum = result
            .sums
            .iter()
            .copied()
            .fold(Ps::ZERO, |sum, part| sum + part);
        assert_eq!(sum, result.total, "{setup:?} {port:?} {payload}");
        let part = |name: &str| {
            let index = PARTS.iter().position(|part| *part == name).unwrap();
            result.sums[index].as_ns() / result.messages as f64
        };
        // What a clock counts: the core's 11 and 7 cycles of the link, and those of the user logic.
        let cycle = |mhz: u32| 1e3 / f64::from(mhz);
        for (name, cycles, mhz) in [
            ("ht_core_in", 11.0, setup.link_mhz),
            ("ht_core_out", 7.0, setup.link_mhz),
            ("requester", 5.0, setup.user_mhz),
            ("network_port_out", 5.0, setup.user_mhz),
            ("network_port_in", 6.0, setup.user_mhz),
            ("completer", 5.0, setup.user_mhz),
        ] {
            let expected = cycles * cycle(mhz);
            assert!(
                (part(name) - expected).abs() < 0.01,
                "{name}: {}",
                part(name)
            );
        }
        assert!((part("cable") - 5.0).abs() < 0.01);
        // A frame: the payload and 8 bytes, 16 bits a clock or 400 MB/s.
        let bytes = payload as f64 + 8.0;
        let frame = match port {
            PortKind::Atoll => bytes / 2.0 * cycle(setup.user_mhz),
            PortKind::Sfp => bytes * 2.5,
        };
        assert!(
            (part("link_port") - frame).abs() < 0.01,
            "{}",
            part("link_port")
        );
        result.total.as_ns() / result.messages as f64
    };
    let paper = Setup::default();
    let wide = Setup {
        width_bits: 16,
        ..paper
    };
    let half = time(paper, PortKind::Atoll, 16);
    // As looped back in one host, except for the phase of the polls.
    let looped = hostwire_sim::experiments::htx_board::end_to_end(&paper).unwrap();
    assert!((half - looped.latency_ns).abs() < 30.0, "{half} {looped:?}");
    assert!(half < 750.0, "{half}");
    assert!(time(wide, PortKind::Atoll, 16) < half - 50.0);
    assert!(time(paper, PortKind::Sfp, 16) < half);
    assert!(time(paper, PortKind::Atoll, 64) > half + 300.0);
}
