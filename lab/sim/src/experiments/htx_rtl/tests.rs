//! Boards that are RTL, if they were built: `scripts/rtl.sh cosim`.

#![allow(clippy::print_stdout, reason = "for those who run the tests")]

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::rc::Rc;

use hostwire_testing::{left_out, need};

use crate::machine::htx::device::slot;
use crate::machine::htx::rtl::add_board;
use crate::machine::htx::{BoardError, Purpose};
use crate::models::ht::opteron::{Opteron, WriteObserver};
use crate::models::ht::{Command, rtl::RtlBoard};

use super::super::htx_board::end_to_end_with;
use super::super::programs::Step;
use super::*;
use crate::models::ht::opteron::Op;

/// What a test has got; nothing if the designs were not built.
pub(super) fn built<T>(result: Result<T, ExperimentError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ ExperimentError::Board(BoardError::NotBuilt(_))) => {
            left_out(&need::RTL_MODELS, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A line for the table of `scripts/rtl.sh`.
pub(super) fn figure(line: &str) {
    println!("{line}");
    if let Some(path) = std::env::var_os("HOSTWIRE_RTL_FIGURES") {
        let file = OpenOptions::new().append(true).create(true).open(path);
        writeln!(file.unwrap(), "{line}").unwrap();
    }
}

#[test]
fn what_is_published_beside_the_model() {
    let Some(rows) = built(reproduce()) else {
        return;
    };
    for row in &rows {
        let rtl = row.simulated.unwrap();
        let remark = row.remark.as_deref().unwrap_or_default();
        let published = row
            .published
            .map_or(String::new(), |value| format!(", published {value}"));
        let model = remark.split(", from which").next().unwrap_or_default();
        figure(&format!(
            "co-simulation | {} {} | {rtl:.2} {}{published}, {model}",
            row.id, row.quantity, row.unit
        ));
        assert!(!row.verdict.is_failure(), "{row:?}");
    }
    assert_eq!(rows.len(), claims().unwrap().claim.len());
    assert!(rows.iter().all(|row| row.simulated.is_some()));
}

/// The time of a read in parts: the host until the first bit, the request on the wire, the board from the last bit at its
/// pins to the first bit of the answer, the answer on the wire, the host.
fn parts_of_a_read(device: BoardKind) -> Result<[f64; 5], ExperimentError> {
    let setup = setup(device, 8, 200);
    let phases = phases(device);
    let mut sums = [Ps::ZERO; 5];
    for phase in 0..phases {
        let (mut sim, host) = bench(&setup, phase)?;
        let (program, marks) = Timed::new(load_steps(&setup, phase, 4));
        start(&mut sim, host.host, program)?;
        sim.run()?;
        let slot = slot(&sim, host.link).unwrap();
        let [down, up] = [End::A, End::B].map(|end| counters(&sim, host.link, end).unwrap());
        let (times, pins) = (marks.times(), down.last_end + slot);
        let stamps = [
            times[0],
            down.last_begin,
            pins,
            up.last_begin,
            up.last_end,
            times[1],
        ];
        for (sum, pair) in sums.iter_mut().zip(stamps.windows(2)) {
            *sum += pair[1] - pair[0];
        }
    }
    Ok(sums.map(|sum| sum.as_ns() / f64::from(phases)))
}

/// The differences that docs/rtl.md explains, and no others.
#[test]
fn where_the_time_of_a_read_goes() {
    let kinds = [BoardKind::RtlCore, BoardKind::Rtl, BoardKind::Model];
    let [Some(core), Some(rtl), Some(model)] = kinds.map(|kind| built(parts_of_a_read(kind)))
    else {
        return;
    };
    let names = ["host", "request", "board", "answer", "host again"];
    for (at, name) in names.into_iter().enumerate() {
        let (core, model, rtl) = (core[at], model[at], rtl[at]);
        figure(&format!(
            "co-simulation | a read of 4 B: {name} | core {core:.2} ns, all RTL {rtl:.2}, model {model:.2}"
        ));
    }
    let link_clock = 5.0;
    // A packet begins at the end of a NOP, up to a dword of 10 ns later; in the model at the end of a bit-time.
    assert!((1.5..=3.5).contains(&(core[0] - model[0])), "{core:?}");
    // The model counts the core's clocks from the end of a packet, and not from the begin of its last dword.
    let earlier = (model[2] - core[2]) / link_clock;
    assert!((1.5..=2.0).contains(&earlier), "{earlier}");
    for at in [1, 3, 4] {
        let text = format!("{at}: {core:?} {rtl:?} {model:?}");
        assert!((core[at] - model[at]).abs() < 0.6, "{text}");
        // The example design has the data of an answer behind its command: a NOP stands between them.
        let nop = if at == 3 { 10.0 } else { 0.0 };
        assert!((rtl[at] - model[at] - nop).abs() < 0.6, "{text}");
    }
}

#[test]
fn each_run_has_the_same_events() {
    for device in [BoardKind::RtlCore, BoardKind::Rtl] {
        let run = || {
            let mut hash = None;
            let models = (NicConfig::htx_board(0), OpteronConfig::opteron_246());
            let setup = setup(device, 8, 200);
            end_to_end_with((&setup, LOOP_BACK), models, 16, |sim, _| {
                hash = Some(sim.run()?.hash);
                Ok(())
            })?;
            Ok(hash)
        };
        let Some(first) = built(run()) else {
            return;
        };
        assert!(first.is_some());
        assert_eq!(built(run()), Some(first));
    }
}

#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<Packet>>>);

impl WriteObserver for Written {
    fn wrote(&mut self, _: Ps, packet: &Packet) {
        self.0.borrow_mut().push(packet.clone());
    }
}

#[test]
fn a_message_is_in_memory_as_it_was_sent() {
    for payload in [4, 16, 64] {
        let written = Written::default();
        let models = (NicConfig::htx_board(0), OpteronConfig::opteron_246());
        let ring = models.0.ring_base;
        let setup = setup(BoardKind::Rtl, 8, 200);
        let ran = end_to_end_with((&setup, LOOP_BACK), models, payload, |sim, host| {
            written.0.borrow_mut().clear();
            let opteron = sim.component_mut::<Opteron>(host.host).unwrap();
            opteron.observe(written.clone());
            sim.run()?;
            Ok(())
        });
        if built(ran).is_none() {
            return;
        }
        let written = written.0.borrow();
        let [message, status] = &written[..] else {
            panic!("{written:?}");
        };
        assert_eq!((message.address, status.address), (ring, ring + LINE_BYTES));
        assert_eq!(message.data, vec![0xa5; payload]);
        let expected = [1, 0, 0, 0, 0, 0, payload as u8, 0];
        assert_eq!(status.data[..8], expected);
    }
}

/// Keeps what comes.
struct Keeper {
    link: ComponentId,
    got: Rc<RefCell<Vec<Packet>>>,
}

impl Component<DeviceEvent> for Keeper {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        if let DeviceEvent::Ht(LinkEvent::Deliver { packet, .. }) = event {
            self.got.borrow_mut().push((*packet).clone());
            let (end, cost) = (End::A, PacketBuffers::of(&packet));
            let release = DeviceEvent::Ht(LinkEvent::Release { end, cost });
            ctx.schedule(self.link, Ps::ZERO, release);
        }
    }
}

#[test]
fn the_block_ram_has_what_was_written() {
    let mut sim = Fabric::new();
    let setup = setup(BoardKind::Rtl, 8, 200);
    let nic = NicConfig::htx_board(0);
    let place = (&setup, 0);
    let board = add_board(&mut sim, "board", place, Purpose::Window, &nic);
    let Some(link) = built(board.map_err(ExperimentError::from)) else {
        return;
    };
    let got = Rc::new(RefCell::new(Vec::new()));
    let keeper = Keeper {
        link,
        got: Rc::clone(&got),
    };
    let host = sim.add("host", keeper);
    sim.component_mut::<RtlBoard>(link).unwrap().attach(host, 0);
    let data: Vec<u8> = (1..=64).collect();
    let read = Packet {
        tag: 9,
        ..Packet::new(Command::Read { dwords: 16 }, WINDOW + 0x40)
    };
    for packet in [Packet::write(WINDOW + 0x40, data.clone()), read] {
        let packet = Box::new(packet);
        let submit = LinkEvent::Submit {
            end: End::A,
            packet,
        };
        sim.inject(Ps::ZERO, link, DeviceEvent::Ht(submit)).unwrap();
    }
    sim.run().unwrap();
    let got = got.borrow();
    assert_eq!((got.len(), got[0].tag), (1, 9));
    assert_eq!(got[0].data, data);
}

#[test]
fn there_are_no_events_while_nothing_is_under_way() {
    let setup = setup(BoardKind::Rtl, 8, 200);
    let Some((mut sim, host)) = built(bench(&setup, 0)) else {
        return;
    };
    assert_eq!(sim.pending(), 0, "it sleeps");
    let read = || {
        let load = Op::Load {
            address: WINDOW,
            bytes: 4,
        };
        [Step::Mark, Step::Do(load), Step::Mark]
    };
    let pause = [Step::Do(Op::Compute(Ps::from_us(1_000)))];
    let (program, marks) = Timed::new(read().into_iter().chain(pause).chain(read()));
    start(&mut sim, host.host, program).unwrap();
    let before = sim.summary().events;
    let events = sim.run().unwrap().events - before;
    outcome(&sim).unwrap();
    // A millisecond has 400,000 bit-times.
    assert!(events < 10_000, "{events}");
    let times = marks.times();
    let [first, second] = [times[1] - times[0], times[3] - times[2]];
    let apart = first.0.abs_diff(second.0);
    assert!(apart <= 20_000, "{first} {second}: words and a CRC at most");
}

#[test]
fn clocks_and_widths_that_the_core_does_not_have() {
    let setups = [
        (
            Setup {
                user_mhz: 150,
                ..setup(BoardKind::Rtl, 8, 200)
            },
            "half the clock",
        ),
        (setup(BoardKind::RtlCore, 4, 200), "8 or 16 bit"),
    ];
    for (setup, expected) in setups {
        let error = bench(&setup, 0).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
