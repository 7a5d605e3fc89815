//! How lenders and borrowers of one user meet on a machine: by an abstract name, which anybody may take.
//!
//! If another user has the name of a lender, the lender listens under a longer one that nobody can know before. A
//! borrower looks for it among the names of the machine, and speaks to nobody but its own user.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// Between the usual name and what makes it longer.
const MORE: char = '.';

fn usual_name(name: &str) -> String {
    let user = rustix::process::geteuid().as_raw();
    format!("hostwire-lend-{user}-{name}")
}

/// Whether the process at the other end is of this user.
pub fn is_same_user(socket: impl AsFd) -> bool {
    rustix::net::sockopt::socket_peercred(socket)
        .is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// Listens for borrowers.
///
/// # Errors
/// If this user has such a lender, or as the system says.
pub fn listen(name: &str) -> io::Result<UnixListener> {
    let usual = usual_name(name);
    let listen = |name: &str| UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?);
    match listen(&usual) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && connect(name).is_err() => {
            let mut random = [0; 8];
            rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
            listen(&format!("{usual}{MORE}{:016x}", u64::from_ne_bytes(random)))
        }
        result => result,
    }
}

/// Connects to the lender of this user that has this name.
///
/// # Errors
/// [`io::ErrorKind::ConnectionRefused`] if there is none, or as the system says.
pub fn connect(name: &str) -> io::Result<UnixStream> {
    let usual = usual_name(name);
    let found = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let longer = names(&found, &usual).map(str::to_owned);
    let mut all = core::iter::once(usual.clone()).chain(longer);
    all.find_map(|name| connect_to(&name).ok())
        .ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))
}

/// The longer names in a list of sockets.
fn names<'a>(sockets: &'a str, usual: &'a str) -> impl Iterator<Item = &'a str> {
    let names = sockets.lines().filter_map(|line| line.split('@').nth(1));
    names.filter(move |name| {
        name.strip_prefix(usual)
            .is_some_and(|more| more.starts_with(MORE))
    })
}

/// Does not wait for a listener that accepts no connections.
fn connect_to(name: &str) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes())?;
    rustix::net::connect(&socket, &address)?;
    let socket = UnixStream::from(socket);
    socket.set_nonblocking(false)?;
    match is_same_user(&socket) {
        true => Ok(socket),
        false => Err(io::Error::other("the lender belongs to another user")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_names_are_found() {
        let sockets = "Num RefCount Protocol Flags Type St Inode Path\n\
            0: 02 0 00010000 0001 01 1 @hostwire-lend-0-a\n\
            0: 02 0 00010000 0001 01 2 @hostwire-lend-0-a.77\n\
            0: 02 0 00010000 0001 01 3 @hostwire-lend-0-ab.78\n\
            0: 02 0 00010000 0001 01 4\n\
            0: 02 0 00010000 0001 01 5 /run/x\n";
        let found: Vec<&str> = names(sockets, "hostwire-lend-0-a").collect();
        assert_eq!(found, ["hostwire-lend-0-a.77"]);
    }
}
