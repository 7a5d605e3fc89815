//! Applies the contents of frames to the memory of the PEs of this host.

use hostwire_link::{Endpoint, LinkId, Misbehaviour, Misuse, Node, Ns};
use hostwire_packet::ht::{ControlRepr, PacketRepr, PlainWrite, RequestKind, Write, WriteMode};
use hostwire_packet::htoe::CarriedPackets;
use hostwire_transport::window::Window;

use super::own::{Found, Own};

const WORD_BYTES: usize = 8;
const LINE_BYTES: usize = 64;

/// Gives a frame to the endpoint, with its maker if known, and applies what it delivers. A peer that requests something
/// that no correct peer requests is cut off. The endpoint counts and drops frames that are wrong in another way. A
/// sleeping PE is woken once for consecutive stores: a system call for each packet would cost more than all other work
/// for it.
pub(super) fn take_frame(
    endpoint: &mut Endpoint,
    own: &Own,
    now: Ns,
    maker: Option<Node>,
    frame: &[u8],
) {
    let mut delivered = take_one(endpoint, own, now, maker, frame);
    while let Some(early) = delivered.and_then(|link| endpoint.take_early(link)) {
        delivered = take_one(endpoint, own, now, maker, &early);
    }
}

/// The link on which the frame delivered something.
#[inline]
fn take_one(
    endpoint: &mut Endpoint,
    own: &Own,
    now: Ns,
    maker: Option<Node>,
    frame: &[u8],
) -> Option<LinkId> {
    let delivery = endpoint.receive_from(now, maker, frame).ok()??;
    let link = delivery.link;
    let mut packets = delivery.packets.clone();
    // Frames of nothing but credits come back for every few frames sent; they wake nobody.
    let mut bells = Bells::default();
    let applied = apply_all(own, &mut packets, &mut bells);
    bells.ring();
    if let Err(why) = applied {
        endpoint.cut_off(now, link, Misbehaviour::Misuse(why));
        return None;
    }
    let released = endpoint.release(now, link, delivery.filled());
    debug_assert_eq!(released, Ok(()));
    Some(link)
}

/// The PE of the last store, if it has not been told yet.
#[derive(Debug, Default)]
pub(crate) struct Bells<'a> {
    owner: Option<&'a Window>,
}

impl<'a> Bells<'a> {
    /// A store to memory of this PE follows: rings the previous PE if it is another one.
    #[inline]
    fn stores_to(&mut self, owner: Option<&'a Window>) {
        let is_same = match (self.owner, owner) {
            (Some(before), Some(now)) => core::ptr::eq(before, now),
            _ => false,
        };
        if !is_same {
            self.ring();
            self.owner = owner;
        }
    }

    #[inline]
    fn ring(&mut self) {
        if let Some(owner) = self.owner.take() {
            owner.notify();
        }
    }
}

fn apply_all<'a>(
    own: &'a Own,
    packets: &mut CarriedPackets<'_>,
    bells: &mut Bells<'a>,
) -> Result<(), Misuse> {
    loop {
        // Nearly all packets.
        while let Some(PlainWrite { address, data }) = packets.next_plain() {
            store_lines(own, address, data, bells)?;
        }
        match packets.next() {
            Some(packet) => apply(own, &packet, bells)?,
            None => return Ok(()),
        }
    }
}

/// Applies one packet: a posted write to an address of this host.
pub(crate) fn apply<'a>(
    own: &'a Own,
    packet: &PacketRepr<'_>,
    bells: &mut Bells<'a>,
) -> Result<(), Misuse> {
    let ControlRepr::Request(request) = packet.control() else {
        return Err(Misuse::NoRequest);
    };
    let RequestKind::Write(Write {
        mode: WriteMode::Posted { .. },
        ..
    }) = request.kind
    else {
        return Err(Misuse::NoPostedWrite);
    };
    for (address, run) in hostwire_link::put::runs(packet) {
        let found = own.find(address).ok_or(Misuse::Outside)?;
        bells.stores_to(found.owner);
        store(found.window, found.at, run)?;
    }
    Ok(())
}

