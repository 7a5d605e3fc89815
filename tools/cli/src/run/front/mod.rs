//! What is put before the program of a PE: a command of the user's, or a debugger.
//!
//! | file | |
//! |---|---|
//! | [`words`] | the words of `--wrap` |
//! | [`gdb`] | what gdb is told |
//! | [`terminal`] | the terminal, while a PE has it |

mod gdb;
pub mod terminal;
mod words;

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustix::io::Errno;

use self::words::Words;
use super::program;
use super::start_error::StartError;
use super::stdin::Pump;

/// The options that put something before the program.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(id = "front", multiple = false)]
pub struct Options {
    /// Put a command before the program of each PE, as in --wrap 'valgrind -q'.
    ///
    /// COMMAND is cut into words at blanks; a part in '...' or "..." and a character behind a \
    /// stay as they are. No shell sees it. {pe} and {pes} in it become the number of the PE and
    /// that of all PEs, as in 'perf record -o {pe}.data'.
    #[arg(long, value_name = "COMMAND", value_parser = Words::parse, allow_hyphen_values = true)]
    wrap: Option<Words>,

    /// Start this PE under gdb, which has the terminal.
    ///
    /// The other PEs wait for it where they need it. Without a terminal, and on other hosts, it is
    /// as with --backtrace, for this PE only.
    #[arg(long, value_name = "PE", allow_negative_numbers = true)]
    gdb: Option<u32>,

    /// Print where a PE is that gets SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL or SIGSYS, on standard error.
    ///
    /// Each PE runs under gdb, which has to be installed. It needs no core file. Starting a PE takes
    /// about a quarter of a second longer.
    #[arg(long)]
    backtrace: bool,
}

impl Options {
    /// The option that was given, if one was.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            (self.wrap.is_some(), "--wrap"),
            (self.gdb.is_some(), "--gdb"),
            (self.backtrace, "--backtrace"),
        ];
        all.iter().find(|(is, _)| *is).map(|(_, name)| *name)
    }

    /// Checks them against a job of `pes` PEs.
    ///
    /// # Errors
    /// A PE that the job does not have.
    pub fn check(&self, pes: u32) -> Result<(), StartError> {
        match self.gdb {
            Some(pe) if pe >= pes => Err(StartError::NoSuchPe { pe, pes }),
            _ => Ok(()),
        }
    }

    /// As words for a starter, which [`Front::of_words`] reads.
    pub fn words(&self) -> Vec<Vec<u8>> {
        let kind = |kind: &str| kind.as_bytes().to_vec();
        match self {
            Self {
                wrap: Some(words), ..
            } => {
                let words = words.0.iter().map(|word| word.as_bytes().to_vec());
                [kind("wrap")].into_iter().chain(words).collect()
            }
            Self { gdb: Some(pe), .. } => vec![kind("gdb"), kind(&pe.to_string())],
            Self {
                backtrace: true, ..
            } => vec![kind("gdb")],
            _ => Vec::new(),
        }
    }
}

/// What is put before the program, checked against this host.
#[derive(Clone, Debug, Default)]
pub enum Front {
    /// Nothing.
    #[default]
    Nothing,
    /// A command of the user's, and its arguments.
    Wrap(PathBuf, Words),
    /// gdb.
    Gdb {
        gdb: PathBuf,
        /// Under which PE; under each if `None`.
        pe: Option<u32>,
        /// Whether it has the terminal, and asks there what to do.
        asks: bool,
    },
}

impl Front {
    /// What `options` ask for on this host, for its own launcher.
    ///
    /// # Errors
    /// A command that is not there.
    pub fn new(options: &Options) -> Result<Front, StartError> {
        let mut front = Front::of_words(&options.words(), std::env::var_os("PATH").as_deref())?;
        if let Front::Gdb {
            pe: Some(_), asks, ..
        } = &mut front
        {
            *asks = Pump::is_needed() && Pump::is_in_foreground();
        }
        Ok(front)
    }

    /// What [`Options::words`] say, on the host of a starter.
    ///
    /// # Errors
    /// A command that is not there.
    pub fn of_words(words: &[Vec<u8>], path: Option<&OsStr>) -> Result<Front, StartError> {
        let find = |name: &OsStr| program::find(name, path);
        let words: Vec<OsString> = words.iter().cloned().map(OsString::from_vec).collect();
        match words.split_first() {
            Some((kind, words)) if kind == "wrap" => {
                let name = words.first().map_or(OsStr::new(""), |name| name);
                let found = find(name).map_err(|error| StartError::Wrap {
                    cause: Box::new(error),
                })?;
                Ok(Front::Wrap(found, Words(words.to_vec())))
            }
            Some((_, pe)) => Ok(Front::Gdb {
                gdb: find(OsStr::new("gdb")).map_err(|_| StartError::NoGdb)?,
                pe: pe.first().and_then(|pe| pe.to_str()?.parse().ok()),
                asks: false,
            }),
            None => Ok(Front::Nothing),
        }
    }

