//! Boots a cluster file, prints the log, and writes what crossed the links.
//! `cargo run -p hostwire-sim --example boot CLUSTER.toml [CAPTURE.pcapng]`

#![allow(clippy::print_stdout)]

use std::fs::{self, File};
use std::io::BufWriter;

use hostwire_plan::LinkRole;
use hostwire_sim::firmware::boot_all;
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::opteron::{Op, OpteronConfig, Script};
use hostwire_sim::record::Recording;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("usage: boot CLUSTER.toml [CAPTURE.pcapng]")?;
    let plan = hostwire_plan::plan(&file, &fs::read(&file)?)?;
    let mut machine = Machine::new(plan, &OpteronConfig::shanghai())?;
    print!("{}", boot_all(&mut machine)?);
    let Some(capture) = arguments.next() else {
        return Ok(());
    };
    let recording = Recording::new();
    let links = machine
        .wires()
        .iter()
        .filter(|wire| wire.role == LinkRole::Fabric);
    for link in links.map(|wire| wire.link).collect::<Vec<_>>() {
        recording.watch(&mut machine.sim, link, true);
    }
    // One line from the first socket to every other one.
    let addresses: Vec<u64> = machine.sockets()[1..]
        .iter()
        .filter_map(|socket| Some(machine.plan().processor(socket.id)?.memory.start.0))
        .collect();
    let stores = addresses.into_iter().map(|address| Op::Store {
        address,
        data: vec![0xa5; 64],
    });
    machine.start(0, Script::new(stores.chain([Op::Fence]).collect()));
    println!("{}", machine.sim.run()?);
    recording.write_pcapng(&mut BufWriter::new(File::create(&capture)?))?;
    println!("{} packets in {capture}", recording.len());
    Ok(())
}
