//! `hostwire window serve`: the server that gives `ivshmem-doorbell` devices of QEMU their memory and the bells of each
//! other.
//!
//! It sends numbers of 8 bytes, little-endian, some with a descriptor: the version; the number of the machine; -1 with
//! the memory; and for each vector of a machine its number, with the `eventfd` that rings it. A number without a
//! descriptor says that this machine is gone. Machines send nothing.
//!
//! # Source
//! QEMU, docs/specs/ivshmem-spec: "Client-Server protocol".

use std::fs::File;
use std::io::{self, IoSlice, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::Mode;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::report;
use crate::run::parse_size;

const VERSION: i64 = 0;
const MEMORY: i64 = -1;
/// How long a machine may take to read what is said to it.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait before a machine that could not be let in is tried again.
const NAP: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file that is the memory of all machines. It is made if it does not exist.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Bytes of the memory: a power of 2.
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    size: u64,

    /// The socket that machines connect to.
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,

    /// Interrupts of each machine, as its device has them: vectors=N.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=64))]
    vectors: u16,
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    match bytes.is_power_of_two() && bytes >= 1 << 20 {
        true => Ok(bytes),
        false => Err("expected a power of 2, from 1M on".to_owned()),
    }
}

/// Serves until a signal comes.
///
/// # Errors
/// One line: what the system refuses.
pub fn serve(args: &Args) -> Result<String, String> {
    let of = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let memory = open(&args.file, args.size).map_err(|error| of(&args.file, error))?;
    let door = listen(&args.socket).map_err(|error| of(&args.socket, error))?;
    let served = signals()
        .and_then(|signals| follow(&door, &signals, Machines::new(memory.into(), args.vectors)));
    // After this nobody can connect.
    let _ = std::fs::remove_file(&args.socket);
    served.map_err(|error| of(&args.socket, error))?;
    Ok("no more machines are served".to_owned())
}

/// The memory, for this user alone.
fn open(path: &Path, size_bytes: u64) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.mode(0o600).open(path)?;
    let bytes = file.metadata()?.len();
    if bytes == 0 {
        file.set_len(size_bytes)?;
    } else if bytes != size_bytes {
        let why = format!("it has {bytes} bytes, and --size is {size_bytes}");
        return Err(io::Error::other(why));
    }
    Ok(file)
}

/// The socket, for this user alone. One that nobody listens on is replaced.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let is_left = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if UnixStream::connect(path).is_err_and(is_left) {
        std::fs::remove_file(path)?;
    }
    let before = rustix::process::umask(Mode::from_raw_mode(0o177));
    let door = UnixListener::bind(path);
    rustix::process::umask(before);
    door
}

/// Readable when a signal has asked for the end.
fn signals() -> io::Result<UnixStream> {
    let (here, there) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, there.try_clone()?)?;
    }
    Ok(here)
}

fn follow(door: &UnixListener, signals: &UnixStream, mut machines: Machines) -> io::Result<()> {
    report::out("machines may connect");
    loop {
        let ready = {
            let sockets = machines.all.iter().map(|machine| machine.socket.as_fd());
            let all = [signals.as_fd(), door.as_fd()].into_iter().chain(sockets);
            let mut fds: Vec<PollFd<'_>> = all
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            match poll(&mut fds, None) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            }
            let ready = fds.iter().map(|fd| !fd.revents().is_empty());
            ready.collect::<Vec<bool>>()
        };
        let (end, come, others) = match ready.split_first_chunk() {
            Some(([end, come], others)) => (*end, *come, others),
            None => (false, false, &[][..]),
        };
        if end {
            return Ok(());
        }
        machines.hear(others);
        if come {
            match door.accept() {
                Ok((socket, _)) => match machines.admit(socket) {
                    Ok(number) => report::out(&format!("machine {number} is there")),
                    Err(error) => report::line(&format!("a machine was not served: {error}")),
                },
                // No descriptors are left at the moment. Machines that are connected stay served.
                Err(_) => std::thread::sleep(NAP),
            }
        }
    }
}

/// A machine, and what rings it.
#[derive(Debug)]
struct Machine {
    number: i64,
    socket: UnixStream,
    bells: Vec<OwnedFd>,
}

impl Machine {
    /// Tells it of another machine, or of its own bells.
    fn hear_of(&self, number: i64, bells: &[OwnedFd]) -> io::Result<()> {
        bells
            .iter()
            .try_for_each(|bell| say(&self.socket, number, Some(bell.as_fd())))
    }
}

/// All machines that are there.
#[derive(Debug)]
struct Machines {
    memory: OwnedFd,
    vectors: u16,
    all: Vec<Machine>,
}

impl Machines {
    fn new(memory: OwnedFd, vectors: u16) -> Self {
        Self {
            memory,
            vectors,
            all: Vec::new(),
        }
    }

