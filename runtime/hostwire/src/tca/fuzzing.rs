//! A check of what other PEs store for the copies of this one: pieces for its devices, with their heads, and
//! acknowledgements of its own pieces. `qa/fuzzing` runs it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostwire_device::{Device, DeviceError, Export, Kind, Ticket};
use hostwire_transport::fuzzing::kit::{Input, Script, Seeds, Target, blames, mark, named};
use hostwire_transport::fuzzing::wire::ScriptedWire;
use hostwire_transport::{Memory, PeId};

use super::buffer::Buffer;
use super::devices::Devices;
use super::door::{Door, HEAD_WORDS, Head, Outcome, SLOTS};
use super::shared::TcaShared;
use super::spot::{DeviceId, Spot};
use super::stream::Stream;
use crate::layout::{Layout, Sizes};
use crate::{AgentMode, Job};

/// A script of steps, each by or about PE 1 or 2. The memory of device 0, the pool of host memory and the
/// acknowledgements are compared with the same pieces done by hand.
///
/// | byte, modulo 4 | arguments | |
/// |---|---|---|
/// | 0 | PE, device, length, offset, fill | a piece for a device |
/// | 1 | PE, offset, value | a word for the pool |
/// | 2 | PE, number, 3 words | any head; number 0 is the right one |
/// | 3 | PE, length, offset, acknowledgement | a piece of this PE for device 0 of that one, and what that says |
pub(crate) const TARGET: Target = Target {
    name: "tca_pieces",
    check,
    seeds,
    cost: 8,
};

const PES: u32 = 3;
const SIZES: Sizes = Sizes {
    ring_bytes: 256,
    heap_bytes: 8 << 20,
    ..Sizes::USUAL
};
const POOL_BYTES: usize = 8192;
const DEVICE_BYTES: usize = 4096;
/// The address at which the memory of the device begins.
const DEVICE_AT: u64 = 1 << 20;
const STEPS_MAX: usize = 64;

/// A device that makes each copy at once.
#[derive(Debug)]
struct Plain(Mutex<(Ticket, Vec<u8>)>);

impl Plain {
    fn state(&self) -> MutexGuard<'_, (Ticket, Vec<u8>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(
        &self,
        at: u64,
        len: usize,
        copy: impl FnOnce(&mut [u8]),
    ) -> hostwire_device::Result<Option<Ticket>> {
        let (last, memory) = &mut *self.state();
        let start = (at.wrapping_sub(DEVICE_AT)) as usize;
        let end = start.checked_add(len);
        let bytes = end.and_then(|end| memory.get_mut(start..end));
        // The library has checked the range.
        copy(bytes.expect("bytes of the device"));
        *last += 1;
        Ok(Some(*last))
    }
}

impl Device for Plain {
    fn name(&self) -> String {
        "a device".into()
    }

    fn kind(&self) -> Kind {
        Kind::Modelled
    }

    fn piece_bytes_max(&self) -> usize {
        1 << 20
    }

    fn allocate(&self, len: usize, _: usize) -> hostwire_device::Result<u64> {
        self.state().1 = vec![0; len];
        Ok(DEVICE_AT)
    }

    fn release(&self, _: u64) -> hostwire_device::Result<()> {
        Ok(())
    }

    fn write(
        &self,
        to: u64,
        from: &Memory,
        offset: usize,
        len: usize,
    ) -> hostwire_device::Result<Option<Ticket>> {
        let copy = |bytes: &mut [u8]| from.copy_out(offset, bytes).expect("landing memory");
        self.with(to, len, copy)
    }

    fn read(
        &self,
        from: u64,
        into: &Memory,
        offset: usize,
        len: usize,
    ) -> hostwire_device::Result<Option<Ticket>> {
        let copy = |bytes: &mut [u8]| into.copy_in(offset, bytes).expect("staging memory");
        self.with(from, len, copy)
    }

    fn copy(&self, _: u64, _: u64, _: usize) -> hostwire_device::Result<Option<Ticket>> {
        unreachable!("nothing is copied within a device here")
    }

    fn finished(&self) -> hostwire_device::Result<Ticket> {
        Ok(self.state().0)
    }

    fn wait(&self, _: Ticket, _: Duration, _: Duration) {}

    fn export(&self, _: u64) -> hostwire_device::Result<Export> {
        Err(DeviceError::Refused {
            what: "naming its memory".into(),
            why: "it is in this process".into(),
        })
    }

    fn open(&self, _: &Export, _: usize) -> hostwire_device::Result<u64> {
        unreachable!("nobody has named memory")
    }

    fn close(&self, _: u64) {}
}

