//! Where the tasks of a step meet: a Unix socket without a file.
//!
//! Its name begins with the numbers of the job and the step, which all tasks know, and
//! ends with random digits, which only task 0 knows. So no other process can take the name
//! first. The other tasks find it in the kernel's list of Unix sockets, and ask the kernel
//! for its owner: sockets of other users with such names are ignored.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use hostwire_transport::os::random;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// All Unix sockets of this network namespace: number, references, protocol, flags, type,
/// state, inode, and a name if there is one; `@` marks an abstract name.
const LIST: &str = "/proc/net/unix";
/// `__SO_ACCEPTCON`, as the list shows it: the socket listens.
const LISTENS: &str = "00010000";
/// Random digits of a name.
const DIGITS: usize = 16;

/// Opens a door whose name begins with `beginning`.
///
/// # Errors
/// [`io::ErrorKind::AddrInUse`] if another process of this user has opened one; otherwise
/// errors of the system.
pub(crate) fn open(beginning: &str) -> io::Result<UnixListener> {
    if enter(beginning)?.is_some() {
        return Err(io::ErrorKind::AddrInUse.into());
    }
    let digits = u64::from_ne_bytes(random::<{ DIGITS / 2 }>().map_err(io::Error::other)?);
    let name = format!("{beginning}-{digits:0DIGITS$x}");
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A connection to this user's door whose name begins with `beginning`, if there is one
/// and it has room now. Does not wait.
///
/// # Errors
/// Errors of the system. Errors of single sockets are ignored, because any user may have
/// made them.
pub(crate) fn enter(beginning: &str) -> io::Result<Option<UnixStream>> {
    let list = fs::read(LIST)?;
    let list = String::from_utf8_lossy(&list);
    for name in names(&list, beginning) {
        if let Ok(stream) = connect(name)
            && is_ours(&stream)
        {
            return Ok(Some(stream));
        }
    }
    Ok(None)
}

/// The names of listening sockets in the list that may be doors.
fn names<'a>(list: &'a str, beginning: &'a str) -> impl Iterator<Item = &'a str> {
    list.lines().filter_map(move |line| {
        let mut fields = line.split_ascii_whitespace();
        let listens = fields.nth(3) == Some(LISTENS);
        let name = fields.nth(3)?.strip_prefix('@')?;
        let digits = name.strip_prefix(beginning)?.strip_prefix('-')?;
        let is_random = digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
        (listens && is_random).then_some(name)
    })
}

/// Connects without waiting for room in the backlog of a listener.
fn connect(name: &str) -> Result<UnixStream, Errno> {
    let socket: OwnedFd = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes())?;
    rustix::net::connect(&socket, &address)?;
    Ok(socket.into())
}

/// Whether the process at the other end belongs to this user.
pub(super) fn is_ours(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_are_found_in_the_list_and_nothing_else() {
        let list = "\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 11 @step-1-0123456789abcdef
0000000000000000: 00000003 00000000 00000000 0001 03 12 @step-1-1123456789abcdef
0000000000000000: 00000002 00000000 00010000 0001 01 13 @step-12-0123456789abcdef
0000000000000000: 00000002 00000000 00010000 0001 01 14 @step-1-0123456789abcde
0000000000000000: 00000002 00000000 00010000 0001 01 15 @step-1-0123456789abcdeg
0000000000000000: 00000002 00000000 00010000 0001 01 16 /step-1-0123456789abcdef
0000000000000000: 00000002 00000000 00010000 0001 01 17
nonsense
0000000000000000: 00000002 00000000 00010000 0001 01 18 @step-1-fedcba9876543210 more
";
        let found: Vec<&str> = names(list, "step-1").collect();
        assert_eq!(
            found,
            ["step-1-0123456789abcdef", "step-1-fedcba9876543210"]
        );
    }

    #[test]
    fn a_door_is_opened_once_and_entered_by_its_beginning() {
        let beginning = format!("hostwire-door-{}", std::process::id());
        assert!(enter(&beginning).unwrap().is_none());
        let door = open(&beginning).unwrap();
        assert!(enter(&beginning).unwrap().is_some());
        let taken = open(&beginning).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        assert!(enter(&beginning[..beginning.len() - 1]).unwrap().is_none());
        drop(door);
        assert!(enter(&beginning).unwrap().is_none());
    }
}
