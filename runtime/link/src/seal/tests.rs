use proptest::prelude::*;

use super::*;

const A: End = End {
    node: Node(3),
    life: Life([0xaa; 16]),
};
const B: End = End {
    node: Node(0x104),
    life: Life([0xbb; 16]),
};
/// The shortest frame that an endpoint sends.
const FRAME: &[u8] = &[
    0x12, 1, 0, 7, 0, 5, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

fn job() -> JobKey {
    JobKey::new(core::array::from_fn(|i| i as u8))
}

/// Numbers in plain memory, and what a copy of the process would find in their place.
#[derive(Debug, Default)]
struct Counted {
    next: u64,
    is_copy: bool,
    /// The process is copied after the next number.
    is_copied_next: bool,
}

impl Numbers for Counted {
    fn next(&mut self, _: Node) -> Option<u64> {
        let number = self.next;
        self.next = number.checked_add(1)?;
        let given = (!self.is_copy).then_some(number);
        self.is_copy |= self.is_copied_next;
        given
    }

    fn is_copy(&self) -> bool {
        self.is_copy
    }
}

type Sealer = Seals<Counted>;

fn seals(key: &JobKey, own: End, peer: End) -> Sealer {
    let peers = (0..=peer.node.0).map(|node| (node == peer.node.0).then_some(peer.life));
    Seals::new(key, own, peers, Counted::default())
}

fn pair() -> (Sealer, Sealer) {
    (seals(&job(), A, B), seals(&job(), B, A))
}

fn seal(from: &mut Sealer, to: End, frame: &[u8]) -> Vec<u8> {
    let mut sealed = vec![0; frame.len() + OVERHEAD];
    assert_eq!(from.seal(to.node, frame, &mut sealed), Ok(sealed.len()));
    sealed
}

fn open(to: &mut Sealer, sealed: &[u8]) -> Result<Vec<u8>, DropCause> {
    let mut bytes = sealed.to_vec();
    to.open(&mut bytes).map(|(node, frame)| {
        assert_eq!(node, A.node);
        frame.to_vec()
    })
}

/// Made with Python: `hmac` for the keys, `cryptography` (OpenSSL) for AES-GCM.
#[test]
fn known_answers() {
    let (mut a, mut b) = pair();
    for (number, expected) in [
        (0_u64, KNOWN[0]),
        (1, KNOWN[1]),
        // The first of the second key.
        (1 << FRAMES_PER_KEY_LOG2, KNOWN[2]),
    ] {
        a.numbers.next = number;
        let sealed = seal(&mut a, B, FRAME);
        let hex: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected, "{number}");
        assert_eq!(open(&mut b, &sealed).unwrap(), FRAME);
    }
}

const KNOWN: [&str; 3] = [
    "150000000000010400000003000000000000000024be16b6f7f377f96d5dfa5457128dba\
     450133ee865f62cb7d685c56a5d0112d3c9d1b78",
    "1500000000000104000000030000000000000001ee360ce94041e71dde79973f935d90f5\
     2d6edb009d6cbf1bf1fe246e397b932ec0667c11",
    "15000000000001040000000300000000010000005b2ec4bd30a293f71e9951fd7053529f\
     d97122421937bd5aa07fc3af50cfb4a5e0229e5a",
];

#[test]
fn every_bit_counts() {
    let (mut a, mut b) = pair();
    let sealed = seal(&mut a, B, FRAME);
    for bit in 0..sealed.len() * 8 {
        let mut damaged = sealed.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&mut b, &damaged).is_err(), "bit {bit}");
    }
    for len in 0..sealed.len() {
        let cause = open(&mut b, &sealed[..len]).unwrap_err();
        let short = len < OVERHEAD;
        assert_eq!(cause == DropCause::Truncated, short, "{len} bytes");
    }
    let longer = [&sealed[..], &[0]].concat();
    assert_eq!(open(&mut b, &longer), Err(DropCause::Forged));
    assert_eq!(open(&mut b, &sealed).unwrap(), FRAME);
    assert_eq!(open(&mut b, &sealed), Err(DropCause::Replayed));
}

#[test]
fn other_frames_are_told_apart() {
    let (mut a, mut b) = pair();
    assert_eq!(
        open(&mut b, &[FRAME, FRAME].concat()),
        Err(DropCause::Unsealed)
    );
    // Back to its sender.
    let sealed = seal(&mut a, B, FRAME);
    assert_eq!(open(&mut a, &sealed), Err(DropCause::Foreign));
    // From a node that b does not know.
    let stranger = End { node: Node(2), ..A };
    let sealed = seal(&mut seals(&job(), stranger, B), B, FRAME);
    assert_eq!(open(&mut b, &sealed), Err(DropCause::Foreign));
    // Another job, another life of either end.
    let other_job = JobKey::new([7; 32]);
    let reborn = |end: End| End {
        life: Life([1; 16]),
        ..end
    };
    for mut from in [
        seals(&other_job, A, B),
        seals(&job(), reborn(A), B),
        seals(&job(), A, reborn(B)),
    ] {
        let sealed = seal(&mut from, B, FRAME);
        assert_eq!(open(&mut b, &sealed), Err(DropCause::Forged));
    }
}

#[test]
fn a_frame_sent_again_is_another_frame() {
    let (mut a, mut b) = pair();
    let first = seal(&mut a, B, FRAME);
    let again = seal(&mut a, B, FRAME);
    assert_ne!(first, again);
    assert_eq!(open(&mut b, &again).unwrap(), FRAME);
    assert_eq!(open(&mut b, &first).unwrap(), FRAME);
}

