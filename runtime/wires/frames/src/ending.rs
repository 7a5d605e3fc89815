//! What the end of a PE, of its host or of its link means for stores to it.

use hostwire_link::CloseReason;
use hostwire_packet::htoe;
use hostwire_transport::error::{EnvironmentFault, Loss, Misbehaviour, PeId, TransportError};

use super::Ether;
use super::ended_pes::End;

impl Ether {
    /// The result of a store to a PE that has ended, as its host says; `None` if it has not ended.
    #[inline]
    pub(super) fn end_of(&self, pe: PeId) -> Option<Result<(), TransportError>> {
        self.ended.end_of(pe).map(|end| end_as_result(pe, end))
    }

    /// As [`ended`], and also uses the control connection to the host of `pe`.
    pub(super) fn ended(&self, pe: PeId, reason: CloseReason) -> Result<(), TransportError> {
        ended(pe, reason).map_err(|error| match error {
            TransportError::PeerLost { pe, loss } => {
                let loss = self.as_control_says(pe, loss);
                TransportError::PeerLost { pe, loss }
            }
            error => error,
        })
    }

    /// The same loss, without causes that the control connection excludes.
    pub(super) fn as_control_says(&self, pe: PeId, loss: Loss) -> Loss {
        let control = self.control.as_ref();
        match loss {
            Loss::Silent { silent_ms, .. } => Loss::Silent {
                silent_ms,
                may_have_ended: !control.is_some_and(|control| control.leads_to(pe)),
            },
            loss => loss,
        }
    }

    /// Whether all PEs of the host of `pe` are known to have ended, and not all of them in good
    /// order: then no frame to it will be acknowledged.
    pub(super) fn have_all_ended(&self, pe: PeId) -> bool {
        let mut died = false;
        self.neighbours(pe).all(|pe| match self.ended.end_of(pe) {
            Some(end @ (End::Finished | End::Died)) => {
                died |= end == End::Died;
                true
            }
            Some(End::Unclear) | None => false,
        }) && died
    }

    /// Whether the host of `pe` has gone, as its control connection or the ends of its PEs show.
    pub(super) fn has_gone(&self, pe: PeId) -> bool {
        let control = self.control.as_ref();
        control.is_some_and(|control| control.has_ended(pe)) || self.have_all_ended(pe)
    }
}

/// The result of a store to a PE whose host says that it has ended.
pub(super) fn end_as_result(pe: PeId, end: End) -> Result<(), TransportError> {
    match end {
        // Nobody can see that nothing is stored.
        End::Finished => Ok(()),
        End::Died => Err(TransportError::PeerLost {
            pe,
            loss: Loss::Ended,
        }),
        End::Unclear => Err(storing_failed(
            pe,
            "the table of the PEs that have ended holds what no host writes: a PE of this host, or of the \
             other one, has written there by mistake",
        )),
    }
}

/// The result of a store to a PE when the link to its host is closed.
pub(super) fn ended(pe: PeId, reason: CloseReason) -> Result<(), TransportError> {
    match reason {
        // Nobody can see that nothing is stored.
        CloseReason::PeerFinished => Ok(()),
        CloseReason::Misbehaved(how) => Err(TransportError::PeerMisbehaved {
            pe,
            how: Misbehaviour::Frames(how),
        }),
        reason => Err(TransportError::PeerLost {
            pe,
            loss: loss(reason),
        }),
    }
}

pub(super) fn storing_failed(pe: PeId, why: impl std::fmt::Display) -> TransportError {
    let detail = why.to_string().into();
    TransportError::environment(
        format!("storing to PE {pe}"),
        EnvironmentFault::Links { detail },
    )
}

/// What the end of a link says about its peer.
pub(super) fn loss(reason: CloseReason) -> Loss {
    const MS: u64 = 1_000_000;
    match reason {
        CloseReason::Silent { silent_ns } => Loss::Silent {
            silent_ms: silent_ns / MS,
            may_have_ended: true,
        },
        CloseReason::HostSilent { silent_ns } => Loss::HostSilent {
            silent_ms: silent_ns / MS,
        },
        CloseReason::Stopped { silent_ns } => Loss::Stopped {
            silent_ms: silent_ns / MS,
        },
        CloseReason::Stalled { stalled_ns } => Loss::Unacknowledged {
            stalled_ms: stalled_ns / MS,
        },
        CloseReason::Unreachable { after_ns } => Loss::Unreachable {
            after_ms: after_ns / MS,
        },
        CloseReason::Restarted { .. } => Loss::Restarted,
        CloseReason::CutOff(htoe::CloseReason::Silent) => Loss::GaveUp,
        CloseReason::CutOff(why) => Loss::CutOff(why),
        _ => Loss::Ended,
    }
}

#[cfg(test)]
mod tests {
    use hostwire_packet::ht::VirtualChannel;

    use super::*;

    #[test]
    fn who_overruns_its_credits_is_told_apart_from_who_is_lost() {
        let overrun = hostwire_link::Misbehaviour::CreditOverrun {
            channel: VirtualChannel::Posted,
            granted_command: 8,
            granted_data: 8,
            used_command: 9,
            used_data: 8,
        };
        let how = Misbehaviour::Frames(overrun);
        assert_eq!(
            ended(3, CloseReason::Misbehaved(overrun)),
            Err(TransportError::PeerMisbehaved { pe: 3, how })
        );
        let lost = |loss| Err(TransportError::PeerLost { pe: 3, loss });
        assert_eq!(ended(3, CloseReason::GivenUp), lost(Loss::Ended));
        let silent = CloseReason::Silent { silent_ns: 5 };
        let not_heard = Loss::Silent {
            silent_ms: 0,
            may_have_ended: true,
        };
        assert_eq!(ended(3, silent), lost(not_heard));
        let (silent_ns, silent_ms) = (12_345_000_000, 12_345);
        assert_eq!(
            ended(3, CloseReason::HostSilent { silent_ns }),
            lost(Loss::HostSilent { silent_ms })
        );
        assert_eq!(
            ended(3, CloseReason::Stopped { silent_ns }),
            lost(Loss::Stopped { silent_ms })
        );
        let stalled = CloseReason::Stalled {
            stalled_ns: 12_345_000_000,
        };
        assert_eq!(
            ended(3, stalled),
            lost(Loss::Unacknowledged { stalled_ms: 12_345 })
        );
        let given_up = CloseReason::CutOff(htoe::CloseReason::Silent);
        assert_eq!(ended(3, given_up), lost(Loss::GaveUp));
        // Any peer can claim this about this PE, so only operations that need that peer fail.
        let misused = htoe::CloseReason::Misused;
        let cut_off = CloseReason::CutOff(misused);
        assert_eq!(ended(3, cut_off), lost(Loss::CutOff(misused)));
        assert_eq!(ended(3, CloseReason::PeerFinished), Ok(()));
    }
}
