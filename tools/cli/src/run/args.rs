//! The options of `hostwire run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hostwire::settings::{FAN_OUT, LOST_AFTER, SSH, Setting, TABLE, WIRE, WireName};

use super::bind::Bind;
use super::front;
use super::given::Given;
use super::mark::VARIABLE as JOB;
use super::names::{self, HostNames};
use super::parse::{self, Variable};
use super::start_error::StartError;
use super::virtual_time;

const EXAMPLES: &str = "\
EXAMPLES
    Four PEs, each line of output marked with the PE it came from:

        hostwire run -n 4 --label ./heat2d --size 512x512

    Give up after two minutes, and say what every PE was doing:

        hostwire run -n 8 --timeout 2m ./gups

    Two PEs on CPUs 0 and 2, with a symmetric heap of 1 GiB each:

        hostwire run -n 2 --bind 0,2 --heap 1G ./prog --its-own-option

    Four PEs on each of two machines, and the program reads a file:

        hostwire run --on node1:4,node2:4 ./heat2d <input

    PE 2 under gdb, at the terminal; and memory errors of all PEs, in a file each:

        hostwire run -n 4 --gdb 2 ./heat2d
        hostwire run -n 4 --wrap 'valgrind -q --log-file={pe}.log' ./heat2d

    The same where neither hostwire nor the program is installed:

        hostwire run --copy --on node1:4,node2:4 ./heat2d <input

    Six PEs on three hosts that are made of this machine for the job, to see \
how the program does over Ethernet (needs root):

        hostwire run -n 6 --wire ether --hosts 3 ./heat2d
";

/// What is below the options.
fn after_help() -> String {
    let (with_option, others): (Vec<&Setting>, Vec<&Setting>) =
        TABLE.iter().partition(|setting| setting.flag.is_some());
    let options = with_option.iter().filter_map(|setting| setting.flag);
    let options = and(options.map(|flag| format!("--{}", flag.long)));
    let names = |settings: Vec<&Setting>| and(settings.iter().map(ToString::to_string));
    let (with_options, others) = (names(with_option), names(others));
    let between = WireName::listed(WireName::spans_hosts, "or");
    format!(
        "\
{EXAMPLES}
EXIT STATUS
    0    every PE exited with 0
    1    the output of the PEs could not be written
    1    a host of --on was lost, with its PEs
    2    there was an error before any PE was started
    124  --timeout passed
    130  Ctrl-C (128 + the signal that ended hostwire)
    Otherwise the status of the PE that failed first; 128 + N if signal N killed it.

OUTPUT
    Lines of several PEs are never mixed, and come as a whole when they end. Only while the lines that PEs have \
begun have more than 64 MiB together, the longest is passed on, and ends where another PE writes.

SIGNALS
    SIGINT, SIGTERM, SIGQUIT and SIGHUP end the job: the PEs get SIGTERM, and after --grace SIGKILL; a second \
one ends them at once. SIGUSR1, SIGUSR2, SIGALRM and SIGXCPU, by which batch systems warn, go to all PEs \
and to what these have started, and end those that do not handle them. SIGTSTP (Ctrl-Z) and SIGCONT stop and \
continue the PEs, too. A signal that is ignored when hostwire starts stays so, for the PEs, too.

WHAT IS LEFT
    Nothing: all processes that the PEs have started end with the job, daemons included. \
After kill -9 of hostwire itself, a second process, hw-warden, ends them: it finds them by \
{JOB} in their environment. It does not find processes with another environment \
(env -i, sudo) or processes that a service manager starts for a PE. If hw-warden is killed \
together with hostwire, only the PEs themselves are ended.

SEVERAL MACHINES
    With --on or --hostfile ssh starts a second hostwire on each host, and that one the PEs. It has to be \
installed there in the same version, where it is here or in the path of a login by ssh; the program and the \
folder in which hostwire is started have to be there, too. With --copy none of them has to be. ssh has to log in without a question (ssh-agent, a key \
without a passphrase): {SSH} names another command. With more hosts than --fan-out ({FAN_OUT}, 32 without it), \
the first of them reach the next by ssh, and need a way in there. The job takes the fastest wire that all hosts can use \
({WIRE}={between} names one). PEs end with their host's hostwire; that one ends with the connection, or if it hears \
nothing for {LOST_AFTER} seconds. So a job ends on all hosts after kill -9 of any part, or a cable that is pulled.

CRASHES
    If a PE gets SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS or SIGTRAP, the line that says so tells where its core file is, or \
why there is none. --backtrace prints where each of its threads was, --gdb PE lets you look.

OTHER LAUNCHERS
    The same program starts under mpiexec.hydra, mpirun of Open MPI and srun \
(--mpi=pmi2, pmix or none), and alone as a job of one PE.

ENVIRONMENT
    {with_options} set the defaults of {options}. \
{others} have no option here; docs/environment.md describes each.
    Each PE gets PMI_FD, PMI_RANK and PMI_SIZE, so a program built with MPICH also \
finds its job."
    )
}

