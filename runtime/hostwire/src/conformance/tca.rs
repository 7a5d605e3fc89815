//! Copies between memory of hosts and devices.

use super::{Random, Setup};
use crate::settings::Devices;
use crate::tca::{Buffer, Chain, Config, DeviceId, Spot, Stride, Tca};
use crate::{Job, PeId};

/// Copies, block-stride transfers, chains and signals among the host memory of all PEs, against arrays.
pub fn copies_follow_the_model(setup: &Setup<'_>) {
    random_copies(setup, Devices::None, 4096);
}

/// As [`copies_follow_the_model`], with devices. Not in the table: each is a process. `area_bytes`, a multiple
/// of 64, is how much a PE may write of a buffer of another one.
pub fn random_copies(setup: &Setup<'_>, devices: Devices, area_bytes: usize) {
    setup.job(|job| {
        let config = Config {
            host_bytes: area_bytes * (job.pes() as usize + 1) + (64 << 10),
            devices: Some(devices),
        };
        let tca = Tca::new(job, config).unwrap();
        let mut run = Run::new(job, &tca, area_bytes);
        for round in 1..=4 {
            run.round(round);
        }
        job.barrier().unwrap();
    });
}

/// What a PE has in each memory: an area of its own, and one for each PE that writes there.
struct Run<'a> {
    job: &'a Job,
    tca: &'a Tca,
    area_bytes: usize,
    /// By device, the host last.
    buffers: Vec<Buffer>,
    /// Of all PEs.
    spots: Vec<Vec<Spot>>,
    /// What all PEs have, as arrays say.
    model: Vec<Vec<Vec<u8>>>,
    /// A line for each PE.
    signals: Buffer,
    words: Vec<Spot>,
}

/// Where blocks of a copy lie.
struct Part {
    device: usize,
    at: usize,
}

impl<'a> Run<'a> {
    fn new(job: &'a Job, tca: &'a Tca, area_bytes: usize) -> Self {
        let pes = job.pes() as usize;
        let devices = (0..tca.devices())
            .map(DeviceId::new)
            .chain([DeviceId::HOST]);
        let len = area_bytes * (pes + 1);
        let buffers: Vec<_> = devices
            .map(|device| tca.malloc(device, len, 64).unwrap())
            .collect();
        let own: Vec<_> = buffers.iter().map(Buffer::spot).collect();
        let mut spots = vec![own[0]; own.len() * pes];
        job.all_gather(&own, &mut spots).unwrap();
        let signals = tca.malloc(DeviceId::HOST, 64 * pes, 64).unwrap();
        let mut words = vec![signals.spot(); pes];
        job.all_gather(&[signals.spot()], &mut words).unwrap();
        let model = vec![vec![vec![0; len]; own.len()]; pes];
        Self {
            job,
            tca,
            area_bytes,
            spots: spots.chunks(own.len()).map(<[Spot]>::to_vec).collect(),
            buffers,
            model,
            signals,
            words,
        }
    }

    /// Each PE fills its own areas, copies from there to areas that others keep for it, and signals; then it
    /// copies what came to it to its own areas.
    fn round(&mut self, round: u64) {
        let me = self.job.pe();
        for pe in 0..self.job.pes() {
            for device in 0..self.buffers.len() {
                let mut random = Random::new(round << 32 | u64::from(pe) << 8 | device as u64);
                let at = random.below(self.area_bytes);
                let len = random_len(&mut random, self.area_bytes - at);
                let bytes = random.bytes(len);
                self.model[pe as usize][device][at..at + bytes.len()].copy_from_slice(&bytes);
                if pe == me {
                    self.buffers[device].write(at, &bytes).unwrap();
                }
            }
        }
        // No PE copies from there any more: each has seen this by itself.
        for pe in 0..self.job.pes() {
            let seed = round << 32 | u64::from(pe) << 8 | 0xff;
            self.copy_to_others(pe, &mut Random::new(seed), round);
        }
        for pe in 0..self.job.pes() {
            self.signals.wait_until(64 * pe as usize, round).unwrap();
        }
        self.check(round);
        self.job.barrier().unwrap();
        for pe in 0..self.job.pes() {
            let seed = round << 32 | u64::from(pe) << 8 | 0xfe;
            self.copy_to_oneself(pe, &mut Random::new(seed));
        }
        self.check(round);
        self.job.barrier().unwrap();
    }

