//! The agent: how it handles arbitrary requests of peers, and how the asking side handles
//! arbitrary answers.

use std::sync::Arc;

use hostwire_address::Place;
use hostwire_address::place::REGISTERED_BYTES_MAX;
use hostwire_transport::fuzzing::kit::{Input, Script, Seeds, Target, blames, mark, named};
use hostwire_transport::fuzzing::wire::ScriptedWire;
use hostwire_transport::window::DOORBELL_OFFSET_BYTES;
use hostwire_transport::{Memory, Window};

use super::stores::{PES, STORE, Store, StoreScript, peers};
use crate::attachment::{Attachment, Operation, Request};
use crate::layout::{Layout, Sizes};

/// Requests of peers. The result is compared with memory on which they are done by hand. A
/// script of steps.
///
/// | byte, modulo 4 | arguments | |
/// |---|---|---|
/// | 0, 1 | PE, operation, operand bytes, offset, operand, compare | the PE's next request; the offset counts from the heap |
/// | 2 | the same | the same; the offset counts from registered memory |
/// | 3 | PE, number | its request line has this number, and nothing else new |
pub(super) const SERVE: Target = Target {
    name: "agent_serve",
    check: serve,
    seeds: serve_seeds,
    cost: 4,
};

/// Answers of peers' agents. A script of stores, and of what this PE asks:
///
/// | byte, modulo 2 | arguments | |
/// |---|---|---|
/// | 0 | PE, offset, length | get |
/// | 1 | PE, offset, operation, operand | atomic |
pub(super) const ASK: Target = Target {
    name: "agent_ask",
    check: ask,
    seeds: ask_seeds,
    cost: 4,
};

const SIZES: Sizes = Sizes {
    ring_bytes: 256,
    heap_bytes: 4096,
    ..Sizes::USUAL
};
/// As large as the landing place of the asking PE.
const LANDING_BYTES: u64 = 256 << 10;

fn attachment(stores: Vec<Store>) -> (Layout, Arc<ScriptedWire>, Attachment) {
    let layout = Layout::new(PES, SIZES).expect("sizes of a job");
    let segment_bytes = layout.segment_bytes();
    let wire = ScriptedWire::new(PES, segment_bytes, false, peers(layout, stores));
    let wire = Arc::new(wire);
    let attachment = Attachment::over(Arc::clone(&wire) as _, SIZES).expect("a job");
    (layout, wire, attachment)
}

/// Bytes of the registered memory.
const REGISTERED_BYTES: usize = 512;
/// The operation that stores to it.
const PUT: u64 = 14;
/// Says that the data is in the line.
const IN_LINE: u64 = u64::MAX;

/// Does by hand what a put to registered memory asks for, with the zeros that its line has.
fn put_by_hand(registered: &mut [u8], offset: u64, len: u64, from: u64) -> Option<(u64, Vec<u8>)> {
    let end = offset.checked_add(len)?;
    let place = registered.get_mut(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)?;
    // The memory of the asking PE is not mapped here.
    if len > 32 || from != IN_LINE {
        return None;
    }
    place.fill(0);
    Some((0, Vec::new()))
}

/// Does by hand what a request asks for. Gives the old value, or nothing for a refusal, and the
/// bytes of a get.
fn by_hand(heap: &mut [u8], request: &[u64; 5], room: u64) -> Option<(u64, Vec<u8>)> {
    let [operation, operand_bytes, offset, operand, compare] = *request;
    if operation == 1 {
        let end = offset
            .checked_add(operand)
            .filter(|_| operand <= LANDING_BYTES)?;
        let bytes = heap.get(offset as usize..end as usize)?.to_vec();
        if compare == IN_LINE {
            return (operand <= 40).then_some((0, bytes));
        }
        let fits = compare.checked_add(operand)? <= room;
        return fits.then_some((0, bytes));
    }
    let width = match operand_bytes {
        4 | 8 => operand_bytes,
        _ => return None,
    };
    if !offset.is_multiple_of(width) {
        return None;
    }
    let place = heap.get_mut(offset as usize..offset.checked_add(width)? as usize)?;
    let mut word = [0; 8];
    word[..place.len()].copy_from_slice(place);
    let mask = if width == 8 {
        u64::MAX
    } else {
        u32::MAX.into()
    };
    let old = u64::from_le_bytes(word);
    let value = operand & mask;
    // The sign bit is moved to bit 63.
    let signed = |value: u64| (value << (64 - 8 * width)) as i64;
    let new = match operation {
        2 => old,
        3 => operand,
        4 if old == compare & mask => operand,
        4 => old,
        5 => old.wrapping_add(operand),
        6 => old & operand,
        7 => old | operand,
        8 => old ^ operand,
        9 => old.min(value),
        10 => old.max(value),
        11 if signed(value) < signed(old) => value,
        12 if signed(value) > signed(old) => value,
        11 | 12 => old,
        _ => return None,
    };
    place.copy_from_slice(&new.to_le_bytes()[..width as usize]);
    Some((old, Vec::new()))
}

