//! How PEs of a host meet: by shared memory.

use hostwire_transport::shm::{Gathering, Host, Meeting, Shm, ShmOptions, Ticket};
use hostwire_transport::{PeId, TransportError};

use crate::entry::unclear;
use crate::{Entry, JoinError, LaunchError, Meets, Nodes, NodesError, Segment};

/// Plain shared memory of a host.
pub const SHM: Entry = Entry {
    needs: "Linux 4.16",
    ..Entry::new("shm", "Shared memory of one host", Meets::OnHost(Ok))
};

impl Segment {
    /// Shares memory with the other PEs of a host.
    ///
    /// # Errors
    /// As [`Shm::attach`].
    pub fn attach(&self, host: Host, meeting: Meeting) -> Result<Shm, TransportError> {
        let options = ShmOptions::default();
        Shm::attach(host, &self.terms, meeting, self.deadline, options)
    }

    /// As [`attach`](Self::attach), where the first PE of the host has made the `gathering`, and the others have
    /// its `ticket`.
    ///
    /// # Errors
    /// As [`Shm::attach`]; [`LaunchError::Card`] if there is no ticket.
    pub fn share(
        &self,
        host: &Host,
        gathering: Option<Gathering>,
        ticket: Option<&str>,
    ) -> Result<Shm, JoinError> {
        let meeting = match (gathering, ticket) {
            (Some(gathering), _) => Meeting::Host(gathering),
            (None, _) if host.count() == 1 => Meeting::Alone,
            (None, Some(ticket)) => Meeting::Guest(ticket.parse::<Ticket>()?),
            (None, None) => return Err(unclear(host.first(), "no ticket").into()),
        };
        Ok(self.attach(host.clone(), meeting)?)
    }
}

/// The PEs of the host of `pe`.
///
/// # Errors
/// [`NodesError::Missing`].
pub fn host(pe: PeId, pes: u32, nodes: &Nodes) -> Result<Host, JoinError> {
    let node = nodes.node_of(pe).map(|node| node as usize);
    let members = node.and_then(|node| nodes.nodes().get(node));
    let members = members.map(|node| node.pes.clone()).unwrap_or_default();
    match members.iter().position(|other| *other == pe) {
        Some(local) => Ok(Host::new(pes, members, local as u32)?),
        None => Err(LaunchError::from(NodesError::Missing { pe }).into()),
    }
}
