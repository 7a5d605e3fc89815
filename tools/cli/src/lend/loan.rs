//! One loan: a connection of a borrower, and the process that has the memory.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use hostwire::settings::{HEAP, Setting, TABLE};
use hostwire_transport::os::process::ChildSetup;

use super::channel::{self, End, Frame, Receiver, Secret, Sender, Socket};
use super::door::Stranger;
use super::terms::{Request, is_passed_on};
use super::{pe, shown};
use crate::report;

/// What of the lent memory is free.
#[derive(Default)]
pub struct Stock {
    state: Mutex<LoanBooks>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
struct LoanBooks {
    free_bytes: u64,
    /// Of loans that have ended and whose processes still run.
    returning_bytes: u64,
    /// Loans so far.
    loans: u64,
}

impl Stock {
    pub fn new(bytes: u64) -> Self {
        let state = LoanBooks {
            free_bytes: bytes,
            ..LoanBooks::default()
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, LoanBooks> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what has become of a loan.
    fn say(&self, loan: u64, what: &str) {
        let free = shown(self.state().free_bytes);
        report::out(&format!("loan {loan} {what}; {free} are free"));
    }

    /// Takes a part, which is given back when it is dropped. Waits for what is being given back.
    fn take(self: &Arc<Self>, bytes: u64) -> Result<Part, String> {
        let short = |state: &mut LoanBooks| state.free_bytes < bytes && state.returning_bytes > 0;
        let waited = self.changed.wait_while(self.state(), short);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let free = state.free_bytes;
        let Some(left) = free.checked_sub(bytes) else {
            return Err(format!("{bytes} bytes are wanted, and {free} are free"));
        };
        state.free_bytes = left;
        state.loans += 1;
        Ok(Part {
            stock: Arc::clone(self),
            bytes,
            number: state.loans,
            is_returning: false,
        })
    }
}

struct Part {
    stock: Arc<Stock>,
    bytes: u64,
    /// Of the loan.
    number: u64,
    is_returning: bool,
}

impl Part {
    /// The borrower is gone: requests for memory wait until this part is free.
    fn returns(&mut self) {
        self.stock.state().returning_bytes += self.bytes;
        self.is_returning = true;
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut state = self.stock.state();
        state.free_bytes += self.bytes;
        if self.is_returning {
            state.returning_bytes -= self.bytes;
        }
        drop(state);
        self.stock.changed.notify_all();
    }
}

/// Serves one connection to its end. Its process is killed when this thread ends, however that
/// happens.
///
/// # Errors
/// If the other end is no borrower, or has another key.
pub fn serve(
    socket: Socket,
    secret: Option<&Secret>,
    stock: &Arc<Stock>,
    who: &str,
    stranger: Stranger,
) -> io::Result<()> {
    let is_here = matches!(socket, Socket::Unix(_));
    let (mut sender, mut receiver) = channel::open(socket, End::Lender, secret)?;
    let text = match receiver.receive()? {
        Some(Frame::Ask(text)) => text,
        // Another lender has looked whether there is one of this name.
        None if is_here => return Ok(()),
        _ => return Err(io::Error::other("no loan was asked for")),
    };
    drop(stranger);
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
    let mut part = match part {
        Ok(part) => part,
        Err(why) => return sender.send(&Frame::Over(why)),
    };
    let (here, there) = UnixStream::pair()?;
    let mut child = match start(&request, is_here, there) {
        Ok(child) => child,
        Err(error) => return sender.send(&Frame::Over(error.to_string())),
    };
    let loan = part.number;
    stock.say(loan, &format!("begins: {} to {who}", shown(part.bytes)));
    let granted = sender.send(&Frame::Granted);
    let inward = granted
        .and_then(|()| receiver.be_patient())
        .and_then(|()| relay(&mut child, here, &mut sender, receiver));
    part.returns();
    // The borrower is gone, or the process is. When the connection closes, the memory is free.
    let _ = child.kill();
    let ended = child.wait();
    drop(part);
    stock.say(loan, "ends");
    sender.close();
    let _ = inward?.join();
    ended.map(drop)
}

/// Starts the process of a loan.
fn start(request: &Request, is_here: bool, pmi: UnixStream) -> io::Result<Child> {
    let pmi = Arc::new(OwnedFd::from(pmi));
    let mut command = Command::new("/proc/self/exe");
    // The settings of this lender belong to no job, except those that each host has for itself.
    let of_job = |it: &&Setting| !it.may_differ || is_passed_on(it, is_here);
    for setting in TABLE.iter().copied().filter(of_job) {
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

    /// A borrower right after another one is not refused because a process takes long to end.
    #[test]
    fn what_is_being_given_back_is_waited_for() {
        let stock = Arc::new(Stock::new(100));
        let mut part = stock.take(60).unwrap_or_else(|why| panic!("{why}"));
        part.returns();
        let next = Arc::clone(&stock);
        let taken = thread::spawn(move || next.take(100).map(|part| part.bytes));
        drop(part);
        assert_eq!(taken.join().unwrap(), Ok(100));
        let state = *stock.state();
        assert_eq!((state.free_bytes, state.returning_bytes), (100, 0));
    }

    #[test]
    fn this_host_has_memory() {
        assert!(memory_available().is_some_and(|bytes| bytes > 0));
    }
}
