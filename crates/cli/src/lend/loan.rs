//! One loan: a connection of a borrower, and the process that has the memory.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use hostwire::settings::{HEAP, TABLE};
use hostwire_transport::os::process::ChildSetup;

use super::channel::{self, End, Frame, Receiver, Secret, Sender, Socket};
use super::pe;
use super::terms::{Request, is_passed_on};

/// What of the lent memory is free, in bytes.
pub struct Stock(AtomicU64);

impl Stock {
    pub fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    /// Takes a part, which is given back when it is dropped.
    fn take(self: &Arc<Self>, bytes: u64) -> Result<Part, String> {
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
                free.checked_sub(bytes)
            });
        match taken {
            Ok(_) => Ok(Part {
                stock: Arc::clone(self),
                bytes,
            }),
            Err(free) => Err(format!("{bytes} bytes are wanted, and {free} are free")),
        }
    }
}

struct Part {
    stock: Arc<Stock>,
    bytes: u64,
}

impl Drop for Part {
    fn drop(&mut self) {
        self.stock.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// Serves one connection to its end. Its process is killed when this thread ends, however that
/// happens.
///
/// # Errors
/// If the other end is no borrower, or has another key.
pub fn serve(socket: Socket, secret: Option<&Secret>, stock: &Arc<Stock>) -> io::Result<()> {
    let is_here = matches!(socket, Socket::Unix(_));
    let (mut sender, mut receiver) = channel::open(socket, End::Lender, secret)?;
    let Some(Frame::Ask(text)) = receiver.receive()? else {
        return Err(io::Error::other("no loan was asked for"));
    };
    let Some(request) = Request::parse(&String::from_utf8_lossy(&text), is_here) else {
        return sender.send(&Frame::Over(
            "the request makes no sense to this lender".into(),
        ));
    };
    let part = stock.take(request.bytes).and_then(|part| {
        let free = memory_available();
        match free.is_none_or(|free| request.bytes <= free) {
            true => Ok(part),
            false => Err(format!(
                "{} bytes are wanted, and this host has {} available",
                request.bytes,
                free.unwrap_or(0)
            )),
        }
    });
    let part = match part {
        Ok(part) => part,
        Err(why) => return sender.send(&Frame::Over(why)),
    };
    let (here, there) = UnixStream::pair()?;
    let mut child = match start(&request, is_here, there) {
        Ok(child) => child,
        Err(error) => return sender.send(&Frame::Over(error.to_string())),
    };
    sender.send(&Frame::Granted)?;
    receiver.be_patient()?;
    let inward = relay(&mut child, here, &mut sender, receiver);
    // The borrower is gone, or the process is. When the connection closes, the memory is free.
    let _ = child.kill();
    child.wait()?;
    drop(part);
    sender.close();
    let _ = inward?.join();
    Ok(())
}

/// Starts the process of a loan.
fn start(request: &Request, is_here: bool, pmi: UnixStream) -> io::Result<Child> {
    let pmi = Arc::new(OwnedFd::from(pmi));
    let mut command = Command::new("/proc/self/exe");
    // What this lender itself was started with is of no job.
    for setting in TABLE.iter().filter(|it| is_passed_on(it, is_here)) {
        command.env_remove(setting.variable);
    }
    command
        .arg(pe::COMMAND)
        .envs(request.variables.iter().map(|(name, value)| (name, value)))
        .env(
            HEAP.variable,
            (request.bytes + pe::FRONT_BYTES as u64).to_string(),
        )
        .env("PMI_FD", pmi.as_raw_fd().to_string())
        .env("PMI_RANK", request.pe.to_string())
        .env("PMI_SIZE", request.pes.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    ChildSetup {
        inherit: vec![pmi],
        ..ChildSetup::default()
    }
    .apply(&mut command);
    command.spawn()
}

/// The longest message of the process that is passed on.
const MESSAGE_BYTES_MAX: u64 = 2048;

/// Passes on what the process and the launcher say to each other, until one of them is gone. The
/// thread that listens to the launcher ends with the connection.
fn relay(
    child: &mut Child,
    pmi: UnixStream,
    sender: &mut Sender,
    mut receiver: Receiver,
) -> io::Result<thread::JoinHandle<()>> {
    let mut to_child = pmi.try_clone()?;
    let mut errors = child.stderr.take();
    let inward = thread::spawn(move || {
        while let Ok(Some(Frame::Pmi(bytes))) = receiver.receive() {
            if to_child.write_all(&bytes).is_err() {
                break;
            }
        }
        // Ends the other direction, too.
        let _ = to_child.shutdown(Shutdown::Both);
    });
    let mut from_child = pmi;
    let mut bytes = [0; 4096];
    loop {
        match from_child.read(&mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(len) => {
                let some = bytes.get(..len).unwrap_or_default();
                if sender.send(&Frame::Pmi(some.to_vec())).is_err() {
                    break;
                }
            }
        }
    }
    // Its last words, if it was not ended by us.
    let _ = child.kill();
    let mut text = Vec::new();
    if let Some(errors) = &mut errors {
        let _ = errors.take(MESSAGE_BYTES_MAX).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let why = text.lines().next().unwrap_or("its process has ended");
    let _ = sender.send(&Frame::Over(
        why.trim_start_matches("hostwire: ").to_owned(),
    ));
    Ok(inward)
}

/// Memory that this host has for new programs, if it says so.
fn memory_available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_comes_back() {
        let stock = Arc::new(Stock::new(100));
        let part = stock.take(60).unwrap_or_else(|why| panic!("{why}"));
        let why = stock.take(50).err();
        assert_eq!(why.as_deref(), Some("50 bytes are wanted, and 40 are free"));
        drop(part);
        assert!(stock.take(100).is_ok());
    }

    #[test]
    fn this_host_has_memory() {
        assert!(memory_available().is_some_and(|bytes| bytes > 0));
    }
}
