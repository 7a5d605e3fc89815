//! The engine's contract: determinism, order, traces, deadlock reports.

use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::common::seven_senders::{self, Msg, SENDERS, Sink, build};
use hostwire_sim::engine::{
    Component, ComponentId, Context, Event, InjectError, Priority, Ps, RunError, Sim, TRACE_MAGIC,
    TRACE_RECORD_BYTES, TraceError, TraceFilter, TraceReader,
};
use proptest::prelude::*;

const PACKETS: u32 = 2_001;

#[derive(Clone, Default)]
struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(trace: Option<(SharedBytes, TraceFilter)>) -> (Sim<Msg>, ComponentId) {
    let mut sim = Sim::new();
    let sink = build(&mut sim, PACKETS, true);
    if let Some((out, filter)) = trace {
        sim.trace_to(Box::new(out), filter).unwrap();
    }
    sim.run().unwrap();
    (sim, sink)
}

/// The literal pins the hash over debug and release, directories, machines.
#[test]
fn same_input_same_hash() {
    let (sim, sink) = run(None);
    assert_eq!(
        sim.component::<Sink>(sink).unwrap().received,
        u64::from(PACKETS)
    );
    assert_eq!(sim.hash().to_string(), "101dc89767a24fe6");
    assert_eq!(sim.summary().events, 12_013);
    // All packets pass one output, back to back.
    let output = seven_senders::PACKET_PS * u64::from(PACKETS);
    assert_eq!(
        sim.now(),
        seven_senders::PACKET_PS + seven_senders::WIRE_PS * 3 + output
    );
}