    fn spot(&self, pe: PeId, part: &Part) -> Spot {
        self.spots[pe as usize][part.device].at(part.at as u64)
    }

    /// Does in arrays what a copy does.
    fn model(
        &mut self,
        (from_pe, from): (PeId, &Part),
        (to_pe, to): (PeId, &Part),
        stride: Stride,
    ) {
        for block in 0..stride.blocks {
            let at = from.at + (block * stride.from_step) as usize;
            let bytes = &self.model[from_pe as usize][from.device][at..];
            let bytes = bytes[..stride.block_bytes as usize].to_vec();
            let at = to.at + (block * stride.to_step) as usize;
            self.model[to_pe as usize][to.device][at..at + bytes.len()].copy_from_slice(&bytes);
        }
    }

    fn copy_to_others(&mut self, pe: PeId, random: &mut Random, round: u64) {
        let stream = self.tca.stream();
        let area = self.area_bytes;
        let mut chain = Chain::new();
        // Wires may make chains of whole words themselves.
        let grain = if round.is_multiple_of(2) { 4 } else { 1 };
        for _ in 0..12 {
            let at = |random: &mut Random| random.below(area) / grain * grain;
            let (from_at, to_at) = (at(random), at(random));
            let to_pe = random.below(self.spots.len()) as PeId;
            let from = Part {
                device: random.below(self.buffers.len()),
                at: from_at,
            };
            let to = Part {
                device: random.below(self.buffers.len()),
                at: area * (1 + pe as usize) + to_at,
            };
            let room = area - from_at.max(to_at);
            let len = random_len(random, room);
            let blocks = 1 + random.below(3) as u64;
            let block_bytes = (len as u64 / blocks).max(u64::from(room > 0));
            let block_bytes = block_bytes.next_multiple_of(grain as u64);
            let stride = match block_bytes * blocks <= room as u64 {
                true => Stride {
                    block_bytes,
                    blocks,
                    to_step: room as u64 / blocks / grain as u64 * grain as u64,
                    from_step: block_bytes,
                },
                false => continue,
            };
            let ways = random.below(3);
            self.model((pe, &from), (to_pe, &to), stride);
            if pe != self.job.pe() {
                continue;
            }
            let (to, from) = (self.spot(to_pe, &to), self.spot(pe, &from));
            chain.block_stride(to, from, stride);
            if ways > 0 {
                stream.start(&self.tca.prepare(&chain).unwrap()).unwrap();
                chain = Chain::new();
            }
        }
        if pe == self.job.pe() {
            for word in &self.words {
                chain.signal(word.at(64 * u64::from(pe)), round);
            }
            stream.start(&self.tca.prepare(&chain).unwrap()).unwrap();
            stream.synchronize().unwrap();
            assert!(stream.is_done().unwrap());
        }
    }

    /// From areas of others to the own one: memory that copies of others have just written.
    fn copy_to_oneself(&mut self, pe: PeId, random: &mut Random) {
        let area = self.area_bytes;
        for _ in 0..4 {
            let at = random.below(area);
            let len = random_len(random, area - at);
            let of = random.below(self.spots.len());
            let from = Part {
                device: random.below(self.buffers.len()),
                at: area * (1 + of) + at,
            };
            let to = Part {
                device: random.below(self.buffers.len()),
                at,
            };
            let stride = Stride {
                block_bytes: len as u64,
                blocks: 1,
                to_step: 0,
                from_step: 0,
            };
            self.model((pe, &from), (pe, &to), stride);
            if pe == self.job.pe() {
                let (to, from) = (self.spot(pe, &to), self.spot(pe, &from));
                self.tca.memcpy_peer(to, from, len).unwrap();
            }
        }
    }

    fn check(&self, round: u64) {
        let me = self.job.pe() as usize;
        for (device, buffer) in self.buffers.iter().enumerate() {
            let mut got = vec![0xee; buffer.len()];
            buffer.read(0, &mut got).unwrap();
            let differs = got
                .iter()
                .zip(&self.model[me][device])
                .position(|(a, b)| a != b);
            assert_eq!(differs, None, "PE {me}, {}, round {round}", buffer.device());
        }
    }
}

