//! Credits: how much one side may still send, and how much room the other has.

use hostwire_packet::ht::{ChannelCredits, NOP_LEN, NopRepr, VirtualChannel};
use hostwire_packet::htoe::BuffersTaken;

/// Command and data buffers of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Buffers {
    /// Command buffers, one per packet.
    pub command: u16,
    /// Data buffers, one per packet with data.
    pub data: u16,
}

impl Buffers {
    pub(crate) const fn both(buffers: u16) -> Self {
        Self {
            command: buffers,
            data: buffers,
        }
    }

    fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            command: self.command.checked_add(other.command)?,
            data: self.data.checked_add(other.data)?,
        })
    }

    const fn most(self) -> u16 {
        if self.command > self.data {
            self.command
        } else {
            self.data
        }
    }

    const fn within(self, limit: u16) -> bool {
        self.most() <= limit
    }
}

impl From<BuffersTaken> for Buffers {
    fn from(taken: BuffersTaken) -> Self {
        Self {
            command: taken.command.into(),
            data: taken.data.into(),
        }
    }
}

/// Credits of the sending side: buffers of the peer that may be filled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wallet {
    has: [Buffers; 3],
    limit: [u16; 3],
}

impl Wallet {
    pub(crate) fn new(limit: [u16; 3]) -> Self {
        Self {
            has: limit.map(Buffers::both),
            limit,
        }
    }

    /// Takes the credits for one packet, or nothing.
    #[inline]
    pub(crate) fn spend(&mut self, channel: VirtualChannel, with_data: bool) -> bool {
        let has = &mut self.has[channel.index()];
        if has.command == 0 || (with_data && has.data == 0) {
            return false;
        }
        has.command -= 1;
        has.data -= u16::from(with_data);
        true
    }

    #[inline]
    pub(crate) fn covers(&self, channel: VirtualChannel, with_data: bool) -> bool {
        let has = self.has[channel.index()];
        has.command > 0 && (!with_data || has.data > 0)
    }

    /// Packets with data that there are credits for.
    #[inline]
    pub(crate) fn covered(&self, channel: VirtualChannel) -> u16 {
        let has = self.has[channel.index()];
        has.command.min(has.data)
    }

    /// Takes the credits for `packets` packets with data. The caller knows that there are
    /// enough.
    #[inline]
    pub(crate) fn spend_many(&mut self, channel: VirtualChannel, packets: u16) {
        let has = &mut self.has[channel.index()];
        debug_assert!(packets <= has.command.min(has.data));
        has.command = has.command.saturating_sub(packets);
        has.data = has.data.saturating_sub(packets);
    }

    /// Takes credits that came back, command and data by channel; `Err` gives a channel that
    /// would have more credits than buffers.
    pub(crate) fn add(&mut self, credits: [(u32, u32); 3]) -> Result<(), VirtualChannel> {
        for (channel, (command, data)) in VirtualChannel::ALL.into_iter().zip(credits) {
            if command | data == 0 {
                continue;
            }
            let more = Buffers {
                command: u16::try_from(command).unwrap_or(u16::MAX),
                data: u16::try_from(data).unwrap_or(u16::MAX),
            };
            let has = &mut self.has[channel.index()];
            match has.checked_add(more) {
                Some(sum) if sum.within(self.limit[channel.index()]) => *has = sum,
                _ => return Err(channel),
            }
        }
        Ok(())
    }

    pub(crate) const fn has(&self, channel: VirtualChannel) -> Buffers {
        self.has[channel.index()]
    }
}

/// Buffers of the receiving side. For each buffer the peer has the credit, a packet is
/// in it, or the credit is owed. There is no other state, so the three sums always add
/// up to the number of buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    granted: [Buffers; 3],
    filled: [Buffers; 3],
    owed: [Buffers; 3],
}

impl Ledger {
    pub(crate) fn new(buffers: [u16; 3]) -> Self {
        Self {
            granted: buffers.map(Buffers::both),
            ..Self::default()
        }
    }

    /// Fills buffers with the packets of one frame, or none; `Err` gives the
    /// channel that was overrun.
    pub(crate) fn fill(&mut self, taken: &[Buffers; 3]) -> Result<(), VirtualChannel> {
        take(&mut self.granted, taken)?;
        add(&mut self.filled, taken);
        Ok(())
    }

    /// Empties buffers; `Err` gives a channel with fewer filled buffers.
    pub(crate) fn empty(&mut self, taken: &[Buffers; 3]) -> Result<(), VirtualChannel> {
        take(&mut self.filled, taken)?;
        add(&mut self.owed, taken);
        Ok(())
    }

    /// Number of NOPs that return all owed credits.
    pub(crate) fn nops_owed(&self) -> usize {
        let most = self.owed.iter().map(|owed| owed.most()).max();
        usize::from(most.unwrap_or(0)).div_ceil(3)
    }

