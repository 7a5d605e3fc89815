//! Copies between devices that are processes, over every kind of route.

use std::sync::Arc;

use hostwire::conformance::{Setup, random_copies};
use hostwire::settings::Devices;
use hostwire::tca::{Chain, Config, DeviceId, Spot, Stride, Tca};
use hostwire::{AgentMode, Error, Job, Layout, Sizes, TcaError};
use hostwire_frames::{LocalOptions, LocalWire};
use hostwire_testing::{left_out, need};
use hostwire_transport::conformance::{Program, Testbed, Threads, Wrapping, run_on_threads};
use hostwire_transport::shm::ShmOptions;
use hostwire_transport::{Visibility, Wire};
use rustix::process::{Pid, Signal, kill_process};

/// More than a piece on its way to another PE.
const AREA_BYTES: usize = 150_016;

fn over(fabric: &dyn Testbed, pes: &[u32], devices: Devices) {
    for pes in pes {
        random_copies(
            &Setup::new(fabric, *pes, AgentMode::Thread),
            devices,
            AREA_BYTES,
        );
    }
}

/// PEs are threads of this process, dealt out to hosts.
struct Hosts(u32);

impl Testbed for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let wire = LocalWire::Udp;
        let made =
            hostwire_frames::local(pes, self.0, segment_bytes, &wire, &LocalOptions::default());
        let made = made.expect("making the wire").into_iter();
        run_on_threads(made.map(|pe| pe.wires).collect(), program);
    }
}

#[test]
fn mapped() {
    over(&Threads::default(), &[1, 2, 3], Devices::Modelled(2));
}

#[test]
fn mapped_and_flushed() {
    let visibility = Visibility::Flushed;
    let threads = Threads {
        options: ShmOptions { visibility },
    };
    over(&threads, &[2], Devices::Modelled(1));
}

#[test]
fn carried() {
    let threads = Threads::default();
    let fabric = Wrapping::stores_only(&threads);
    over(&fabric, &[2, 3], Devices::Modelled(1));
}

#[test]
fn between_hosts() {
    over(&Hosts(2), &[3], Devices::Modelled(1));
}

#[test]
fn cuda() {
    match hostwire_device::cuda::count() {
        Ok(count) if count > 0 => over(&Threads::default(), &[1, 2], Devices::Cuda),
        Ok(_) => left_out(&need::CUDA, "the driver shows none"),
        Err(why) => left_out(&need::CUDA, why),
    }
}

#[test]
fn cuda_by_a_stand_in() {
    hostwire_testing::stand_in::repeat_with_cuda("cuda", "stand_in");
}

const SIZES: Sizes = Sizes {
    ring_bytes: 4096,
    heap_bytes: 64 << 20,
    ..Sizes::USUAL
};

/// A job of two PEs, each with so many devices.
fn pair(devices: u32, program: impl Fn(&Job, &Tca) + Sync) {
    let layout = Layout::new(2, SIZES).unwrap();
    Threads::default().run(2, layout.segment_bytes(), &|wire: Arc<dyn Wire>| {
        let job = Job::over(wire, SIZES, AgentMode::Thread).unwrap();
        let devices = Some(Devices::Modelled(devices));
        let tca = Tca::new(
            &job,
            Config {
                devices,
                ..Config::default()
            },
        )
        .unwrap();
        program(&job, &tca);
        job.barrier().unwrap();
        drop(tca);
        job.finalize().unwrap();
    });
}

fn exchanged(job: &Job, own: Spot) -> Spot {
    let mut all = [own; 2];
    job.all_gather(&[own], &mut all).unwrap();
    all[1 - job.pe() as usize]
}

