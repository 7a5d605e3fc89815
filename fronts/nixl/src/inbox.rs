//! Notifications that have come and that NIXL has not taken.

use std::collections::{HashMap, VecDeque};

use hostwire::PeId;

use crate::notice::Notice;

/// Bytes and notifications that wait here, at most, beyond one: what comes then waits with its sender.
const BYTES_MAX: usize = 64 << 20;
const COUNT_MAX: usize = 1 << 16;
/// Transfers of a peer whose notification has not come, at most. The next lets the oldest be forgotten: only a peer
/// that sends puts without the notification that belongs to them gets there.
const TRANSFERS_MAX: usize = 1 << 16;

/// See the [module text](self).
#[derive(Default)]
pub(crate) struct Inbox {
    /// Who sent it, and what.
    messages: VecDeque<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
    /// Of each peer: transfers to here, and how many of their puts have been done, in the order of the puts.
    puts: HashMap<PeId, VecDeque<(u64, u32)>>,
}

impl Inbox {
    /// A put of a transfer with a notification has been done here.
    pub(crate) fn count_put(&mut self, from: PeId, transfer: u64) {
        let known = self.puts.entry(from).or_default();
        match known.back_mut() {
            Some((last, puts)) if *last == transfer => *puts = puts.saturating_add(1),
            _ => known.push_back((transfer, 1)),
        }
        if known.len() > TRANSFERS_MAX {
            known.pop_front();
        }
    }

    /// Keeps a notification, unless puts before it were refused here: then its sender knows that the transfer has failed.
    pub(crate) fn add(&mut self, from: PeId, notice: &Notice<'_>) {
        if notice.puts != self.take_puts(from, notice) {
            return;
        }
        self.bytes += notice.agent.len() + notice.message.len();
        self.messages
            .push_back((notice.agent.to_vec(), notice.message.to_vec()));
    }

    /// How many puts of its transfer have been done. Those of a pair come in order, so none of an earlier transfer is waited for.
    fn take_puts(&mut self, from: PeId, notice: &Notice<'_>) -> u32 {
        let Some(known) = self.puts.get_mut(&from).filter(|_| notice.puts > 0) else {
            return 0;
        };
        let Some(at) = known.iter().position(|(id, _)| *id == notice.transfer) else {
            return 0;
        };
        known.drain(..=at).next_back().map_or(0, |(_, puts)| puts)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= BYTES_MAX || self.messages.len() >= COUNT_MAX
    }

    /// All that have come.
    pub(crate) fn take(&mut self) -> VecDeque<(Vec<u8>, Vec<u8>)> {
        self.bytes = 0;
        core::mem::take(&mut self.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(transfer: u64, puts: u32) -> Notice<'static> {
        Notice {
            transfer,
            puts,
            agent: b"agent",
            message: b"message",
        }
    }

    #[test]
    fn a_notification_comes_if_all_puts_before_it_were_done() {
        let mut inbox = Inbox::default();
        for transfer in [4, 4, 5, 7] {
            inbox.count_put(1, transfer);
        }
        inbox.count_put(2, 4);
        // All of it; one is missing; none was done; of another peer; of no transfer.
        for (notice, comes) in [
            (notice(4, 2), true),
            (notice(5, 2), false),
            (notice(6, 1), false),
            (notice(7, 1), true),
            (notice(8, 0), true),
        ] {
            inbox.add(1, &notice);
            assert_eq!(inbox.take().len(), usize::from(comes), "{notice:?}");
        }
        inbox.add(2, &notice(4, 1));
        assert_eq!(inbox.take(), [(b"agent".to_vec(), b"message".to_vec())]);
    }

    #[test]
    fn it_is_full_at_some_time_and_never_grows_by_puts_alone() {
        let mut inbox = Inbox::default();
        for transfer in 0..2 * TRANSFERS_MAX as u64 {
            inbox.count_put(1, transfer);
        }
        assert_eq!(inbox.puts[&1].len(), TRANSFERS_MAX);
        for _ in 0..COUNT_MAX {
            assert!(!inbox.is_full());
            inbox.add(1, &notice(0, 0));
        }
        assert!(inbox.is_full());
        inbox.take();
        assert!(!inbox.is_full());
    }
}
