//! Event traces of recordings: what is in them, what filters leave, and what a broken file says.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use crate::common::clusters::{TWO_BOARDS, address, machine, store};
use hostwire_sim::engine::{EventHash, Ps, TraceError, TraceReader, TraceRecord};
use hostwire_sim::firmware::boot_all;
use hostwire_sim::record::{Events, RecordError, Recording};

#[derive(Clone, Default)]
struct SharedBytes(Rc<RefCell<Vec<u8>>>);

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line to the other board, on a machine that has booted; its trace, and its hash.
fn traced(events: Option<Events>) -> Result<(Vec<u8>, EventHash, u64), RecordError> {
    let mut machine = machine(TWO_BOARDS);
    boot_all(&mut machine).unwrap();
    let file = SharedBytes::default();
    let recording = Recording::of_events();
    recording.count_from(machine.sim.now());
    if let Some(events) = events {
        let file = file.clone();
        recording.trace_events(events, || Ok(Box::new(file)));
    }
    recording.watch_all(&mut machine.sim)?;
    let before = machine.sim.summary().events;
    let to = address(&machine, 1, 0x1000);
    store(&mut machine, 0, to, &[0x11; 64]).unwrap();
    // While the simulation lives as well.
    recording.end_events().unwrap();
    assert!(recording.is_empty(), "only events");
    let handled = machine.sim.summary().events - before;
    let bytes = file.0.borrow().clone();
    Ok((bytes, machine.sim.hash(), handled))
}

fn records(bytes: &[u8]) -> Vec<(TraceRecord, String, String)> {
    let mut reader = TraceReader::new(bytes).unwrap();
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let name = reader.names()[record.target as usize].clone();
        let kind = reader.kinds()[usize::from(record.kind)].clone();
        records.push((record, name, kind));
    }
    records
}

#[test]
fn every_event_is_there_and_nothing_changes() {
    let (_, plain, _) = traced(None).unwrap();
    let (bytes, hash, handled) = traced(Some(Events::default())).unwrap();
    assert_eq!(hash, plain);
    let all = records(&bytes);
    assert_eq!(all.len() as u64, handled);
    assert!(
        all[0].0.time < Ps::from_us(1),
        "counts from the job's begin"
    );
    // The line leaves one processor, crosses the link and is written by the other one.
    let first = |kind: &str| {
        let found = all.iter().find(|(_, _, k)| k == kind);
        found.unwrap_or_else(|| panic!("no {kind}"))
    };
    let [submit, arrive, write] = ["ht_submit", "ht_arrive", "processor_write"].map(first);
    assert_eq!(submit.1, arrive.1, "one link");
    assert!(submit.0.time < arrive.0.time && arrive.0.time < write.0.time);
    assert_eq!(all[0].0.source, None, "the first step comes from outside");
}

#[test]
fn filters_are_by_component_kind_and_time() {
    let all = records(&traced(Some(Events::default())).unwrap().0);
    let middle = all[all.len() / 2].0.time;
    let target = &all
        .iter()
        .find(|(_, _, kind)| kind == "ht_arrive")
        .unwrap()
        .1;
    let kept = |events: Events| {
        let (bytes, ..) = traced(Some(events)).unwrap();
        let kept = records(&bytes);
        assert!(!kept.is_empty());
        kept.into_iter()
            .map(|(record, ..)| record)
            .collect::<Vec<_>>()
    };
    let expected = |is: &dyn Fn(&(TraceRecord, String, String)) -> bool| {
        all.iter()
            .filter(|event| is(event))
            .map(|(record, ..)| *record)
            .collect::<Vec<_>>()
    };
    let components = Events {
        components: vec![target.clone()],
        ..Events::default()
    };
    assert_eq!(kept(components), expected(&|(_, name, _)| name == target));
    let kinds = Events {
        kinds: vec!["ht_*".into(), "processor_step".into()],
        ..Events::default()
    };
    let is_kind = |kind: &str| kind.starts_with("ht_") || kind == "processor_step";
    assert_eq!(kept(kinds), expected(&|(_, _, kind)| is_kind(kind)));
    let times = Events {
        from: Ps(1),
        until: Some(middle),
        ..Events::default()
    };
    let inside = |time: Ps| time >= Ps(1) && time < middle;
    assert_eq!(kept(times), expected(&|(record, ..)| inside(record.time)));
}

