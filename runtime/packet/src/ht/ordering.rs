//! The table of which packet may pass which.
//!
//! Source: ordering rules of the HyperTransport I/O link specification as
//! generally known; Fence, Chain and SeqID as the ht_tunnel core has them.

use super::channel::VirtualChannel;
use super::fields::{SeqId, UnitId};
use super::packet::ControlRepr;
use super::request;

/// The parts of a packet that the ordering rules need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderingKey {
    /// Channel of the packet.
    pub channel: VirtualChannel,
    /// Unit whose stream of packets it belongs to.
    pub unit_id: UnitId,
    /// Sequence of a non-posted request; 0 for none.
    pub seq_id: SeqId,
    /// PassPW.
    pub pass_pw: bool,
    /// The packet is a Fence.
    pub fence: bool,
    /// The packet belongs to a run of chained posted writes.
    ///
    /// [`of`](Self::of) takes it from the Chain bit, which is 0 in the last
    /// packet of a run. A queue that keeps runs together has to set it for
    /// that packet as well.
    pub chained: bool,
}

impl OrderingKey {
    /// The key of a packet, `None` for those outside the virtual channels.
    pub const fn of(packet: &ControlRepr) -> Option<Self> {
        match packet {
            ControlRepr::Request(request) => Some(Self {
                channel: request.virtual_channel(),
                unit_id: request.unit_id,
                seq_id: request.seq_id,
                pass_pw: request.pass_pw,
                fence: matches!(request.kind, request::Kind::Fence { .. }),
                chained: matches!(
                    request.kind,
                    request::Kind::Write(request::Write {
                        mode: request::WriteMode::Posted { chain: true, .. },
                        ..
                    })
                ),
            }),
            ControlRepr::Response(response) => Some(Self {
                channel: VirtualChannel::Response,
                unit_id: response.unit_id,
                seq_id: SeqId::MIN,
                pass_pw: response.pass_pw,
                fence: false,
                chained: false,
            }),
            ControlRepr::Nop(_) | ControlRepr::Sync(_) | ControlRepr::ExtendedFlow(_) => None,
        }
    }
}

/// Whether a packet may overtake one that arrived before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// It must stay behind.
    MustNot,
    /// Both orders are allowed.
    May,
    /// It must be able to overtake if the earlier one is blocked; otherwise
    /// the fabric can deadlock.
    Must,
}

impl Passing {
    /// Whether overtaking is allowed.
    pub const fn allowed(self) -> bool {
        !matches!(self, Passing::MustNot)
    }
}

/// Whether `later` may pass `earlier` on one link.
///
/// | later, of one unit | posted | non-posted | response |
/// |---|---|---|---|
/// | posted | PassPW ? may : must not | must | must |
/// | non-posted | PassPW ? may : must not | may, but not in one SeqID | may |
/// | response | PassPW ? may : must not | must | may |
///
/// Packets of different units have no order, except that
/// - no posted packet without PassPW passes a Fence, and no Fence without
///   PassPW passes a posted packet, of any unit;
/// - no posted packet passes a chained one, since it would land inside the
///   run (this forbids more than necessary: passing a whole run is legal);
/// - a packet that must be able to pass must be able to pass packets of any unit.
pub const fn may_pass(later: &OrderingKey, earlier: &OrderingKey) -> Passing {
    use VirtualChannel::{NonPosted, Posted, Response};
    let same_unit = later.unit_id.get() == earlier.unit_id.get();
    match (later.channel, earlier.channel) {
        (Posted, NonPosted | Response) | (Response, NonPosted) => Passing::Must,
        (Posted, Posted) if earlier.chained => Passing::MustNot,
        (Posted, Posted) if (later.fence || earlier.fence) && !later.pass_pw => Passing::MustNot,
        (_, Posted) if same_unit && !later.pass_pw => Passing::MustNot,
        (NonPosted, NonPosted)
            if same_unit
                && later.seq_id.get() != 0
                && later.seq_id.get() == earlier.seq_id.get() =>
        {
            Passing::MustNot
        }
        _ => Passing::May,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use VirtualChannel::{NonPosted, Posted, Response};

    fn key(channel: VirtualChannel) -> OrderingKey {
        OrderingKey {
            channel,
            unit_id: UnitId::new(1).unwrap(),
            seq_id: SeqId::MIN,
            pass_pw: false,
            fence: false,
            chained: false,
        }
    }

    fn passing(channel: VirtualChannel) -> OrderingKey {
        OrderingKey {
            pass_pw: true,
            ..key(channel)
        }
    }

    fn other_unit(key: OrderingKey) -> OrderingKey {
        OrderingKey {
            unit_id: UnitId::new(2).unwrap(),
            ..key
        }
    }

    /// The whole table of the docs of `may_pass`, cell by cell.
    #[test]
    fn table_of_one_unit() {
        use Passing::{May, Must, MustNot};
        for (later, earlier, without, with) in [
            (Posted, Posted, MustNot, May),
            (Posted, NonPosted, Must, Must),
            (Posted, Response, Must, Must),
            (NonPosted, Posted, MustNot, May),
            (NonPosted, NonPosted, May, May),
            (NonPosted, Response, May, May),
            (Response, Posted, MustNot, May),
            (Response, NonPosted, Must, Must),
            (Response, Response, May, May),
        ] {
            let earlier = key(earlier);
            assert_eq!(may_pass(&key(later), &earlier), without, "{later}");
            assert_eq!(may_pass(&passing(later), &earlier), with, "{later} PassPW");
        }
    }

    #[test]
    fn units_are_independent() {
        for later in VirtualChannel::ALL {
            for earlier in VirtualChannel::ALL {
                assert!(may_pass(&other_unit(key(later)), &key(earlier)).allowed());
            }
        }
    }

    #[test]
    fn sequences_stay_in_order() {
        let sequence = |seq_id| OrderingKey {
            seq_id: SeqId::new(seq_id).unwrap(),
            ..key(NonPosted)
        };
        assert_eq!(may_pass(&sequence(4), &sequence(4)), Passing::MustNot);
        assert_eq!(may_pass(&sequence(4), &sequence(5)), Passing::May);
        assert_eq!(may_pass(&sequence(0), &sequence(0)), Passing::May);
        assert_eq!(
            may_pass(&other_unit(sequence(4)), &sequence(4)),
            Passing::May
        );
    }

    #[test]
    fn fences_hold_for_all_units() {
        let fence = OrderingKey {
            fence: true,
            ..key(Posted)
        };
        let write = other_unit(key(Posted));
        assert_eq!(may_pass(&write, &fence), Passing::MustNot);
        assert_eq!(may_pass(&fence, &write), Passing::MustNot);
        assert_eq!(may_pass(&other_unit(passing(Posted)), &fence), Passing::May);
        assert_eq!(may_pass(&other_unit(key(NonPosted)), &fence), Passing::May);
    }

    #[test]
    fn runs_are_not_parted() {
        let chained = OrderingKey {
            chained: true,
            ..key(Posted)
        };
        assert_eq!(may_pass(&passing(Posted), &chained), Passing::MustNot);
        assert_eq!(
            may_pass(&other_unit(passing(Posted)), &chained),
            Passing::MustNot
        );
        assert_eq!(may_pass(&passing(Response), &chained), Passing::May);
    }
}