fn serve(bytes: &[u8]) {
    let (layout, wire, attachment) = attachment(Vec::new());
    let heap_at = layout.heap() as u64;
    let room = layout.segment_bytes() as u64;
    let own = wire.memory_of(0);
    let mut heap: Vec<u8> = (0..layout.heap_bytes()).map(|at| at as u8).collect();
    own.put(layout.heap(), &heap).expect("the heap");
    let memory = Memory::anonymous(REGISTERED_BYTES);
    let segment = attachment.register(memory.clone()).expect("a number");
    let mut registered: Vec<u8> = (0..REGISTERED_BYTES).map(|at| !at as u8).collect();
    memory.copy_in(0, &registered).expect("the memory");
    let before = all_but_requests(own, &layout);
    let mut numbers = [0_u64; PES as usize];
    let mut input = Input::new(bytes);
    while !input.is_empty() {
        let step = input.byte() % 4;
        let pe = u32::from(input.byte()) % (PES - 1) + 1;
        let next = numbers[pe as usize] + 1;
        let at = layout.request(pe, next as u32);
        if step == 3 {
            let number = input.number() & 0xffff_ffff;
            if number != next {
                own.put_word(at, number).expect("a request line");
                attachment.progress().expect("nothing to do");
            }
            continue;
        }
        let (operation, operand_bytes) = (u64::from(input.byte()), u64::from(input.byte()));
        let [offset, operand, compare] = [input.number(), input.number(), input.number()];
        numbers[pe as usize] += 1;
        let number = numbers[pe as usize];
        let (offset, place) = match step {
            2 => {
                let offset = offset % REGISTERED_BYTES_MAX;
                let place = Place::Registered(segment, offset).offset();
                (offset, place.expect("an offset that is not too large"))
            }
            _ => (offset, offset.wrapping_add(heap_at)),
        };
        for (index, word) in [place, operand, compare].into_iter().enumerate() {
            own.put_word(at + 8 + index * 8, word)
                .expect("a request line");
        }
        let header = operation << 32 | operand_bytes << 40 | number;
        own.put_word(at, header).expect("a request line");
        attachment.progress().expect("a request that is answered");

        // An offset that wraps around lies before the heap.
        let request = [operation, operand_bytes, offset, operand, compare];
        let done = match (step, operation) {
            (2, PUT) => put_by_hand(&mut registered, offset, operand, compare),
            (2, _) => by_hand(&mut registered, &request, room),
            _ if place < heap_at => None,
            _ => by_hand(&mut heap, &request, room),
        };
        let reply_at = layout.reply(0, number as u32);
        is_answered(wire.memory_of(pe), reply_at, number, &request, done);
    }
    let mut got = vec![0; REGISTERED_BYTES];
    memory.copy_out(0, &mut got).expect("the memory");
    assert!(
        got == registered,
        "registered memory is not as the requests say"
    );
    let mut got = vec![0; heap.len()];
    own.get(layout.heap(), &mut got).expect("the heap");
    assert!(got == heap, "the heap is not as the requests say");
    assert!(
        all_but_requests(own, &layout) == before,
        "a request has changed what is no heap"
    );
}

/// The asking PE has got the answer, and the bytes of a get.
fn is_answered(
    theirs: &Window,
    reply_at: usize,
    number: u64,
    request: &[u64; 5],
    done: Option<(u64, Vec<u8>)>,
) {
    let reply = |word: usize| theirs.load_word(reply_at + word * 8);
    assert_eq!(reply(0), Ok(number), "{request:?}");
    let status = if done.is_some() { 1 } else { 2 };
    assert_eq!(reply(2), Ok(status), "{request:?}");
    let [operation, .., compare] = *request;
    mark(&format!(
        "operation {} {status}",
        "x".repeat(operation.min(13) as usize)
    ));
    let Some((old, bytes)) = done else { return };
    assert_eq!(reply(1), Ok(old), "{request:?}");
    let back = match compare {
        IN_LINE => reply_at + 24,
        _ => compare as usize,
    };
    if compare == IN_LINE && !bytes.is_empty() {
        let mut got = vec![0; bytes.len()];
        theirs.get(back, &mut got).expect("data in a reply");
        assert_eq!(got, bytes);
        return;
    }
    // If the data was wanted where the reply lies, the reply overwrites it. The same holds for
    // the doorbell.
    let is_kept = |at: usize, len: usize| back >= at + len || back + bytes.len() <= at;
    let doorbell = is_kept(DOORBELL_OFFSET_BYTES, 4);
    if !bytes.is_empty() && is_kept(reply_at, 64) && doorbell {
        let mut got = vec![0; bytes.len()];
        theirs.get(back, &mut got).expect("data of a get");
        assert_eq!(got, bytes);
    }
}