/// Stores bytes of one line, or many whole lines, in order.
#[inline]
pub(crate) fn store_lines<'a>(
    own: &'a Own,
    address: u64,
    lines: &[u8],
    bells: &mut Bells<'a>,
) -> Result<(), Misuse> {
    let Found {
        window,
        mut at,
        owner,
    } = own.find(address).ok_or(Misuse::Outside)?;
    bells.stores_to(owner);
    let (whole, _) = lines.as_chunks::<LINE_BYTES>();
    // Nearly all long runs.
    if whole.len() > 1
        && whole.as_flattened().len() == lines.len()
        && window.put_lines_unannounced(at, whole)
    {
        return Ok(());
    }
    for line in lines.chunks(LINE_BYTES) {
        store(window, at, line)?;
        // The stored bytes end within the segment, so this does not overflow.
        at += line.len();
    }
    Ok(())
}

/// Stores one run after all earlier stores. If a run begins a line, its first word is stored last, because it may be
/// the header of the line.
fn store(window: &Window, at: usize, run: &[u8]) -> Result<(), Misuse> {
    let memory = window.memory();
    if memory.range(at, run.len()).is_err() {
        return Err(Misuse::Outside);
    }
    let stored = match run.split_first_chunk::<WORD_BYTES>() {
        Some((word, [])) if memory.is_aligned(at, WORD_BYTES) => put_word(window, at, *word),
        Some((word, behind)) if memory.is_aligned(at, LINE_BYTES) => {
            put(window, at + WORD_BYTES, behind) && put_word(window, at, *word)
        }
        _ => put(window, at, run),
    };
    if stored { Ok(()) } else { Err(Misuse::Outside) }
}

fn put(window: &Window, at: usize, run: &[u8]) -> bool {
    window.visibility().store_fence();
    window.put_unannounced(at, run).is_ok()
}

