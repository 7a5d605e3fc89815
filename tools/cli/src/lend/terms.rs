//! What a borrower asks of a lender, as text; where lenders are; and the key file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use hostwire::settings::{self, Setting, TABLE};

use super::channel::{Secret, Socket};
use super::local;

/// What the request begins with.
const TITLE: &str = "loan 1";
/// The longest text that makes sense.
const VARIABLES_MAX: usize = 64;
/// More than any host has.
const BYTES_MAX: u64 = 1 << 46;

/// The settings that a borrower passes on to the lender's process. Both need them alike, and none opens or makes a file
/// of the lender or chooses its devices. A new setting is not passed on until it is listed here.
static HARMLESS: [&Setting; 8] = [
    &settings::WIRE,
    &settings::RING,
    &hostwire_frames::settings::ETHERTYPE,
    &hostwire_fabric::settings::FABRIC,
    &settings::INSECURE_WIRE,
    &settings::LOST_AFTER,
    &settings::ATTACH_TIMEOUT,
    &settings::FAULTS,
];
/// More settings from a borrower on this machine, who is the same user: paths, which lead to the same files.
static OF_THIS_USER: [&Setting; 3] = [
    &hostwire_region::settings::WINDOW,
    &settings::RECORD,
    &settings::RECORD_LIMIT,
];

/// Whether a borrower says how the lender's process has this setting.
pub fn is_passed_on(setting: &Setting, is_here: bool) -> bool {
    let is_of = |all: &[&Setting]| all.iter().any(|it| it.variable == setting.variable);
    is_of(&HARMLESS) || is_here && is_of(&OF_THIS_USER)
}

/// A request for memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Bytes that are wanted.
    pub bytes: u64,
    /// The number of the lender in the job.
    pub pe: u32,
    /// The PEs of the job: the borrower and the lenders.
    pub pes: u32,
    /// Settings of the job.
    pub variables: Vec<(String, String)>,
}

impl Request {
    /// As text.
    pub fn to_text(&self) -> String {
        let Self { bytes, pe, pes, .. } = self;
        let mut text = format!("{TITLE}\n{bytes} {pe} {pes}\n");
        for (name, value) in &self.variables {
            text += &format!("{name}={value}\n");
        }
        text
    }

    /// From text, of a borrower of this machine or another one; `None` for anything else. Only settings
    /// of hostwire are taken.
    pub fn parse(text: &str, is_here: bool) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != TITLE {
            return None;
        }
        let mut numbers = lines.next()?.split(' ');
        let mut number = || numbers.next()?.parse::<u64>().ok();
        let (bytes, pe, pes) = (number()?, number()?, number()?);
        let variables = lines.map(|line| {
            let (name, value) = line.split_once('=')?;
            let is_known = TABLE
                .iter()
                .any(|setting| setting.variable == name && is_passed_on(setting, is_here));
            is_known.then(|| (name.to_owned(), value.to_owned()))
        });
        let variables = variables.collect::<Option<Vec<_>>>()?;
        let (pe, pes) = (u32::try_from(pe).ok()?, u32::try_from(pes).ok()?);
        let makes_sense =
            bytes <= BYTES_MAX && pe > 0 && pe < pes && variables.len() <= VARIABLES_MAX;
        makes_sense.then_some(Self {
            bytes,
            pe,
            pes,
            variables,
        })
    }
}

/// Where a lender is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LenderAddress {
    /// On this machine, of the same user, under a name.
    Here(String),
    /// Host and port.
    There(String),
}

impl std::fmt::Display for LenderAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Here(name) => write!(f, "local:{name}"),
            Self::There(address) => f.write_str(address),
        }
    }
}

/// The name of the only lender of a user on a machine.
pub const USUAL_NAME: &str = "0";

/// Reads `local`, `local:NAME` or `HOST:PORT`.
pub fn place(text: &str) -> Result<LenderAddress, String> {
    if text == "local" {
        return Ok(LenderAddress::Here(USUAL_NAME.to_owned()));
    }
    if let Some(name) = text.strip_prefix("local:") {
        return self::name(name).map(LenderAddress::Here);
    }
    let is_address = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    match is_address {
        true => Ok(LenderAddress::There(text.to_owned())),
        false => Err("expected local, local:NAME or HOST:PORT".to_owned()),
    }
}

/// A name of a lender.
pub fn name(text: &str) -> Result<String, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.len() <= 32 && text.chars().all(is_word) {
        true => Ok(text.to_owned()),
        false => Err("expected up to 32 letters, digits, - or _".to_owned()),
    }
}

