//! A service of iceoryx2: what has to be the same on all hosts.

use iceoryx2::prelude::ServiceName;
use iceoryx2::service::static_config::StaticConfig;
use iceoryx2::service::static_config::message_type_details::{TypeDetail, TypeVariant};
use iceoryx2::service::static_config::messaging_pattern::MessagingPattern;
use iceoryx2::service::static_config::{event, publish_subscribe};

/// More ports or nodes than this no service of a peer may ask for.
const PORTS_MAX: u64 = 4096;
/// More samples than this, of all kinds of buffers.
const SAMPLES_MAX: u64 = 1 << 16;
/// Room for all samples of one publisher, in bytes. It is taken from the system only as far as it is used.
const ROOM_BYTES_MAX: u64 = 4 << 30;
/// The longest payload, in bytes.
const PAYLOAD_BYTES_MAX: u64 = 1 << 30;
/// The largest alignment, in bytes.
const ALIGNMENT_MAX: u64 = 1 << 16;
/// The largest id of an event. Each takes a place in memory.
const EVENT_ID_MAX: u64 = 1 << 20;

/// A service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its name. Those of the same name and different patterns are different services.
    pub name: String,
    /// How it is used.
    pub pattern: Pattern,
}

/// The messaging patterns that are carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// Samples.
    PublishSubscribe(PublishSubscribe),
    /// Notifications.
    Event(Event),
}

impl Pattern {
    /// As users know it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PublishSubscribe(_) => "publish-subscribe",
            Self::Event(_) => "event",
        }
    }
}

/// A type of data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// A sample has any number of them.
    pub is_slice: bool,
    /// By this name iceoryx2 knows it.
    pub name: String,
    /// Of one.
    pub size_bytes: u64,
    /// In bytes, a power of two.
    pub alignment: u64,
}

impl Type {
    fn of(detail: &TypeDetail) -> Self {
        Self {
            is_slice: detail.variant() == TypeVariant::Dynamic,
            name: detail.type_name().to_string(),
            size_bytes: detail.size() as u64,
            alignment: detail.alignment() as u64,
        }
    }

    /// As iceoryx2 has it; `None` if its name is too long.
    pub fn detail(&self) -> Option<TypeDetail> {
        let variant = match self.is_slice {
            true => TypeVariant::Dynamic,
            false => TypeVariant::FixedSize,
        };
        let (size, alignment) = (self.size_bytes as usize, self.alignment as usize);
        TypeDetail::__internal_new_from_parts(variant, &self.name, size, alignment).ok()
    }

    fn check(&self) -> Result<(), Unfit> {
        let fits = self.alignment.is_power_of_two()
            && self.alignment <= ALIGNMENT_MAX
            && self.size_bytes <= ROOM_BYTES_MAX
            && self.size_bytes.is_multiple_of(self.alignment);
        match fits && self.detail().is_some() {
            true => Ok(()),
            false => Err(Unfit("the layout of a type")),
        }
    }
}

/// See [`StaticConfig`](publish_subscribe::StaticConfig) of iceoryx2, from which the names are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishSubscribe {
    /// The user header.
    pub header: Type,
    /// The payload.
    pub payload: Type,
    /// A full subscriber loses its oldest sample.
    pub overflows: bool,
    /// Processes.
    pub max_nodes: u64,
    /// Publishers.
    pub max_publishers: u64,
    /// Subscribers.
    pub max_subscribers: u64,
    /// Samples that a late subscriber gets.
    pub history_size: u64,
    /// Samples that wait for a subscriber.
    pub subscriber_max_buffer_size: u64,
    /// Samples that a subscriber holds.
    pub subscriber_max_borrowed_samples: u64,
}

impl PublishSubscribe {
    /// From what [`numbers`](Self::numbers) gives.
    pub fn new(header: Type, payload: Type, overflows: bool, numbers: [u64; 6]) -> Self {
        let [
            max_nodes,
            max_publishers,
            max_subscribers,
            history_size,
            subscriber_max_buffer_size,
            subscriber_max_borrowed_samples,
        ] = numbers;
        Self {
            header,
            payload,
            overflows,
            max_nodes,
            max_publishers,
            max_subscribers,
            history_size,
            subscriber_max_buffer_size,
            subscriber_max_borrowed_samples,
        }
    }

    fn of(config: &publish_subscribe::StaticConfig) -> Self {
        let types = config.message_type_details();
        let numbers = [
            config.max_nodes(),
            config.max_publishers(),
            config.max_subscribers(),
            config.history_size(),
            config.subscriber_max_buffer_size(),
            config.subscriber_max_borrowed_samples(),
        ];
        let (header, payload) = (Type::of(&types.user_header), Type::of(&types.payload));
        let overflows = config.has_safe_overflow();
        Self::new(header, payload, overflows, numbers.map(|n| n as u64))
    }

    /// All that are numbers.
    pub fn numbers(&self) -> [u64; 6] {
        [
            self.max_nodes,
            self.max_publishers,
            self.max_subscribers,
            self.history_size,
            self.subscriber_max_buffer_size,
            self.subscriber_max_borrowed_samples,
        ]
    }

