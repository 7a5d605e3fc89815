//! Stations of processes in virtual time, as the endpoints of libfabric are.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire::station::{
    Deed, Finished, Label, Lane, MemoryRegion, MemoryRegions, Name, RegionRange, Rights, Station,
    Wanted,
};
use hostwire::{PeId, Source, Tag};
use hostwire_transport::Memory;

type Done = Result<(), Box<dyn Error>>;

const KEY: u64 = 7;
const LENS: [usize; 3] = [8, 1000, 100_000];
const ROUNDS: u64 = 4;

/// Sends around a ring, puts into memory of the next one, and prints the time. Names go by files in this folder.
pub fn ring(folder: &str) -> Done {
    let number = |name: &str| -> Result<u32, Box<dyn Error>> { Ok(std::env::var(name)?.parse()?) };
    let (pe, pes) = (number("PMI_RANK")?, number("PMI_SIZE")?);
    let memory = Memory::anonymous(8);
    let regions = Arc::<MemoryRegions>::default();
    let region = MemoryRegion {
        memory: memory.clone(),
        first: 0,
        rights: Rights {
            read: true,
            write: true,
        },
        witness: None,
    };
    regions.add(Some(KEY), region);
    let station = Station::with(regions)?;
    let second = Station::open().map(drop);
    let refused = second.is_err_and(|why| why.to_string().contains("one endpoint"));
    assert!(refused, "a second station");
    let next = exchange(&station, Path::new(folder), (pe, pes))?;
    let before = Instant::now();
    for round in 0..ROUNDS {
        for len in LENS {
            around(&station, next, (round << 32) + len as u64, len)?;
        }
        let place = RegionRange {
            key: KEY,
            at: 0,
            len: 8,
        };
        let put = Deed::Put { data: None };
        let bytes = Box::new(round.to_le_bytes().to_vec());
        station.ask(next, put, vec![place], bytes)?;
        finished(&station)?;
    }
    let took = before.elapsed();
    // All others have put by then.
    around(&station, next, u64::MAX, 8)?;
    let mut found = [0; 8];
    memory.copy_out(0, &mut found)?;
    assert_eq!(u64::from_le_bytes(found), ROUNDS - 1);
    println!("PE {pe} took {} ns", took.as_nanos());
    Ok(())
}

/// Writes the own name and reads that of the next one, in real time. Returns its number.
fn exchange(
    station: &Station,
    folder: &Path,
    (pe, pes): (u32, u32),
) -> Result<PeId, Box<dyn Error>> {
    let part = folder.join(format!("{pe}.part"));
    std::fs::write(&part, station.name().to_bytes())?;
    std::fs::rename(part, folder.join(pe.to_string()))?;
    let file = folder.join(((pe + 1) % pes).to_string());
    while !file.exists() {
        std::thread::yield_now();
    }
    let name = Name::from_bytes(&std::fs::read(file)?).ok_or("a name that is none")?;
    Ok(station.number(&name)?)
}

/// Sends so many bytes to the next one, and receives as many from whoever sends them.
fn around(station: &Station, next: PeId, tag: u64, len: usize) -> Done {
    let lane = Lane::Tagged;
    let sent = vec![tag as u8; len];
    let wanted = Wanted {
        lane,
        from: Source::Any,
        tag: Tag::from(tag),
    };
    station.receive(wanted, Box::new(vec![0_u8; len]))?;
    let label = Label {
        lane,
        tag,
        data: None,
    };
    station.send(next, label, Box::new(sent.clone()))?;
    for _ in 0..2 {
        let done = finished(station)?;
        if done.is_receive {
            let got = done.buffer.ok_or("a receive without a buffer")?;
            assert_eq!(got.bytes(), sent);
        }
    }
    Ok(())
}

fn finished(station: &Station) -> Result<Finished, Box<dyn Error>> {
    loop {
        while station.take_use().is_some() {}
        if let Some(done) = station.poll()? {
            done.result.clone()?;
            return Ok(done);
        }
    }
}

/// Looks for what nobody sends, until the time is over by the clock, or for ever.
pub fn look(folder: &str, is_for_ever: bool) -> Done {
    let number = |name: &str| -> Result<u32, Box<dyn Error>> { Ok(std::env::var(name)?.parse()?) };
    let who = (number("PMI_RANK")?, number("PMI_SIZE")?);
    let station = Station::open()?;
    exchange(&station, Path::new(folder), who)?;
    let begin = Instant::now();
    let limit = Duration::from_millis(100);
    while is_for_ever || begin.elapsed() < limit {
        assert!(station.poll()?.is_none());
    }
    let waited = Instant::now();
    assert!(station.wait(limit)?.is_none());
    let late = |took: Duration| took.saturating_sub(limit).as_micros();
    let both = (waited - begin, waited.elapsed());
    println!(
        "PE {} is late by {} and {} us",
        who.0,
        late(both.0),
        late(both.1)
    );
    Ok(())
}
