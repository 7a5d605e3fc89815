//! Plans of jobs on other hosts: for the launcher, and for the starter of one of them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use hostwire::settings::Settings;
use hostwire_bootstrap::starter::Description;

use super::super::args::Args;
use super::super::bind::{Bind, Binding};
use super::super::copies::Copies;
use super::super::front::Front;
use super::super::given::Given;
use super::super::limits;
use super::super::names::{HostNames, read_hostfile};
use super::super::parse;
use super::super::program;
use super::super::start_error::StartError;
use super::{Plan, check_memory, owned, prepare_record};

/// Variables of the launcher that PEs on other hosts get without being asked for begin so.
const HANDED_ON: [&str; 3] = ["HOSTWIRE_", "SHMEM_", "SMA_"];
/// Those that mean something on this host only.
const OF_THIS_HOST: [&str; 9] = [
    "HOSTWIRE_JOB",
    "HOSTWIRE_SSH",
    "HOSTWIRE_FAN_OUT",
    "HOSTWIRE_BOARD_FD",
    "HOSTWIRE_COUNTERS_FD",
    "HOSTWIRE_MODEL_FDS",
    "HOSTWIRE_BORROW_SOCKET",
    "HOSTWIRE_BORROW_ABOVE",
    "HOSTWIRE_PMIX_LIBRARY",
];

/// A host, and what is to be started there.
pub struct HostPlan {
    pub name: String,
    pub description: Description,
}

/// The hosts in `args`, if there are any.
pub fn names(args: &Args) -> Result<Option<HostNames>, StartError> {
    match (&args.on, &args.hostfile) {
        (Some(on), _) => Ok(Some(on.clone())),
        (None, Some(file)) => read_hostfile(file).map(Some),
        (None, None) => Ok(None),
    }
}

/// The variables of `--env`.
pub fn chosen(args: &Args) -> Result<Vec<(OsString, OsString)>, StartError> {
    let chosen = args.env.iter().map(|variable| {
        let name = &variable.name;
        let value = match &variable.value {
            Some(value) => Some(value.into()),
            None => std::env::var_os(name),
        };
        let value = value.ok_or_else(|| StartError::NoSuchVariable { name: name.clone() })?;
        Ok((name.into(), value))
    });
    chosen.collect()
}

/// The plan of the launcher: nothing is checked against its own host.
pub fn plan(args: &Args, settings: Settings, names: &HostNames) -> Result<Plan, StartError> {
    let wrong = match () {
        () if args.hosts.is_some() => Some("--hosts"),
        () if args.model.cluster.is_some() => Some("--cluster"),
        () => None,
    };
    if let Some(what) = wrong {
        return Err(StartError::NotOnHosts { what });
    }
    let named = settings.wire.named();
    if let Some(wire) = named.filter(|wire| names.0.len() > 1 && !wire.spans_hosts()) {
        return Err(StartError::WireOfOneHost { what: "on", wire });
    }
    let shares = names.shares(args.pes)?;
    let pes: u32 = shares.iter().sum();
    args.front.check(pes)?;
    let wire = settings.wire;
    let given = owned(args.settings.environment(wire));
    let environment = [handed_on(), given, chosen(args)?].concat();
    let bytes = |(name, value): &(OsString, OsString)| {
        (name.as_bytes().to_vec(), value.as_bytes().to_vec())
    };
    let environment: Vec<_> = environment.iter().map(bytes).collect();
    let folder = std::env::current_dir().map_err(|error| StartError::Folder {
        folder: "this folder".to_owned(),
        reason: error.to_string(),
    })?;
    let command: Vec<Vec<u8>> = args
        .command
        .iter()
        .map(|word| word.as_bytes().to_vec())
        .collect();
    let copies = match args.copy {
        true => copies(args)?,
        false => Copies::default(),
    };
    let mut first = 0;
    let far = names.0.iter().zip(shares).map(|(host, count)| {
        let description = Description {
            pes,
            first,
            count,
            behind: 0,
            lost_after_s: settings.lost_after_s as u32,
            folder: folder.as_os_str().as_bytes().to_vec(),
            may_be_elsewhere: args.copy,
            bind: args.bind.to_string(),
            front: args.front.words(),
            command: command.clone(),
            environment: environment.clone(),
        };
        first += count;
        HostPlan {
            name: host.target.clone(),
            description,
        }
    });
    Ok(Plan {
        pes,
        far: far.collect(),
        copies,
        environment: Vec::new(),
        settings,
        virtual_time: None,
        clocks: None,
        hosts: None,
        program: args.command.first().map(Into::into).unwrap_or_default(),
        front: Front::default(),
        command: args.command.clone(),
        binding: Binding::new(&Bind::None, 0)?,
        nofile: limits::make_room_for_descriptors(names.0.len() as u32)?,
        timeout: args.timeout,
        grace: args.grace,
        label: args.label,
        keep_going: args.keep_going,
        stats: args.stats,
    })
}

