//! Round trips between two hosts, for bench/peers/iceoryx2.sh. It knows nothing of tunnels, and is built with the iceoryx2 of either.
//!
//!     round_trips pong                         answers until it is ended
//!     round_trips ping ROUND_TRIPS BYTES...    prints a line for each length: bytes, median and best of half a round trip in µs

use std::time::{Duration, Instant};

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;

type Failure = Box<dyn std::error::Error>;

struct Ends {
    out: Publisher<ipc::Service, [u8], ()>,
    back: Subscriber<ipc::Service, [u8], ()>,
}

impl Ends {
    fn open(names: [&str; 2]) -> Result<Self, Failure> {
        let node = NodeBuilder::new().create::<ipc::Service>()?;
        let [out, back] = names.map(|name| {
            let name: ServiceName = name.try_into()?;
            let builder = node.service_builder(&name).publish_subscribe::<[u8]>();
            Ok::<_, Failure>(builder.open_or_create()?)
        });
        let (out, back) = (out?, back?);
        let out = out.publisher_builder().initial_max_slice_len(8 << 20);
        let out = out.create()?;
        let back = back.subscriber_builder().create()?;
        Ok(Self { out, back })
    }

    fn send(&self, first: u64, len_bytes: usize) -> Result<(), Failure> {
        let mut sample = self.out.loan_slice(len_bytes)?;
        sample.payload_mut()[..8].copy_from_slice(&first.to_le_bytes());
        sample.send()?;
        Ok(())
    }

    /// The next number that comes, and how long its sample is.
    fn receive(&self, limit: Duration) -> Result<Option<(u64, usize)>, Failure> {
        let begin = Instant::now();
        let mut looks = 0_u32;
        loop {
            if let Some(sample) = self.back.receive()? {
                let payload = sample.payload();
                let first = payload.first_chunk().ok_or("a sample is too short")?;
                return Ok(Some((u64::from_le_bytes(*first), payload.len())));
            }
            looks = looks.wrapping_add(1);
            // Two processors are for four processes.
            std::thread::yield_now();
            if looks.is_multiple_of(64) && begin.elapsed() > limit {
                return Ok(None);
            }
        }
    }
}

fn pong() -> Result<(), Failure> {
    let ends = Ends::open(["back", "there"])?;
    loop {
        if let Some((number, len_bytes)) = ends.receive(Duration::from_secs(60))? {
            ends.send(number, len_bytes)?;
        }
    }
}

#[allow(clippy::print_stdout, reason = "it is a program")]
fn ping(round_trips: usize, lengths: &[usize]) -> Result<(), Failure> {
    let ends = Ends::open(["there", "back"])?;
    let mut number = 0;
    for &len_bytes in lengths {
        let mut halves = Vec::new();
        while halves.len() < round_trips {
            number += 1;
            let begin = Instant::now();
            ends.send(number, len_bytes)?;
            // The first may be lost, as long as the tunnels have not found the services.
            while let Some((answer, _)) = ends.receive(Duration::from_secs(2))? {
                if answer == number {
                    halves.push(begin.elapsed().as_secs_f64() * 1e6 / 2.0);
                    break;
                }
            }
        }
        // The first are of services that have just been found.
        let mut halves = halves.split_off(round_trips / 10);
        halves.sort_by(f64::total_cmp);
        let best = halves.first().copied().unwrap_or(0.0);
        let median = halves.get(halves.len() / 2).copied().unwrap_or(0.0);
        println!("{len_bytes} {median:.1} {best:.1}");
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((what, _)) if what == "pong" => pong(),
        Some((what, rest)) if what == "ping" => {
            let numbers: Result<Vec<usize>, _> = rest.iter().map(|it| it.parse()).collect();
            match numbers?.split_first() {
                Some((&round_trips, lengths)) => ping(round_trips, lengths),
                None => Err("how many round trips?".into()),
            }
        }
        _ => Err("pong, or ping ROUND_TRIPS BYTES...".into()),
    }
}
