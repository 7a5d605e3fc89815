//! A job and this process's place in it.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hostwire_transport::Transport;
use hostwire_transport::ring::SendOrder;
use zerocopy::IntoBytes;

use crate::PeId;
use crate::agent::AgentMode;
use crate::attachment::Attachment;
use crate::board::Activity;
use crate::collective;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::inner::{Departure, Inner, Watch};
use crate::launch::Nodes;
use crate::layout::Sizes;
use crate::message::{Kind, Receiving, Sending, Source, Target};
use crate::symmetric::Symmetric;
use crate::team::Team;

/// What a put with signal does to the signal word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalOp {
    /// Sets it.
    Set(u64),
    /// Adds to it, atomically.
    Add(u64),
}

/// This process's attachment to its job: who it is, and all it can do.
///
/// One per process, used by the thread that made it. A program ends with
/// [`finalize`](Self::finalize), which waits for the other PEs. A PE that drops its job
/// without that, because of an error or a panic, waits for nobody: the others see it as
/// lost, instead of waiting for what it will never do.
///
/// # Programs that fork
/// A PE may start other programs in any way. A child that goes on with the program itself
/// (`fork` or `clone` without `exec`) is no PE: there, everything that can give an error
/// gives [`Error::Copied`], nothing is stored, sent or received, and dropping the job or
/// finalizing it does nothing to the parent's. So does a process that was restored from a
/// checkpoint, on wires that encrypt. The child has copies of the parent's private memory
/// as ever; what [`Symmetric::local_ptr`] gave before the fork still points into memory
/// that the job shares. A child that shares its parent's memory (`vfork`, `clone` with
/// `CLONE_VM`) cannot be told from its parent by looking, and must not touch the job.
pub struct Job {
    inner: Rc<Inner>,
    world: Rc<Team>,
    /// A thread looks for lost peers.
    is_watched: bool,
}

impl Job {
    /// Attaches to the job that this process was started in: by `hostwire run`,
    /// `mpiexec.hydra`, Open MPI's `mpirun` or `srun`, or alone as a job of one PE.
    ///
    /// # Errors
    /// [`Error::Launch`] if the environment shows a job of more tasks that this process
    /// cannot join: never a job of one by mistake. [`Error::SeveralHosts`] if the wire
    /// does not reach all PEs. [`Error::Setting`] for a variable
    /// with an unusable value, [`Error::Environment`] for anything the machine refused.
    #[cfg(target_os = "linux")]
    pub fn attach() -> Result<Self> {
        Self::on(Attachment::join(|sizes, _| Ok(sizes))?, AgentMode::Thread)
    }

    /// A job over a wire that is already connected: for tests, and for wires that exist
    /// only in simulation. All PEs must pass the same sizes; the segment must have at
    /// least [`Layout::segment_bytes`](crate::Layout::segment_bytes) zeroed bytes.
    pub fn over(wire: Arc<dyn Transport>, sizes: Sizes, mode: AgentMode) -> Result<Self> {
        Self::on(Attachment::over(wire, sizes)?, mode)
    }

    fn on(attachment: Attachment, mode: AgentMode) -> Result<Self> {
        attachment.start(mode)?;
        let is_watched = attachment.is_watching();
        let inner = Rc::new(Inner::new(attachment)?);
        collective::prepare_flags(&inner)?;
        inner.status.set(Activity::Computing, None);
        Ok(Self {
            world: Rc::new(Team::world(Rc::clone(&inner))),
            inner,
            is_watched,
        })
    }

    /// The number of this PE, `0 .. pes`.
    #[inline]
    pub fn pe(&self) -> PeId {
        self.inner.pe
    }

    /// How many PEs the job has.
    #[inline]
    pub fn pes(&self) -> u32 {
        self.inner.pes
    }

    /// Which PEs share a host.
    pub fn nodes(&self) -> &Nodes {
        self.inner.nodes()
    }

    /// The team of all PEs. A PE's rank in it is its number.
    pub fn world(&self) -> &Team {
        &self.world
    }

