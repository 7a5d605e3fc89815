//! The wire `ether` against bare frames through the same kind of socket, in one run, in
//! turn: two ends of a virtual cable, one thread each on a core of its own, spinning.
//!
//! ```text
//! cargo bench -p hostwire-bench --bench ether
//! ```
//!
//! Needs root, iproute2 and util-linux. Run it on a machine that does nothing else.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_frames::limits::{BareEther, flood, frames_per_second, ping_pong};
use hostwire_frames::{
    Address, Ether, EtherOptions, Interface, PacketSocket, Roster, Secrets, Socket,
};
use hostwire_link::seal::{JobKey, Life};
use hostwire_transport::limits::Side;
use hostwire_transport::{Memory, Visibility, Window, Wire};

/// Says that the network is its own.
const ALONE: &str = "--alone";
const BARE_TYPE: u16 = 0x88b6;
const WIRE_TYPE: u16 = 0x88b5;
const SEGMENT_BYTES: usize = 4 << 20;
const ROUNDS: u64 = 20_000;
const TURNS: usize = 7;
const HALF: usize = 2 << 20;

fn main() {
    // Again in a network of its own, where the cable goes with it.
    if !std::env::args().any(|argument| argument == ALONE) {
        let mut again = Command::new("unshare");
        again.arg("--net").arg(std::env::current_exe().unwrap());
        panic!("unshare: {}", again.arg(ALONE).exec());
    }
    let mtu = std::env::var("MTU").unwrap_or_else(|_| "1500".into());
    for arguments in [
        "link add left type veth peer name right".to_owned(),
        format!("link set left mtu {mtu} up"),
        format!("link set right mtu {mtu} up"),
    ] {
        let done = Command::new("ip").args(arguments.split(' ')).status();
        assert!(done.unwrap().success(), "ip {arguments}");
    }
    let ends = ["left", "right"].map(|name| Interface::choose(Some(name)).unwrap());
    let mut tables: Vec<Vec<(&str, f64)>> = Vec::new();
    for _ in 0..TURNS {
        let mut row = both(|side| bare(&ends, side));
        row.extend(both(|side| wire(&ends, side, false)));
        row.extend(both(|side| wire(&ends, side, true)));
        tables.push(row);
    }
    for (column, (name, _)) in tables[0].iter().enumerate() {
        let mut values: Vec<f64> = tables.iter().map(|row| row[column].1).collect();
        values.sort_by(f64::total_cmp);
        let (median, least, most) = (values[TURNS / 2], values[0], values[TURNS - 1]);
        println!("{name:34} {median:12.1} ({least:.1} to {most:.1})");
    }
}

/// Runs both sides on threads; what the first returns.
fn both<T: Send>(run: impl Fn(Side) -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let run = &run;
        let on = |side, cpu| {
            scope.spawn(move || {
                let mut set = rustix::thread::CpuSet::new();
                set.set(cpu);
                rustix::thread::sched_setaffinity(None, &set).unwrap();
                run(side)
            })
        };
        let (first, second) = (on(Side::First, 0), on(Side::Second, 1));
        second.join().unwrap();
        first.join().unwrap()
    })
}

/// `-- latency`: for a profile.
fn latency_only() -> bool {
    std::env::args().any(|argument| argument == "latency")
}

fn number(side: Side) -> usize {
    usize::from(side == Side::Second)
}

fn bare(ends: &[Interface; 2], side: Side) -> Vec<(&'static str, f64)> {
    let own = &ends[number(side)];
    let peer = ends[1 - number(side)].station;
    let mut end = BareEther::open(own, BARE_TYPE, peer).unwrap();
    // The other end may not be ready yet.
    std::thread::sleep(Duration::from_millis(50));
    ping_pong(&mut end, side, 64, 200).unwrap();
    let half = ping_pong(&mut end, side, 64, ROUNDS).unwrap();
    let full = end.frame_len_max();
    let (mut bytes, mut frames) = (0.0, 0.0);
    if !latency_only() {
        bytes = flood(&mut end, side, full, 50_000).unwrap();
        frames = frames_per_second(&mut end, side, 72, 100_000).unwrap();
    }
    vec![
        ("bare: half round trip, ns", half),
        ("bare: flood, MB/s", bytes / 1e6),
        ("bare: short frames, thousands/s", frames / 1e3),
    ]
}

