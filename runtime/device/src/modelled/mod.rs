//! A device whose memory belongs to a separate process.
//!
//! The process begins as a forked copy of the PE. It closes all descriptors of the PE, and then only carries
//! out commands from its queue: a socket with records of one size. Copies between host and device go in
//! pieces through the bounce memory (`bounce`), which both map: while the device copies one piece, the PE
//! fills the next. The process, and with it the memory, ends when the PE ends in any way.

mod bounce;
mod command;
mod process;

use std::collections::{BTreeMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostwire_transport::Memory;

use crate::{Device, DeviceError, Export, Kind, Result, Ticket};
use bounce::{Bounce, PIECE_BYTES};
use command::{Answer, Command, Operation};
use process::Process;

/// Most copies in the queue of a device.
const UNDER_WAY_MAX: usize = 64;

/// A modelled device. See the [module text](self).
#[derive(Debug)]
pub struct Modelled {
    number: u32,
    process: Process,
    bounce: Bounce,
    queue: Mutex<Queue>,
}

/// The PE's state of the command queue.
#[derive(Debug, Default)]
struct Queue {
    /// The number of the last command.
    last: u64,
    /// The last copy that has finished.
    finished: Ticket,
    under_way: VecDeque<UnderWay>,
    /// A bit for each piece of the bounce memory that is in use.
    pieces: u64,
    /// Length of each allocation, by address.
    allocations: BTreeMap<u64, usize>,
    /// Where the mapping of an allocation begins, if not at its address.
    bases: BTreeMap<u64, u64>,
    lost: Option<String>,
}

#[derive(Debug)]
struct UnderWay {
    number: u64,
    /// The piece of bounce memory that it uses.
    piece: Option<usize>,
    /// Where the bytes of the piece go in the end, and their number.
    into: Option<(Memory, usize, usize)>,
}

impl Modelled {
    /// Starts the process of device `number`.
    ///
    /// # Errors
    /// [`DeviceError::Refused`].
    pub fn start(number: u32) -> Result<Self> {
        let bounce = Bounce::new()?;
        let process = Process::start(bounce.base())?;
        Ok(Self {
            number,
            process,
            bounce,
            queue: Mutex::default(),
        })
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.process.number()
    }

    fn queue(&self) -> Result<MutexGuard<'_, Queue>> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        match &queue.lost {
            Some(why) => Err(self.lost(why.clone())),
            None => Ok(queue),
        }
    }

    fn lost(&self, why: String) -> DeviceError {
        let device = self.name();
        DeviceError::Lost { device, why }
    }

    /// Puts a command into the queue.
    fn send(
        &self,
        queue: &mut Queue,
        operation: Operation,
        a: u64,
        b: u64,
        len: u64,
    ) -> Result<u64> {
        let number = queue.last + 1;
        let command = Command {
            operation,
            number,
            a,
            b,
            len,
        };
        if let Err(why) = self.process.send(&command) {
            return Err(self.end(queue, why));
        }
        queue.last = number;
        Ok(number)
    }

    /// Notes that its process has ended.
    fn end(&self, queue: &mut Queue, why: String) -> DeviceError {
        queue.lost = Some(why.clone());
        queue.under_way.clear();
        self.lost(why)
    }

    /// Takes all answers that have come, and returns the value of the last one.
    fn take(&self, queue: &mut Queue) -> Result<Option<i64>> {
        let mut last = None;
        loop {
            let Answer { number, value } = match self.process.receive() {
                Ok(Some(answer)) => answer,
                Ok(None) => return Ok(last),
                Err(why) => return Err(self.end(queue, why)),
            };
            if !queue.under_way.iter().any(|one| one.number == number) {
                let why = format!("it has answered {number}, which is none of its commands");
                return Err(self.end(queue, why));
            }
            last = Some(value);
            while queue.finished < number
                && let Some(done) = queue.under_way.pop_front()
            {
                queue.finished = done.number;
                let Some(piece) = done.piece else { continue };
                if let Some((memory, offset, len)) = done.into {
                    self.bounce.take(piece, &memory, offset, len)?;
                }
                queue.pieces &= !(1 << piece);
            }
        }
    }

    /// A piece of the bounce memory for bytes of the host, if the queue has room for one more copy.
    fn piece(
        &self,
        queue: &mut Queue,
        (host, offset, len): (&Memory, usize, usize),
    ) -> Result<Option<usize>> {
        if len > PIECE_BYTES || host.range(offset, len).is_err() {
            return Err(DeviceError::Refused {
                what: format!("copying {len} bytes of host memory"),
                why: format!("expected at most {PIECE_BYTES}, and all of them in the memory"),
            });
        }
        self.take(queue)?;
        let free = (!queue.pieces).trailing_zeros() as usize;
        if free >= bounce::PIECES || queue.under_way.len() >= UNDER_WAY_MAX {
            return Ok(None);
        }
        queue.pieces |= 1 << free;
        Ok(Some(free))
    }

    /// An error if an allocation does not have these bytes.
    fn check(&self, queue: &Queue, at: u64, len: usize) -> Result<()> {
        crate::check_range(&queue.allocations, at, len, || self.name())
    }

    /// Sends the process a command, and waits for its answer.
    fn ask(&self, operation: Operation, (a, b): (u64, u64), len: u64) -> Result<i64> {
        let mut queue = self.queue()?;
        let number = self.send(&mut queue, operation, a, b, len)?;
        queue.under_way.push_back(UnderWay {
            number,
            piece: None,
            into: None,
        });
        loop {
            if let Some(value) = self.take(&mut queue)?
                && queue.finished == number
            {
                return Ok(value);
            }
            self.process.wait(Duration::from_millis(100));
        }
    }
}