#[test]
fn what_the_other_pe_does_not_have_is_told_by_it() {
    pair(1, |job, tca| {
        let device = DeviceId::new(0);
        // A PE that has never had memory of a device does not even take pieces.
        let own = tca.malloc(DeviceId::HOST, 8, 8).unwrap();
        let nothing = Spot::new(1 - job.pe(), device, 1 << 62);
        let refused = tca
            .stream()
            .memcpy_peer(nothing, own.spot(), 8)
            .unwrap_err();
        assert!(
            refused.to_string().contains("are not in memory that PE"),
            "{refused}"
        );
        job.barrier().unwrap();
        let memory = tca.malloc(device, 1000, 64).unwrap();
        let there = exchanged(job, memory.spot());
        let stream = tca.stream();
        for (to, len) in [
            (there.at(1), 1000),
            (Spot::new(there.pe(), DeviceId::new(3), there.address()), 8),
            (Spot::new(there.pe(), device, 64), 8),
        ] {
            stream.memcpy_peer(to, memory.spot(), len).unwrap();
            // This copy comes after the one that fails.
            stream.memcpy_peer(there, memory.spot(), 8).unwrap();
            let refused = stream.synchronize().unwrap_err();
            let Error::Tca(fault) = &refused else {
                panic!("{refused}");
            };
            assert!(matches!(**fault, TcaError::NotThere { .. }), "{refused}");
            assert!(refused.to_string().contains(&to.to_string()), "{refused}");
        }
        stream.memcpy_peer(there, memory.spot(), 1000).unwrap();
        stream.synchronize().unwrap();
        job.barrier().unwrap();
        drop(memory);
        job.barrier().unwrap();
        let own = tca.malloc(device, 8, 64).unwrap();
        stream.memcpy_peer(there, own.spot(), 8).unwrap();
        let gone = stream.synchronize().unwrap_err().to_string();
        assert!(gone.contains("are not in memory that PE"), "{gone}");
    });
}

/// The other PE waits for something after the copy, and so stores nothing here.
#[test]
fn a_wait_behind_a_copy_that_failed_ends() {
    pair(1, |job, tca| {
        let field = tca.malloc(DeviceId::new(0), 64, 64).unwrap();
        let words = tca.malloc(DeviceId::HOST, 8, 64).unwrap();
        let (to, word) = (exchanged(job, field.spot()), exchanged(job, words.spot()));
        let stream = tca.stream();
        if job.pe() == 0 {
            let name = tca.device_name(DeviceId::new(0)).unwrap();
            let number = name.rsplit(' ').next().unwrap().trim_end_matches(')');
            let pid = Pid::from_raw(number.parse().unwrap()).unwrap();
            kill_process(pid, Signal::KILL).unwrap();
            stream.memcpy_peer(to, field.spot(), 64).unwrap();
            let lost = |told| match told {
                Err(Error::Tca(why)) => matches!(*why, TcaError::Device { pe: 0, .. }),
                _ => false,
            };
            assert!(lost(words.wait_until(0, 1)));
            assert!(lost(stream.synchronize()));
        }
        job.barrier().unwrap();
        if job.pe() == 1 {
            stream.signal(word, 1).unwrap();
            stream.synchronize().unwrap();
        } else {
            // The error was reported.
            words.wait_until(0, 1).unwrap();
        }
    });
}

/// One PE is in a barrier when its copy has failed. The other waits for something after that copy.
#[test]
fn a_wait_of_another_pe_behind_a_copy_that_failed_ends() {
    pair(1, |job, tca| {
        let device = DeviceId::new(0);
        let field = tca.malloc(device, 64, 64).unwrap();
        let words = tca.malloc(DeviceId::HOST, 8, 64).unwrap();
        let (to, word) = (exchanged(job, field.spot()), exchanged(job, words.spot()));
        let stream = tca.stream();
        if job.pe() == 0 {
            // The copy ends beyond the allocated memory.
            stream.memcpy_peer(to.at(8), field.spot(), 64).unwrap();
            stream.signal(word, 1).unwrap();
        } else {
            let Err(Error::Tca(why)) = words.wait_until(0, 1) else {
                panic!("the copy before the signal was not done");
            };
            assert!(matches!(*why, TcaError::StreamFailed { pe: 0 }), "{why}");
        }
        job.barrier().unwrap();
        if job.pe() == 0 {
            let Err(Error::Tca(why)) = stream.synchronize() else {
                panic!("the other PE has no such memory");
            };
            assert!(matches!(*why, TcaError::NotThere { pe: 1, .. }), "{why}");
            stream.signal(word, 1).unwrap();
            stream.synchronize().unwrap();
        } else {
            words.wait_until(0, 1).unwrap();
        }
    });
}