    /// Allocates `len` zeroed elements in the segment of every PE. Collective.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], on all PEs alike; [`Error::CollectiveMismatch`] if the
    /// PEs ask for different sizes.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Symmetric<T>> {
        Symmetric::allocate(&self.world, len)
    }

    /// Bytes of the symmetric heap that are free.
    pub fn free_bytes(&self) -> usize {
        self.inner.heap.borrow().free_bytes()
    }

    /// Orders puts before this call before puts after it, for each target PE.
    #[inline]
    pub fn fence(&self) -> Result<()> {
        self.inner.fence()
    }

    /// Orders puts to `pe` before this call before puts to it after it.
    #[inline]
    pub fn fence_of(&self, pe: PeId) -> Result<()> {
        self.inner.fence_of(pe)
    }

    /// Returns when all puts before it are visible at their targets.
    #[inline]
    pub fn quiet(&self) -> Result<()> {
        self.inner.quiet()
    }

    /// Returns when all puts to `pe` before it are visible there.
    #[inline]
    pub fn quiet_of(&self, pe: PeId) -> Result<()> {
        self.inner.quiet_of(pe)
    }

    /// The time since some moment of this process; it never goes back. In a simulation it is the
    /// simulated time. The clocks of two PEs are not related.
    pub fn clock(&self) -> Duration {
        self.inner.wire.now()
    }

    /// Waits for all PEs: [`Team::barrier`] of the world.
    #[inline]
    pub fn barrier(&self) -> Result<()> {
        self.world.barrier()
    }

    /// [`Team::broadcast`] of the world.
    pub fn broadcast<T: Element>(&self, root: PeId, values: &mut [T]) -> Result<()> {
        self.world.broadcast(root, values)
    }

    /// [`Team::all_reduce`] of the world.
    pub fn all_reduce<T: Element>(
        &self,
        values: &mut [T],
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        self.world.all_reduce(values, combine)
    }

    /// [`Team::all_gather`] of the world.
    pub fn all_gather<T: Element>(&self, values: &[T], all: &mut [T]) -> Result<()> {
        self.world.all_gather(values, all)
    }

    /// [`Team::all_to_all`] of the world.
    pub fn all_to_all<T: Element>(&self, out: &[T], into: &mut [T]) -> Result<()> {
        self.world.all_to_all(out, into)
    }

    /// [`Team::scan`] of the world.
    pub fn scan<T: Element>(&self, values: &mut [T], combine: impl Fn(T, T) -> T) -> Result<()> {
        self.world.scan(values, combine)
    }

    /// How messages leave from now on, where the wire makes a difference; on shared memory
    /// it makes none. With [`SendOrder::Weak`] a stream of messages ends with one
    /// [`fence`](Self::fence).
    ///
    /// # Source
    /// TCCluster, section VI: ordered and weakly ordered sends.
    pub fn set_send_order(&self, order: SendOrder) {
        self.inner.messages.borrow_mut().set_order(order);
    }

    /// Sends `values` to `to`, to be received with the same `tag`.
    ///
    /// Returns when `values` may be reused. A message that does not fit half a ring
    /// (2 KiB less 8 bytes a line, by default) waits until `to` receives it, so two PEs
    /// that both send long messages before they receive wait for ever: use
    /// [`exchange`](Self::exchange). Messages of one pair and one tag arrive in the order in
    /// which they were sent; between messages of different tags there is none.
    ///
    /// # Errors
    /// [`Error::NoSuchPe`]; [`Error::PeerLost`]; [`Error::PeerMisbehaved`].
    #[inline]
    pub fn send<T: Element>(&self, to: PeId, tag: u32, values: &[T]) -> Result<()> {
        self.inner.send(Kind::User, &[], to, tag, values.as_bytes())
    }

    /// As [`send`](Self::send), from own elements `index .. index + count`: a long
    /// message is then copied once.
    pub fn send_from<T: Element>(
        &self,
        to: PeId,
        tag: u32,
        source: &Symmetric<T>,
        index: usize,
        count: usize,
    ) -> Result<()> {
        let source = Source::Segment(source.locate(index, count)?, count * size_of::<T>());
        self.inner
            .run_send(Sending::new(to, Kind::User, tag, source), &[], to)
    }

    /// Receives the next message of `from` with this `tag` into the front of `values`,
    /// and says how many elements it has.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`] and [`Error::MessageShape`], with the message left
    /// where it is; [`Error::PeerLost`] if `from` has died and nothing is left of it;
    /// [`Error::PeerMisbehaved`].
    #[inline]
    pub fn recv<T: Element>(&self, from: PeId, tag: u32, values: &mut [T]) -> Result<usize> {
        let element_bytes = size_of::<T>().max(1);
        let out = values.as_mut_bytes();
        let len = self
            .inner
            .receive(Kind::User, &[], from, tag, element_bytes, out)?;
        Ok(len / element_bytes)
    }

    /// As [`recv`](Self::recv), for a message of any length.
    pub fn recv_vec<T: Element>(&self, from: PeId, tag: u32) -> Result<Vec<T>> {
        let mut bytes = Vec::new();
        let receive = self.receive::<T>(from, tag, Target::Vec(&mut bytes));
        let count = self.run_receive::<T>(receive, from)?;
        let mut values = vec![T::new_zeroed(); count];
        values.as_mut_bytes().copy_from_slice(&bytes);
        Ok(values)
    }

    /// As [`recv`](Self::recv), to own elements `index ..`: a long message is then
    /// copied once.
    pub fn recv_into<T: Element>(
        &self,
        from: PeId,
        tag: u32,
        target: &Symmetric<T>,
        index: usize,
        count: usize,
    ) -> Result<usize> {
        let room = Target::Segment(target.locate(index, count)?, count * size_of::<T>());
        self.run_receive::<T>(self.receive::<T>(from, tag, room), from)
    }

    /// As [`recv`](Self::recv) if a message that matches has arrived, else `None`. Does
    /// not wait, but for the rest of a message whose beginning is there.
    #[inline]
    pub fn try_recv<T: Element>(
        &self,
        from: PeId,
        tag: u32,
        values: &mut [T],
    ) -> Result<Option<usize>> {
        self.inner.check_is_here()?;
        let mut receive = self.receive::<T>(from, tag, Target::Bytes(values.as_mut_bytes()));
        let got = receive.poll(&self.inner, &mut self.inner.messages.borrow_mut())?;
        match got {
            Some(len) => Ok(Some(len / size_of::<T>().max(1))),
            None if receive.has_begun() => self.run_receive::<T>(receive, from).map(Some),
            None => {
                // A program that only tries must see its job make progress, too.
                self.inner.progress()?;
                if !self.is_watched {
                    self.inner.lost.look(&*self.inner.wire, from)?;
                }
                self.inner.check(from)?;
                Ok(None)
            }
        }
    }

    /// Sends `out` to `to` and receives from `from` at the same time; neither waits for
    /// the other. Says how many elements were received.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`recv`](Self::recv). When the message is refused
    /// because of its length or shape, `out` has been sent.
    pub fn exchange<T: Element>(
        &self,
        to: PeId,
        out: &[T],
        from: PeId,
        into: &mut [T],
        tag: u32,
    ) -> Result<usize> {
        self.inner.check(to)?;
        self.inner.check(from)?;
        let mut send = Sending::new(to, Kind::User, tag, Source::Bytes(out.as_bytes()));
        let mut receive = self.receive::<T>(from, tag, Target::Bytes(into.as_mut_bytes()));
        let _busy = self.inner.status.during(Activity::Receiving, Some(from));
        let (sent, received) = (Cell::new(false), Cell::new(false));
        let watch = Watch::Pair {
            members: &[],
            to: (to, &sent),
            from: (from, &received),
        };
        let mut refused = None;
        let len = self.inner.wait(watch, || {
            let messages = &mut *self.inner.messages.borrow_mut();
            sent.set(send.poll(&self.inner, messages)?);
            let got = match &refused {
                None => receive.poll(&self.inner, messages).or_else(|error| {
                    refused = Some(error.into_refusal()?);
                    Ok::<_, Error>(Some(0))
                })?,
                Some(_) => Some(0),
            };
            received.set(got.is_some());
            Ok(got.filter(|_| sent.get()))
        })?;
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        Ok(len / size_of::<T>().max(1))
    }

    #[inline]
    fn receive<'a, T: Element>(&self, from: PeId, tag: u32, into: Target<'a>) -> Receiving<'a> {
        Receiving::new(from, Kind::User, tag, size_of::<T>().max(1), into)
    }

    fn run_receive<T>(&self, receiving: Receiving<'_>, from: PeId) -> Result<usize> {
        let len = self.inner.run_receive(receiving, &[], from)?;
        Ok(len / size_of::<T>().max(1))
    }

    /// Leaves the job: waits for all PEs, then tells the launcher.
    ///
    /// # Errors
    /// [`Error::PeerLost`] if a PE died before it came here, or what the launcher said.
    pub fn finalize(self) -> Result<()> {
        self.inner.check_is_here()?;
        self.inner.status.set(Activity::Finalizing, None);
        self.inner.tell_departure(Departure::Leaving);
        let met = collective::last_barrier(&self.world);
        if met.is_ok() {
            self.inner.tell_departure(Departure::Gone);
        }
        // The agents serve until everybody is through.
        self.inner.stop();
        met?;
        self.inner.leave_launcher()?;
        self.inner.status.set(Activity::Finished, None);
        Ok(())
    }

    /// Ends the whole job, by the launcher's own means: asks it to end all PEs, with exit
    /// status `status` where it takes one. `message` is for its user, where it shows one.
    ///
    /// It ends this process, too, in its own time; the caller should leave at once, with
    /// `status`, which is also all that there is to do in a job that nobody launched.
    ///
    /// # Errors
    /// [`Error::Launch`] if the launcher is gone or cannot. The others then see this PE as
    /// lost when it leaves.
    pub fn abort(&mut self, status: i32, message: &str) -> Result<()> {
        self.inner.abort(status, message).map(|_| ())
    }
}

/// Without [`Job::finalize`]: this PE gives up, and does not wait for anybody.
impl Drop for Job {
    fn drop(&mut self) {
        self.inner.stop();
    }
}
