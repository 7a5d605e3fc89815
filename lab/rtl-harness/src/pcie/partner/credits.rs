//! Flow-control counters of the partner: what it gives, and what it may take.

use std::collections::VecDeque;

use hostwire_packet::pcie::{
    CreditClass, CreditCost, DataCredits, DllpRepr, FlowControlPhase, VcId,
};

const CLASSES: [CreditClass; 3] = [
    CreditClass::Posted,
    CreditClass::NonPosted,
    CreditClass::Completion,
];

/// Credits that the hardware gives. Totals since the start; what is told is modulo the width of its field.
#[derive(Debug, Default)]
pub(super) struct Taken {
    taken: [(u8, u16); 3],
    limit: [Option<(u8, u16)>; 3],
    endless: [(bool, bool); 3],
}

impl Taken {
    /// All classes were told.
    pub(super) fn is_told(&self) -> bool {
        self.limit.iter().all(Option::is_some)
    }

    pub(super) fn tell(&mut self, class: CreditClass, header: u8, data: u16, first: bool) {
        self.limit[class as usize] = Some((header, data));
        if first {
            self.endless[class as usize] = (header == 0, data == 0);
        }
    }

    pub(super) fn allows(&self, cost: &CreditCost) -> bool {
        let class = cost.class as usize;
        let Some((header, data)) = self.limit[class] else {
            return false;
        };
        let (header_taken, data_taken) = self.taken[class];
        let (header_endless, data_endless) = self.endless[class];
        let header_left = header.wrapping_sub(header_taken);
        let data_left = data.wrapping_sub(data_taken) % 4096;
        (header_endless || (1..=128).contains(&header_left))
            && (data_endless || cost.data == 0 || (cost.data <= data_left && data_left <= 2048))
    }

    pub(super) fn take(&mut self, cost: &CreditCost) {
        let (header, data) = &mut self.taken[cost.class as usize];
        *header = header.wrapping_add(1);
        *data = data.wrapping_add(cost.data) % 4096;
    }
}

/// Credits that the partner gives.
#[derive(Debug)]
pub(super) struct Given {
    first: [(u8, u16); 3],
    /// Totals, the first ones included.
    given: [(u64, u64); 3],
    used: [(u64, u64); 3],
    /// TLPs in the buffers.
    held: VecDeque<CreditCost>,
    untold: [bool; 3],
}

impl Given {
    pub(super) fn new(first: [(u8, u16); 3]) -> Self {
        Self {
            first,
            given: first.map(|(header, data)| (header.into(), data.into())),
            used: [(0, 0); 3],
            held: VecDeque::new(),
            untold: [false; 3],
        }
    }

    /// A TLP came; false if there was no credit for it.
    pub(super) fn take(&mut self, cost: CreditCost) -> bool {
        let class = cost.class as usize;
        let (header, data) = &mut self.used[class];
        *header += u64::from(cost.header);
        *data += u64::from(cost.data);
        self.held.push_back(cost);
        let (first, given) = (self.first[class], self.given[class]);
        (first.0 == 0 || *header <= given.0) && (first.1 == 0 || *data <= given.1)
    }

    /// A TLP leaves the buffers.
    pub(super) fn free_one(&mut self) {
        let Some(cost) = self.held.pop_front() else {
            return;
        };
        let class = cost.class as usize;
        self.given[class].0 += u64::from(cost.header);
        self.given[class].1 += u64::from(cost.data);
        self.untold[class] = true;
    }

    pub(super) fn tell_all(&mut self) {
        self.untold = [true; 3];
    }

    /// An update to send, if there is one.
    pub(super) fn update(&mut self) -> Option<DllpRepr> {
        let class = self.untold.iter().position(|untold| *untold)?;
        self.untold[class] = false;
        Some(self.dllp(FlowControlPhase::Update, class))
    }

    pub(super) fn dllp(&self, phase: FlowControlPhase, class: usize) -> DllpRepr {
        let (first, given) = (self.first[class], self.given[class]);
        let header = if first.0 == 0 { 0 } else { given.0 as u8 };
        let data = if first.1 == 0 {
            0
        } else {
            (given.1 % 4096) as u16
        };
        DllpRepr::FlowControl {
            phase,
            class: CLASSES[class],
            vc: VcId::MIN,
            header,
            data: DataCredits::new(data).unwrap_or(DataCredits::MIN),
        }
    }
}