    /// Lets a machine in. Its number.
    fn admit(&mut self, socket: UnixStream) -> io::Result<i64> {
        socket.set_write_timeout(Some(PATIENCE))?;
        let is_free = |number: &i64| self.all.iter().all(|machine| machine.number != *number);
        let number = (0..=i64::from(u16::MAX)).find(is_free);
        let number = number.ok_or_else(|| io::Error::other("there are 65536 machines"))?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bells = (0..self.vectors).map(|_| eventfd(0, flags));
        let machine = Machine {
            number,
            socket,
            bells: bells.collect::<Result<_, _>>()?,
        };
        say(&machine.socket, VERSION, None)?;
        say(&machine.socket, number, None)?;
        say(&machine.socket, MEMORY, Some(self.memory.as_fd()))?;
        for other in &self.all {
            machine.hear_of(other.number, &other.bells)?;
        }
        machine.hear_of(number, &machine.bells)?;
        for other in &self.all {
            // A machine that cannot be told is noticed as gone later.
            let _ = other.hear_of(number, &machine.bells);
        }
        self.all.push(machine);
        Ok(number)
    }

    /// Takes out those of the readable machines that are gone.
    fn hear(&mut self, has_news: &[bool]) {
        let mut news = has_news.iter();
        let is_gone = |machine: &mut Machine| {
            let has_news = news.next().is_some_and(|news| *news);
            // A machine that is there never sends anything.
            has_news
                && !matches!(machine.socket.read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
        };
        let gone: Vec<Machine> = self.all.extract_if(.., is_gone).collect();
        for number in gone.iter().map(|machine| machine.number) {
            for other in &self.all {
                // As above: it is noticed.
                let _ = say(&other.socket, number, None);
            }
            report::out(&format!("machine {number} is gone"));
        }
    }
}

/// Says a number, with a descriptor if there is one.
fn say(socket: &UnixStream, number: i64, fd: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = fd.map(|fd| [fd]);
    if let Some(fds) = &fds {
        // There is room for one.
        control.push(SendAncillaryMessage::ScmRights(fds));
    }
    let bytes = number.to_le_bytes();
    let sent = sendmsg(
        socket,
        &[IoSlice::new(&bytes)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    match sent == bytes.len() {
        true => Ok(()),
        false => Err(io::ErrorKind::WriteZero.into()),
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

    use super::*;

    /// The next bytes, and what came with them.
    fn heard(socket: &UnixStream) -> ([u8; 8], Option<OwnedFd>) {
        let mut bytes = [0; 8];
        let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [std::io::IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(socket, &mut parts, &mut control, flags).unwrap();
        assert_eq!(received.bytes, 8);
        let fd = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        (bytes, fd)
    }

    fn rings(bell: &OwnedFd, machine: &Machine) -> bool {
        rustix::io::write(bell, &1u64.to_ne_bytes()).unwrap();
        let mut count = [0; 8];
        rustix::io::read(&machine.bells[0], &mut count).is_ok_and(|_| count == 1u64.to_ne_bytes())
    }

    #[test]
    fn machines_hear_of_the_memory_of_each_other_and_of_who_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory");
        let memory = open(&path, 1 << 20).unwrap();
        assert!(open(&path, 2 << 20).is_err());
        let mut machines = Machines::new(memory.into(), 1);

        let (first, socket) = UnixStream::pair().unwrap();
        assert_eq!(machines.admit(socket).unwrap(), 0);
        assert_eq!(heard(&first).0, [0; 8]);
        assert_eq!(heard(&first).0, [0; 8]);
        let (minus_one, file) = heard(&first);
        assert_eq!(minus_one, [0xff; 8]);
        let bytes = File::from(file.unwrap()).metadata().unwrap().len();
        assert_eq!(bytes, 1 << 20);
        let (number, bell) = heard(&first);
        assert_eq!(number, [0; 8]);
        assert!(rings(&bell.unwrap(), &machines.all[0]));

        let (second, socket) = UnixStream::pair().unwrap();
        assert_eq!(machines.admit(socket).unwrap(), 1);
        let said: Vec<[u8; 8]> = (0..5).map(|_| heard(&second).0).collect();
        let one = [1, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(said, [[0; 8], one, [0xff; 8], [0; 8], one]);
        let (number, bell) = heard(&first);
        assert_eq!(number, one);
        assert!(rings(&bell.unwrap(), &machines.all[1]));

        drop(second);
        machines.hear(&[false, true]);
        assert_eq!(machines.all.len(), 1);
        let (number, bell) = heard(&first);
        assert_eq!((number, bell.is_none()), (one, true));
        // The number is free again.
        let (_third, socket) = UnixStream::pair().unwrap();
        assert_eq!(machines.admit(socket).unwrap(), 1);
    }

    #[test]
    fn the_memory_of_a_device_is_a_power_of_2() {
        assert_eq!(size("64M"), Ok(64 << 20));
        assert!(size("3M").is_err() && size("4K").is_err());
    }
}
