//! Finds the host that sent a frame, by the sender that the system gives.

use std::collections::HashMap;
use std::hash::Hash;

/// The numbers of hosts by the senders of their frames.
#[derive(Debug)]
pub(super) struct Known<Sender> {
    hosts: HashMap<Sender, u32>,
    /// The last one found, because frames come in runs.
    last: Option<(Sender, u32)>,
}

impl<Sender> Default for Known<Sender> {
    fn default() -> Self {
        Self {
            hosts: HashMap::new(),
            last: None,
        }
    }
}

impl<Sender: Copy + Eq + Hash> Known<Sender> {
    /// Frames from `sender` are from `host`, unless another host was named before.
    pub(super) fn add(&mut self, sender: Sender, host: u32) {
        self.hosts.entry(sender).or_insert(host);
    }

    /// Frames of `host` come from `sender` now, and no longer from where they came.
    pub(super) fn has_moved(&mut self, host: u32, sender: Sender) {
        self.hosts.retain(|_, known| *known != host);
        self.hosts.insert(sender, host);
        self.last = None;
    }

    /// All senders whose host is known.
    pub(super) fn senders(&self) -> impl Iterator<Item = &Sender> {
        self.hosts.keys()
    }

    /// The host of this sender, if it is known.
    #[inline]
    pub(super) fn find(&mut self, sender: Sender) -> Option<u32> {
        if self.last.is_none_or(|(known, _)| known != sender) {
            self.last = self.hosts.get(&sender).map(|host| (sender, *host));
        }
        self.last.map(|(_, host)| host)
    }
}