#[test]
fn tracing_changes_nothing_and_reads_back() {
    let out = SharedBytes::default();
    let (mut traced, _) = run(Some((out.clone(), TraceFilter::default())));
    assert_eq!(traced.hash(), run(None).0.hash());
    let records = traced.end_trace().unwrap();
    assert_eq!(records, traced.summary().events);
    let bytes = out.0.lock().unwrap().clone();
    let mut reader = TraceReader::new(bytes.as_slice()).unwrap();
    assert_eq!(reader.names()[0], "switch");
    let mut count = 0;
    let mut last = Ps::ZERO;
    while let Some(record) = reader.next_record().unwrap() {
        assert!(record.time >= last);
        last = record.time;
        count += 1;
    }
    assert_eq!(count, records);
    let mut cut = TraceReader::new(&bytes[..bytes.len() - 1]).unwrap();
    let error = loop {
        match cut.next_record() {
            Ok(Some(_)) => {}
            other => break other,
        }
    };
    let Err(TraceError::NoEnd { events, bytes, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!((events, bytes), (records, 23));
    assert!(matches!(
        TraceReader::new(&b"garbage!"[..]).err(),
        Some(TraceError::Magic { .. })
    ));
}

#[test]
fn trace_filters_by_component_and_time() {
    let out = SharedBytes::default();
    let mut sim = Sim::new();
    let sink = build(&mut sim, PACKETS, true);
    let filter = TraceFilter {
        components: Some([sink].into()),
        from: Ps::from_us(10),
        until: Ps::from_us(20),
        ..TraceFilter::default()
    };
    sim.trace_to(Box::new(out.clone()), filter).unwrap();
    sim.run().unwrap();
    sim.end_trace().unwrap();
    let bytes = out.0.lock().unwrap().clone();
    let mut reader = TraceReader::new(bytes.as_slice()).unwrap();
    let mut count = 0;
    while let Some(record) = reader.next_record().unwrap() {
        assert_eq!(record.target as usize, sink.index());
        assert!(record.time >= Ps::from_us(10) && record.time < Ps::from_us(20));
        count += 1;
    }
    // 10 us at one packet per 22.5 ns.
    assert!((443..=445).contains(&count), "{count}");
}

#[test]
fn lost_credits_are_named() {
    let mut sim = Sim::new();
    build(&mut sim, PACKETS, false);
    let Err(RunError::Stalled { report, .. }) = sim.run() else {
        panic!("must stall")
    };
    assert_eq!(report.waits.len(), SENDERS + 1);
    let text = report.to_string();
    assert!(
        text.contains("switch waits for credit of the sink, held by sink"),
        "{text}"
    );
    assert!(text.contains("sender 3 waits for credit"), "{text}");
}

#[test]
fn endless_runs_can_be_bounded() {
    let mut sim = Sim::new();
    build(&mut sim, PACKETS, true);
    assert!(matches!(
        sim.run_events(100),
        Err(RunError::EventsSpent { events: 100, .. })
    ));
    assert!(sim.run_events(u64::MAX).is_ok());
    assert_eq!(
        sim.hash(),
        run(None).0.hash(),
        "stopping in between changes nothing"
    );
}

#[test]
fn injection_is_checked() {
    let mut sim = Sim::new();
    let sink = build(&mut sim, 1, true);
    sim.run_until(Ps::from_ns(10));
    assert_eq!(sim.now(), Ps::from_ns(10));
    assert!(matches!(
        sim.inject(Ps::from_ns(9), sink, Msg::Credit),
        Err(InjectError::Past { .. })
    ));
    let missing = ComponentId::EXTERNAL;
    assert!(matches!(
        sim.inject(Ps::MAX, missing, Msg::Credit),
        Err(InjectError::NoComponent { .. })
    ));
    assert!(sim.inject(Ps::from_ns(10), sink, Msg::Credit).is_ok());
}

#[derive(Clone, Copy)]
struct Number(u64);
impl Event for Number {
    fn digest(&self) -> u64 {
        self.0
    }
}

#[derive(Default)]
struct Log(Vec<(u64, u64)>);
impl Component<Number> for Log {
    fn handle(&mut self, Number(number): Number, ctx: &mut Context<'_, Number>) {
        self.0.push((ctx.now().0, number));
    }
}

/// Sends its list when poked.
struct Source {
    to: ComponentId,
    list: Vec<(u64, Priority, u64)>,
}
impl Component<Number> for Source {
    fn handle(&mut self, _: Number, ctx: &mut Context<'_, Number>) {
        for &(delay, priority, number) in &self.list {
            ctx.schedule_with(self.to, Ps(delay), priority, Number(number));
        }
    }
}

struct Bystander;
impl Component<Number> for Bystander {
    fn handle(&mut self, Number(left): Number, ctx: &mut Context<'_, Number>) {
        if left > 0 {
            ctx.schedule(ctx.me(), Ps(1), Number(left - 1));
        }
    }
}

fn priority() -> impl Strategy<Value = Priority> {
    prop_oneof![
        Just(Priority::First),
        Just(Priority::Normal),
        Just(Priority::Last)
    ]
}

proptest! {
    /// For any contents of the file, the reader returns an error and ends.
    #[test]
    fn trace_reader_survives_any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..200), magic in any::<bool>()) {
        if magic {
            bytes.splice(0..0, TRACE_MAGIC);
        }
        if let Ok(mut reader) = TraceReader::new(bytes.as_slice()) {
            let mut records = 0;
            while let Ok(Some(_)) = reader.next_record() {
                records += 1;
            }
            prop_assert!(records <= bytes.len() / TRACE_RECORD_BYTES);
        }
    }

    /// Against a stable sort by (time, priority, source), with and without a
    /// busy component that has nothing to do with it.
    #[test]
    fn order_is_time_priority_source_sequence(
        lists in prop::collection::vec(prop::collection::vec((0u64..5, priority()), 0..40), 1..6),
        bystander in any::<bool>(),
    ) {
        let mut sim = Sim::new();
        let log = sim.add("log", Log::default());
        let mut want = Vec::new();
        for (source, list) in lists.iter().enumerate() {
            let number = |at: usize| (source * 1000 + at) as u64;
            let list: Vec<_> = list.iter().enumerate().map(|(at, &(t, p))| (t, p, number(at))).collect();
            want.extend(list.iter().map(|&(t, p, n)| (t, p, source, n)));
            let id = sim.add(format!("source {source}"), Source { to: log, list });
            sim.inject(Ps::ZERO, id, Number(0)).unwrap();
        }
        if bystander {
            let id = sim.add("bystander", Bystander);
            sim.inject(Ps::ZERO, id, Number(50)).unwrap();
        }
        sim.run().unwrap();
        want.sort_by_key(|&(t, p, source, _)| (t, p, source));
        let want: Vec<_> = want.into_iter().map(|(t, _, _, n)| (t, n)).collect();
        // At time zero the pokes themselves interleave with what they send; the
        // order of later times is fixed by the key alone.
        let later = |list: &[(u64, u64)]| list.iter().copied().filter(|e| e.0 > 0).collect::<Vec<_>>();
        prop_assert_eq!(later(&sim.component::<Log>(log).unwrap().0), later(&want));
    }
}