/// Nobody can call `synchronize` any more.
#[test]
fn what_a_dropped_stream_has_failed_by_is_told_once() {
    pair(1, |job, tca| {
        let device = DeviceId::new(0);
        let field = tca.malloc(device, 64, 64).unwrap();
        let words = tca.malloc(DeviceId::HOST, 8, 64).unwrap();
        let (to, word) = (exchanged(job, field.spot()), exchanged(job, words.spot()));
        let lost = |told| match told {
            Err(Error::Tca(why)) => matches!(*why, TcaError::NotThere { pe: 1, .. }),
            _ => false,
        };
        if job.pe() == 0 {
            let to = to.at(8);
            tca.stream().memcpy_peer(to, field.spot(), 64).unwrap();
            assert!(lost(words.wait_until(0, 1)));
        }
        job.barrier().unwrap();
        match job.pe() {
            0 => words.wait_until(0, 1).unwrap(),
            _ => {
                let stream = tca.stream();
                stream.signal(word, 1).unwrap();
                stream.synchronize().unwrap();
            }
        }
    });
}

/// The chip has 255 descriptors; here a chain has as many as wanted, and is started again.
#[test]
fn a_long_chain_is_started_again() {
    pair(1, |job, tca| {
        let device = DeviceId::new(0);
        let (from, to) = (
            tca.malloc(DeviceId::HOST, 4000, 64).unwrap(),
            tca.malloc(device, 4000, 64).unwrap(),
        );
        let there = exchanged(job, to.spot());
        let words = tca.malloc(DeviceId::HOST, 8, 8).unwrap();
        let word = exchanged(job, words.spot());
        let mut chain = Chain::new();
        for number in 0..1000 {
            // Back to front.
            chain.copy(there.at(4 * (999 - number)), from.spot().at(4 * number), 4);
        }
        let prepared = tca.prepare(&chain).unwrap();
        assert_eq!(prepared.len_bytes(), 4000);
        let stream = tca.stream();
        for round in 1..=3_u64 {
            let numbers = (0..1000_u32).map(|number| number * round as u32 + job.pe());
            let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
            from.write(0, &bytes).unwrap();
            stream.start(&prepared).unwrap();
            stream.signal(word, round).unwrap();
            words.wait_until(0, round).unwrap();
            let mut got = vec![0; 4000];
            to.read(0, &mut got).unwrap();
            let expected = (0..1000_u32).rev().map(|n| n * round as u32 + 1 - job.pe());
            let expected: Vec<u8> = expected.flat_map(u32::to_le_bytes).collect();
            assert_eq!(got, expected);
            stream.synchronize().unwrap();
            job.barrier().unwrap();
        }
    });
}

/// A matrix of bytes, turned by a chain of block-stride transfers from device to device.
#[test]
fn blocks_turn_a_matrix() {
    pair(2, |job, tca| {
        let (a, b) = (DeviceId::new(0), DeviceId::new(1));
        let (from, to) = (
            tca.malloc(a, 36, 64).unwrap(),
            tca.malloc(b, 36, 64).unwrap(),
        );
        let there = exchanged(job, to.spot());
        let bytes: Vec<u8> = (0..36).collect();
        from.write(0, &bytes).unwrap();
        let mut chain = Chain::new();
        for row in 0..6 {
            let stride = Stride {
                block_bytes: 1,
                blocks: 6,
                to_step: 6,
                from_step: 1,
            };
            chain.block_stride(there.at(row), from.spot().at(6 * row), stride);
        }
        let stream = tca.stream();
        stream.start(&tca.prepare(&chain).unwrap()).unwrap();
        stream.synchronize().unwrap();
        job.barrier().unwrap();
        let mut got = [0; 36];
        to.read(0, &mut got).unwrap();
        let expected: Vec<u8> = (0..36).map(|at| at % 6 * 6 + at / 6).collect();
        assert_eq!(got[..], expected);
    });
}

#[test]
fn many_threads_use_streams_of_their_own() {
    pair(1, |job, tca| {
        let memory = tca.malloc(DeviceId::new(0), 4 * 40_000, 64).unwrap();
        let there = exchanged(job, memory.spot());
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                scope.spawn(move || {
                    let own = tca.malloc(DeviceId::HOST, 40_000, 64).unwrap();
                    let stream = tca.stream();
                    for round in 0..10 {
                        own.write(0, &[thread as u8 * 10 + round; 40_000]).unwrap();
                        let to = there.at(thread * 40_000);
                        stream.memcpy_peer(to, own.spot(), 40_000).unwrap();
                        stream.synchronize().unwrap();
                    }
                });
            }
        });
        job.barrier().unwrap();
        let mut got = vec![0; 4 * 40_000];
        memory.read(0, &mut got).unwrap();
        let expected = (0..4_u8).flat_map(|thread| [thread * 10 + 9; 40_000]);
        assert!(got.into_iter().eq(expected));
    });
}