/// How long a host has to answer that somebody connects.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);

/// Connects to a lender.
///
/// # Errors
/// As the system says.
pub fn connect(place: &LenderAddress) -> io::Result<Socket> {
    match place {
        LenderAddress::There(address) => connect_tcp(address).map(Socket::Tcp),
        LenderAddress::Here(name) => local::connect(name).map(Socket::Unix),
    }
}

fn connect_tcp(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the name leads to no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_LIMIT) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The least secret that is taken.
const SECRET_BYTES_MIN: usize = 16;
const SECRET_BYTES_MAX: u64 = 4096;

/// Reads a key file. Nobody else may be able to.
pub fn read_key(path: &Path) -> Result<Secret, String> {
    let shown = path.display();
    let failed = |error: io::Error| format!("the key file {shown}: {error}");
    let metadata = fs::metadata(path).map_err(failed)?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!(
            "the key file {shown} has mode {mode:o}, so that others may use it: chmod 600 {shown}"
        ));
    }
    if metadata.len() > SECRET_BYTES_MAX {
        return Err(format!(
            "the key file {shown} has {} bytes, more than a key",
            metadata.len()
        ));
    }
    let bytes = fs::read(path).map_err(failed)?;
    let key = bytes.trim_ascii().to_vec();
    match key.len() >= SECRET_BYTES_MIN {
        true => Ok(Secret::new(key)),
        false => Err(format!(
            "the key file {shown} has {} bytes; a key has {SECRET_BYTES_MIN} or more",
            key.len()
        )),
    }
}

/// Makes a key file. It must not be there.
pub fn make_key(path: &Path) -> io::Result<()> {
    let mut random = [0; 32];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut options = File::options();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back_from_its_text() {
        let request = Request {
            bytes: 1 << 30,
            pe: 1,
            pes: 3,
            variables: vec![("HOSTWIRE_WIRE".into(), "udp".into())],
        };
        assert_eq!(Request::parse(&request.to_text(), false), Some(request));
        let window = "loan 1\n1 1 2\nHOSTWIRE_WINDOW=/dev/shm/pool\n";
        assert!(Request::parse(window, true).is_some());
        assert_eq!(Request::parse(window, false), None);
        for bad in [
            "",
            "loan 2\n1 1 2\n",
            "loan 1\n1 1\n",
            "loan 1\n1 0 2\n",
            "loan 1\n1 2 2\n",
            "loan 1\n1 1 2\nLD_PRELOAD=x\n",
            "loan 1\n1 1 2\nHOSTWIRE_IFACE=eth0\n",
        ] {
            assert_eq!(Request::parse(bad, true), None, "{bad:?}");
        }
    }

    /// A new setting is listed here, or above if a borrower on another host may choose it for a lender.
    #[test]
    fn a_borrower_of_another_host_says_only_what_is_harmless() {
        let kept = [
            "HOSTWIRE_HEAP",
            "HOSTWIRE_IFACE",
            "HOSTWIRE_WINDOW",
            "HOSTWIRE_DEVICES",
            "HOSTWIRE_STATS",
            "HOSTWIRE_RECORD",
            "HOSTWIRE_RECORD_LIMIT",
            "HOSTWIRE_PMIX_LIBRARY",
            "HOSTWIRE_SSH",
            "HOSTWIRE_FAN_OUT",
        ];
        for setting in TABLE.iter() {
            let is_kept = kept.contains(&setting.variable);
            assert_ne!(is_kept, is_passed_on(setting, false), "{setting}");
            let text = format!("loan 1\n1 1 2\n{setting}=/some/where\n");
            assert_eq!(
                Request::parse(&text, false).is_some(),
                !is_kept,
                "{setting}"
            );
        }
    }

    #[test]
    fn places_are_read() {
        assert_eq!(place("local"), Ok(LenderAddress::Here("0".into())));
        assert_eq!(place("local:b"), Ok(LenderAddress::Here("b".into())));
        assert_eq!(place("h:7000"), Ok(LenderAddress::There("h:7000".into())));
        assert_eq!(
            place("[::1]:7000"),
            Ok(LenderAddress::There("[::1]:7000".into()))
        );
        for bad in ["", "local:", "local:a b", "h", "h:x", ":7", "h:70000"] {
            assert!(place(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_is_made_once_and_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        make_key(&path).unwrap();
        assert!(make_key(&path).is_err());
        assert!(read_key(&path).is_ok());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(read_key(&path).is_err_and(|why| why.contains("chmod 600")));
        fs::write(&path, "short\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(read_key(&path).is_err_and(|why| why.contains("5 bytes")));
    }
}