fn put_word(window: &Window, at: usize, word: [u8; WORD_BYTES]) -> bool {
    window
        .put_word_unannounced(at, u64::from_ne_bytes(word))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use core::ptr::NonNull;
    use std::sync::Arc;

    use hostwire_address::{JobMap, Place, SegmentId};
    use hostwire_link::{CloseReason, Config, Identity, LinkId};
    use hostwire_packet::ht::MASKED_LEN_MAX;
    use hostwire_transport::error::PeId;
    use hostwire_transport::memory::Memory;
    use hostwire_transport::visibility::Visibility;

    use super::super::ended_pes::{End, EndedPes};
    use super::*;

    const SEGMENT_BYTES: usize = 8192;

    /// The memory of one PE of three.
    fn own_of(pe: PeId) -> Own {
        let window = Window::new(Memory::anonymous(SEGMENT_BYTES), Visibility::Coherent).unwrap();
        let map = JobMap::new(3, SEGMENT_BYTES as u64).unwrap();
        let ended = EndedPes::alone(3).unwrap();
        Own::new([(pe, window)], ended, map).unwrap()
    }

    /// The segments of the only PE.
    fn segments(own: &Own) -> &Window {
        let addresses = [0, FIRST];
        let mut found = addresses.iter().filter_map(|address| own.find(*address));
        found.next().unwrap().window
    }

    fn own() -> Own {
        own_of(1)
    }

    /// The first address of PE 1.
    const FIRST: u64 = SEGMENT_BYTES as u64;

    fn apply_put(own: &Own, address: u64, data: &[u8]) -> Result<(), Misuse> {
        let mut done = 0;
        while done < data.len() {
            let mut scratch = [0; MASKED_LEN_MAX];
            let at = address + done as u64;
            let rest = &data[done..];
            let (packet, len) = hostwire_link::put::first_packet(at, rest, &mut scratch).unwrap();
            apply(own, &packet, &mut Bells::default())?;
            done += len;
        }
        Ok(())
    }

    #[test]
    fn puts_of_every_alignment_and_length() {
        let own = own();
        let window = segments(&own);
        let data: Vec<u8> = (1..=200).collect();
        for offset in 0..70 {
            for len in 1..=130 {
                let mut expected = vec![0xaa; 300];
                window.put(4096, &expected).unwrap();
                expected[offset..offset + len].copy_from_slice(&data[..len]);
                apply_put(&own, FIRST + 4096 + offset as u64, &data[..len]).unwrap();
                let mut got = vec![0; 300];
                window.get(4096, &mut got).unwrap();
                assert_eq!(got, expected, "{len} bytes at {offset}");
            }
        }
    }

    #[test]
    fn nothing_is_stored_outside_of_the_segments() {
        let own = own();
        let end = FIRST + SEGMENT_BYTES as u64;
        for (at, len) in [
            (0, 1),
            (FIRST - 4, 8),
            (end, 1),
            (end - 4, 64),
            (end - 1, 2),
            // The table of the host, and the bytes after it.
            (FIRST + 2 * SEGMENT_BYTES as u64 + 24, 9),
            (FIRST + 2 * SEGMENT_BYTES as u64 + 32, 1),
            (1 << 40, 8),
            (u64::MAX - 7, 8),
        ] {
            let stored = apply_put(&own, at, &[7; 64][..len]);
            assert_eq!(stored, Err(Misuse::Outside), "{at}");
        }
        assert_eq!(apply_put(&own, end - 8, &[1; 8]), Ok(()));
    }

    #[test]
    fn the_pes_of_a_host_are_told_of_their_stores_and_its_table_is_written() {
        let map = JobMap::new(4, SEGMENT_BYTES as u64).unwrap();
        let window =
            || Window::new(Memory::anonymous(SEGMENT_BYTES), Visibility::Coherent).unwrap();
        let windows = [1, 3].map(|pe| (pe, window()));
        let ended = EndedPes::alone(4).unwrap();
        let own = Own::new(windows.clone(), ended.clone(), map).unwrap();
        let address = |pe: u64| pe * SEGMENT_BYTES as u64 + 4096;
        let mut bells = Bells::default();
        for pe in [1, 3, 3, 1] {
            store_lines(&own, address(pe), &[pe as u8; 64], &mut bells).unwrap();
        }
        for (pe, window) in &windows {
            let mut got = [0; 64];
            window.get(4096, &mut got).unwrap();
            assert_eq!(got, [*pe as u8; 64]);
        }
        for window in windows.iter().map(|(_, window)| window) {
            window.doorbell().arm(core::time::Duration::ZERO);
        }
        let mut bells = Bells::default();
        store_lines(&own, address(1), &[9; 8], &mut bells).unwrap();
        assert!(!windows[0].1.is_awake(), "more may follow");
        store_lines(&own, address(3), &[9; 8], &mut bells).unwrap();
        assert!(windows[0].1.is_awake() && !windows[1].1.is_awake());
        let table = map.host_table().start.0;
        let died = u64::to_ne_bytes(2);
        store_lines(&own, table + 8, &died, &mut bells).unwrap();
        assert!(windows[1].1.is_awake(), "nobody sleeps on the table");
        assert_eq!(ended.end_of(0), Some(End::Died));
        for outside in [address(0), address(2), table + 5 * 8] {
            let stored = store_lines(&own, outside, &died, &mut bells);
            assert_eq!(stored, Err(Misuse::Outside), "{outside}");
        }
        assert!(Own::new(windows.into_iter().rev(), ended, map).is_err());
    }

    #[test]
    fn registered_memory_of_any_alignment_is_stored_to() {
        let mut own = own();
        let [segment, other] = [5, 6].map(|number| SegmentId::new(number).unwrap());
        let whole = Memory::anonymous(256);
        let base = NonNull::new(whole.range(3, 200).unwrap()).unwrap();
        // SAFETY: 200 bytes of `whole`, which is kept alive and gives nobody a reference.
        let memory = unsafe { Memory::new(base, 200, Arc::new(Kept(whole.clone()))) };
        own.register(segment, Window::registered(memory.clone()));
        let map = JobMap::new(2, SEGMENT_BYTES as u64).unwrap();
        let address = |segment, offset| {
            let place = Place::Registered(segment, offset);
            map.address(1, place).unwrap().0
        };
        let data: Vec<u8> = (1..=200).collect();
        assert_eq!(apply_put(&own, address(segment, 0), &data), Ok(()));
        assert_eq!(apply_put(&own, address(segment, 61), &[9; 8]), Ok(()));
        let mut expected = data;
        expected[61..69].fill(9);
        let mut got = vec![0; 200];
        memory.copy_out(0, &mut got).unwrap();
        assert_eq!(got, expected);
        for outside in [address(segment, 200), address(other, 0)] {
            assert_eq!(apply_put(&own, outside, &[7]), Err(Misuse::Outside));
        }
        own.unregister(segment);
        assert_eq!(
            apply_put(&own, address(segment, 0), &[7]),
            Err(Misuse::Outside)
        );
    }

    struct Kept(#[expect(dead_code, reason = "kept alive")] Memory);

    impl hostwire_transport::memory::Backing for Kept {}

    #[test]
    fn who_stores_to_a_station_finds_its_segment_and_nothing_else() {
        let window = Window::new(Memory::anonymous(SEGMENT_BYTES), Visibility::Coherent).unwrap();
        let map = JobMap::new(1, SEGMENT_BYTES as u64).unwrap();
        let own = Own::of_station(window.clone(), map).unwrap();
        assert_eq!(apply_put(&own, 4096, &[7; 64]), Ok(()));
        assert_eq!(window.load_word(4096), Ok(0x0707_0707_0707_0707));
        let table = map.host_table().start.0;
        for outside in [table, table + 8, SEGMENT_BYTES as u64, 1 << 63] {
            assert_eq!(apply_put(&own, outside, &[7; 8]), Err(Misuse::Outside));
        }
    }

    fn pair() -> [(Endpoint, LinkId); 2] {
        [0, 1].map(|node| {
            let identity = Identity {
                node: Node(node),
                job: 1,
                incarnation: 1,
            };
            let mut endpoint = Endpoint::new(Config::default(), identity, 7).unwrap();
            let link = endpoint.link(Node(1 - node)).unwrap();
            endpoint.open(Ns(1), link).unwrap();
            (endpoint, link)
        })
    }

    /// Exchanges all frames between both ends; each has its memory.
    fn exchange(now: Ns, ends: &mut [(Endpoint, LinkId); 2], owns: [&Own; 2]) {
        let [(a, _), (b, _)] = ends;
        for _ in 0..8 {
            while let Some(transmit) = a.poll_transmit(now) {
                take_frame(b, owns[1], now, Some(Node(0)), transmit.frame);
            }
            while let Some(transmit) = b.poll_transmit(now) {
                take_frame(a, owns[0], now, Some(Node(1)), transmit.frame);
            }
        }
    }

    #[test]
    fn who_sleeps_is_woken_by_stores_and_by_nothing_else() {
        let [stores, sleeps] = [own_of(0), own_of(1)];
        let mut ends = pair();
        exchange(Ns(2), &mut ends, [&stores, &sleeps]);
        for own in [&stores, &sleeps] {
            segments(own).doorbell().arm(core::time::Duration::ZERO);
        }
        // As many as needed to get credits back.
        for round in 0..50 {
            let (a, link) = &mut ends[0];
            assert_eq!(a.put(*link, FIRST + 4096, &[7; 64]), Ok(64));
            a.flush(*link);
            exchange(Ns(10_000 * (1 + round)), &mut ends, [&stores, &sleeps]);
        }
        let received = |end: &(Endpoint, LinkId)| end.0.counters().frames_received;
        assert!(received(&ends[0]) > 2 && received(&ends[1]) >= 50);
        assert!(
            segments(&sleeps).doorbell().is_at_rest(),
            "stores have rung"
        );
        assert!(
            !segments(&stores).doorbell().is_at_rest(),
            "credits and acks have not"
        );
    }

    #[test]
    fn who_stores_where_nothing_is_is_cut_off() {
        let own = own();
        let mut ends = pair();
        exchange(Ns(2), &mut ends, [&own; 2]);
        let (a, link) = &mut ends[0];
        assert_eq!(a.put(*link, FIRST + 4096, b"fine"), Ok(4));
        a.flush(*link);
        exchange(Ns(10_001), &mut ends, [&own; 2]);
        let mut got = [0; 4];
        segments(&own).get(4096, &mut got).unwrap();
        assert_eq!(&got, b"fine");

        let (a, link) = &mut ends[0];
        assert!(a.put(*link, 1 << 30, &[0; 64]).is_ok());
        a.flush(*link);
        exchange(Ns(20_001), &mut ends, [&own; 2]);
        let (b, link) = &ends[1];
        let why = Misbehaviour::Misuse(Misuse::Outside);
        assert_eq!(b.is_open(*link), Err(CloseReason::Misbehaved(why)));
        let (a, link) = &ends[0];
        assert!(matches!(a.is_open(*link), Err(CloseReason::CutOff(_))));
    }

    #[test]
    fn only_posted_writes_are_taken() {
        let mut requests = hostwire_link::Requests::new();
        let packet = requests.flush(7).unwrap();
        let refused = apply(&own(), &packet, &mut Bells::default());
        assert_eq!(refused, Err(Misuse::NoPostedWrite));
    }
}
