//! A service as this tunnel uses it: the ports it opens, and only those that somebody needs.

use core::mem::MaybeUninit;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use hostwire::station::Buffer;
use iceoryx2::identifiers::UniqueNodeId;
use iceoryx2::node::Node;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections as _;
use iceoryx2::port::{LoanError, ReceiveError};
use iceoryx2::prelude::{
    AllocationStrategy, CallbackProgression, EventId, PayloadHeader as _, PortFactory as _,
    ipc_threadsafe,
};
use iceoryx2::service::marker::{CustomHeaderMarker, CustomPayloadMarker};
use iceoryx2::service::port_factory;

use crate::description::{self, Description, Pattern};

/// How iceoryx2 shares memory. Its samples may be sent by any thread; other programs do not notice the difference to `ipc`.
pub type Shared = ipc_threadsafe::Service;
type Payload = [CustomPayloadMarker];
type Header = CustomHeaderMarker;
type Sample = iceoryx2::sample::Sample<Shared, Payload, Header>;
type Loaned = iceoryx2::sample_mut_uninit::SampleMutUninit<
    Shared,
    [MaybeUninit<CustomPayloadMarker>],
    Header,
>;

/// Samples of one service that may be on their way into it.
const LOANS: usize = 8;
/// A peer may say that something happened more often than this. Nobody counts so far.
const TIMES_MAX: u64 = 1000;

/// What iceoryx2 says if it does not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: iceoryx2 says {why}")]
pub struct Failed {
    what: &'static str,
    why: String,
}

fn failed<E: core::fmt::Debug>(what: &'static str) -> impl FnOnce(E) -> Failed {
    move |why| {
        let why = format!("{why:?}");
        Failed { what, why }
    }
}

/// The ports of a service of either pattern.
pub enum Ports {
    /// Samples.
    Topic(Box<Topic>),
    /// Notifications.
    Event(Box<Signal>),
}

impl Ports {
    /// Opens the service, or creates it if it is not there.
    ///
    /// # Errors
    /// [`Failed`]: for example, there is one of that name with other types.
    pub fn open(node: &Node<Shared>, description: &Description) -> Result<Self, Failed> {
        match &description.pattern {
            Pattern::PublishSubscribe(what) => {
                let topic = Topic::open(node, description, what)?;
                Ok(Self::Topic(Box::new(topic)))
            }
            Pattern::Event(what) => {
                let signal = Signal::open(node, description, what)?;
                Ok(Self::Event(Box::new(signal)))
            }
        }
    }

    /// Whether programs of this host use it.
    pub fn is_used(&self) -> bool {
        match self {
            Self::Topic(topic) => topic.readers() + topic.writers() > 0,
            Self::Event(signal) => signal.listeners() + signal.notifiers() > 0,
        }
    }

    /// Whether programs of this host read what those of others write.
    pub fn is_read(&self) -> bool {
        match self {
            // What late subscribers get has to be here before they are.
            Self::Topic(topic) => topic.what.history_size > 0 || topic.readers() > 0,
            Self::Event(signal) => signal.listeners() > 0,
        }
    }

    /// Hands the history to programs that have come.
    ///
    /// # Errors
    /// [`Failed`]: a subscriber cannot be reached.
    pub fn greet(&mut self) -> Result<(), Failed> {
        match self {
            Self::Topic(topic) => topic.greet(),
            Self::Event(_) => Ok(()),
        }
    }

    /// From now on it hands out what programs of this host write, or no longer.
    ///
    /// # Errors
    /// [`Failed`]: there is no room for another port.
    pub fn listen(&mut self, is_wanted: bool) -> Result<(), Failed> {
        match self {
            Self::Topic(topic) => topic.listen(is_wanted),
            Self::Event(signal) => signal.listen(is_wanted),
        }
    }
}

/// A service with samples.
pub struct Topic {
    what: description::PublishSubscribe,
    own: UniqueNodeId,
    factory: port_factory::publish_subscribe::PortFactory<Shared, Payload, Header>,
    publisher: Option<Publisher<Shared, Payload, Header>>,
    /// So many subscribers the publisher knew.
    greeted: usize,
    subscriber: Option<Subscriber<Shared, Payload, Header>>,
}

