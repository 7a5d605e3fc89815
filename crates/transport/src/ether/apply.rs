//! What a frame delivers, applied to the own segment.

use hostwire_link::{Endpoint, Misbehaviour, Ns};
use hostwire_packet::ht::{ControlRepr, PacketRepr, PlainWrite, RequestKind, Write, WriteMode};
use hostwire_packet::htoe::CarriedPackets;

use crate::window::Window;

const WORD_BYTES: usize = 8;
const LINE_BYTES: usize = 64;
/// What no correct peer writes.
const OUTSIDE: &str = "a write outside of the segment";

/// Gives a frame to the endpoint and applies what it delivers. A peer that asks for what
/// no correct peer asks for is cut off; anything else that is wrong with a frame the
/// endpoint has counted and dropped. Who sleeps is woken once: a system call for each
/// packet would cost more than all else that is done with it.
pub(super) fn take_frame(endpoint: &mut Endpoint, window: &Window, now: Ns, frame: &[u8]) {
    let Ok(Some(delivery)) = endpoint.receive(now, frame) else {
        return;
    };
    let mut packets = delivery.packets.clone();
    // Frames of nothing but credits come back for every few that leave: nobody waits for those.
    let stores = packets.len() > 0;
    let applied = apply_all(window, &mut packets);
    if stores {
        window.notify();
    }
    if let Err(why) = applied {
        return endpoint.cut_off(now, delivery.link, Misbehaviour::Above(why));
    }
    let released = endpoint.release(now, delivery.link, delivery.filled());
    debug_assert_eq!(released, Ok(()));
}

