//! A job and this process's place in it.

use std::sync::Arc;
use std::time::Duration;

use hostwire_address::place::REGISTERED_BYTES_MAX;
use hostwire_bootstrap::Nodes;
use hostwire_transport::ring::SendOrder;
use hostwire_transport::{Memory, Wire};
use zerocopy::IntoBytes;

use crate::PeId;
use crate::agent::AgentMode;
use crate::attachment::Attachment;
use crate::board::Activity;
use crate::core;
use crate::core::messages::Company;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::inner::{Departure, Inner};
use crate::layout::Sizes;
use crate::lock::Lock;
use crate::message::{Envelope, Kind, Pattern, Payload, Receiving, Sending, Source, Tag, Target};
use crate::queue::Queue;
use crate::registered::{Key, Opened, Registered};
use crate::symmetric::Symmetric;
use crate::team::Team;

/// This process's attachment to its job: who it is, and all it can do.
///
/// One per process; any number of its threads may use it. A program ends with
/// [`finalize`](Self::finalize), which waits for the other PEs. A PE that drops its job without `finalize`,
/// because of an error or a panic, does not wait. The others see it as lost, and so do not wait for it for
/// ever.
///
/// # Threads
/// Threads share a job by reference or in an [`Arc`]. No lock is held while one of them waits. A team, also
/// the world of a job, can be in one collective operation at a time: the program has to ensure this.
/// `docs/memory-model.md` says what threads may rely on.
///
/// ```
/// # fn main() -> hostwire::Result<()> {
/// let job = hostwire::Job::attach()?;
/// std::thread::scope(|scope| {
///     for tag in 0..4 {
///         let job = &job;
///         scope.spawn(move || job.send(job.pe(), tag, &[tag]));
///     }
///     for tag in 0..4 {
///         assert_eq!(job.recv_vec::<u64>(job.pe(), tag), Ok(vec![tag]));
///     }
/// });
/// job.finalize()
/// # }
/// ```
///
/// # Programs that fork
/// A PE may start other programs in any way. A child that continues the program itself (`fork` or `clone`
/// without `exec`) is no PE. There, everything that can give an error gives [`Error::Copied`]; nothing is
/// stored, sent or received; and dropping or finalizing the job does not affect the parent's job. The same
/// holds for a process that was restored from a checkpoint, on wires that encrypt. The child has copies of
/// the parent's private memory as usual, but pointers that [`Symmetric::local_ptr`] gave before the fork
/// still lead into memory that the job shares. The library cannot distinguish a child that shares its
/// parent's memory (`vfork`, `clone` with `CLONE_VM`) from the parent. Such a child must not touch the job.
pub struct Job {
    pub(crate) inner: Arc<Inner>,
    world: Arc<Team>,
    /// All PEs, for the barrier at the end.
    leaving: core::Team,
    /// A thread looks for lost peers.
    is_watched: bool,
}

impl Job {
    /// Attaches to the job that this process was started in: by `hostwire run`,
    /// `mpiexec.hydra`, Open MPI's `mpirun` or `srun`, or alone as a job of one PE.
    ///
    /// # Errors
    /// [`Error::Launch`] if the environment shows a job of several tasks that this process cannot join (it
    /// never becomes a job of one by mistake); with
    /// [`LaunchError::SeveralHosts`](hostwire_bootstrap::LaunchError::SeveralHosts) if the wire does not
    /// reach all PEs. [`Error::Setting`] for a variable with an unusable value, [`Error::Environment`] for
    /// anything the machine refused.
    #[cfg(target_os = "linux")]
    pub fn attach() -> Result<Self> {
        Self::attach_with(|sizes| sizes)
    }