fn wire(ends: &[Interface; 2], side: Side, sealed: bool) -> Vec<(&'static str, f64)> {
    let pe = number(side) as u32;
    let own = &ends[number(side)];
    let socket = PacketSocket::open(own, WIRE_TYPE, pe, 1).unwrap();
    let memory = Memory::anonymous(SEGMENT_BYTES);
    let segment = Window::own(memory, Visibility::Coherent).unwrap();
    let mut peers: Vec<Option<Address>> = ends
        .iter()
        .map(|end| Some(Address::Station(end.station)))
        .collect();
    peers[number(side)] = None;
    let roster = Roster {
        host: pe,
        host_of: Arc::new([0, 1]),
        job: 1,
        peers,
        secrets: sealed.then(|| Secrets {
            key: JobKey::new([3; 32]),
            lives: vec![Life([9; 16]); 2],
        }),
    };
    let options = EtherOptions::default();
    let deadline = Instant::now() + Duration::from_secs(10);
    let wire = Ether::connect(
        vec![segment],
        Socket::of(socket),
        &roster,
        &options,
        deadline,
    )
    .unwrap();
    let half = put_ping_pong(&wire, side);
    let (mut bytes, mut rate) = (0.0, 0.0);
    if !latency_only() {
        bytes = put_stream(&wire, side, 1 << 20, 40, true);
        rate = put_stream(&wire, side, 64, 300_000, false);
    }
    let names: [&str; 3] = match sealed {
        false => [
            "insecure: half round trip, ns",
            "insecure: 1 MiB puts, MB/s",
            "insecure: 64 B puts, thousands/s",
        ],
        true => [
            "sealed: half round trip, ns",
            "sealed: 1 MiB puts, MB/s",
            "sealed: 64 B puts, thousands/s",
        ],
    };
    let values = [half, bytes / 1e6, rate / 1e3];
    names.into_iter().zip(values).collect()
}

/// Waits until a word of the own segment is `value`.
fn wait_for(wire: &Ether, at: usize, value: u64) {
    let mut looks = 0_u64;
    while wire.segment().load_word(at) != Ok(value) {
        wire.poll().unwrap();
        looks += 1;
        assert!(looks < 1 << 30, "lost");
    }
}

fn put_ping_pong(wire: &Ether, side: Side) -> f64 {
    let at = 4096;
    let mut payload = [7_u8; 64];
    let mut round_trips = |first: u64, count: u64| {
        for round in first..first + count {
            payload[..8].copy_from_slice(&round.to_ne_bytes());
            match side {
                Side::First => {
                    wire.store(1, at, &payload).unwrap();
                    wait_for(wire, at, round);
                }
                Side::Second => {
                    wait_for(wire, at, round);
                    wire.store(0, at, &payload).unwrap();
                }
            }
        }
    };
    round_trips(1, 200);
    let begin = Instant::now();
    round_trips(201, ROUNDS);
    begin.elapsed().as_nanos() as f64 / ROUNDS as f64 / 2.0
}

/// Puts per second, or bytes, until the last has arrived.
fn put_stream(wire: &Ether, side: Side, len: usize, count: usize, bytes: bool) -> f64 {
    let done = 8192;
    let value = len as u64;
    if side == Side::Second {
        wait_for(wire, done, value);
        wire.store_word(0, done, value).unwrap();
        return 0.0;
    }
    let data = vec![5; len];
    let begin = Instant::now();
    for put in 0..count {
        let at = if bytes { HALF } else { HALF + put % 1024 * 64 };
        wire.store(1, at, &data).unwrap();
    }
    wire.quiet().unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    wire.store_word(1, done, value).unwrap();
    wait_for(wire, done, value);
    let count = if bytes { count * len } else { count };
    count as f64 / seconds
}
