//! `hostwire window`: regions of memory that several hosts map.

mod serve;

use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use hostwire::settings::{LOST_AFTER, Settings};
use hostwire_region::settings::{WINDOW, parse_window};
use hostwire_region::{JobReport, PeReport, Region, Report, Spec, contract_name};
use hostwire_transport::flush::instructions;
use hostwire_transport::{TransportError, Visibility};

use crate::report;
use crate::text::{Align, Table, columns};

const AFTER_HELP: &str = "\
EXAMPLES
    hostwire window make /dev/shm/pool,size=1G
    hostwire window make /dev/dax0.0,contract=flushed
    hostwire run -n 4 --wire window --window /dev/shm/pool ./program
    hostwire window show /dev/shm/pool
    hostwire window clear /dev/shm/pool
    hostwire window serve /dev/shm/machines --socket /run/machines

EXIT STATUS
    0    it is done
    1    the region is not what it has to be, or the system refused
    2    the command line is wrong

A job that is killed leaves its part of a region behind. The next job that needs it takes \
it, or clear does. The bytes and what they mean are in docs/wire/window.md.";

/// Make, show or clear a region of memory that several hosts map.
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a region of a file, a device-dax node or the memory of a PCI device.
    ///
    /// A file that does not exist is made, for this user alone; it needs a size. What exists
    /// has to be empty, or a region in which no job lives.
    Make(Which),
    /// Show what is in a region.
    Show(Which),
    /// Take back what jobs have left of which no PE lives.
    ///
    /// PEs of other hosts are watched: they live if they show it within HOSTWIRE_LOST_AFTER seconds.
    Clear(Which),
    /// Serve memory and interrupts to virtual machines of QEMU that have an ivshmem-doorbell.
    ///
    /// Each machine: -chardev socket,path=SOCKET,id=bell -device ivshmem-doorbell,vectors=1,chardev=bell. Runs until a
    /// signal ends it.
    Serve(serve::Args),
}

#[derive(Debug, clap::Args)]
struct Which {
    /// PATH[,offset=BYTES][,size=BYTES][,contract=CONTRACT], as HOSTWIRE_WINDOW has it.
    #[arg(value_name = "WINDOW", value_parser = named)]
    window: Spec,
}

fn named(text: &str) -> Result<Spec, String> {
    let spec = parse_window(text)?;
    match spec.path {
        Some(_) => Ok(spec),
        None => Err(format!("expected {}", (WINDOW.expected)())),
    }
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let text = match &args.action {
        Action::Make(which) => make(&which.window),
        Action::Show(which) => show(&which.window),
        Action::Clear(which) => clear(&which.window),
        Action::Serve(args) => serve::serve(args),
    };
    match text {
        Ok(text) => {
            report::out(text.trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => {
            report::line(&error);
            ExitCode::FAILURE
        }
    }
}

fn told(error: TransportError) -> String {
    error.to_string()
}

fn make(spec: &Spec) -> Result<String, String> {
    let region = Region::make(spec).map_err(told)?;
    Ok(head(&region.report().map_err(told)?))
}

fn show(spec: &Spec) -> Result<String, String> {
    let report = Region::open(spec).and_then(|region| region.report());
    Ok(shown(&report.map_err(told)?, columns()))
}

fn clear(spec: &Spec) -> Result<String, String> {
    let settings = Settings::from_env().map_err(|error| error.to_string())?;
    let lost_after = Duration::from_secs(settings.lost_after_s());
    let region = Region::open(spec).map_err(told)?;
    let freed = region.take_back(Some(lost_after)).map_err(told)?;
    let left = region.report().map_err(told)?.jobs.len();
    let jobs = |count| match count {
        1 => "1 job".to_owned(),
        count => format!("{count} jobs"),
    };
    Ok(format!(
        "{} taken back, {} left ({LOST_AFTER}={})",
        jobs(freed),
        jobs(left),
        lost_after.as_secs()
    ))
}

fn head(report: &Report) -> String {
    let head = &report.head;
    format!(
        "region {:032x}: {} MiB, {}, {} MiB used",
        head.identity,
        head.size_bytes >> 20,
        contract_name(head.contract),
        report.used_bytes >> 20
    )
}

fn shown(report: &Report, columns: usize) -> String {
    let mut text = head(report) + "\n";
    if report.head.contract == Visibility::Flushed {
        let by = instructions().name();
        text += &format!("on this host lines are written back and dropped by {by}\n");
    }
    for job in &report.jobs {
        text += "\n";
        text += &job_text(job, columns);
    }
    text
}

fn job_text(job: &JobReport, columns: usize) -> String {
    let JobReport {
        slot,
        incarnation,
        bytes,
        pes,
    } = job;
    let mib = bytes >> 20;
    let title = format!("job at place {slot}, incarnation {incarnation}: {mib} MiB\n");
    if pes.is_empty() {
        return title + "    it begins\n";
    }
    let mut table = Table::new([
        ("PE", Align::Right),
        ("state", Align::Left),
        ("process", Align::Right),
        ("epoch of its host", Align::Left),
        ("segment at MiB", Align::Right),
    ]);
    for (number, pe) in pes.iter().enumerate() {
        table.row([
            number.to_string(),
            state(pe).to_owned(),
            pe.process.to_string(),
            format!("{:016x}", pe.epoch),
            (pe.segment_offset_bytes >> 20).to_string(),
        ]);
    }
    title + &table.text("    ", columns)
}

fn state(pe: &PeReport) -> &'static str {
    match pe.lives {
        _ if pe.has_left => "has left",
        Some(true) => "lives",
        Some(false) => "gone",
        None => "on another host",
    }
}
