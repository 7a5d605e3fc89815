//! Which members do something together.

/// Members of a group in the order of their ranks, of which this one is one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Circle {
    members: Box<[usize]>,
    own: usize,
}

impl Circle {
    /// Those ranks, if `rank` is among them.
    pub(super) fn new(rank: usize, ranks: impl IntoIterator<Item = usize>) -> Option<Self> {
        let members: Box<[usize]> = ranks.into_iter().collect();
        let own = members.iter().position(|member| *member == rank)?;
        Some(Self { members, own })
    }

    pub(super) fn members(&self) -> &[usize] {
        &self.members
    }

    /// This one's place among them.
    pub(super) fn own(&self) -> usize {
        self.own
    }

    /// The others with their places. Each member begins with a different one, so that not all put to the same.
    pub(super) fn others(&self) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        let (own, count) = (self.own, self.members.len());
        (1..count).map(move |step| {
            let place = (own + step) % count;
            (place, self.members[place])
        })
    }
}

/// A group with equally many members on each of several hosts: the members on this host, and on each host the member
/// with this one's place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hosts {
    pub(super) near: Circle,
    pub(super) across: Circle,
}

impl Hosts {
    /// From the host numbers of all members, with the same result at all of them. `None` if there is one host only, if
    /// the hosts have one member each or different numbers of them, or if a host is not known.
    pub(super) fn of(rank: usize, host_of: &[Option<u32>]) -> Option<Self> {
        let mut hosts: Vec<(u32, Vec<usize>)> = Vec::new();
        for (member, host) in host_of.iter().enumerate() {
            let host = (*host)?;
            match hosts.iter_mut().find(|(known, _)| *known == host) {
                Some((_, members)) => members.push(member),
                None => hosts.push((host, vec![member])),
            }
        }
        let each = hosts.first()?.1.len();
        if hosts.len() < 2 || each < 2 || hosts.iter().any(|(_, members)| members.len() != each) {
            return None;
        }
        let (_, here) = hosts.iter().find(|(_, members)| members.contains(&rank))?;
        let near = Circle::new(rank, here.iter().copied())?;
        let across = hosts.iter().map(|(_, members)| members[near.own()]);
        let across = Circle::new(rank, across)?;
        Some(Self { near, across })
    }
}