impl Topic {
    fn open(
        node: &Node<Shared>,
        description: &Description,
        what: &description::PublishSubscribe,
    ) -> Result<Self, Failed> {
        let name = description
            .service_name()
            .map_err(failed("naming a service"))?;
        let no_detail = || failed("naming a type")("its name is too long");
        let header = what.header.detail().ok_or_else(no_detail)?;
        let payload = what.payload.detail().ok_or_else(no_detail)?;
        let builder = node
            .service_builder(&name)
            .publish_subscribe::<Payload>()
            .user_header::<Header>();
        // SAFETY: all that this program does with payloads is to copy as many bytes as `payload` says that they have.
        let builder = unsafe { builder.__internal_set_payload_type_details(&payload) };
        // SAFETY: the same, of user headers and `header`.
        let builder = unsafe { builder.__internal_set_user_header_type_details(&header) };
        let factory = builder
            .enable_safe_overflow(what.overflows)
            .max_nodes(what.max_nodes as usize)
            .max_publishers(what.max_publishers as usize)
            .max_subscribers(what.max_subscribers as usize)
            .history_size(what.history_size as usize)
            .subscriber_max_buffer_size(what.subscriber_max_buffer_size as usize)
            .subscriber_max_borrowed_samples(what.subscriber_max_borrowed_samples as usize)
            .open_or_create()
            .map_err(failed("opening the service"))?;
        Ok(Self {
            what: what.clone(),
            own: *node.id(),
            factory,
            publisher: None,
            greeted: 0,
            subscriber: None,
        })
    }

    fn readers(&self) -> usize {
        let all = self.factory.dynamic_config().number_of_subscribers();
        all.saturating_sub(usize::from(self.subscriber.is_some()))
    }

    /// A publisher learns of subscribers when it sends, and here perhaps it has sent all before they came.
    fn greet(&mut self) -> Result<(), Failed> {
        let readers = self.readers();
        if readers == self.greeted {
            return Ok(());
        }
        self.greeted = readers;
        match &self.publisher {
            Some(publisher) if self.what.history_size > 0 => publisher
                .update_connections()
                .map_err(failed("handing on the history")),
            _ => Ok(()),
        }
    }

    fn writers(&self) -> usize {
        let all = self.factory.dynamic_config().number_of_publishers();
        all.saturating_sub(usize::from(self.publisher.is_some()))
    }

    fn listen(&mut self, is_wanted: bool) -> Result<(), Failed> {
        match (is_wanted, &self.subscriber) {
            (true, None) => {
                let subscriber = self.factory.subscriber_builder().create();
                self.subscriber = Some(subscriber.map_err(failed("creating a subscriber"))?);
            }
            (true, Some(_)) => {}
            (false, _) => self.subscriber = None,
        }
        Ok(())
    }

