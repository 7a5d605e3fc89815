use crate::time::Ns;

/// The next deadline of each link: a binary heap that knows the place of every link, so
/// that a deadline can be moved. One entry per link at most; it allocates only when links
/// are added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    heap: Vec<u16>,
    /// By link.
    at: Vec<Ns>,
    place: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Timers {
    /// Makes room for one more link.
    pub(crate) fn add_link(&mut self) {
        self.at.push(Ns::MAX);
        self.place.push(NOWHERE);
        self.heap.reserve(self.at.len() - self.heap.len());
    }

    #[inline]
    pub(crate) fn next(&self) -> Option<Ns> {
        self.heap.first().map(|&link| self.at[usize::from(link)])
    }

    /// The deadline of a link.
    #[inline]
    pub(crate) fn at(&self, link: u16) -> Ns {
        self.at[usize::from(link)]
    }

    /// Moves a deadline to an earlier time; later times are ignored. A deadline that has
    /// become later is corrected when it comes.
    pub(crate) fn set_at_most(&mut self, link: u16, at: Ns) {
        let i = usize::from(link);
        if at >= self.at[i] {
            return;
        }
        self.at[i] = at;
        if self.place[i] == NOWHERE {
            self.place[i] = self.heap.len() as u32;
            self.heap.push(link);
        }
        self.sift_up(self.place[i] as usize);
    }

    /// Takes a link whose deadline has come. The caller then sets its next deadline.
    pub(crate) fn pop_due(&mut self, now: Ns) -> Option<u16> {
        let &link = self.heap.first()?;
        let i = usize::from(link);
        if self.at[i] > now {
            return None;
        }
        self.at[i] = Ns::MAX;
        self.place[i] = NOWHERE;
        let last = self.heap.pop()?;
        if last != link {
            self.heap[0] = last;
            self.place[usize::from(last)] = 0;
            self.sift_down(0);
        }
        Some(link)
    }

    fn key(&self, place: usize) -> (Ns, u16) {
        let link = self.heap[place];
        (self.at[usize::from(link)], link)
    }

    fn sift_up(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.key(parent) <= self.key(place) {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.heap.len() && self.key(child) < self.key(least) {
                    least = child;
                }
            }
            if least == place {
                break;
            }
            self.swap(least, place);
            place = least;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[usize::from(self.heap[a])] = a as u32;
        self.place[usize::from(self.heap[b])] = b as u32;
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.heap.capacity() * 2 + self.at.capacity() * 8 + self.place.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_of_time_like_a_sorted_list() {
        let mut timers = Timers::default();
        let mut oracle = [Ns::MAX; 50];
        for _ in 0..50 {
            timers.add_link();
        }
        let mut random = 1u64;
        let mut now = Ns(0);
        for _ in 0..20_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let link = ((random >> 33) % 50) as u16;
            let at = now.after(random >> 50);
            timers.set_at_most(link, at);
            let slot = &mut oracle[usize::from(link)];
            *slot = (*slot).min(at);
            if random >> 63 == 1 {
                now = now.after(random >> 54 & 0x3ff);
                while let Some(due) = timers.pop_due(now) {
                    let least = oracle.iter().min().copied().unwrap();
                    assert_eq!(oracle[usize::from(due)], least);
                    assert!(least <= now);
                    oracle[usize::from(due)] = Ns::MAX;
                }
                assert!(oracle.iter().all(|&at| at > now));
            }
            let least = oracle.iter().min().copied().filter(|&at| at != Ns::MAX);
            assert_eq!(timers.next(), least);
        }
    }
}
