//! Who sent a frame, by what the system says of its sender.

use std::collections::HashMap;
use std::hash::Hash;

/// The numbers of hosts by what their frames come from.
#[derive(Debug)]
pub(super) struct Known<Sender> {
    hosts: HashMap<Sender, u32>,
    /// One of those: frames come in runs.
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
    /// What comes from `sender` is from `host`, unless another host was named before.
    pub(super) fn add(&mut self, sender: Sender, host: u32) {
        self.hosts.entry(sender).or_insert(host);
    }

    /// All whose host is known.
    pub(super) fn senders(&self) -> impl Iterator<Item = &Sender> {
        self.hosts.keys()
    }

    /// The host that this is, if it is known.
    #[inline]
    pub(super) fn find(&mut self, sender: Sender) -> Option<u32> {
        if self.last.is_none_or(|(known, _)| known != sender) {
            self.last = self.hosts.get(&sender).map(|host| (sender, *host));
        }
        self.last.map(|(_, host)| host)
    }
}
