//! Faults that go along neighbouring pages.

use super::Page;

/// Streams that are followed at once: arrays that a program walks at the same time.
const STREAMS: usize = 16;

#[derive(Debug, Clone, Copy)]
struct Stream {
    /// The page whose fault belongs to it.
    next: Page,
    window: usize,
    /// When it was used, as faults count.
    used: u64,
}

/// Finds out how many pages to bring at a fault.
#[derive(Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    window_max: usize,
    faults: u64,
    last: usize,
}

impl Streams {
    pub fn new(window_max: usize) -> Self {
        Self {
            streams: Vec::with_capacity(STREAMS),
            window_max,
            faults: 0,
            last: 0,
        }
    }

    /// How many pages to bring from `page` on: one, or twice as many as at the fault before in the
    /// same stream.
    pub fn fault(&mut self, page: Page) -> usize {
        self.faults += 1;
        let used = self.faults;
        if let Some(at) = self.streams.iter().position(|it| it.next == page)
            && let Some(stream) = self.streams.get_mut(at)
        {
            stream.window = (2 * stream.window).min(self.window_max);
            stream.next = page.saturating_add(stream.window as Page);
            stream.used = used;
            self.last = at;
            return stream.window;
        }
        let stream = Stream {
            next: page.saturating_add(1),
            window: 1,
            used,
        };
        let oldest = (0..).zip(&self.streams).min_by_key(|(_, it)| it.used);
        match oldest.map(|(at, _): (usize, _)| at) {
            Some(at) if self.streams.len() == STREAMS => {
                self.last = at;
                if let Some(place) = self.streams.get_mut(at) {
                    *place = stream;
                }
            }
            _ => {
                self.last = self.streams.len();
                self.streams.push(stream);
            }
        }
        1
    }

    /// The stream of the last fault goes on at `page`.
    pub fn expect(&mut self, page: Page) {
        if let Some(stream) = self.streams.get_mut(self.last) {
            stream.next = page;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_along_a_stream_and_only_there() {
        let mut streams = Streams::new(8);
        assert_eq!(streams.fault(100), 1);
        assert_eq!(streams.fault(101), 2);
        assert_eq!(streams.fault(500), 1);
        assert_eq!(streams.fault(103), 4);
        assert_eq!(streams.fault(501), 2);
        assert_eq!(streams.fault(107), 8);
        assert_eq!(streams.fault(115), 8);
        assert_eq!(streams.fault(115), 1);
    }

    #[test]
    fn a_new_stream_takes_the_place_of_the_oldest() {
        let mut streams = Streams::new(8);
        for page in 0..=STREAMS as Page {
            assert_eq!(streams.fault(page * 1000), 1);
        }
        assert_eq!(streams.fault(1), 1);
        assert_eq!(streams.fault(STREAMS as Page * 1000 + 1), 2);
    }
}