#[test]
fn keys_change_and_late_frames_still_open() {
    let (mut a, mut b) = pair();
    let change = 1 << FRAMES_PER_KEY_LOG2;
    let at = |a: &mut Sealer, number| {
        a.numbers.next = number;
        seal(a, B, FRAME)
    };
    let far = at(&mut a, 2 * change + 5);
    let new = at(&mut a, change);
    let late = at(&mut a, change - 1);
    // Two keys ahead: no peer has sent so many frames in the meantime.
    assert_eq!(open(&mut b, &far), Err(DropCause::Forged));
    // A forged number of the next key must not end the present one.
    let mut forged = new.clone();
    forged[30] ^= 1;
    assert_eq!(open(&mut b, &forged), Err(DropCause::Forged));
    let early = at(&mut a, change - 3);
    assert_eq!(open(&mut b, &early).unwrap(), FRAME);
    assert_eq!(open(&mut b, &new).unwrap(), FRAME);
    assert_eq!(open(&mut b, &late).unwrap(), FRAME);
    assert_eq!(open(&mut b, &late), Err(DropCause::Replayed));
    assert_eq!(open(&mut b, &far).unwrap(), FRAME);
}

#[test]
fn who_asks_for_the_impossible_is_told() {
    let (mut a, _) = pair();
    let mut out = [0; 100];
    assert_eq!(
        a.seal(A.node, FRAME, &mut out),
        Err(SealError::NoPeer(A.node))
    );
    let short = SealError::BufferTooSmall {
        expected_bytes: 56,
        got_bytes: 55,
    };
    assert_eq!(a.seal(B.node, FRAME, &mut out[..55]), Err(short));
    a.numbers.next = u64::MAX;
    let exhausted = SealError::Exhausted(B.node);
    assert_eq!(a.seal(B.node, FRAME, &mut out), Err(exhausted));
}

#[test]
fn a_copy_of_the_process_seals_nothing() {
    let (mut a, _) = pair();
    let first = seal(&mut a, B, FRAME);
    a.numbers.is_copy = true;
    let mut out = [0; 100];
    assert_eq!(a.seal(B.node, FRAME, &mut out), Err(SealError::Copied));
    // No byte of a frame is written under the next number, which belongs to the original process.
    a.numbers = Counted {
        next: 0,
        is_copy: false,
        is_copied_next: true,
    };
    assert_eq!(a.seal(B.node, FRAME, &mut out), Err(SealError::Copied));
    assert_ne!(out[..first.len()], first[..]);
    assert_eq!(out, [0; 100]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// In any order, with any frame twice: each opens once, with its own bytes.
    #[test]
    fn any_order(order in prop::collection::vec(0_usize..40, 1..120)) {
        let (mut a, mut b) = pair();
        let frames: Vec<Vec<u8>> = (0..40_u8).map(|n| vec![n; 20 + usize::from(n) * 11]).collect();
        let sealed: Vec<Vec<u8>> = frames.iter().map(|frame| seal(&mut a, B, frame)).collect();
        let mut seen = [false; 40];
        for which in order {
            let expected = match core::mem::replace(&mut seen[which], true) {
                false => Ok(frames[which].clone()),
                true => Err(DropCause::Replayed),
            };
            prop_assert_eq!(open(&mut b, &sealed[which]), expected);
        }
    }

    /// Any bytes are refused, also after the beginning of a real frame.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), keep in 0_usize..60) {
        let (mut a, mut b) = pair();
        prop_assert!(open(&mut b, &bytes).is_err());
        let sealed = seal(&mut a, B, FRAME);
        let keep = keep.min(sealed.len() - 1);
        let mixed = [&sealed[..keep], &bytes[..]].concat();
        prop_assume!(mixed != sealed);
        prop_assert!(open(&mut b, &mixed).is_err());
    }
}

/// Each node chooses its own number for the other, and 0 for itself.
#[test]
fn nodes_that_number_each_other_themselves_read_each_other() {
    let key = job();
    let ends = [A, B];
    let called = |number| Called {
        own: Node(number),
        peer: Node(0),
    };
    let alone = || Sealer::alone(Node(0), Counted::default());
    let (mut a, mut b) = (alone(), alone());
    let other = A.node;
    assert_eq!(
        a.seal(other, FRAME, &mut [0; 99]),
        Err(SealError::NoPeer(other))
    );
    // B is 5 for A, and A is 2 for B.
    a.join(Node(5), called(2), &key, ends);
    b.join(Node(2), called(5), &key, [B, A]);
    for _ in 0..3 {
        let mut sealed = vec![0; FRAME.len() + OVERHEAD];
        a.seal(Node(5), FRAME, &mut sealed).unwrap();
        assert_eq!(b.open(&mut sealed), Ok((Node(2), FRAME)));
        let mut sealed = vec![0; FRAME.len() + OVERHEAD];
        b.seal(Node(2), FRAME, &mut sealed).unwrap();
        assert_eq!(a.open(&mut sealed), Ok((Node(5), FRAME)));
        // They meet a second time: numbers continue, and old frames are not accepted again.
        a.join(Node(5), called(2), &key, ends);
    }
    let mut sealed = vec![0; FRAME.len() + OVERHEAD];
    a.seal(Node(5), FRAME, &mut sealed).unwrap();
    let mut again = sealed.clone();
    assert!(b.open(&mut sealed).is_ok());
    assert_eq!(b.open(&mut again), Err(DropCause::Replayed));
}