    fn check(&self) -> Result<(), Unfit> {
        self.header.check()?;
        self.payload.check()?;
        let ports = [self.max_nodes, self.max_publishers, self.max_subscribers];
        if ports.iter().any(|n| !(1..=PORTS_MAX).contains(n)) {
            return Err(Unfit("the number of its ports"));
        }
        let buffered =
            (self.subscriber_max_buffer_size).saturating_add(self.subscriber_max_borrowed_samples);
        let samples = buffered
            .saturating_mul(self.max_subscribers)
            .saturating_add(self.history_size);
        let sample = self
            .payload
            .size_bytes
            .saturating_add(self.header.size_bytes);
        match samples <= SAMPLES_MAX && samples.saturating_mul(sample) <= ROOM_BYTES_MAX {
            true => Ok(()),
            false => Err(Unfit("the size of its buffers")),
        }
    }

    /// Whether a sample may have a payload of this length.
    pub fn takes(&self, len_bytes: usize) -> bool {
        let (len, size) = (len_bytes as u64, self.payload.size_bytes);
        match self.payload.is_slice {
            true => size != 0 && len.is_multiple_of(size) && len <= PAYLOAD_BYTES_MAX,
            false => len == size,
        }
    }

    /// How many elements a payload of this length has.
    pub fn elements(&self, len_bytes: usize) -> usize {
        match self.payload.is_slice {
            true => len_bytes / (self.payload.size_bytes as usize).max(1),
            false => 1,
        }
    }
}

/// See [`StaticConfig`](event::StaticConfig) of iceoryx2, from which the names are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Processes.
    pub max_nodes: u64,
    /// Notifiers.
    pub max_notifiers: u64,
    /// Listeners.
    pub max_listeners: u64,
    /// The largest id.
    pub event_id_max_value: u64,
    /// There has to be a notification in so many nanoseconds.
    pub deadline: Option<u64>,
    /// The id by which listeners learn of a new notifier,
    pub notifier_created_event: Option<u64>,
    /// of the end of one,
    pub notifier_dropped_event: Option<u64>,
    /// of its death.
    pub notifier_dead_event: Option<u64>,
}

impl Event {
    /// From what [`numbers`](Self::numbers) and [`choices`](Self::choices) give.
    pub fn new(numbers: [u64; 4], choices: [Option<u64>; 4]) -> Self {
        let [max_nodes, max_notifiers, max_listeners, event_id_max_value] = numbers;
        let [created, dropped, dead, deadline] = choices;
        Self {
            max_nodes,
            max_notifiers,
            max_listeners,
            event_id_max_value,
            deadline,
            notifier_created_event: created,
            notifier_dropped_event: dropped,
            notifier_dead_event: dead,
        }
    }

    fn of(config: &event::StaticConfig) -> Self {
        let numbers = [
            config.max_nodes(),
            config.max_notifiers(),
            config.max_listeners(),
            config.event_id_max_value(),
        ];
        let ids = [
            config.notifier_created_event(),
            config.notifier_dropped_event(),
            config.notifier_dead_event(),
        ];
        let [created, dropped, dead] = ids.map(|id| id.map(|id| id.as_value() as u64));
        let deadline = config.deadline().map(|after| after.as_nanos() as u64);
        let numbers = numbers.map(|n| n as u64);
        Self::new(numbers, [created, dropped, dead, deadline])
    }

    /// All that it always has.
    pub fn numbers(&self) -> [u64; 4] {
        [
            self.max_nodes,
            self.max_notifiers,
            self.max_listeners,
            self.event_id_max_value,
        ]
    }

    /// All that it may have.
    pub fn choices(&self) -> [Option<u64>; 4] {
        [
            self.notifier_created_event,
            self.notifier_dropped_event,
            self.notifier_dead_event,
            self.deadline,
        ]
    }

    fn check(&self) -> Result<(), Unfit> {
        let ports = [self.max_nodes, self.max_notifiers, self.max_listeners];
        if ports.iter().any(|n| !(1..=PORTS_MAX).contains(n)) {
            return Err(Unfit("the number of its ports"));
        }
        match self.event_id_max_value <= EVENT_ID_MAX {
            true => Ok(()),
            false => Err(Unfit("its largest id")),
        }
    }
}

/// A description of a peer of which something is too much for this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is outside of what this tunnel accepts")]
pub struct Unfit(&'static str);

impl Description {
    /// That of a service of this host; `None` if it is one of iceoryx2 itself, or of a pattern that is not carried.
    pub fn of(config: &StaticConfig) -> Option<Self> {
        let name = config.name().as_str();
        let pattern = match config.messaging_pattern() {
            MessagingPattern::PublishSubscribe(config) => {
                Pattern::PublishSubscribe(PublishSubscribe::of(config))
            }
            MessagingPattern::Event(config) => Pattern::Event(Event::of(config)),
            _ => return None,
        };
        let is_own = ServiceName::has_iox2_prefix(name);
        let name = name.to_owned();
        (!is_own).then_some(Self { name, pattern })
    }

    /// Its name, as iceoryx2 has it.
    ///
    /// # Errors
    /// [`Unfit`]: no service can have it.
    pub fn service_name(&self) -> Result<ServiceName, Unfit> {
        ServiceName::new(&self.name).map_err(|_| Unfit("its name"))
    }

    /// Whether this host would open such a service for a peer.
    ///
    /// # Errors
    /// [`Unfit`] says what is wrong with it.
    pub fn check(&self) -> Result<(), Unfit> {
        self.service_name()?;
        match &self.pattern {
            Pattern::PublishSubscribe(what) => what.check(),
            Pattern::Event(what) => what.check(),
        }
    }
}
