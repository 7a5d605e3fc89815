//! Packets that wait for credits.

use std::collections::VecDeque;

use hostwire_packet::ht::{PACKET_LEN_MAX, PacketRepr, VirtualChannel};

/// A packet that waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// Order in which packets came, over all channels.
    stamp: u64,
    bytes: [u8; PACKET_LEN_MAX],
    len: u8,
    pub(crate) with_data: bool,
    pass_pw: bool,
}

impl Waiting {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len.into()).unwrap_or(&[])
    }
}

/// One queue per channel.
///
/// Which packets may pass others (HyperTransport ordering rules,
/// [`may_pass`](hostwire_packet::ht::may_pass)): each channel keeps its own order. A
/// posted packet passes packets of the other channels that wait for credits. A response
/// passes those of the non-posted channel. Both rules are needed, or the fabric could
/// deadlock. Neither a non-posted packet nor a response passes an earlier posted packet,
/// unless it is marked PassPW. All units are treated alike. This is stricter than the
/// table, but allows everything that the table demands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    queues: [VecDeque<Waiting>; 3],
    next_stamp: u64,
}

/// PassPW of a packet.
pub(crate) const fn pass_pw(packet: &PacketRepr<'_>) -> bool {
    match packet.control() {
        hostwire_packet::ht::ControlRepr::Request(request) => request.pass_pw,
        hostwire_packet::ht::ControlRepr::Response(response) => response.pass_pw,
        _ => false,
    }
}

impl Queues {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    /// Whether a new packet may go before all waiting packets.
    #[inline]
    pub(crate) fn lets_pass(&self, channel: VirtualChannel, pass_pw: bool) -> bool {
        self.queues[channel.index()].is_empty()
            && (pass_pw || self.queues[VirtualChannel::Posted.index()].is_empty())
    }

    /// Queues a packet; `false` if the queue is full.
    pub(crate) fn push(
        &mut self,
        channel: VirtualChannel,
        packet: &PacketRepr<'_>,
        packets_max: u16,
    ) -> Result<bool, hostwire_packet::Error> {
        let queue = &mut self.queues[channel.index()];
        if queue.len() >= packets_max.into() {
            return Ok(false);
        }
        let mut bytes = [0; PACKET_LEN_MAX];
        let len = packet.emit(&mut bytes)?;
        queue.push_back(Waiting {
            stamp: self.next_stamp,
            bytes,
            len: len as u8,
            with_data: !packet.data().is_empty(),
            pass_pw: pass_pw(packet),
        });
        self.next_stamp += 1;
        Ok(true)
    }

    /// The packet that goes next: the oldest of those that have credits and may pass the
    /// packets before them.
    pub(crate) fn next(
        &self,
        covers: impl Fn(VirtualChannel, bool) -> bool,
    ) -> Option<(VirtualChannel, &Waiting)> {
        let posted = self.queues[VirtualChannel::Posted.index()].front();
        VirtualChannel::ALL
            .into_iter()
            .filter_map(|channel| Some((channel, self.queues[channel.index()].front()?)))
            .filter(|(channel, head)| covers(*channel, head.with_data))
            .filter(|(_, head)| {
                head.pass_pw || posted.is_none_or(|posted| posted.stamp >= head.stamp)
            })
            .min_by_key(|(_, head)| head.stamp)
    }

    pub(crate) fn pop(&mut self, channel: VirtualChannel) {
        self.queues[channel.index()].pop_front();
    }

    pub(crate) fn clear(&mut self) {
        for queue in &mut self.queues {
            queue.clear();
        }
    }

    /// Gives memory back, if no packets wait.
    pub(crate) fn rest(&mut self) {
        if self.is_empty() {
            self.queues = Default::default();
        }
    }

    pub(crate) fn len(&self, channel: VirtualChannel) -> usize {
        self.queues[channel.index()].len()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let packets: usize = self.queues.iter().map(VecDeque::capacity).sum();
        packets * size_of::<Waiting>()
    }
}

#[cfg(test)]
mod tests;
