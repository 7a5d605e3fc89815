//! Which wire is asked for what, and in which order: both write down what they are asked.

use std::sync::Mutex;

use super::*;
use crate::shm::{ShmOptions, local_part};

const PES: u32 = 3;
const LONG_BYTES: usize = 1000;

/// What wires were asked, in its order.
type Asked = Arc<Mutex<Vec<String>>>;

/// A wire from PE 0 to some others that stores nothing.
struct Noted {
    name: &'static str,
    asked: Asked,
    window: Window,
    leads_to: &'static [PeId],
    reads: bool,
}

impl Noted {
    fn note(&self, what: &str) -> Result<(), TransportError> {
        self.asked
            .lock()
            .unwrap()
            .push(format!("{} {what}", self.name));
        Ok(())
    }
}

impl Transport for Noted {
    fn pe(&self) -> PeId {
        0
    }

    fn pes(&self) -> u32 {
        PES
    }

    fn segment(&self) -> &Window {
        &self.window
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        let far = match self.reads {
            true => Route::Read { from_bytes: 0 },
            false => Route::Carried,
        };
        match pe {
            0 => Some(Route::Mapped(self.window.clone())),
            _ => self.leads_to.contains(&pe).then_some(far),
        }
    }

    fn offload(&self) -> Option<&dyn Offload> {
        self.reads.then_some(self)
    }

    fn store(&self, pe: PeId, _: usize, src: &[u8]) -> Result<(), TransportError> {
        self.note(&format!("store {pe} {}", src.len()))
    }

    fn store_word(&self, pe: PeId, _: usize, _: u64) -> Result<(), TransportError> {
        self.note(&format!("word {pe}"))
    }

    fn store_line(&self, pe: PeId, _: usize, _: u64, _: &[u8]) -> Result<(), TransportError> {
        self.note(&format!("line {pe}"))
    }

    fn fence(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.note("quiet")
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        self.note(&format!("quiet {pe}"))
    }

    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        Ok(pe != 2)
    }

    fn finish(&self) {
        self.note("finish").unwrap();
    }

    fn poll(&self) -> Result<bool, TransportError> {
        self.note("poll").map(|()| false)
    }

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits::SHARED
    }
}

impl Offload for Noted {
    fn get(&self, pe: PeId, _: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        self.note(&format!("get {pe} {}", dst.len()))
    }

    fn atomic(&self, pe: PeId, _: Request) -> Result<u64, TransportError> {
        self.note(&format!("atomic {pe}")).map(|()| 0)
    }
}

/// Both wires lead to PE 1, and only the short one to PE 2.
fn both() -> (ByLength, Asked) {
    let asked = Asked::default();
    let shm = local_part(PES, &[0], 1 << 16, ShmOptions::default()).unwrap();
    let window = shm.first().unwrap().segment().clone();
    let noted = |name, leads_to, reads| {
        Arc::new(Noted {
            name,
            asked: Arc::clone(&asked),
            window: window.clone(),
            leads_to,
            reads,
        })
    };
    let (short, long) = (noted("short", &[1, 2], false), noted("long", &[0, 1], true));
    (ByLength::new(short, long, LONG_BYTES).unwrap(), asked)
}

/// What was asked since this was called last.
fn told(asked: &Asked) -> Vec<String> {
    std::mem::take(&mut *asked.lock().unwrap())
}

fn put(wire: &ByLength, pe: PeId, len_bytes: usize) {
    wire.store(pe, 4096, &vec![0; len_bytes]).unwrap();
}

/// To where no long put goes.
fn put_aside(wire: &ByLength, pe: PeId) {
    wire.store(pe, 0, &[0; 8]).unwrap();
}

#[test]
fn each_store_goes_by_the_wire_for_its_length() {
    let (wire, asked) = both();
    put(&wire, 1, LONG_BYTES - 1);
    assert_eq!(told(&asked), ["short store 1 999"]);
    put(&wire, 1, LONG_BYTES);
    assert_eq!(told(&asked), ["short quiet 1", "long store 1 1000"]);
    put(&wire, 2, LONG_BYTES);
    put(&wire, 0, LONG_BYTES);
    let place = Place::Registered(SegmentId::new(3).unwrap(), 0);
    let registered = place.offset().unwrap() as usize;
    wire.store(1, registered, &[0; LONG_BYTES]).unwrap();
    wire.store_line(1, 64, 0, &[]).unwrap();
    assert_eq!(
        told(&asked),
        [
            "short store 2 1000",
            "short store 0 1000",
            "short store 1 1000",
            "short line 1"
        ]
    );
}

#[test]
fn words_wait_for_long_puts_to_the_same_pe() {
    let (wire, asked) = both();
    put(&wire, 1, LONG_BYTES);
    wire.store_word(2, 4096, 1).unwrap();
    wire.store_word(1, 4096, 1).unwrap();
    wire.signal_word(1, 4096, 1).unwrap();
    assert_eq!(
        told(&asked),
        [
            "short quiet 1",
            "long store 1 1000",
            "short word 2",
            "long quiet 1",
            "short word 1",
            "short word 1"
        ]
    );
}