    /// As [`attach`](Self::attach), with sizes made of those of the environment: the same at all PEs.
    ///
    /// # Errors
    /// As `attach`; those of [`Layout::new`](crate::Layout::new) for sizes that cannot be.
    #[cfg(target_os = "linux")]
    pub fn attach_with(sizes: impl FnOnce(Sizes) -> Sizes) -> Result<Self> {
        Self::on(
            Attachment::join(|usual, _| Ok(sizes(usual)))?,
            AgentMode::Thread,
        )
    }

    /// A job over a wire that is already connected: for tests, and for wires that exist
    /// only in simulation. All PEs must pass the same sizes; the segment must have at
    /// least [`Layout::segment_bytes`](crate::Layout::segment_bytes) zeroed bytes.
    pub fn over(wire: Arc<dyn Wire>, sizes: Sizes, mode: AgentMode) -> Result<Self> {
        Self::on(Attachment::over(wire, sizes)?, mode)
    }

    /// As [`over`](Self::over), of PEs on these hosts: the same table at all PEs.
    pub fn over_hosts(
        wire: Arc<dyn Wire>,
        sizes: Sizes,
        mode: AgentMode,
        hosts: Nodes,
    ) -> Result<Self> {
        Self::on(Attachment::over_hosts(wire, sizes, hosts)?, mode)
    }

