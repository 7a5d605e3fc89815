//! The endpoint as a wire.

use hostwire_address::SegmentId;
use hostwire_transport::error::{Loss, PeId, TransportError};
use hostwire_transport::route::Route;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::window::Window;
use hostwire_transport::wire::{self, Capabilities, Line, Part, Wire};

use super::ended_pes::End;
use super::ending::{end_as_result, loss};
use super::{Bytes, Ether, LINGER, counted, tally_values};

impl Wire for Ether {
    fn pe(&self) -> PeId {
        self.pe
    }

    fn pes(&self) -> u32 {
        self.host_of.len() as u32
    }

    fn segment(&self) -> &Window {
        &self.segment
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        if pe == self.pe {
            return Some(Route::Mapped(self.segment.clone()));
        }
        self.link_to(pe).map(|_| Route::Carried)
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        if pe == self.pe {
            let (own, at) = self.own(offset_bytes)?;
            return own.put(at, src);
        }
        let link = self.link(pe)?;
        let address = self.addresses.of(pe, offset_bytes, src.len(), 1)?;
        self.put(pe, link, address, src)
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        if pe == self.pe {
            let (own, at) = self.own(offset_bytes)?;
            return own.put_word(at, value);
        }
        let link = self.link(pe)?;
        let address = self.addresses.of(pe, offset_bytes, 8, 8)?;
        self.put(pe, link, address, &value.to_ne_bytes())
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        if pe == self.pe {
            let (own, at) = self.own(offset_bytes)?;
            return own.put_line(at, header, payload);
        }
        let link = self.link(pe)?;
        let address = self.line_address(pe, offset_bytes)?;
        let line = Bytes::of(header, payload)?;
        self.put(pe, link, address, line.used())
    }

    /// A link keeps the order, so there is nothing to do.
    fn fence(&self) -> Result<(), TransportError> {
        self.fork_guard.check()
    }

    fn quiet(&self) -> Result<(), TransportError> {
        let all = self.hosts.iter();
        let all = all.filter_map(|path| Some((path.first, path.link()?)));
        self.quiet_links(all, |core| core.died().first().copied())
    }

    fn poll(&self) -> Result<bool, TransportError> {
        self.fork_guard.check()?;
        Ok(self.shared.look())
    }

    fn wait_limits(&self) -> WaitLimits {
        self.limits
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            registration: Some(self),
            batches: Some(self),
            per_target: Some(self),
            liveness: Some(self),
            lifetime: Some(self),
            counting: Some(self),
            ..Capabilities::NONE
        }
    }
}

impl wire::Registration for Ether {
    /// An adapter does not have memory that the PEs of its host register.
    fn registered_route(&self, pe: PeId, _segment: SegmentId) -> Option<Route> {
        let link = self.link_to(pe).filter(|_| self.is_alone(pe));
        link.map(|_| Route::Carried)
    }

    fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError> {
        self.hold()?.own.register(segment, window.clone());
        Ok(())
    }

    fn unregister(&self, segment: SegmentId) {
        if let Ok(mut core) = self.hold() {
            core.own.unregister(segment);
        }
    }
}

impl wire::Batches for Ether {
    fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        if pe == self.pe {
            return self.store_word(pe, offset_bytes, value);
        }
        let link = self.link(pe)?;
        let before = self.hold()?.endpoint.accepted(link);
        self.store_word(pe, offset_bytes, value)?;
        self.hold()?.note_signal(link, before);
        Ok(())
    }

    /// In as few frames as possible.
    fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        if pe == self.pe {
            return (self as &dyn Wire).store_each(pe, lines);
        }
        let link = self.link(pe)?;
        let mut core = self.hold()?;
        for Line {
            offset_bytes,
            header,
            payload,
        } in lines
        {
            let address = self.line_address(pe, offset_bytes)?;
            let line = Bytes::of(header, payload)?;
            match self.accept(core, pe, link, address, line.used())? {
                Some(accepted) => core = accepted,
                None => return Ok(()),
            }
        }
        self.leave(core, link);
        Ok(())
    }

    /// In as few frames as possible. A link keeps the order, so the line stays behind the bytes.
    fn store_behind(
        &self,
        pe: PeId,
        parts: &mut dyn Iterator<Item = Part<'_>>,
        line: Line<'_>,
    ) -> Result<(), TransportError> {
        let link = self.link(pe)?;
        let at = self.line_address(pe, line.offset_bytes)?;
        let line = Bytes::of(line.header, line.payload)?;
        let mut core = self.hold()?;
        for Part {
            offset_bytes,
            bytes,
        } in parts
        {
            let address = self.addresses.of(pe, offset_bytes, bytes.len(), 1)?;
            match self.accept(core, pe, link, address, bytes)? {
                Some(accepted) => core = accepted,
                None => return Ok(()),
            }
        }
        if let Some(core) = self.accept(core, pe, link, at, line.used())? {
            self.leave(core, link);
        }
        Ok(())
    }
}

impl wire::PerTarget for Ether {
    fn fence_of(&self, _pe: PeId) -> Result<(), TransportError> {
        self.fence()
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        match pe == self.pe {
            true => self.fork_guard.check(),
            false => self.quiet_links([(pe, self.link(pe)?)], |core| {
                core.has_died(pe).then_some(pe)
            }),
        }
    }
}

impl wire::Liveness for Ether {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        if pe == self.pe {
            return Ok(true);
        }
        let link = self.link(pe)?;
        let mut core = self.hold()?;
        match self.ended.end_of(pe) {
            Some(end @ End::Unclear) => return end_as_result(pe, end).map(|()| false),
            end if end.is_some() || core.closed(link).is_some() => return Ok(false),
            _ => {}
        }
        let control = self.control.as_ref();
        if !control.is_some_and(|control| control.has_ended(pe)) {
            return Ok(true);
        }
        // Its last frames, also its farewell, may have come and not been received yet.
        core.drive();
        self.shared.release(core);
        Ok(false)
    }

    fn loss(&self, pe: PeId) -> Loss {
        let Ok(link) = self.link(pe) else {
            return Loss::Ended;
        };
        if self.ended.end_of(pe).is_some() {
            return Loss::Ended;
        }
        let reason = self.shared.lock().closed(link);
        let loss = reason.map_or(Loss::Ended, loss);
        self.as_control_says(pe, loss)
    }

    fn give_up(&self, pe: PeId) {
        if !self.fork_guard.is_here() {
            return;
        }
        if !self.is_alone(pe) {
            // Other PEs of its host may live.
            self.ended.note(pe, End::Died);
        }
        if let Ok(link) = self.link(pe)
            && (self.is_alone(pe) || self.have_all_ended(pe))
            && let Ok(mut core) = self.hold()
        {
            let now = core.now();
            if core.closed(link).is_none() {
                core.endpoint.give_up(now, link);
            }
            self.shared.release(core);
        }
    }
}

impl wire::Lifetime for Ether {
    fn begin(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn finish(&self) {
        self.finish_within(LINGER);
    }

    fn close_recording(&self) -> Result<(), TransportError> {
        Ok(())
    }
}

impl wire::Counting for Ether {
    fn tally(&self) -> Vec<(String, u64)> {
        let values = self
            .hold()
            .map(|core| tally_values(&core).collect::<Vec<_>>());
        let names = counted().map(|(name, _)| name.to_owned());
        names.zip(values.unwrap_or_default()).collect()
    }
}