    /// The next sample that a program of this host has written, if this tunnel may hold another.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn take(&self) -> Result<Option<Taken>, Failed> {
        let Some(subscriber) = &self.subscriber else {
            return Ok(None);
        };
        loop {
            let sample = match subscriber.receive() {
                // Those that it holds are on their way to peers.
                Err(ReceiveError::ExceedsMaxBorrows) => return Ok(None),
                sample => sample.map_err(failed("reading a sample"))?,
            };
            match sample {
                // What this tunnel has brought from elsewhere does not go back.
                Some(sample) if sample.header().node_id() == self.own => {}
                Some(sample) => return Ok(Some(Taken::new(sample, &self.what))),
                None => return Ok(None),
            }
        }
    }

    /// Room for a sample of another host.
    ///
    /// # Errors
    /// [`Failed`]: there is no memory for it.
    pub fn room(&mut self, len_bytes: usize) -> Result<Room, NoRoom> {
        if !self.what.takes(len_bytes) {
            return Err(NoRoom::Never(Failed {
                what: "making room for a sample",
                why: format!("a payload of {len_bytes} bytes is none of this service"),
            }));
        }
        let publisher = match &mut self.publisher {
            Some(publisher) => publisher,
            none => {
                let builder = self.factory.publisher_builder();
                let builder = builder.max_loaned_samples(LOANS);
                let publisher = builder
                    .allocation_strategy(AllocationStrategy::PowerOfTwo)
                    .create();
                let publisher = publisher.map_err(failed("creating a publisher"));
                none.insert(publisher.map_err(NoRoom::Never)?)
            }
        };
        let elements = self.what.elements(len_bytes);
        // SAFETY: it is 1 unless the payload is a slice.
        let loaned = unsafe { publisher.loan_custom_payload(elements) };
        match loaned {
            Ok(sample) => Ok(Room { sample }),
            Err(LoanError::ExceedsMaxLoans) => Err(NoRoom::Now),
            Err(why) => Err(NoRoom::Never(failed("making room for a sample")(why))),
        }
    }

    /// How long user headers are, in bytes.
    pub fn header_bytes(&self) -> usize {
        self.what.header.size_bytes as usize
    }
}

/// Why there is no room for a sample.
#[derive(Debug)]
pub enum NoRoom {
    /// Others are on their way. There will be room when they have arrived.
    Now,
    /// There never will be.
    Never(Failed),
}

struct Held(Sample);

// SAFETY: all that is done with a reference to it is to read header, user header and payload, which nobody changes while there is a
// sample. What iceoryx2 changes with it, it changes when the sample is dropped, once.
unsafe impl Sync for Held {}

/// A sample of this host. It stays where it is, in shared memory, until all peers have it.
#[derive(Clone)]
pub struct Taken {
    sample: Arc<Held>,
    header_bytes: usize,
}

impl Taken {
    fn new(sample: Sample, what: &description::PublishSubscribe) -> Self {
        Self {
            sample: Arc::new(Held(sample)),
            header_bytes: what.header.size_bytes as usize,
        }
    }

    /// Its user header.
    pub fn header(&self) -> &[u8] {
        let at: *const Header = self.sample.0.user_header();
        // SAFETY: the marker stands for as many bytes as the service was opened with, which a publisher has filled and nobody
        // changes while there is a sample.
        unsafe { core::slice::from_raw_parts(at.cast(), self.header_bytes) }
    }
}

impl Buffer for Taken {
    fn bytes(&self) -> &[u8] {
        let payload = self.sample.0.payload();
        // SAFETY: the marker is one byte of any value (`repr(C)`, its only field is `u8`), and nobody changes the payload while
        // there is a sample.
        unsafe { core::slice::from_raw_parts(payload.as_ptr().cast(), payload.len()) }
    }