    fn on(attachment: Attachment, mode: AgentMode) -> Result<Self> {
        attachment.start(mode)?;
        let is_watched = attachment.is_watching();
        let inner = Arc::new(Inner::new(attachment)?);
        let world = Arc::new(Team::world(Arc::clone(&inner))?);
        let everybody = (0..inner.pes).collect();
        let leaving = core::Team::predefined(&inner, core::team::LEAVING, everybody)?;
        inner.status.set(Activity::Computing, None);
        Ok(Self {
            world,
            leaving,
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

    /// Registers `len` zeroed elements of this PE. PEs that get the [`key`](Registered::key) may put there,
    /// get from there, and use atomics. At any time, and not collective.
    ///
    /// # Errors
    /// [`Error::TooManySegments`], [`Error::Environment`], [`Error::Copied`].
    pub fn register<T: Element>(&self, len: usize) -> Result<Registered<T>> {
        let len_bytes = size_of::<T>().checked_mul(len);
        let len_bytes = len_bytes.filter(|bytes| *bytes as u64 <= REGISTERED_BYTES_MAX);
        let Some(len_bytes) = len_bytes else {
            return Err(Error::Length {
                what: "the elements of registered memory",
                expected: REGISTERED_BYTES_MAX as usize / size_of::<T>().max(1),
                got: len,
            });
        };
        self.register_memory(Memory::anonymous(len_bytes))
    }

    /// As [`register`](Self::register), for existing memory: as many elements as fit.
    /// [`Memory::new`](hostwire_transport::Memory::new) makes a `Memory` of any bytes of the program. It is
    /// unsafe: the caller promises that no Rust reference leads there.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_memory<T: Element>(&self, memory: Memory) -> Result<Registered<T>> {
        Registered::new(&self.inner, memory)
    }

    /// Memory that some PE has registered. With another type than the owner's, it reads the same bytes as
    /// that type.
    ///
    /// # Errors
    /// [`Error::NoSuchPe`], [`Error::PeerLost`], [`Error::NotRegistered`] if no PE can have made
    /// this key.
    pub fn open<T: Element>(&self, key: Key) -> Result<Opened<T>> {
        Opened::new(&self.inner, key)
    }

    /// Makes a lock. Collective, as [`alloc`](Self::alloc).
    ///
    /// # Errors
    /// As [`alloc`](Self::alloc).
    pub fn lock(&self) -> Result<Lock> {
        Ok(Lock::new(self.alloc(1)?))
    }

    /// Bytes of the symmetric heap that are free.
    pub fn free_bytes(&self) -> usize {
        self.inner.heap().free_bytes()
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

    /// Lets the program end its own waits: see
    /// [`Attachment::end_waits_if`](crate::attachment::Attachment::end_waits_if).
    pub fn end_waits_if(&self, is_wanted: impl Fn() -> bool + Send + Sync + 'static) {
        self.inner.end_waits_if(is_wanted);
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

    /// How messages are ordered from now on. On shared memory this makes no difference. With
    /// [`SendOrder::Weak`] a stream of messages ends with one [`fence`](Self::fence).
    ///
    /// # Source
    /// TCCluster, section VI: ordered and weakly ordered sends.
    pub fn set_send_order(&self, order: SendOrder) {
        self.inner.messages().set_order(order);
    }

    /// Sends `values` to `to`, to be received with the same `tag`.
    ///
    /// Returns when `values` may be reused. The call waits until `to` receives the message if it is longer than 32 KiB
    /// (in a job of more than 64 PEs less, in virtual time half a ring). It also waits while `to` keeps too many messages
    /// that its program has not received: 64 MiB from all PEs together, in equal shares, at least 64 KiB from
    /// each. So two PEs that both send long messages before they receive wait for ever: use
    /// [`exchange`](Self::exchange) or a [`queue`](Self::queue).
    ///
    /// Messages of one pair do not overtake each other: a receive gets the first matching message in the
    /// order of sending.
    ///
    /// # Errors
    /// [`Error::NoSuchPe`]; [`Error::PeerLost`]; [`Error::PeerMisbehaved`].
    #[inline]
    pub fn send<T: Element>(&self, to: PeId, tag: u64, values: &[T]) -> Result<()> {
        self.inner.send(to, tag, values.as_bytes())
    }

    /// As [`send`](Self::send), from own elements `index .. index + count`: a long message is then copied
    /// only once.
    pub fn send_from<T: Element>(
        &self,
        to: PeId,
        tag: u64,
        source: &Symmetric<T>,
        index: usize,
        count: usize,
    ) -> Result<()> {
        let source = Payload::Segment(source.locate(index, count)?, count * size_of::<T>());
        self.inner
            .run_send(Sending::new(to, Kind::User, tag, source), Company::NONE, to)
    }

    /// As [`send`](Self::send), with 8 bytes beside the message, which are in its
    /// [`Envelope`]. Any receive takes it.
    pub fn send_with_data<T: Element>(
        &self,
        to: PeId,
        tag: u64,
        data: u64,
        values: &[T],
    ) -> Result<()> {
        let payload = Payload::Bytes(values.as_bytes());
        let sending =
            Sending::new(to, Kind::User, tag, payload).with_data((data != 0).then_some(data));
        self.inner.run_send(sending, Company::NONE, to)
    }

    /// Receives the next message of `from` with this `tag` into the front of `values`,
    /// and says how many elements it has.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`] and [`Error::MessageShape`], with the length of the message, which can still
    /// be received; [`Error::PeerLost`] if `from` has died and no message of it is left;
    /// [`Error::PeerMisbehaved`].
    #[inline]
    pub fn recv<T: Element>(&self, from: PeId, tag: u64, values: &mut [T]) -> Result<usize> {
        let element_bytes = size_of::<T>().max(1);
        let out = values.as_mut_bytes();
        let len = self.inner.receive(from, tag, element_bytes, out)?;
        Ok(len / element_bytes)
    }

    /// As [`recv`](Self::recv), for a message of any length.
    pub fn recv_vec<T: Element>(&self, from: PeId, tag: u64) -> Result<Vec<T>> {
        Ok(self.recv_any_vec(from, tag)?.1)
    }

    /// As [`recv`](Self::recv), to own elements `index ..`: a long message is then
    /// copied once.
    pub fn recv_into<T: Element>(
        &self,
        from: PeId,
        tag: u64,
        target: &Symmetric<T>,
        index: usize,
        count: usize,
    ) -> Result<usize> {
        let room = Target::Segment(target.locate(index, count)?, count * size_of::<T>());
        let received = self.run_receive::<T>(from.into(), tag.into(), room)?;
        Ok(received.count::<T>())
    }

    /// As [`recv`](Self::recv) if a message that matches has arrived, else `None`. Waits only for the rest of
    /// a message whose beginning is there.
    #[inline]
    pub fn try_recv<T: Element>(
        &self,
        from: PeId,
        tag: u64,
        values: &mut [T],
    ) -> Result<Option<usize>> {
        let received = self.try_recv_any(from, tag, values)?;
        Ok(received.map(|envelope| envelope.count::<T>()))
    }

    /// Receives the next message from one of several PEs, with one of several tags, into the front of
    /// `values`. Returns its [`Envelope`].
    ///
    /// From one PE it is the first matching message in the order of sending. Several PEs get their turns in
    /// rotation.
    ///
    /// # Errors
    /// As [`recv`](Self::recv). With [`Source::Any`], [`Error::PeerLost`] once for each PE
    /// that is newly lost while this PE waits.
    ///
    /// ```
    /// use hostwire::{Job, Source, Tag};
    /// # fn main() -> hostwire::Result<()> {
    /// let job = Job::attach()?;
    /// job.send(job.pe(), 7, &[1u64, 2])?;
    /// let mut values = [0u64; 10];
    /// let got = job.recv_any(Source::Any, Tag::ANY, &mut values)?;
    /// assert_eq!((got.from, got.tag, got.count::<u64>()), (job.pe(), 7, 2));
    /// # job.finalize()
    /// # }
    /// ```
    pub fn recv_any<T: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        values: &mut [T],
    ) -> Result<Envelope> {
        let target = Target::Bytes(values.as_mut_bytes());
        self.run_receive::<T>(from.into(), tag.into(), target)
    }

    /// As [`recv_any`](Self::recv_any), for a message of any length.
    pub fn recv_any_vec<T: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Envelope, Vec<T>)> {
        let mut bytes = Vec::new();
        let target = Target::Vec(&mut bytes);
        let envelope = self.run_receive::<T>(from.into(), tag.into(), target)?;
        let mut values = vec![T::new_zeroed(); envelope.count::<T>()];
        values.as_mut_bytes().copy_from_slice(&bytes);
        Ok((envelope, values))
    }

    /// As [`recv_any`](Self::recv_any) if a message that matches has arrived, else `None`. Waits only for the
    /// rest of a message whose beginning is there.
    pub fn try_recv_any<T: Element>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        values: &mut [T],
    ) -> Result<Option<Envelope>> {
        self.inner.check_is_here()?;
        let from = from.into();
        let target = Target::Bytes(values.as_mut_bytes());
        let mut receive = self.receive::<T>(from, tag.into(), target);
        let got = receive.poll(&self.inner, &mut self.inner.messages())?;
        if got.is_none() && receive.has_begun() {
            return self
                .inner
                .run_receive(receive, Company::NONE, from)
                .map(Some);
        }
        self.nothing_yet(from, got)
    }

    /// The envelope of the message that a receive with the same arguments would get. Waits until there is
    /// one. The message stays.
    ///
    /// # Errors
    /// As [`recv_any`](Self::recv_any).
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<Envelope> {
        let from = from.into();
        let pattern = Pattern::new(Kind::User, from, tag);
        self.inner.await_message(Company::NONE, from, || {
            let messages = &mut *self.inner.messages();
            messages.probe(&self.inner, &pattern)
        })
    }

    /// As [`probe`](Self::probe), without waiting.
    pub fn try_probe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Option<Envelope>> {
        self.inner.check_is_here()?;
        let from = from.into();
        let pattern = Pattern::new(Kind::User, from, tag);
        let found = {
            let messages = &mut *self.inner.messages();
            messages.probe(&self.inner, &pattern)?
        };
        self.nothing_yet(from, found)
    }

    /// Also in a program that only tries, the job must make progress, and the end of peers must be seen.
    fn nothing_yet(&self, from: Source, got: Option<Envelope>) -> Result<Option<Envelope>> {
        if got.is_none() {
            self.inner.progress()?;
            if let Source::Pe(from) = from {
                if !self.is_watched {
                    self.inner.lost.look(&*self.inner.wire, from)?;
                }
                self.inner.check(from)?;
            }
        }
        Ok(got)
    }

    /// A queue for messages of elements `T` that are sent and received in the background.
    ///
    /// # Errors
    /// [`Error::Copied`].
    pub fn queue<T: Element>(&self) -> Result<Queue<T>> {
        Queue::new(Arc::clone(&self.inner), self.is_watched)
    }

    /// Sends `out` to `to` and receives from `from` at the same time; neither waits for the other. Returns
    /// the number of received elements.
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
        tag: u64,
    ) -> Result<usize> {
        self.inner.check(to)?;
        self.inner.check(from)?;
        let send = Sending::new(to, Kind::User, tag, Payload::Bytes(out.as_bytes()));
        let target = Target::Bytes(into.as_mut_bytes());
        let receive = self.receive::<T>(from.into(), tag.into(), target);
        let _busy = self.inner.status.during(Activity::Receiving, Some(from));
        let received = self
            .inner
            .run_exchange(Company::NONE, (to, send), (from, receive))?;
        Ok(received.count::<T>())
    }

