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

    /// The others with their places. Each begins with another one, so that they do not all put to the same.
    pub(super) fn others(&self) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        let (own, count) = (self.own, self.members.len());
        (1..count).map(move |step| {
            let place = (own + step) % count;
            (place, self.members[place])
        })
    }
}

/// A group whose members are spread over hosts, as many on each: those of this host, and of each host the one
/// that has this one's place there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hosts {
    pub(super) near: Circle,
    pub(super) across: Circle,
}

impl Hosts {
    /// By the numbers of the hosts of all members. `None` if there is one host only, if they have one member
    /// each, or not as many, or if the host of one is not known: the same at all members.
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