fn random_len(random: &mut Random, room: usize) -> usize {
    let most = [1, 9, 64, 700, room][random.below(5)].min(room);
    random.below(most + 1)
}

/// Impossible copies are refused before anything is copied, and the error says who is at fault.
pub fn impossible_copies_are_refused(setup: &Setup<'_>) {
    setup.job(|job| {
        let config = Config {
            host_bytes: 8192,
            devices: Some(Devices::None),
        };
        let tca = Tca::new(job, config).unwrap();
        let memory = tca.malloc(DeviceId::HOST, 100, 1).unwrap();
        let (stream, spot) = (tca.stream(), memory.spot());
        let says = |result: crate::Result<()>, text: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        };
        says(
            stream.memcpy_peer(spot, spot.at(1), 100),
            "not in an allocation of this PE",
        );
        says(
            stream.memcpy_peer(spot.at(8100), spot, 100),
            "has allocated for this",
        );
        says(stream.signal(spot.at(4), 1), "no word to wait for");
        says(
            tca.prepare(&Chain::new()).map(|_| ()),
            "without descriptors",
        );
        says(
            tca.malloc(DeviceId::HOST, 1, 3).map(|_| ()),
            "expected a power of two",
        );
        says(tca.malloc(DeviceId::HOST, 9000, 1).map(|_| ()), "are free");
        says(tca.malloc(DeviceId::new(0), 8, 1).map(|_| ()), "PE ");
        let nobody = Spot::new(job.pes(), DeviceId::HOST, 0);
        says(stream.memcpy_peer(nobody, spot, 1), "there is no PE");
        if job.pes() > 1 {
            let other = Spot::new((job.pe() + 1) % job.pes(), DeviceId::HOST, 0);
            says(
                stream.memcpy_peer(spot, other, 1),
                "only writes cross between PEs",
            );
        }
        // A started chain keeps its memory, and a copy of no bytes gives it back when it is done.
        let mut chain = Chain::new();
        chain.copy(spot, spot, 0);
        stream.start(&tca.prepare(&chain).unwrap()).unwrap();
        drop(memory);
        says(
            stream.memcpy_peer(spot, spot, 1),
            "not in an allocation of this PE",
        );
        stream.synchronize().unwrap();
        let all = tca.malloc(DeviceId::HOST, 8192, 64).unwrap();
        assert_eq!(all.len(), 8192);
        job.barrier().unwrap();
    });
}

/// A word that another PE stores starts what a stream has.
pub fn a_word_starts_a_stream(setup: &Setup<'_>) {
    setup.job(|job| {
        let config = Config {
            host_bytes: 4096,
            devices: Some(Devices::None),
        };
        let tca = Tca::new(job, config).unwrap();
        let memory = tca.malloc(DeviceId::HOST, 256, 64).unwrap();
        let mut spots = vec![memory.spot(); job.pes() as usize];
        job.all_gather(&[memory.spot()], &mut spots).unwrap();
        let (me, right) = (job.pe(), super::right(job));
        let there = spots[right as usize];
        let stream = tca.stream();
        // PE 0 begins; each waits for its word and passes it on behind a byte.
        memory.write(128, &[me as u8 + 1]).unwrap();
        stream.wait_value(spots[me as usize].at(64), 1).unwrap();
        stream
            .memcpy_peer(there.at(129), memory.spot().at(128), 1)
            .unwrap();
        if right != 0 {
            stream.signal(there.at(64), 1).unwrap();
        } else {
            stream.signal(there, 1).unwrap();
        }
        job.barrier().unwrap();
        if me == 0 {
            assert!(!stream.is_done().unwrap());
            tca.stream().signal(spots[0].at(64), 1).unwrap();
        }
        stream.synchronize().unwrap();
        if me == 0 {
            memory.wait_until(0, 1).unwrap();
            let mut got = [0];
            memory.read(129, &mut got).unwrap();
            assert_eq!(u32::from(got[0]), job.pes());
        }
        job.barrier().unwrap();
    });
}
