//! Faults that go along neighbouring pages, up or down.

use super::Page;

/// Streams that are followed at once: arrays that a program walks at the same time.
const STREAMS: usize = 16;

/// Which way a program goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To higher addresses.
    Up,
    /// To lower ones, as some copies of the C library do.
    Down,
}

#[derive(Debug, Clone, Copy)]
struct Stream {
    /// The last fault that belongs to it.
    last: Page,
    /// Where the next fault is, if the program goes on. A fault before it belongs to the stream,
    /// too: a program may be faster than the pages that are brought ahead of it.
    next: Page,
    /// Unknown as long as there was one fault.
    way: Option<Way>,
    window: usize,
    /// When it was used, as faults count.
    used: u64,
}

impl Stream {
    /// The way, if this fault belongs to it.
    fn way_to(&self, page: Page) -> Option<Way> {
        let is_up = page > self.last && page <= self.next;
        let is_down = match self.way {
            None => page.checked_add(1) == Some(self.last),
            _ => page < self.last && page >= self.next,
        };
        match self.way {
            Some(Way::Up) => is_up.then_some(Way::Up),
            Some(Way::Down) => is_down.then_some(Way::Down),
            None if is_up => Some(Way::Up),
            None => is_down.then_some(Way::Down),
        }
    }

    /// Goes on to this fault.
    fn follow(&mut self, page: Page, way: Way, window_max: usize) {
        if page == self.next || self.way.is_none() {
            self.window = (2 * self.window).min(window_max);
        }
        let window = self.window as Page;
        self.last = page;
        self.way = Some(way);
        self.next = match way {
            Way::Up => page.saturating_add(window),
            Way::Down => page.saturating_sub(window),
        };
    }
}

/// Finds out how many pages to bring at a fault.
#[derive(Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    window_max: usize,
    faults: u64,
    latest: usize,
}

impl Streams {
    pub fn new(window_max: usize) -> Self {
        Self {
            streams: Vec::with_capacity(STREAMS),
            window_max,
            faults: 0,
            latest: 0,
        }
    }

    /// How many pages to bring from `page` on, and which way: one, or twice as many as at the fault
    /// before in the same stream.
    pub fn fault(&mut self, page: Page) -> (usize, Way) {
        self.faults += 1;
        let known = (0..).zip(&self.streams);
        let known = known.filter_map(|(at, it): (usize, _)| Some((at, it.way_to(page)?)));
        if let Some((at, way)) = known.into_iter().next()
            && let Some(stream) = self.streams.get_mut(at)
        {
            stream.follow(page, way, self.window_max);
            stream.used = self.faults;
            self.latest = at;
            return (stream.window, way);
        }
        self.begin(Stream {
            last: page,
            next: page.saturating_add(1),
            way: None,
            window: 1,
            used: self.faults,
        });
        (1, Way::Up)
    }

    /// A new stream takes the place of the one that was not used for longest.
    fn begin(&mut self, stream: Stream) {
        if self.streams.len() < STREAMS {
            self.latest = self.streams.len();
            self.streams.push(stream);
            return;
        }
        let oldest = (0..).zip(&mut self.streams).min_by_key(|(_, it)| it.used);
        if let Some((at, place)) = oldest {
            *place = stream;
            self.latest = at;
        }
    }

    /// The stream of the last fault goes on at `page`.
    pub fn expect(&mut self, page: Page) {
        if let Some(stream) = self.streams.get_mut(self.latest) {
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
        let mut up = |page| {
            let (window, way) = streams.fault(page);
            assert_eq!(way, Way::Up);
            window
        };
        assert_eq!([100, 101, 500, 103].map(&mut up), [1, 2, 1, 4]);
        assert_eq!([501, 107, 115].map(&mut up), [2, 8, 8]);
        // The last fault again is a new stream; the program being fast is not.
        assert_eq!([115, 120].map(&mut up), [1, 8]);
    }

    #[test]
    fn a_program_may_go_down() {
        let mut streams = Streams::new(8);
        assert_eq!(streams.fault(100), (1, Way::Up));
        let down = [99, 97, 93, 85, 80].map(|page| streams.fault(page));
        assert_eq!(down, [2, 4, 8, 8, 8].map(|window| (window, Way::Down)));
        assert_eq!(streams.fault(0), (1, Way::Up));
    }

    #[test]
    fn a_new_stream_takes_the_place_of_the_oldest() {
        let mut streams = Streams::new(8);
        for page in 0..=STREAMS as Page {
            assert_eq!(streams.fault(page * 1000), (1, Way::Up));
        }
        assert_eq!(streams.fault(1).0, 1);
        assert_eq!(streams.fault(STREAMS as Page * 1000 + 1).0, 2);
    }
}