/// A PE with a device, and its expected state.
struct Bench {
    wire: Arc<ScriptedWire>,
    shared: Arc<TcaShared>,
    plain: Arc<Plain>,
    /// The only memory of the device.
    there: Spot,
    device: Vec<u8>,
    pool: Vec<u8>,
    /// By PE, the number of its last piece here, and of the last piece of this PE for it.
    taken: [u64; PES as usize],
    sent: [u64; PES as usize],
}

fn check(bytes: &[u8]) {
    let layout = Layout::new(PES, SIZES).expect("sizes of a job");
    let peers = Box::new(|_: &_| true);
    let wire = Arc::new(ScriptedWire::new(PES, layout.segment_bytes(), true, peers));
    let job = Job::over(Arc::clone(&wire) as _, SIZES, AgentMode::Polled).expect("a job");
    let inner = &job.inner;
    let door = Door::new(inner, layout.heap(), POOL_BYTES);
    let (first, len) = door.range();
    assert!(
        first + len <= layout.segment_bytes(),
        "the heap is too small"
    );
    let plain = Arc::new(Plain(Mutex::default()));
    let devices = Devices::of(inner, vec![Arc::clone(&plain) as _]);
    devices.go_through(door);
    let shared = TcaShared::new(inner, door, devices);
    let memory = Buffer::allocate(&shared, DeviceId::new(0), DEVICE_BYTES, 64);
    let memory = memory.expect("memory of the device");
    let source = Buffer::allocate(&shared, DeviceId::HOST, POOL_BYTES / 2, 64);
    let source = source.expect("half of the pool");
    for pe in 1..PES {
        let serving = wire.memory_of(pe).put_word(door.serving(), 1);
        serving.expect("a word of the segment");
    }
    let mut bench = Bench {
        wire,
        there: memory.spot(),
        device: vec![0; DEVICE_BYTES],
        pool: vec![0; POOL_BYTES],
        shared: Arc::clone(&shared),
        plain,
        taken: [0; PES as usize],
        sent: [0; PES as usize],
    };
    let mut input = Input::new(bytes);
    for _ in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        let step = input.byte() % 4;
        let pe = PeId::from(input.byte() % 2 + 1);
        match step {
            0 => bench.piece(pe, &mut input),
            1 => {
                let (at, value) = (input.number(), input.number());
                bench.head(pe, 0, Head::Signal { at, value }.words());
            }
            2 => {
                let number = input.number();
                let words = [input.number(), input.number(), input.number()];
                bench.head(pe, number, words);
            }
            _ => bench.send(pe, source.spot(), &mut input),
        }
        bench.agrees();
    }
}

impl Bench {
    fn door(&self) -> &Door {
        &self.shared.door
    }

    /// A peer puts a piece for a device.
    fn piece(&mut self, pe: PeId, input: &mut Input<'_>) {
        let device = u32::from(input.byte() % 4) / 3;
        let (len, offset) = (input.number(), input.number());
        let fill = input.byte();
        let slot = ((self.taken[pe as usize] + 1) % SLOTS as u64) as usize;
        let landing = self.door().landing(pe, slot);
        let most = len.min(self.door().piece_bytes as u64) as usize;
        let own = self.wire.memory_of(0);
        own.put(landing, &vec![fill; most]).expect("landing memory");
        let head = Head::Write {
            device,
            len: len as u32,
            address: self.there.address().wrapping_add(offset),
        };
        self.head(pe, 0, head.words());
    }

    /// A peer stores a head, which is looked at.
    fn head(&mut self, pe: PeId, number: u64, words: [u64; HEAD_WORDS]) {
        let next = self.taken[pe as usize] + 1;
        let number = if number == 0 { next } else { number };
        let slot = (next % SLOTS as u64) as usize;
        let at = self.door().head(pe, slot);
        let own = self.wire.memory_of(0);
        for (index, word) in words.into_iter().enumerate() {
            let put = own.put_word(at + 8 + 8 * index, word);
            put.expect("a word of the head");
        }
        own.put_word(at, number).expect("its first word");
        self.shared.help().expect("no PE is lost");
        if number != next {
            mark("another number");
            return;
        }
        let outcome = self.by_hand(pe, slot, words);
        mark(&format!("{outcome:?}"));
        let ack = self.door().ack(0, slot);
        let said = self.wire.memory_of(pe).load_word(ack);
        assert_eq!(said, Ok(outcome.of(next)), "{words:?}");
        self.taken[pe as usize] = next;
    }

