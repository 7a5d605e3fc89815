//! Listed cables that form a ring.

use super::Adjacency;

/// The nodes in the order of the ring, from node 0 on, if the cables form one.
pub(super) fn order(adjacency: &Adjacency) -> Option<Vec<usize>> {
    if adjacency.len() < 3 || adjacency.iter().any(|edges| edges.len() != 2) {
        return None;
    }
    let mut order = vec![0];
    let (mut previous, mut at) = (0, adjacency[0][0].peer);
    while at != 0 {
        order.push(at);
        let [a, b] = adjacency[at].as_slice() else {
            return None;
        };
        let next = if a.peer == previous { b.peer } else { a.peer };
        (previous, at) = (at, next);
        if order.len() > adjacency.len() {
            return None;
        }
    }
    (order.len() == adjacency.len()).then_some(order)
}
