//! A program of the hostwire library whose first argument says what it does, mostly
//! harm. For the end-to-end tests.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod by_hand;
mod death;
mod footprint;
mod frames;
mod hear;
mod intruder;
mod launched;
mod pairs;
mod scribble;
mod stations;
mod steady;
mod turns;
mod work;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // At once: a launcher that ends this PE leaves no half of it.
            let line = format!("fault_probe: {error}\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let argument = |n: usize| arguments.get(n).map(String::as_str).unwrap_or_default();
    match argument(0) {
        "meet" => work::meet(),
        "everything" => work::everything(),
        "put" => work::put(argument(1)),
        "fill" => work::fill(argument(1).parse()?),
        "memory" => work::memory(),
        "footprint" => footprint::footprint(),
        "hear" => hear::hear(argument(1)),
        "frames" => {
            let (file, count) = (argument(2), argument(3).parse()?);
            match argument(1) {
                "record" => frames::record(file, count),
                "replay" => frames::replay(file, count),
                _ => frames::garbage(file, count),
            }
        }
        "steady" => steady::steady(argument(1).parse()?, argument(2).parse().unwrap_or(1)),
        "pairs" => pairs::pairs(argument(1).parse()?),
        "idle" => steady::idle(argument(1).parse()?),
        "pause" => work::pause(argument(1).parse()?),
        "die" => death::die(argument(1)),
        "scribble" => scribble::scribble(argument(1), argument(2).parse()?),
        "blobs" => launched::blobs(argument(1)),
        "abort" => launched::abort(argument(1).parse()?, argument(2).parse()?),
        "leave" => launched::leave(argument(1).parse()?),
        "stations" => match argument(1) {
            "ring" => stations::ring(argument(2)),
            "look" => stations::look(argument(2), false),
            "look-for-ever" => stations::look(argument(2), true),
            other => Err(format!("no stations are called {other:?}").into()),
        },
        "turns" => match argument(1) {
            "clocks" => turns::clocks(),
            "deadlock" => turns::deadlock(),
            "die" => turns::die(),
            "lines" => turns::lines(),
            "figures" => turns::figures(),
            "spin" => turns::spin(argument(2)),
            "compute" => turns::compute(argument(2).parse()?),
            other => Err(format!("no turn is called {other:?}").into()),
        },
        "intrude" => intruder::intrude(),
        other => Err(format!("nothing is called {other:?}").into()),
    }
}