    #[inline]
    fn receive<'a, T: Element>(&self, from: Source, tag: Tag, into: Target<'a>) -> Receiving<'a> {
        let pattern = Pattern::new(Kind::User, from, tag);
        Receiving::new(pattern, size_of::<T>().max(1), into)
    }

    fn run_receive<T: Element>(
        &self,
        from: Source,
        tag: Tag,
        into: Target<'_>,
    ) -> Result<Envelope> {
        let receiving = self.receive::<T>(from, tag, into);
        self.inner.run_receive(receiving, Company::NONE, from)
    }

    /// Leaves the job: waits for all PEs, then tells the launcher.
    ///
    /// # Errors
    /// [`Error::PeerLost`] if a PE died before it called this, or an error of the launcher. Also if the
    /// recording of this PE (`HOSTWIRE_RECORD`) could not be written; the PE has left the job then.
    pub fn finalize(self) -> Result<()> {
        self.inner.check_is_here()?;
        self.inner.status.set(Activity::Finalizing, None);
        self.inner.tell_departure(Departure::Leaving);
        let met = self.leaving.last_barrier(&*self.inner);
        if met.is_ok() {
            self.inner.tell_departure(Departure::Gone);
        }
        // The agents serve until all PEs have passed.
        self.inner.stop();
        met?;
        self.inner.leave_launcher()?;
        self.inner.close_recording()?;
        self.inner.status.set(Activity::Finished, None);
        Ok(())
    }

    /// Ends the whole job, by the launcher's own means: asks it to end all PEs, with exit
    /// status `status` where it takes one. `message` is for the user, if the launcher shows one.
    ///
    /// The launcher also ends this process, but maybe later: the caller should exit at once with `status`. In
    /// a job without a launcher this is all there is to do.
    ///
    /// # Errors
    /// [`Error::Launch`] if the launcher is gone or cannot do it. The others then see this PE as lost when it
    /// exits.
    pub fn abort(&mut self, status: i32, message: &str) -> Result<()> {
        self.inner.abort(status, message).map(|_| ())
    }
}

#[cfg(test)]
impl Job {
    /// For tests that look at what is kept of messages.
    pub(crate) fn messages<R>(&self, look: impl FnOnce(&mut crate::message::Messages) -> R) -> R {
        look(&mut self.inner.messages())
    }
}

/// Without [`Job::finalize`]: this PE gives up, and does not wait for anybody.
impl Drop for Job {
    fn drop(&mut self) {
        self.inner.stop();
    }
}