fn apply_all(window: &Window, packets: &mut CarriedPackets<'_>) -> Result<(), &'static str> {
    loop {
        // Nearly all packets.
        while let Some(PlainWrite { address, data }) = packets.next_plain() {
            if !usize::try_from(address).is_ok_and(|at| store_lines(window, at, data)) {
                return Err(OUTSIDE);
            }
        }
        match packets.next() {
            Some(packet) => apply(window, &packet)?,
            None => return Ok(()),
        }
    }
}

/// Applies one packet: a posted write whose address is an offset in the segment.
pub(crate) fn apply(window: &Window, packet: &PacketRepr<'_>) -> Result<(), &'static str> {
    let ControlRepr::Request(request) = packet.control() else {
        return Err("a packet that is no request");
    };
    let RequestKind::Write(Write {
        mode: WriteMode::Posted { .. },
        ..
    }) = request.kind
    else {
        return Err("a request that is no posted write");
    };
    for (address, run) in hostwire_link::put::runs(packet) {
        let stored = usize::try_from(address).is_ok_and(|at| store(window, at, run));
        if !stored {
            return Err(OUTSIDE);
        }
    }
    Ok(())
}

/// Stores bytes of one line, or many whole lines, in order.
pub(crate) fn store_lines(window: &Window, mut at: usize, lines: &[u8]) -> bool {
    lines.chunks(LINE_BYTES).all(|line| {
        let stored = store(window, at, line);
        // What was stored ends within the segment; the end of anything else may be nowhere.
        at += if stored { line.len() } else { 0 };
        stored
    })
}

/// Stores one run, after all that was stored before it. Of a run that begins a line the
/// first word comes last: it may be the header of the line.
fn store(window: &Window, at: usize, run: &[u8]) -> bool {
    if window.memory().range(at, run.len()).is_err() {
        return false;
    }
    match run.split_first_chunk::<WORD_BYTES>() {
        Some((word, [])) if at.is_multiple_of(WORD_BYTES) => put_word(window, at, *word),
        Some((word, behind)) if at.is_multiple_of(LINE_BYTES) => {
            put(window, at + WORD_BYTES, behind) && put_word(window, at, *word)
        }
        _ => put(window, at, run),
    }
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
    use hostwire_link::{CloseReason, Config, Identity, LinkId, Node};
    use hostwire_packet::ht::MASKED_LEN_MAX;

    use super::*;
    use crate::memory::Memory;
    use crate::visibility::Visibility;

    const SEGMENT_BYTES: usize = 8192;

    fn window() -> Window {
        Window::new(Memory::anonymous(SEGMENT_BYTES), Visibility::Coherent).unwrap()
    }

    fn apply_put(window: &Window, address: u64, data: &[u8]) -> Result<(), &'static str> {
        let mut done = 0;
        while done < data.len() {
            let mut scratch = [0; MASKED_LEN_MAX];
            let at = address + done as u64;
            let rest = &data[done..];
            let (packet, len) = hostwire_link::put::first_packet(at, rest, &mut scratch).unwrap();
            apply(window, &packet)?;
            done += len;
        }
        Ok(())
    }

    #[test]
    fn puts_of_every_alignment_and_length() {
        let window = window();
        let data: Vec<u8> = (1..=200).collect();
        for offset in 0..70 {
            for len in 1..=130 {
                let mut expected = vec![0xaa; 300];
                window.put(4096, &expected).unwrap();
                expected[offset..offset + len].copy_from_slice(&data[..len]);
                apply_put(&window, 4096 + offset as u64, &data[..len]).unwrap();
                let mut got = vec![0; 300];
                window.get(4096, &mut got).unwrap();
                assert_eq!(got, expected, "{len} bytes at {offset}");
            }
        }
    }

    #[test]
    fn nothing_is_stored_outside_of_the_segment() {
        let window = window();
        let end = SEGMENT_BYTES as u64;
        for (at, len) in [
            (end, 1),
            (end - 4, 64),
            (end - 1, 2),
            (1 << 40, 8),
            (u64::MAX - 7, 8),
        ] {
            let stored = apply_put(&window, at, &[7; 64][..len]);
            assert_eq!(stored, Err("a write outside of the segment"), "{at}");
        }
        assert_eq!(apply_put(&window, end - 8, &[1; 8]), Ok(()));
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

    /// Everything that both have to say to each other; each has a window.
    fn exchange(now: Ns, ends: &mut [(Endpoint, LinkId); 2], windows: [&Window; 2]) {
        let [(a, _), (b, _)] = ends;
        for _ in 0..8 {
            while let Some(transmit) = a.poll_transmit(now) {
                take_frame(b, windows[1], now, transmit.frame);
            }
            while let Some(transmit) = b.poll_transmit(now) {
                take_frame(a, windows[0], now, transmit.frame);
            }
        }
    }

    #[test]
    fn who_sleeps_is_woken_by_stores_and_by_nothing_else() {
        let [stores, sleeps] = [window(), window()];
        let mut ends = pair();
        exchange(Ns(2), &mut ends, [&stores, &sleeps]);
        for window in [&stores, &sleeps] {
            window.doorbell().arm(core::time::Duration::ZERO);
        }
        // As many as it takes to have credits back.
        for round in 0..50 {
            let (a, link) = &mut ends[0];
            assert_eq!(a.put(*link, 4096, &[7; 64]), Ok(64));
            a.flush(*link);
            exchange(Ns(10_000 * (1 + round)), &mut ends, [&stores, &sleeps]);
        }
        let received = |end: &(Endpoint, LinkId)| end.0.counters().frames_received;
        assert!(received(&ends[0]) > 2 && received(&ends[1]) >= 50);
        assert!(sleeps.doorbell().is_at_rest(), "stores have rung");
        assert!(!stores.doorbell().is_at_rest(), "credits and acks have not");
    }

    #[test]
    fn who_stores_where_nothing_is_is_cut_off() {
        let window = window();
        let mut ends = pair();
        exchange(Ns(2), &mut ends, [&window; 2]);
        let (a, link) = &mut ends[0];
        assert_eq!(a.put(*link, 4096, b"fine"), Ok(4));
        a.flush(*link);
        exchange(Ns(10_001), &mut ends, [&window; 2]);
        let mut got = [0; 4];
        window.get(4096, &mut got).unwrap();
        assert_eq!(&got, b"fine");

        let (a, link) = &mut ends[0];
        assert!(a.put(*link, 1 << 30, &[0; 64]).is_ok());
        a.flush(*link);
        exchange(Ns(20_001), &mut ends, [&window; 2]);
        let (b, link) = &ends[1];
        let why = Misbehaviour::Above("a write outside of the segment");
        assert_eq!(b.is_open(*link), Err(CloseReason::Misbehaved(why)));
        let (a, link) = &ends[0];
        assert!(matches!(a.is_open(*link), Err(CloseReason::CutOff(_))));
    }

    #[test]
    fn only_posted_writes_are_taken() {
        let mut requests = hostwire_link::Requests::new();
        let packet = requests.flush(7).unwrap();
        let refused = apply(&window(), &packet);
        assert_eq!(refused, Err("a request that is no posted write"));
    }
}
