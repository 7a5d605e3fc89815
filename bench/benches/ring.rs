//! The cost of the code of a ring when no line has to cross the machine: one thread
//! sends to itself. `hostwire bench` measures the rest.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hostwire_transport::Wire;
use hostwire_transport::ring::{
    CreditInlet, Inlet, Outlet, RingReceiver, RingSender, Slots, Taken, WordOutlet,
};
use hostwire_transport::shm::{ShmOptions, local};
use hostwire_transport::window::FIRST_FREE_OFFSET_BYTES;

const RING_OFFSET: usize = FIRST_FREE_OFFSET_BYTES;
const CREDIT_OFFSET: usize = FIRST_FREE_OFFSET_BYTES;
const RING_BYTES: usize = 4096;

fn ring(criterion: &mut Criterion) {
    let slots = Slots::of_bytes(RING_BYTES).expect("a valid size");
    let wires: Vec<Arc<dyn Wire>> = local(2, RING_OFFSET + RING_BYTES, ShmOptions::default())
        .expect("shared memory")
        .into_iter()
        .map(|wire| Arc::new(wire) as Arc<dyn Wire>)
        .collect();
    let mut sender = RingSender::new(
        Outlet::new(&wires[0], 1, RING_OFFSET, slots).expect("room"),
        CreditInlet::new(wires[0].segment(), CREDIT_OFFSET).expect("room"),
        1,
        slots,
    );
    let mut receiver = RingReceiver::new(
        Inlet::new(wires[1].segment(), RING_OFFSET, slots).expect("room"),
        WordOutlet::new(&wires[1], 0, CREDIT_OFFSET).expect("room"),
        0,
        slots,
    );
    let mut group = criterion.benchmark_group("ring");
    for size in [8, 56, 64, 1024] {
        let payload = vec![7; size];
        let mut out = vec![0; size];
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(format!("send and take {size} B"), |bencher| {
            bencher.iter(|| {
                let sent = sender.try_send(1, 9, black_box(&payload));
                assert_eq!(sent, Ok(true));
                let taken = receiver.take_now(1, 9, 1, black_box(&mut out));
                assert_eq!(taken, Ok(Taken::All(size)));
                receiver.return_credit().expect("a mapped wire");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, ring);
criterion_main!(benches);
