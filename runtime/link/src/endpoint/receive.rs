//! Received frames: finds the link of each.

use hostwire_packet::htoe::{Frame, FrameRepr, FrameType, HeaderRepr, SessionRepr};

use super::{Delivery, Endpoint, Filled};
use crate::counters::DropCause;
use crate::error::Misbehaviour;
use crate::link::taken;
use crate::names::{LinkId, Node};
use crate::seq::Seq;
use crate::time::Ns;

impl Endpoint {
    /// Takes a frame, without Ethernet header; padding after it is ignored. Any bytes are allowed.
    ///
    /// # Errors
    /// The reason why the frame was dropped. It has been counted; the caller need not
    /// do anything.
    pub fn receive<'a>(
        &mut self,
        now: Ns,
        bytes: &'a [u8],
    ) -> Result<Option<Delivery<'a>>, DropCause> {
        self.receive_from(now, None, bytes)
    }

    /// As [`receive`](Self::receive), for a frame whose maker is known from
    /// [`Seals::open`](crate::seal::Seals::open). A frame for the link of another peer is dropped.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn receive_from<'a>(
        &mut self,
        now: Ns,
        maker: Option<Node>,
        bytes: &'a [u8],
    ) -> Result<Option<Delivery<'a>>, DropCause> {
        let frame = match FrameRepr::parse(bytes) {
            Ok(frame) => frame,
            Err(error) => return Err(self.refuse(now, maker, bytes, error)),
        };
        if let Some(session) = frame.session() {
            return self
                .receive_session(now, maker, (frame.header(), session), bytes.len())
                .map(|()| None);
        }
        let id = frame.header().virtual_link;
        let link = match self.links.get_mut(usize::from(id)) {
            Some(link) if is_made_by(maker, link.peer) => link,
            Some(_) => return Err(self.drop_frame(DropCause::OfAnother)),
            None => return Err(self.drop_frame(DropCause::NoLink)),
        };
        let received = link
            .admit(frame.header())
            .and_then(|()| link.receive(now, &frame, &mut self.shared));
        let delivery = match received {
            Ok(true) => Some(Delivery {
                link: LinkId(id),
                peer: link.peer,
                packets: frame.packets(),
                filled: Filled {
                    epoch: link.session.epoch(),
                    buffers: taken(&frame),
                },
            }),
            Ok(false) => None,
            Err(DropCause::OutOfOrder)
                if link.keep_early(frame.header().sequence, bytes, &mut self.shared) =>
            {
                None
            }
            Err(cause) => {
                link.counters.drop_frame(cause);
                self.touch(now, id);
                return Err(cause);
            }
        };
        self.touch(now, id);
        Ok(delivery)
    }

    /// The next expected frame of a link, if it came early: give it to [`receive`](Self::receive). Ask
    /// for it after each delivery, where [`early_frames_max`](crate::Config::early_frames_max) is not
    /// 0.
    #[inline]
    pub fn take_early(&mut self, link: LinkId) -> Option<Box<[u8]>> {
        if self.shared.early_frames == 0 {
            return None;
        }
        let state = self.links.get_mut(link.index())?;
        state.take_early(&mut self.shared)
    }

    /// Handles a frame that could not be parsed. If it is undamaged and the next one of a session, its
    /// sender made it in this form, and would send it again for ever.
    #[cold]
    fn refuse(
        &mut self,
        now: Ns,
        maker: Option<Node>,
        bytes: &[u8],
        error: hostwire_packet::Error,
    ) -> DropCause {
        use hostwire_packet::Error;
        let cause = match error {
            Error::Truncated { field, .. } if field.starts_with("htoe.") => DropCause::Truncated,
            Error::Checksum { .. } => DropCause::Corrupt,
            _ => DropCause::Malformed,
        };
        if cause == DropCause::Malformed
            && let Ok((header, _)) = HeaderRepr::parse(bytes)
            && header.frame_type == FrameType::Data
            && Frame::new_checked(bytes).is_ok_and(|frame| frame.check_crc().is_ok())
            && let Some(link) = self.links.get_mut(usize::from(header.virtual_link))
            && is_made_by(maker, link.peer)
            && link.admit(&header).is_ok()
            && Seq(header.sequence) == link.expected
        {
            link.misbehaved(now, Misbehaviour::Malformed(error), &mut self.shared);
            link.counters.drop_frame(cause);
            self.touch(now, header.virtual_link);
        } else {
            self.counters.drop_frame(cause);
        }
        cause
    }

    #[cold]
    fn receive_session(
        &mut self,
        now: Ns,
        maker: Option<Node>,
        (header, session): (&HeaderRepr, &SessionRepr),
        frame_len: usize,
    ) -> Result<(), DropCause> {
        let ours = session.job == self.shared.job && session.destination_node == self.shared.node.0;
        let id = self.by_node.get(&Node(session.source_node)).copied();
        let link = id.and_then(|id| self.links.get_mut(usize::from(id)));
        let link = match link {
            _ if !ours => return Err(self.drop_frame(DropCause::Foreign)),
            None => return Err(self.drop_frame(DropCause::NoLink)),
            Some(link) if !is_made_by(maker, link.peer) => {
                return Err(self.drop_frame(DropCause::OfAnother));
            }
            Some(link) => link,
        };
        let taken = match header.frame_type {
            FrameType::Close => link.receive_close(now, session, &mut self.shared),
            _ => link.receive_reset(now, header, session, frame_len, &mut self.shared),
        };
        match taken {
            Ok(()) => link.counters.sessions_received += 1,
            Err(cause) => link.counters.drop_frame(cause),
        }
        let id = link.id;
        self.touch(now, id);
        taken
    }

    #[cold]
    fn drop_frame(&mut self, cause: DropCause) -> DropCause {
        self.counters.drop_frame(cause);
        cause
    }
}

/// Whether `maker`, if known, may make frames of the link to `peer`.
#[inline]
fn is_made_by(maker: Option<Node>, peer: Node) -> bool {
    maker.is_none_or(|maker| maker == peer)
}