    /// Does by hand what a head asks for.
    fn by_hand(&mut self, pe: PeId, slot: usize, [kind, second, third]: [u64; 3]) -> Outcome {
        match kind {
            1 => {
                let (device, len) = (second as u32, (second >> 32) as usize);
                let Some(at) = third.checked_sub(self.there.address()) else {
                    return Outcome::NotThere;
                };
                let landing = self.door().landing(pe, slot);
                let end = at.saturating_add(len as u64);
                if device != 0 || end > DEVICE_BYTES as u64 {
                    return Outcome::NotThere;
                }
                let bytes = &mut self.device[at as usize..end as usize];
                let got = self.wire.memory_of(0).get(landing, bytes);
                got.expect("landing memory");
                Outcome::Done
            }
            2 if third.is_multiple_of(8) && third < POOL_BYTES as u64 => {
                let at = third as usize;
                self.pool[at..at + 8].copy_from_slice(&second.to_ne_bytes());
                Outcome::Done
            }
            _ => Outcome::NotThere,
        }
    }

    /// This PE copies to the device of a peer. The peer stores any acknowledgement, and then the right one.
    fn send(&mut self, pe: PeId, from: Spot, input: &mut Input<'_>) {
        let len = input.number() as usize % (POOL_BYTES / 2) + 1;
        let to = Spot::new(pe, DeviceId::new(0), input.number());
        let word = input.number();
        let stream = Stream::new(&self.shared);
        if let Err(error) = stream.memcpy_peer(to, from, len) {
            return blames(error, &["PE 1", "PE 2"]);
        }
        let number = self.sent[pe as usize] + 1;
        self.sent[pe as usize] = number;
        let slot = (number % SLOTS as u64) as usize;
        let theirs = self.wire.memory_of(pe);
        assert_eq!(theirs.load_word(self.door().head(0, slot)), Ok(number));
        let mut got = vec![0; len];
        let landed = theirs.get(self.door().landing(0, slot), &mut got);
        landed.expect("landing memory of the peer");
        let first = (from.address()) as usize;
        assert!(
            got == self.pool[first..first + len],
            "other bytes have landed"
        );
        let own = self.wire.memory_of(0);
        let ack = self.door().ack(pe, slot);
        let says = |word| own.put_word(ack, word).expect("an acknowledgement");
        says(word);
        let is_number = word << 8 >> 8 == number;
        let expected = is_number && matches!(word >> 56, 1..=3);
        assert_eq!(stream.is_done().expect("no PE is lost"), expected);
        if !expected {
            mark("no outcome");
            says(Outcome::Done.of(number));
        }
        match stream.synchronize() {
            Ok(()) => assert!(!expected || word >> 56 == 1),
            Err(error) => {
                assert!(expected && word >> 56 != 1, "{error}");
                blames(error, &["PE 1", "PE 2"]);
            }
        }
    }

    /// Compares memory with the expected state.
    fn agrees(&self) {
        assert!(
            self.plain.state().1 == self.device,
            "memory of the device differs"
        );
        let mut pool = vec![0; POOL_BYTES];
        let got = self.wire.memory_of(0).get(self.door().pool, &mut pool);
        got.expect("the pool");
        assert!(pool == self.pool, "the pool differs");
    }
}

fn seeds() -> Seeds {
    let piece = |device: u8, len: u64, offset: u64| {
        let script = Script::new().bytes(&[0, 0, device]);
        script.number(len).number(offset).byte(7).done()
    };
    let word = |at: u64| Script::new().bytes(&[1, 0]).number(at).number(5).done();
    let head = |number: u64, words: [u64; 3]| {
        let script = Script::new().bytes(&[2, 1]).number(number);
        words.into_iter().fold(script, Script::number).done()
    };
    let sent = |offset: u64, word: u64| {
        let script = Script::new().bytes(&[3, 1]).number(100);
        script.number(offset).number(word).done()
    };
    let many = (0..2 * SLOTS).flat_map(|_| piece(0, 64, 128)).collect();
    named(vec![
        ("piece", piece(0, 100, 8)),
        ("piece_to_the_end", piece(0, 4096, 0)),
        ("piece_beyond", piece(0, 4096, 1)),
        ("piece_of_no_bytes", piece(0, 0, 4096)),
        ("piece_longer_than_landing", piece(0, 1 << 31, 0)),
        ("piece_for_another_device", piece(3, 8, 0)),
        ("piece_before", piece(0, 8, 0_u64.wrapping_sub(8))),
        ("more_than_slots", many),
        ("word", word(8)),
        ("word_odd", word(4)),
        ("word_last", word(POOL_BYTES as u64 - 8)),
        ("word_beyond", word(POOL_BYTES as u64)),
        ("another_number", head(9, [1, 0, 0])),
        ("unknown_kind", head(0, [3, 0, 0])),
        ("sent", sent(64, Outcome::Done.of(1))),
        ("sent_nowhere", sent(64, Outcome::NotThere.of(1))),
        ("sent_and_failed", sent(64, Outcome::Failed.of(1))),
        ("sent_and_unknown", sent(64, 4 << 56 | 1)),
        ("sent_and_another", sent(64, Outcome::Done.of(9))),
        ("sent_behind_all", sent(u64::MAX, 0)),
    ])
}