#[test]
fn names_that_do_not_exist_are_answered_with_those_that_do() {
    let error = |components: &str, kinds: &str| {
        let list = |text: &str| {
            text.split(',')
                .filter(|t| !t.is_empty())
                .map(Into::into)
                .collect()
        };
        let events = Events {
            components: list(components),
            kinds: list(kinds),
            ..Events::default()
        };
        traced(Some(events)).unwrap_err().to_string()
    };
    let component = error("middle.*", "");
    assert!(
        component.starts_with("no component is called \"middle.*\""),
        "{component}"
    );
    assert!(component.contains("left"), "{component}");
    let near = error("*,lefft", "");
    assert!(
        near.contains("did you mean \"left\"? There are: left, "),
        "{near}"
    );
    let kind = error("", "ht_submit,ht_sumbit");
    assert!(
        kind.starts_with("no kind of events is called \"ht_sumbit\""),
        "{kind}"
    );
    assert!(kind.contains("ht_submit, ht_release"), "{kind}");
}

#[test]
fn broken_files_say_where() {
    let (bytes, ..) = traced(Some(Events::default())).unwrap();
    let count = records(&bytes).len();
    let end = bytes.len() - 24;
    let header = end - 24 * count;
    let read = |bytes: &[u8]| -> Result<usize, TraceError> {
        let mut reader = TraceReader::new(bytes)?;
        let mut count = 0;
        while reader.next_record()?.is_some() {
            count += 1;
        }
        Ok(count)
    };
    assert_eq!(read(&bytes).unwrap(), count);
    // Cut anywhere, it has no end; the place is named.
    let lens = (0..header + 25).chain(end - 1..bytes.len());
    for len in lens {
        let error = read(&bytes[..len]).unwrap_err().to_string();
        match len {
            0..8 => assert!(
                error.contains("expected it to begin with"),
                "{len}: {error}"
            ),
            _ if len < header => {
                assert!(
                    error.contains(&format!("cut off at byte {len}")),
                    "{len}: {error}"
                );
            }
            _ => {
                let events = (len - header) / 24;
                let last = header + events * 24;
                let after = match events {
                    0 => "no event;".to_owned(),
                    1 => "1 event, at ".to_owned(),
                    _ => format!("{events} events, the last at "),
                };
                let after = format!("has no end: the run was cut off after {after}");
                assert!(error.contains(&after), "{len}: {error}");
                assert!(
                    error.ends_with(&format!(" at byte {last}")),
                    "{len}: {error}"
                );
            }
        }
    }
    // The end of another trace, and something behind the end.
    let without_last = [&bytes[..end - 24], &bytes[end..]].concat();
    let error = read(&without_last).unwrap_err().to_string();
    let of = format!("that of {count} events, and there are {}", count - 1);
    assert!(error.contains(&of), "{error}");
    let longer = [&bytes[..], &[0]].concat();
    let error = read(&longer).unwrap_err().to_string();
    let behind = format!("at byte {}: more is behind the end", bytes.len());
    assert!(error.contains(&behind), "{error}");
    let changed = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        read(&bytes).unwrap_err().to_string()
    };
    let second = header + 24;
    for (at, expected) in [
        (second + 9, "components"),
        (second + 11, "kinds"),
        (second + 13, "components"),
    ] {
        let error = changed(at, 0xfe);
        assert!(
            error.contains(&format!("the record at byte {second} is broken")),
            "{error}"
        );
        assert!(error.contains(expected), "{error}");
    }
    let error = changed(header + 6, 0xff);
    assert!(error.contains("a time of"), "{error}");
    assert!(changed(14, 0xff).contains("at byte 12"));
}