impl Device for Modelled {
    fn name(&self) -> String {
        format!(
            "modelled device {} (process {})",
            self.number,
            self.process()
        )
    }

    fn kind(&self) -> Kind {
        Kind::Modelled
    }

    fn piece_bytes_max(&self) -> usize {
        PIECE_BYTES
    }

    fn allocate(&self, len: usize, align: usize) -> Result<u64> {
        let device = || self.name();
        let full = |why: String| DeviceError::OutOfMemory {
            device: device(),
            len,
            why,
        };
        // The process gives whole pages.
        let padded = len
            .max(1)
            .checked_add(align.saturating_sub(process::PAGE_BYTES));
        let Some(padded) = padded.filter(|bytes| *bytes <= isize::MAX as usize) else {
            return Err(full("no process has so many addresses".into()));
        };
        let base = self.ask(Operation::Allocate, (0, 0), padded as u64)?;
        if base <= 0 {
            let reason = std::io::Error::from_raw_os_error((-base) as i32);
            return Err(full(reason.to_string()));
        }
        let at = (base as u64).next_multiple_of(align.max(1) as u64);
        let end = base as u64 + padded as u64;
        let room = (end - at) as usize;
        let mut queue = self.queue()?;
        queue.allocations.insert(at, room.min(len.max(1)));
        queue.bases.insert(at, base as u64);
        Ok(at)
    }

    fn release(&self, at: u64) -> Result<()> {
        {
            let mut queue = self.queue()?;
            if queue.allocations.remove(&at).is_none() {
                let device = self.name();
                return Err(DeviceError::OutOfRange { device, at, len: 0 });
            }
            queue.bases.remove(&at);
        }
        self.ask(Operation::Release, (at, 0), 0).map(|_| ())
    }

    fn write(&self, to: u64, from: &Memory, offset: usize, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue()?;
        self.check(queue, to, len)?;
        let Some(piece) = self.piece(queue, (from, offset, len))? else {
            return Ok(None);
        };
        self.bounce.fill(piece, from, offset, len)?;
        let place = (piece * PIECE_BYTES) as u64;
        let number = self.send(queue, Operation::Write, to, place, len as u64)?;
        queue.under_way.push_back(UnderWay {
            number,
            piece: Some(piece),
            into: None,
        });
        Ok(Some(number))
    }