#[test]
fn short_stores_behind_a_fence_wait_for_long_puts() {
    for is_of_all in [true, false] {
        let (wire, asked) = both();
        let fence = || match is_of_all {
            true => wire.fence().unwrap(),
            false => wire.fence_of(1).unwrap(),
        };
        fence();
        put(&wire, 1, LONG_BYTES);
        let _ = told(&asked);
        put_aside(&wire, 1);
        fence();
        // The first was before the fence, though not this one.
        put(&wire, 1, LONG_BYTES);
        put_aside(&wire, 1);
        wire.store_line(1, 64, 0, &[]).unwrap();
        assert_eq!(
            told(&asked),
            [
                "short store 1 8",
                "short quiet 1",
                "long store 1 1000",
                "long quiet 1",
                "short store 1 8",
                "short line 1"
            ]
        );
    }
}

#[test]
fn short_stores_wait_for_long_puts_of_the_same_bytes() {
    let (wire, asked) = both();
    wire.store(1, 4096, &[0; LONG_BYTES]).unwrap();
    wire.store(1, 8192, &[0; LONG_BYTES]).unwrap();
    let _ = told(&asked);
    wire.store(1, 4092, &[0; 4]).unwrap();
    wire.store(1, 8192 + LONG_BYTES, &[0; 4]).unwrap();
    assert_eq!(told(&asked), ["short store 1 4"; 2]);
    wire.store(1, 8192 + LONG_BYTES - 1, &[0; 4]).unwrap();
    assert_eq!(told(&asked), ["long quiet 1", "short store 1 4"]);
    wire.store(1, 4096, &[0; LONG_BYTES]).unwrap();
    let _ = told(&asked);
    wire.store(1, 8192, &[0; 4]).unwrap();
    assert_eq!(told(&asked), ["short store 1 4"]);
    wire.store_line(1, 4096 - 4, 0, &[]).unwrap();
    assert_eq!(told(&asked), ["long quiet 1", "short line 1"]);
}

#[test]
fn quiet_is_of_both() {
    let (wire, asked) = both();
    wire.quiet().unwrap();
    put(&wire, 1, LONG_BYTES);
    wire.quiet().unwrap();
    wire.quiet_of(1).unwrap();
    put(&wire, 1, LONG_BYTES);
    wire.quiet_of(2).unwrap();
    wire.quiet_of(1).unwrap();
    wire.store_word(1, 4096, 1).unwrap();
    assert_eq!(
        told(&asked),
        [
            "short quiet",
            "short quiet 1",
            "long store 1 1000",
            "short quiet",
            "long quiet",
            "short quiet 1",
            "short quiet 1",
            "long store 1 1000",
            "short quiet 2",
            "short quiet 1",
            "long quiet 1",
            "short word 1"
        ]
    );
}

#[test]
fn long_gets_are_those_of_the_long_wire() {
    let (wire, asked) = both();
    let from = |pe| match wire.route(pe) {
        Some(Route::Read { from_bytes }) => Some(from_bytes),
        _ => None,
    };
    assert_eq!([0, 1, 2].map(from), [None, Some(LONG_BYTES), None]);
    let offload = wire.offload().unwrap();
    offload.get(1, 4096, &mut [0; LONG_BYTES]).unwrap();
    assert_eq!(told(&asked), ["short quiet 1", "long get 1 1000"]);
    // Whoever asks has not looked at the route.
    offload.get(1, 4096, &mut [0; 8]).unwrap_err();
    offload.get(2, 4096, &mut [0; LONG_BYTES]).unwrap_err();
}

#[test]
fn the_end_is_first_said_by_the_long_wire() {
    let (wire, asked) = both();
    wire.finish();
    assert_eq!(told(&asked), ["long finish", "short finish"]);
    assert_eq!(wire.is_alive(2), Ok(false));
    let short: Arc<dyn Transport> = Arc::new(wire);
    let watch = EndsSeenBy(short);
    assert_eq!([1, 2].map(|pe| watch.has_ended(pe)), [false, true]);
    assert!(watch.notices(1));
}

#[test]
fn the_long_wire_is_looked_at_now_and_then() {
    let (wire, asked) = both();
    for _ in 0..POLLS_BETWEEN_LOOKS {
        wire.poll().unwrap();
    }
    let looks = |name| told(&asked).iter().filter(|it| **it == name).count();
    assert_eq!(looks("long poll"), 1);
}

#[test]
fn wires_of_different_pes_are_refused() {
    let (wire, _) = both();
    let other = local_part(2, &[0], 1 << 16, ShmOptions::default()).unwrap();
    let other = Arc::new(other.into_iter().next().unwrap());
    let refused = ByLength::new(Arc::new(wire), other, LONG_BYTES).err();
    assert!(matches!(refused, Some(TransportError::Misused { .. })));
}
