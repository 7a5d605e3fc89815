//! `hostwire borrow`: runs a program whose large allocations lie in memory of other hosts.
//!
//! | file | |
//! |---|---|
//! | this one | the command line |
//! | [`launcher`] | the process that the user starts: asks the lenders, starts the pager, watches |
//! | [`pager`] | PE 0 of the job: starts the program and moves its pages |
//! | [`store`] | which lender has what, over the wires of hostwire |
//! | [`progress`] | what is said while lenders get their memory |
//! | [`report`] | what `--stats` prints |

mod launcher;
pub mod pager;
mod progress;
mod report;
mod store;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use hostwire_borrow::paging::Limits;
use hostwire_borrow::uffd::Uffd;
use hostwire_borrow::{PAGE_BYTES, pages_of};

use crate::beside;
use crate::lend::terms::{self, LenderAddress};
use crate::run::parse_size;
use crate::{USAGE_STATUS, report as say};

/// What a pager calls its counters, where a PE names its wire.
pub const PAGES: &str = "borrowed memory";

/// The library that is loaded into programs.
const LIBRARY: &str = "libhostwire_remote.so";

const AFTER_HELP: &str = "\
EXAMPLES
    A sort with 8 GiB of this machine's other user sessions, or containers, \
where 'hostwire lend --memory 8G' runs:

        hostwire borrow --memory 8G -- sort -S 6G big.txt

    Memory of two other hosts, of which either may fail:

        hostwire borrow --memory 8G --from 10.0.0.2:7700,10.0.0.3:7700 \
--key ~/lend.key --copies 2 -- ./solve

WHAT IS BORROWED
    Allocations of the program that are larger than --above: malloc and its family, \
new of C++, and private anonymous mmap. Everything else stays here: small allocations, stacks, files, \
static variables. Where loads and stores reach the memory of the lenders (shm, a coherent window), the program \
maps it. Elsewhere pages move, and --cache says how much of the borrowed memory is here at a time. \
Programs that are linked statically, or call the kernel without the C library, are not changed.

    A process that the program forks does not have its parent's borrowed memory; it may \
borrow anew, and programs that it starts may, too.

EXIT STATUS
    1    borrowed memory was lost, and the program was ended
    2    there was an error before the program was started
    Otherwise that of the program; 128 + N if signal N killed it.";

/// How a program has the pages of lenders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// It maps them.
    Map,
    /// They move, when it touches them.
    Move,
}

impl Choice {
    fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Move => "move",
        }
    }
}

/// Run a program whose large allocations lie in memory of other hosts.
#[derive(Debug, clap::Args)]
#[command(override_usage = "hostwire borrow --memory SIZE [OPTIONS] [--] PROGRAM [ARGS]...")]
#[command(after_long_help = AFTER_HELP)]
pub struct Args {
    /// How much memory to borrow: 8G, 512M.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: u64,

    /// How much of it is here at a time, where pages move.
    ///
    /// At least 1M.
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_size)]
    cache: u64,

    /// The lenders: local, local:NAME or HOST:PORT, with commas between them.
    #[arg(long, value_name = "LENDERS", default_value = "local", value_delimiter = ',', value_parser = terms::place)]
    from: Vec<LenderAddress>,

    /// The file with the key of lenders on other hosts.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// On how many lenders each page is kept: with 2, one may be lost.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=2))]
    copies: u32,

    /// Whether the program maps the memory of the lenders, or pages move between it and a cache.
    ///
    /// Without it pages are mapped where that is possible: over the wires shm and window (contract coherent), with
    /// one copy.
    #[arg(long, value_name = "map|move", value_enum, hide_possible_values = true)]
    pages: Option<Choice>,

    /// Allocations larger than this are borrowed.
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse_size)]
    above: u64,

    /// Borrow only what the program asks for itself, by RemoteHeap or hostwire_remote.h.
    #[arg(long, conflicts_with = "above")]
    explicit: bool,

    /// Print at the end what was moved and how long it took, on standard error.
    #[arg(long)]
    stats: bool,

    /// The library that is loaded into the program, if not the installed one.
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,

    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true)]
    #[arg(value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl Args {
    /// Bytes of each lender's part.
    fn share_bytes(&self) -> u64 {
        let copies = u64::from(self.copies);
        let pages = pages_of(self.memory as usize) as u64;
        let each = pages.div_ceil(self.from.len().max(1) as u64);
        // Whole stripes, so that no stripe is on two lenders.
        each.next_multiple_of(store::STRIPE_PAGES) * copies * PAGE_BYTES as u64
    }

    fn cache_pages(&self) -> usize {
        pages_of(self.cache as usize).max(Limits::CACHE_PAGES_MIN)
    }
}

/// Runs the program to its end.
pub fn main(args: &Args) -> ExitCode {
    match check(args).and_then(|library| launcher::run(args, library.as_deref())) {
        Ok(status) => status,
        Err(why) => {
            say::line(&why);
            ExitCode::from(USAGE_STATUS)
        }
    }
}

/// Lenders and programs exchange pages of one size.
fn check_pages(bytes: usize) -> Result<(), String> {
    match bytes {
        PAGE_BYTES => Ok(()),
        _ => Err(format!(
            "this kernel has pages of {bytes} bytes; borrowed memory has pages of {PAGE_BYTES}"
        )),
    }
}

/// Checks what it can before lenders are asked for memory. Returns the library to load.
fn check(args: &Args) -> Result<Option<PathBuf>, String> {
    check_pages(rustix::param::page_size())?;
    if args.from.len() < args.copies as usize {
        return Err(format!(
            "--copies {} needs as many lenders; --from names {}",
            args.copies,
            args.from.len()
        ));
    }
    let twice = (0..args.from.len()).find(|at| {
        let before = args.from.get(..*at).unwrap_or_default();
        args.from
            .get(*at)
            .is_some_and(|place| before.contains(place))
    });
    if let Some(place) = twice.and_then(|at| args.from.get(at)) {
        return Err(format!("--from names {place} twice"));
    }
    let far = args
        .from
        .iter()
        .find(|place| matches!(place, LenderAddress::There(_)));
    if let (Some(place), None) = (far, &args.key) {
        return Err(format!("the lender {place} needs --key FILE"));
    }
    if args.memory == 0 || args.memory > 1 << 43 {
        return Err(format!(
            "--memory {}: expected 1 byte to 8 TiB",
            args.memory
        ));
    }
    if args.pages == Some(Choice::Map) && args.copies > 1 {
        return Err(format!("--pages map: {}", store::NotMapped::Copies));
    }
    if args.pages == Some(Choice::Move) {
        Uffd::new().map_err(|why| why.to_string())?;
    }
    match (args.explicit, &args.library) {
        (true, _) => Ok(None),
        (false, Some(path)) => match path.is_file() {
            true => Ok(Some(path.clone())),
            false => Err(format!(
                "--library {}: there is no such file",
                path.display()
            )),
        },
        (false, None) => beside::library(LIBRARY)
            .map(Some)
            .map_err(|why| format!("{why}; --library says where it is")),
    }
}