/// The segment in front of the heap, without the request lines.
fn all_but_requests(segment: &Window, layout: &Layout) -> Vec<u8> {
    let mut bytes = vec![0; layout.heap()];
    segment.get(0, &mut bytes).expect("the segment");
    bytes[layout.request(0, 0)..layout.reply(0, 0)].fill(0);
    bytes
}

fn serve_seeds() -> Seeds {
    let ask = |script: Script, operation: u8, bytes: u8, words: [u64; 3]| {
        words
            .into_iter()
            .fold(script.bytes(&[0, 0, operation, bytes]), Script::number)
    };
    let each = (1..=13).fold(Script::new(), |script, operation| {
        ask(
            ask(script, operation, 8, [64, 5, 9]),
            operation,
            4,
            [68, 5, 9],
        )
    });
    let one = |operation, bytes, words| ask(Script::new(), operation, bytes, words).done();
    let registered = |operation: u8, bytes: u8, words: [u64; 3]| {
        let script = Script::new().bytes(&[2, 0, operation, bytes]);
        words.into_iter().fold(script, Script::number).done()
    };
    named(vec![
        ("registered_put", registered(14, 0, [100, 32, u64::MAX])),
        (
            "registered_put_too_long",
            registered(14, 0, [100, 33, u64::MAX]),
        ),
        (
            "registered_put_beyond",
            registered(14, 0, [500, 13, u64::MAX]),
        ),
        (
            "registered_put_from_afar",
            registered(14, 0, [0, 8, 70_000]),
        ),
        ("registered_add", registered(5, 8, [504, 3, 0])),
        ("registered_get", registered(1, 0, [0, 512, 70_000])),
        ("put_to_the_heap", one(14, 0, [0, 8, u64::MAX])),
        ("each", each.done()),
        ("get", one(1, 0, [8, 100, 70_000])),
        ("get_too_much", one(1, 0, [0, 4097, 70_000])),
        ("get_nowhere", one(1, 0, [0, 8, u64::MAX - 1])),
        ("get_in_the_reply", one(1, 0, [8, 40, u64::MAX])),
        ("get_too_much_for_it", one(1, 0, [8, 41, u64::MAX])),
        ("end", one(5, 8, [4088, 1, 0])),
        ("beyond", one(5, 8, [4092, 1, 0])),
        ("before", one(3, 8, [0_u64.wrapping_sub(8), 1, 0])),
        ("odd", one(5, 8, [4, 1, 0])),
        ("of_one_byte", one(5, 1, [4, 1, 0])),
        ("number", Script::new().bytes(&[3, 0]).number(7).done()),
    ])
}

fn ask(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (mut asked, mut stores) = (Vec::new(), Vec::new());
    while !input.is_empty() && asked.len() < 16 {
        let mut ahead = input.clone();
        match ahead.byte() {
            STORE.. => stores.push(Store::read(&mut input)),
            what => {
                input = ahead;
                let pe = u32::from(input.byte()) % PES;
                let offset = input.number() as usize % 8192;
                let more = [input.number(), input.number()];
                asked.push((what, pe, offset, more));
            }
        }
    }
    let (layout, _wire, attachment) = attachment(stores);
    for (what, pe, offset, [first, second]) in asked {
        let offset_bytes = layout.heap() + offset;
        let done = if what % 2 == 0 {
            let mut bytes = vec![0; first as usize % 600_000];
            attachment.get(pe, offset_bytes, &mut bytes).map(|()| 0)
        } else {
            let operation = match first % 3 {
                0 => Operation::Add,
                1 => Operation::CompareSwap,
                _ => Operation::Fetch,
            };
            let request = Request {
                operation,
                offset_bytes,
                operand_bytes: 8,
                operand: second,
                compare: 0,
            };
            attachment.atomic(pe, request)
        };
        match done {
            Ok(_) => mark("answered"),
            // Errors of the own segment show at once.
            Err(error) if pe == 0 => blames(error, &["do not fit", "multiple"]),
            Err(error) => {
                blames(error, &["PE 1", "PE 2"]);
                return;
            }
        }
    }
}

fn ask_seeds() -> Seeds {
    let get = |len: u64| Script::new().bytes(&[0, 1]).number(0).number(len).number(0);
    let add = || Script::new().bytes(&[1, 1]).number(8).number(0).number(5);
    named(vec![
        ("got", get(100).reply([1, 0, 1]).done()),
        ("got_in_the_reply", get(8).reply([1, 0, 1]).done()),
        (
            "in_pieces",
            get(40_000).reply([1, 0, 1]).reply([2, 0, 1]).done(),
        ),
        ("added", add().reply([1, 77, 1]).done()),
        ("refused", add().reply([1, 0, 2]).done()),
        ("unknown_status", add().reply([1, 0, 3]).done()),
        ("wrong_number", add().reply([9, 0, 1]).done()),
        ("no_answer", add().reply([0, 0, 0]).done()),
        (
            "own",
            Script::new()
                .bytes(&[1, 0])
                .number(9)
                .number(0)
                .number(5)
                .done(),
        ),
    ])
}