    /// Nothing is received into it.
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut []
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Room for a sample in shared memory of this host.
pub struct Room {
    sample: Loaned,
}

impl Room {
    /// Hands it to the subscribers of this host. All its bytes have been received.
    ///
    /// # Errors
    /// [`Failed`]: it did not reach all.
    pub fn publish(mut self, header: &[u8], header_bytes: usize) -> Result<(), Failed> {
        if header.len() != header_bytes {
            return Err(Failed {
                what: "writing a user header",
                why: format!("it has {header_bytes} bytes, not {}", header.len()),
            });
        }
        let at: *mut Header = self.sample.user_header_mut();
        // SAFETY: the marker stands for as many bytes as the service was opened with, which are `header_bytes`, and this sample is
        // nobody else's yet.
        unsafe { core::ptr::copy_nonoverlapping(header.as_ptr(), at.cast(), header_bytes) };
        // SAFETY: bytes of any value are a payload of markers, and those of shared memory have values; see `bytes`.
        let sample = unsafe { self.sample.assume_init() };
        sample.send().map(drop).map_err(failed("writing a sample"))
    }
}

impl Buffer for Room {
    fn bytes(&self) -> &[u8] {
        let payload = self.sample.payload();
        // SAFETY: the marker is one byte of any value. The kernel gives shared memory with zeros, so all bytes have values, whatever
        // was there before.
        unsafe { core::slice::from_raw_parts(payload.as_ptr().cast(), payload.len()) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let payload = self.sample.payload_mut();
        // SAFETY: as of `bytes`. Nobody else has this sample before it is sent.
        unsafe { core::slice::from_raw_parts_mut(payload.as_mut_ptr().cast(), payload.len()) }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A service with notifications.
pub struct Signal {
    own: UniqueNodeId,
    factory: port_factory::event::PortFactory<Shared>,
    notifier: Option<Notifier<Shared>>,
    listener: Option<Listener<Shared>>,
}

impl Signal {
    fn open(
        node: &Node<Shared>,
        description: &Description,
        what: &description::Event,
    ) -> Result<Self, Failed> {
        let name = description
            .service_name()
            .map_err(failed("naming a service"))?;
        let id = |value: u64| EventId::new(value as usize);
        let mut builder = node
            .service_builder(&name)
            .event()
            .max_nodes(what.max_nodes as usize)
            .max_notifiers(what.max_notifiers as usize)
            .max_listeners(what.max_listeners as usize)
            .event_id_max_value(what.event_id_max_value as usize);
        if let Some(nanoseconds) = what.deadline {
            builder = builder.deadline(Duration::from_nanos(nanoseconds));
        }
        if let Some(value) = what.notifier_created_event {
            builder = builder.notifier_created_event(id(value));
        }
        if let Some(value) = what.notifier_dropped_event {
            builder = builder.notifier_dropped_event(id(value));
        }
        if let Some(value) = what.notifier_dead_event {
            builder = builder.notifier_dead_event(id(value));
        }
        let factory = builder
            .open_or_create()
            .map_err(failed("opening the service"))?;
        Ok(Self {
            own: *node.id(),
            factory,
            notifier: None,
            listener: None,
        })
    }

    fn listeners(&self) -> usize {
        let all = self.factory.dynamic_config().number_of_listeners();
        all.saturating_sub(usize::from(self.listener.is_some()))
    }

    fn notifiers(&self) -> usize {
        let all = self.factory.dynamic_config().number_of_notifiers();
        all.saturating_sub(usize::from(self.notifier.is_some()))
    }

    fn listen(&mut self, is_wanted: bool) -> Result<(), Failed> {
        match (is_wanted, &self.listener) {
            (true, None) => {
                let listener = self.factory.listener_builder().create();
                self.listener = Some(listener.map_err(failed("creating a listener"))?);
            }
            (true, Some(_)) => {}
            (false, _) => self.listener = None,
        }
        Ok(())
    }

    /// What programs of this host have notified since the last call: ids, and how often.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn take(&self) -> Result<Vec<(u64, u64)>, Failed> {
        let mut taken = Vec::new();
        if let Some(listener) = &self.listener {
            listener
                .try_wait(|what| taken.push((what.id.as_value() as u64, what.count)))
                .map_err(failed("listening"))?;
        }
        Ok(taken)
    }

    /// Notifies programs of this host, and not the tunnel itself.
    ///
    /// # Errors
    /// [`Failed`]: for example, the service has no such id.
    pub fn notify(&mut self, id: u64, times: u64) -> Result<(), Failed> {
        let notifier = match &mut self.notifier {
            Some(notifier) => notifier,
            none => {
                let notifier = self.factory.notifier_builder().create();
                none.insert(notifier.map_err(failed("creating a notifier"))?)
            }
        };
        let id = EventId::new(usize::try_from(id).unwrap_or(usize::MAX));
        let mut result = Ok(());
        notifier.for_each_listener(|listener, details| {
            if details.node_id != self.own {
                for _ in 0..times.min(TIMES_MAX) {
                    let notified = listener.notify_with_custom_event_id(id);
                    result = result.clone().and(notified.map_err(failed("notifying")));
                }
            }
            CallbackProgression::Continue
        });
        result
    }
}