    /// Returns as many credits as NOPs in this place can.
    pub(crate) fn fill_nops(&mut self, place: &mut [[u8; NOP_LEN]]) -> hostwire_packet::Result<()> {
        let mut rest = place;
        while !rest.is_empty() {
            let (alike, behind) = rest.split_at_mut(self.nops_alike().min(rest.len()));
            let more = (alike.len() - 1) as u16;
            let mut bytes = [0; NOP_LEN];
            self.next_nop().emit(&mut bytes)?;
            alike.fill(bytes);
            for (owed, granted) in self.owed.iter_mut().zip(&mut self.granted) {
                // Each of these NOPs returns 3 of every owed kind.
                let credits = |owed: u16| owed.min(3 * more);
                let (command, data) = (credits(owed.command), credits(owed.data));
                owed.command -= command;
                owed.data -= data;
                granted.command += command;
                granted.data += data;
            }
            rest = behind;
        }
        Ok(())
    }

    /// How many of the next NOPs return the same credits; at least 1.
    fn nops_alike(&self) -> usize {
        let owed = self.owed.iter().flat_map(|owed| [owed.command, owed.data]);
        let full = owed.filter(|owed| *owed > 0).map(|owed| owed / 3);
        usize::from(full.min().unwrap_or(0)).max(1)
    }

    /// Returns as many credits as one NOP can.
    #[inline]
    fn next_nop(&mut self) -> NopRepr {
        let mut nop = NopRepr::default();
        for channel in VirtualChannel::ALL {
            let i = channel.index();
            let owed = self.owed[i];
            let (command, data) = (owed.command.min(3), owed.data.min(3));
            self.owed[i].command -= command;
            self.owed[i].data -= data;
            self.granted[i].command += command;
            self.granted[i].data += data;
            // At most 3, which is what fits.
            let credits = ChannelCredits::new(command as u8, data as u8);
            nop.set_credits(channel, credits.unwrap_or_default());
        }
        nop
    }

    #[inline]
    pub(crate) fn owes(&self) -> bool {
        self.owed.iter().any(|owed| *owed != Buffers::default())
    }

    /// Whether the owed credits have to go now: a batch is full, or the peer may have
    /// none left on a channel.
    pub(crate) fn urgent(&self, batch: &[u16; 3]) -> bool {
        self.owed
            .iter()
            .zip(&self.granted)
            .zip(batch)
            .any(|((owed, granted), &batch)| {
                owed.most() >= batch
                    || (owed.command > 0 && granted.command == 0)
                    || (owed.data > 0 && granted.data == 0)
            })
    }

    pub(crate) const fn granted(&self, channel: VirtualChannel) -> Buffers {
        self.granted[channel.index()]
    }

    pub(crate) const fn filled(&self, channel: VirtualChannel) -> Buffers {
        self.filled[channel.index()]
    }

    pub(crate) const fn owed(&self, channel: VirtualChannel) -> Buffers {
        self.owed[channel.index()]
    }
}

/// Takes buffers out of one of the three sums, or none; `Err` gives a channel that has fewer.
fn take(sum: &mut [Buffers; 3], taken: &[Buffers; 3]) -> Result<(), VirtualChannel> {
    let lacks = |channel: &VirtualChannel| {
        let (sum, taken) = (sum[channel.index()], taken[channel.index()]);
        sum.command < taken.command || sum.data < taken.data
    };
    if let Some(channel) = VirtualChannel::ALL.into_iter().find(lacks) {
        return Err(channel);
    }
    for (sum, taken) in sum.iter_mut().zip(taken) {
        sum.command -= taken.command;
        sum.data -= taken.data;
    }
    Ok(())
}

/// Adds what was taken elsewhere. Cannot overflow: all sums together are the buffers.
fn add(sum: &mut [Buffers; 3], taken: &[Buffers; 3]) {
    for (sum, taken) in sum.iter_mut().zip(taken) {
        sum.command += taken.command;
        sum.data += taken.data;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn many_nops_return_what_they_would_one_by_one(
            owed in prop::array::uniform3((0_u16..40, 0_u16..40)),
            nops in 0_usize..30,
        ) {
            let owed = owed.map(|(command, data)| Buffers { command, data });
            let mut one_by_one = Ledger { owed, ..Ledger::default() };
            let mut together = one_by_one.clone();
            let mut expected = vec![[0; NOP_LEN]; nops];
            for place in &mut expected {
                one_by_one.next_nop().emit(place).unwrap();
            }
            let mut got = vec![[0; NOP_LEN]; nops];
            together.fill_nops(&mut got).unwrap();
            prop_assert_eq!(got, expected);
            prop_assert_eq!(together.owed, one_by_one.owed);
            prop_assert_eq!(together.granted, one_by_one.granted);
        }
    }
}