/// What `--copy` copies. A program without a slash in its name is one of the host's, and hostwire itself is copied anyway.
fn copies(args: &Args) -> Result<Copies, StartError> {
    let name = args.command.first().cloned().unwrap_or_default();
    let program = match name.as_bytes().contains(&b'/') && name != program::OWN {
        true => Some(program::find(&name, None)?),
        false => None,
    };
    Copies::read(program.as_deref())
}

/// The variables of this process that PEs on other hosts get, too.
fn handed_on() -> Vec<(OsString, OsString)> {
    let is_handed_on = |name: &OsStr| {
        let name = name.to_string_lossy();
        HANDED_ON.iter().any(|begin| name.starts_with(begin)) && !OF_THIS_HOST.contains(&&*name)
    };
    std::env::vars_os()
        .filter(|(name, _)| is_handed_on(name))
        .collect()
}

impl Plan {
    /// The plan of the starter of one host, checked against that host. The program is there, or `copied`.
    pub fn of_host(description: &Description, copied: Option<PathBuf>) -> Result<Plan, StartError> {
        let text = |bytes: &Vec<u8>| OsString::from_vec(bytes.clone());
        let environment = description.environment.iter();
        let environment: Vec<_> = environment
            .map(|(name, value)| (text(name), text(value)))
            .collect();
        let lookup = |variable: &str| {
            let mut set = environment.iter().rev();
            let set = set
                .find(|(name, _)| name == variable)
                .map(|(_, value)| value.clone());
            let set = set.or_else(|| std::env::var_os(variable));
            let set = set.filter(|value| !value.is_empty())?;
            Some(set.to_string_lossy().into_owned())
        };
        let settings = Settings::checked(lookup)?;
        let command: Vec<OsString> = description.command.iter().map(text).collect();
        let name = command.first().cloned().unwrap_or_default();
        let path = environment.iter().rev().find(|(name, _)| name == "PATH");
        let path = path
            .map(|(_, value)| value.clone())
            .or_else(|| std::env::var_os("PATH"));
        let program = match copied {
            Some(program) => program,
            None => program::find(&name, path.as_deref())?,
        };
        let front = Front::of_words(&description.front, path.as_deref())?;
        let (pes, count) = (description.pes, description.count);
        let given = Given::default();
        check_memory(&given, &settings, pes, count)?;
        limits::check_processes(count)?;
        prepare_record(&given, &settings)?;
        let bind = parse::bind(&description.bind).map_err(|reason| StartError::Ssh {
            host: "--bind".to_owned(),
            reason,
        })?;
        Ok(Plan {
            pes,
            far: Vec::new(),
            copies: Copies::default(),
            environment,
            settings,
            virtual_time: None,
            clocks: None,
            hosts: None,
            program,
            front,
            command,
            binding: Binding::new(&bind, count)?,
            // A host that is reached from here has as many as a PE.
            nofile: limits::make_room_for_descriptors(count.saturating_add(description.behind))?,
            timeout: None,
            grace: Duration::ZERO,
            label: false,
            keep_going: false,
            stats: false,
        })
    }
}
