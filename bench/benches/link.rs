//! The cost of the engine per packet and per frame, without any I/O.
#![forbid(unsafe_code)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use hostwire_link::{Config, Endpoint, Identity, LinkId, Node, Ns};
use hostwire_packet::ht::{Address, Dwords, PacketRepr, RequestRepr, UnitId};

/// Two endpoints with an open link between them.
struct Pair {
    a: Endpoint,
    b: Endpoint,
    link: LinkId,
    now: Ns,
}

fn endpoint(node: u32, peer: u32, frame_len_max: usize) -> (Endpoint, LinkId) {
    let config = Config {
        frame_len_max,
        ..Config::default()
    };
    let identity = Identity {
        node: Node(node),
        job: 1,
        incarnation: 1,
    };
    let mut endpoint = Endpoint::new(config, identity, node.into()).unwrap();
    let link = endpoint.link(Node(peer)).unwrap();
    endpoint.open(Ns(1), link).unwrap();
    (endpoint, link)
}

impl Pair {
    fn new(frame_len_max: usize) -> Self {
        let (a, link) = endpoint(1, 2, frame_len_max);
        let (b, _) = endpoint(2, 1, frame_len_max);
        let mut pair = Self {
            a,
            b,
            link,
            now: Ns(1),
        };
        for _ in 0..8 {
            pair.carry();
        }
        assert_eq!(pair.a.is_open(link), Ok(true));
        pair
    }

    /// Moves all frames that either end has to send, at once.
    fn carry(&mut self) -> usize {
        self.now = self.now.after(1_000);
        let mut frames = 0;
        frames += pass(self.now, &mut self.a, &mut self.b);
        frames += pass(self.now, &mut self.b, &mut self.a);
        frames
    }
}

fn pass(now: Ns, from: &mut Endpoint, to: &mut Endpoint) -> usize {
    let mut frames = 0;
    while let Some(transmit) = from.poll_transmit(now) {
        frames += 1;
        if let Ok(Some(delivery)) = to.receive(now, transmit.frame) {
            for packet in delivery.packets.clone() {
                black_box(packet);
            }
            to.release(now, delivery.link, delivery.filled()).unwrap();
        }
    }
    frames
}

/// A line accepted, packed and sent; frames are dropped, acks made up by a
/// clone of the peer would cost, so a fresh pair serves each round.
fn send_lines(c: &mut Criterion) {
    let pair = Pair::new(1500);
    let line = [0x5a; 64];
    let write = RequestRepr::posted_write(UnitId::MIN, Address::new(0x1000).unwrap(), Dwords::MAX);
    let packet = PacketRepr::new(write, &line).unwrap();
    let mut group = c.benchmark_group("engine");
    const LINES: u64 = 1_000;

    group.throughput(Throughput::Elements(LINES));
    group.bench_function("send_64B_line", |bench| {
        // The buffers of the frames exist, as in steady state.
        let mut warm = pair.a.clone();
        for _ in 0..LINES {
            warm.send(pair.link, &packet).unwrap();
        }
        bench.iter_batched_ref(
            || pair.a.clone(),
            |a| {
                for _ in 0..LINES {
                    a.send(pair.link, black_box(&packet)).unwrap();
                }
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

/// From `put` to the packets in the hands of the receiver, with acks and
/// credits going back: both ends on one core.
fn both_ends(c: &mut Criterion) {
    let mut group = c.benchmark_group("both_ends");
    let line = [0x5a; 64];
    for frame_len in [1500, 9000] {
        let mut pair = Pair::new(frame_len);
        const LINES: u64 = 500;
        group.throughput(Throughput::Elements(LINES));
        group.bench_function(format!("500_lines_mtu_{frame_len}"), |bench| {
            bench.iter(|| {
                for i in 0..LINES {
                    let put = pair.a.put(pair.link, i * 64, black_box(&line));
                    assert_eq!(put, Ok(64));
                }
                pair.a.flush(pair.link);
                while pair.carry() > 0 {}
            });
        });
        let megabyte = vec![7u8; 1 << 20];
        group.throughput(Throughput::Bytes(1 << 20));
        group.bench_function(format!("put_1MiB_mtu_{frame_len}"), |bench| {
            bench.iter(|| {
                let mut done = 0;
                while done < megabyte.len() {
                    match pair.a.put(pair.link, done as u64, &megabyte[done..]) {
                        Ok(len) => done += len,
                        Err(_) => {
                            pair.carry();
                        }
                    }
                }
                pair.a.flush(pair.link);
                while pair.carry() > 0 {}
            });
        });
    }
    let mut pair = Pair::new(1500);
    group.throughput(Throughput::Elements(1));
    group.bench_function("one_line_and_its_ack", |bench| {
        bench.iter(|| {
            pair.a.put(pair.link, 0, black_box(&line)).unwrap();
            let ticket = pair.a.ticket(pair.link).unwrap();
            while pair.a.progress(pair.link, ticket) != hostwire_link::Progress::Arrived {
                pair.carry();
            }
        });
    });
    group.finish();
}

criterion_group!(benches, send_lines, both_ends);
criterion_main!(benches);