    /// The PE that has the terminal, if one has it.
    pub fn asking_pe(&self) -> Option<u32> {
        match self {
            Front::Gdb { pe, asks: true, .. } => *pe,
            _ => None,
        }
    }

    /// What to start as PE `pe` of `pes`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(
        &self,
        program: &Path,
        command: &[OsString],
        (pe, pes): (u32, u32),
    ) -> Result<Start, Errno> {
        let name = command.first().map_or(OsStr::new(""), |name| name);
        let arguments = command.get(1..).unwrap_or_default();
        let (mut start, is_named) = match self {
            Front::Wrap(path, words) => {
                let mut command = Command::new(path);
                command.args(words.of_pe(pe, pes).skip(1)).arg(program);
                (Start::plain(command), true)
            }
            Front::Gdb { gdb, pe: of, asks } if of.is_none_or(|of| of == pe) => match asks {
                true => (Start::plain(gdb::asking(gdb, program)), true),
                false => (gdb::silent(gdb, program, pe)?, true),
            },
            Front::Nothing | Front::Gdb { .. } => (Start::plain(Command::new(program)), false),
        };
        if !is_named {
            use std::os::unix::process::CommandExt;
            start.command.arg0(name);
        }
        start.command.args(arguments);
        Ok(start)
    }
}

/// What is started as a PE.
pub struct Start {
    pub command: Command,
    /// Descriptors that it needs.
    pub inherit: Vec<Arc<OwnedFd>>,
    /// Whether a status above 128 stands for the signal that ended the program.
    pub tells_signals: bool,
}

impl Start {
    fn plain(command: Command) -> Start {
        Start {
            command,
            inherit: Vec::new(),
            tells_signals: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(start: &Start) -> String {
        let command = &start.command;
        let words = [command.get_program()]
            .into_iter()
            .chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn options_are_the_same_behind_a_starter() {
        let wrap = Options {
            wrap: Some(Words::parse("sh -c 'a b' {pe}").unwrap()),
            ..Options::default()
        };
        let front = Front::of_words(&wrap.words(), Some(OsStr::new("/bin"))).unwrap();
        let command = ["./p".into(), "x".into()];
        let start = front.start(Path::new("./p"), &command, (3, 4)).unwrap();
        assert_eq!(line(&start), "/bin/sh -c a b 3 ./p x");

        let plain = Front::of_words(&Options::default().words(), None).unwrap();
        let start = plain.start(Path::new("/bin/p"), &command, (3, 4)).unwrap();
        assert_eq!(line(&start), "/bin/p x");
    }

    #[test]
    fn only_the_named_pe_is_under_gdb() {
        let front = Front::Gdb {
            gdb: "/bin/gdb".into(),
            pe: Some(1),
            asks: true,
        };
        let start = |pe| {
            front
                .start(Path::new("./p"), &["p".into()], (pe, 2))
                .unwrap()
        };
        assert_eq!(line(&start(0)), "./p");
        assert_eq!(line(&start(1)), "/bin/gdb -q --args ./p");
        assert_eq!(front.asking_pe(), Some(1));
    }

    #[test]
    fn what_is_not_there_is_told() {
        let nowhere = Some(OsStr::new("/no/such/folder"));
        let error = |options: Options| {
            let front = Front::of_words(&options.words(), nowhere);
            front.unwrap_err().to_string()
        };
        let backtrace = Options {
            backtrace: true,
            ..Options::default()
        };
        assert!(error(backtrace).starts_with("--gdb, --backtrace: gdb is not installed"));
        let wrap = Options {
            wrap: Some(Words::parse("valgrind -q").unwrap()),
            ..Options::default()
        };
        assert_eq!(
            error(wrap),
            "--wrap: cannot run 'valgrind': not found in PATH"
        );
        let gdb = Options {
            gdb: Some(4),
            ..Options::default()
        };
        assert_eq!(
            gdb.check(4).unwrap_err().to_string(),
            "--gdb 4: the job has the PEs 0 to 3"
        );
        assert_eq!(gdb.check(5), Ok(()));
    }
}