fn and(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Start a program as the PEs of one job, on this host or on several.
#[derive(Debug, clap::Args)]
#[command(override_usage = "hostwire run -n N [OPTIONS] [--] PROGRAM [ARGS]...")]
#[command(after_long_help = after_help())]
pub struct Args {
    /// How many PEs to start.
    ///
    /// At least 1, at most 4096 on a host and 65536 on all. More PEs than CPUs is
    /// fine: a PE that waits sleeps. With --on or --hostfile it may be left out.
    #[arg(short = 'n', long = "pes", value_name = "N", value_parser = parse::pes, allow_negative_numbers = true)]
    #[arg(required_unless_present_any = ["on", "hostfile"])]
    pub pes: Option<u32>,

    /// Start the PEs on these hosts, by ssh: HOST or HOST:PES, with commas between them.
    ///
    /// A HOST is what ssh takes: a name, an address, user@name, or ssh://user@name:port; your
    /// configuration of ssh says the rest. An IPv6 address with PES is in brackets. The first PEs
    /// are on the first host, and so on. Hosts without PES share what is left of -n, or get one PE
    /// each. localhost and this machine's own name need no ssh.
    #[arg(long, value_name = "HOSTS", value_parser = names::parse_on, group = "far")]
    pub on: Option<HostNames>,

    /// The same, with a host in each line of a file: HOST, HOST:PES or HOST slots=PES.
    #[arg(long, value_name = "FILE", group = "far")]
    pub hostfile: Option<PathBuf>,

    /// Copy hostwire to the hosts for this job, and PROGRAM if its name has a slash.
    ///
    /// Nothing has to be installed there, and nothing is left: the copies have no name in any folder
    /// while they run. A host without the folder in which hostwire is started starts the PEs in the
    /// folder of a login. Libraries and other files of the program are not copied.
    #[arg(long, requires = "far")]
    pub copy: bool,

    /// Set a variable for the PEs, or hand one on that is set here. May be repeated.
    ///
    /// PEs on this host have all variables of hostwire anyway. Those of --on and --hostfile have the
    /// variables of their hosts, those named here, and HOSTWIRE_*, SHMEM_* and SMA_* of hostwire.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = parse::variable)]
    pub env: Vec<Variable>,

    #[command(flatten)]
    pub settings: Given,

    /// How many hosts to make of this machine, with a wire between hosts.
    ///
    /// 1 to 64, by default 2. The first PEs are on the first host, and so on.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hosts: Option<u32>,

    #[command(flatten)]
    pub model: virtual_time::Options,

    /// Which CPU each PE runs on: auto, none, or a list such as 0,2-5.
    ///
    /// With a list, PE i gets the CPU at place i, from the start again when the list is
    /// shorter than the job. With auto, each PE gets a CPU of its own if there are
    /// enough; otherwise no PE is bound. auto uses only CPUs that hostwire itself may
    /// use.
    #[arg(long, value_name = "BIND", default_value = "auto", value_parser = parse::bind, allow_negative_numbers = true)]
    pub bind: Bind,

    /// End the job after this long: 30s, 2m, 1h, 500ms or plain seconds.
    ///
    /// The PEs still running are named with what each was doing. The exit
    /// status is 124.
    #[arg(long, value_name = "TIME", value_parser = parse::duration, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// Begin each line of output with the PE it came from, as in `[3] `.
    #[arg(long)]
    pub label: bool,

    /// Let the others run on when a PE fails.
    ///
    /// Without this, the others are ended. The exit status is that of the PE
    /// that failed first in either case.
    #[arg(long)]
    pub keep_going: bool,

    #[command(flatten)]
    pub front: front::Options,

    /// Print what the wire has counted, at the end, on standard error.
    ///
    /// While the job runs, see hostwire stats.
    #[arg(long)]
    pub stats: bool,

    /// How long PEs that are ended have between SIGTERM and SIGKILL.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse::grace, allow_negative_numbers = true)]
    pub grace: Duration,

    /// The program and its arguments.
    ///
    /// Everything after the name of the program is passed to the program. PE 0 gets
    /// standard input; the other PEs get none.
    #[arg(required = true, trailing_var_arg = true)]
    #[arg(value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

impl Args {
    /// The PEs of a job on this host, or on modelled hardware.
    ///
    /// # Errors
    /// More than one host can have.
    pub fn pes_of_host(&self) -> Result<u32, StartError> {
        let (pes, max) = (self.pes.unwrap_or(1), parse::PES_OF_HOST_MAX);
        match pes > max {
            true => Err(StartError::HostTooLarge { pes, max }),
            false => Ok(pes),
        }
    }

    /// A job with no options: what another command starts.
    pub fn quiet(pes: u32, wire: WireName, command: Vec<OsString>) -> Self {
        Self {
            pes: Some(pes),
            on: None,
            hostfile: None,
            copy: false,
            env: Vec::new(),
            settings: Given::default().with(&WIRE, wire.name()),
            hosts: None,
            model: virtual_time::Options::default(),
            bind: Bind::Auto,
            timeout: None,
            label: false,
            keep_going: false,
            front: front::Options::default(),
            stats: false,
            grace: Duration::from_secs(2),
            command,
        }
    }
}
