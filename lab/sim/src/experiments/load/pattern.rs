//! Who sends to whom, and when.

use serde::Serialize;

use crate::engine::random::Random;

use super::{Message, Messages};

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Any other processor, by chance.
    Uniform,
    /// All send to one, which sends nothing.
    Incast,
    /// Every processor sends to one other, and gets from one other, by chance.
    Permutation,
    /// As uniform, but a share of all messages is for one processor.
    HotSpot,
    /// All others in turn, the successor first.
    AllToAll,
}

/// When the messages of an open loop are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// With exponential times between them.
    Random,
    /// At equal times between them, and at the same times everywhere.
    Regular,
}

/// What begins a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "loop", rename_all = "kebab-case")]
pub enum Pacing {
    /// Its time, whatever has become of those before it.
    Open {
        /// Mean time between two messages of a sender.
        interval_ps: u64,
        /// How they are spread.
        arrivals: Arrivals,
    },
    /// The arrival of an earlier one.
    Closed {
        /// Messages of a sender that are on the way at once.
        in_flight: u64,
    },
}

/// Traffic between all processors of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Load {
    /// Whom messages are for.
    pub pattern: Pattern,
    /// The one of incast and hot spot, by its index.
    #[serde(skip)]
    pub target: usize,
    /// Share of the hot spot in all messages, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_pct: Option<u64>,
    /// Size of a message.
    pub size_bytes: u64,
    /// Messages of each sender.
    pub messages: u64,
    /// What begins them.
    #[serde(flatten)]
    pub pacing: Pacing,
    /// Start of all that is random.
    pub seed: u64,
}

impl Load {
    /// The messages of each of `count` processors, two or more.
    pub fn senders(&self, count: usize) -> Vec<Messages> {
        let partners = permutation(count, self.seed);
        (0..count)
            .map(|me| match self.pattern {
                Pattern::Incast if me == self.target => Box::new(std::iter::empty()) as Messages,
                _ => Box::new(self.messages_of(me, count, partners[me])),
            })
            .collect()
    }

    fn messages_of(
        &self,
        me: usize,
        count: usize,
        partner: usize,
    ) -> impl Iterator<Item = Message> + use<> {
        let load = self.clone();
        // Numbers of different processors lie far apart.
        let seed = |kind: u64| load.seed ^ (me as u64 + 1) << 40 ^ kind << 32;
        let (mut targets, mut times) = (Random::new(seed(1)), Random::new(seed(2)));
        let mut due = 0u64;
        (0..load.messages).map(move |number| {
            let due_ps = match load.pacing {
                Pacing::Closed { .. } => None,
                Pacing::Open {
                    interval_ps,
                    arrivals,
                } => {
                    let gap = match arrivals {
                        Arrivals::Random => times.exponential(interval_ps),
                        Arrivals::Regular => interval_ps,
                    };
                    due = due.saturating_add(gap);
                    Some(due)
                }
            };
            let mut other = || {
                let place = targets.below(count as u64 - 1) as usize;
                place + usize::from(place >= me)
            };
            let to = match load.pattern {
                Pattern::Uniform => other(),
                Pattern::Incast => load.target,
                Pattern::Permutation => partner,
                Pattern::AllToAll => (me + 1 + (number % (count as u64 - 1)) as usize) % count,
                Pattern::HotSpot => {
                    let any = other();
                    let hot = targets.below(100) < load.share_pct.unwrap_or_default();
                    if hot && me != load.target {
                        load.target
                    } else {
                        any
                    }
                }
            };
            Message {
                due_ps,
                to,
                bytes: load.size_bytes,
            }
        })
    }
}

/// A partner for each, never itself: a cycle through all in random order (Sattolo).
fn permutation(count: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut partners: Vec<usize> = (0..count).collect();
    for place in (1..count).rev() {
        partners.swap(place, random.below(place as u64) as usize);
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 9;

    fn load(pattern: Pattern) -> Load {
        Load {
            pattern,
            target: 4,
            share_pct: Some(50),
            size_bytes: 64,
            messages: 800,
            pacing: Pacing::Closed { in_flight: 1 },
            seed: 3,
        }
    }

    /// How often each sends to each.
    fn counts(pattern: Pattern) -> Vec<Vec<u64>> {
        let senders = load(pattern).senders(COUNT);
        let rows = senders.into_iter().map(|messages| {
            let mut row = vec![0; COUNT];
            messages.for_each(|message| row[message.to] += 1);
            row
        });
        rows.collect()
    }

    #[test]
    fn patterns_send_where_they_say() {
        let uniform = counts(Pattern::Uniform);
        for (me, row) in uniform.iter().enumerate() {
            assert_eq!((row[me], row.iter().sum::<u64>()), (0, 800));
            let others = row.iter().enumerate().filter(|(to, _)| *to != me);
            others.for_each(|(_, &count)| assert!((60..=140).contains(&count), "{row:?}"));
        }
        for (me, row) in counts(Pattern::Incast).iter().enumerate() {
            let want = if me == 4 { 0 } else { 800 };
            assert_eq!((row[4], row.iter().sum::<u64>()), (want, want));
        }
        let permutation = counts(Pattern::Permutation);
        for me in 0..COUNT {
            assert_eq!(permutation[me][me], 0);
            assert_eq!(permutation[me].iter().sum::<u64>(), 800);
            assert_eq!(permutation.iter().map(|row| row[me]).sum::<u64>(), 800);
        }
        for (me, row) in counts(Pattern::AllToAll).iter().enumerate() {
            let others = row.iter().enumerate().filter(|(to, _)| *to != me);
            others.for_each(|(_, &count)| assert_eq!(count, 100));
        }
        for (me, row) in counts(Pattern::HotSpot).iter().enumerate() {
            assert_eq!(row[me], 0);
            // Half of them, and a share of the other half.
            assert!(me == 4 || (400..=500).contains(&row[4]), "{row:?}");
        }
    }

    #[test]
    fn an_open_loop_keeps_its_mean_and_its_order() {
        let times = |arrivals| -> Vec<u64> {
            let pacing = Pacing::Open {
                interval_ps: 10_000,
                arrivals,
            };
            let load = Load {
                pacing,
                ..load(Pattern::Uniform)
            };
            let messages = load.senders(2).remove(0);
            messages.filter_map(|message| message.due_ps).collect()
        };
        let regular = times(Arrivals::Regular);
        assert_eq!(&regular[..3], [10_000, 20_000, 30_000]);
        let random = times(Arrivals::Random);
        assert!(random.is_sorted());
        let mean = *random.last().unwrap() as f64 / 800.0;
        assert!((mean / 10_000.0 - 1.0).abs() < 0.1, "{mean}");
    }
}