    fn read(&self, from: u64, into: &Memory, offset: usize, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue()?;
        self.check(queue, from, len)?;
        let Some(piece) = self.piece(queue, (into, offset, len))? else {
            return Ok(None);
        };
        let place = (piece * PIECE_BYTES) as u64;
        let number = self.send(queue, Operation::Read, from, place, len as u64)?;
        let into = Some((into.clone(), offset, len));
        queue.under_way.push_back(UnderWay {
            number,
            piece: Some(piece),
            into,
        });
        Ok(Some(number))
    }

    fn copy(&self, to: u64, from: u64, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue()?;
        self.check(queue, to, len)?;
        self.check(queue, from, len)?;
        self.take(queue)?;
        if queue.under_way.len() >= UNDER_WAY_MAX {
            return Ok(None);
        }
        let number = self.send(queue, Operation::Copy, to, from, len as u64)?;
        queue.under_way.push_back(UnderWay {
            number,
            piece: None,
            into: None,
        });
        Ok(Some(number))
    }

    fn finished(&self) -> Result<Ticket> {
        let mut queue = self.queue()?;
        self.take(&mut queue)?;
        Ok(queue.finished)
    }

    fn wait(&self, ticket: Ticket, limit: Duration, _: Duration) {
        // The next call gives the error.
        if self.finished().is_ok_and(|finished| finished < ticket) {
            self.process.wait(limit);
        }
    }

    fn export(&self, at: u64) -> Result<Export> {
        self.check(&*self.queue()?, at, 1)?;
        let (file, process) = (self.ask(Operation::File, (at, 0), 0)?, self.process());
        let base = self.queue()?.bases.get(&at).copied().unwrap_or(at);
        let found = File::of(process, file).map_err(|why| export_refused(why.to_string()))?;
        Ok(found.export((at - base, process.into(), file as u64)))
    }

    fn open(&self, export: &Export, len: usize) -> Result<u64> {
        let (file, (skipped, process, descriptor)) = File::read(export);
        // Process numbers have other meanings in other namespaces.
        let there = u32::try_from(process)
            .ok()
            .zip(i64::try_from(descriptor).ok());
        let found = there.map(|(process, descriptor)| File::of(process, descriptor));
        match found {
            Some(Ok(found)) if found == file => {}
            Some(Err(why)) => return Err(export_refused(why.to_string())),
            _ => return Err(export_refused("another file is there".into())),
        }
        let bytes = (len as u64).checked_add(skipped);
        let bytes =
            bytes.ok_or_else(|| export_refused("no process has so many addresses".into()))?;
        let base = self.ask(Operation::Open, (process, descriptor), bytes)?;
        if base <= 0 {
            let reason = std::io::Error::from_raw_os_error((-base) as i32);
            return Err(export_refused(reason.to_string()));
        }
        let at = base as u64 + skipped;
        self.queue()?.allocations.insert(at, len);
        Ok(at)
    }

    fn close(&self, at: u64) {
        // If the device is lost, so is the memory that it has opened.
        let _ = self.release(at);
    }
}

fn export_refused(why: String) -> DeviceError {
    DeviceError::Refused {
        what: "opening memory of a modelled device of another process".into(),
        why,
    }
}

/// The file of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct File {
    device: u64,
    inode: u64,
}

impl File {
    fn of(process: u32, descriptor: i64) -> std::io::Result<Self> {
        let found = std::fs::metadata(format!("/proc/{process}/fd/{descriptor}"))?;
        Ok(Self {
            device: found.dev(),
            inode: found.ino(),
        })
    }

    /// The name of memory: the offset in the file, and the process and descriptor of the file.
    fn export(self, (skipped, process, descriptor): (u64, u64, u64)) -> Export {
        let words = [self.device, self.inode, skipped, process, descriptor];
        let mut export = [0; 64];
        for (place, word) in export.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        export
    }

    fn read(export: &Export) -> (Self, (u64, u64, u64)) {
        let [device, inode, skipped, process, descriptor] = command::words(export);
        (Self { device, inode }, (skipped, process, descriptor))
    }
}

#[cfg(test)]
mod tests;
