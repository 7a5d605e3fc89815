//! Flow control counters, as wide as their DLLPs have them.

use hostwire_packet::pcie::{CreditCost, DataCredits, DllpRepr, FlowControlPhase, VcId};

/// A pair of counters of one class: headers modulo 256, data modulo 4096.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counter {
    header: u8,
    data: u16,
}

const DATA_MODULUS: u16 = 4096;

impl Counter {
    pub(super) fn new(header: u8, data: u16) -> Counter {
        Counter {
            header,
            data: data % DATA_MODULUS,
        }
    }

    pub(super) fn add(&mut self, cost: &CreditCost) {
        self.header = self.header.wrapping_add(cost.header as u8);
        self.data = self.data.wrapping_add(cost.data) % DATA_MODULUS;
    }

    /// Whether a transmitter that has consumed `self` may send `cost` more: what is left up
    /// to the limit is not negative, modulo the width of the counters.
    pub(super) fn allows(mut self, limit: Counter, cost: &CreditCost) -> bool {
        self.add(cost);
        limit.header.wrapping_sub(self.header) <= 128
            && limit.data.wrapping_sub(self.data) % DATA_MODULUS <= DATA_MODULUS / 2
    }

    /// The UpdateFC that tells this limit.
    pub(super) fn update(self, class: hostwire_packet::pcie::CreditClass) -> DllpRepr {
        DllpRepr::FlowControl {
            phase: FlowControlPhase::Update,
            class,
            vc: VcId::MIN,
            header: self.header,
            data: DataCredits::new(self.data).unwrap_or(DataCredits::MIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostwire_packet::pcie::CreditClass;

    #[test]
    fn counters_wrap() {
        let cost = CreditCost {
            class: CreditClass::Posted,
            header: 1,
            data: 16,
        };
        let mut consumed = Counter::default();
        let mut limit = Counter::new(2, 40);
        // A window of 2 headers and 40 units, over several turns of both counters.
        for _ in 0..2_000 {
            assert!(consumed.allows(limit, &cost));
            let mut one_more = consumed;
            one_more.add(&cost);
            assert!(one_more.allows(limit, &cost));
            one_more.add(&cost);
            assert!(!one_more.allows(limit, &cost), "only two headers");
            let large = CreditCost { data: 41, ..cost };
            assert!(!consumed.allows(limit, &large), "only 40 units");
            consumed.add(&cost);
            limit.add(&cost);
        }
    }
}
