//! Rectangular grids: numbering and dimension-order routing.
//!
//! Rings, meshes, tori, hypercubes (every dimension of size 2) and the PEACH2
//! double ring are all grids. Nodes are numbered row-major, the slowest dimension
//! first, and routes correct the slowest differing dimension first. Then all
//! nodes behind one direction have consecutive numbers, which is what interval
//! routing needs.

use crate::spec::Dimension;

/// A grid of nodes.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    dims: Vec<Dimension>,
    /// Distance in number between neighbours of each dimension.
    strides: Vec<usize>,
}

/// One step along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub dimension: usize,
    pub forward: bool,
}

impl Grid {
    pub(crate) fn new(dims: &[Dimension]) -> Self {
        let mut strides = vec![1; dims.len()];
        for i in (1..dims.len()).rev() {
            strides[i - 1] = strides[i] * dims[i].size;
        }
        Self {
            dims: dims.to_vec(),
            strides,
        }
    }

    /// A mesh of these sizes.
    pub(crate) fn mesh(sizes: &[usize]) -> Self {
        let dims: Vec<_> = sizes
            .iter()
            .map(|&size| Dimension { size, wraps: false })
            .collect();
        Self::new(&dims)
    }

    pub(crate) fn dims(&self) -> &[Dimension] {
        &self.dims
    }

    pub(crate) fn nodes(&self) -> usize {
        self.dims.iter().map(|d| d.size).product()
    }

    fn coordinate(&self, node: usize, dimension: usize) -> usize {
        node / self.strides[dimension] % self.dims[dimension].size
    }

    /// Steps from the node in the middle.
    pub(crate) fn steps_from_middle(&self, node: usize) -> usize {
        let steps = self.dims.iter().enumerate().map(|(number, dimension)| {
            let away = self
                .coordinate(node, number)
                .abs_diff((dimension.size - 1) / 2);
            match dimension.wraps {
                true => away.min(dimension.size - away),
                false => away,
            }
        });
        steps.sum()
    }

    /// The neighbour of `node` one step away, if the grid has one.
    pub(crate) fn neighbour(&self, node: usize, step: Step) -> Option<usize> {
        let Dimension { size, wraps } = self.dims[step.dimension];
        let here = self.coordinate(node, step.dimension);
        let there = match (step.forward, wraps && size > 2) {
            (true, _) if here + 1 < size => here + 1,
            (false, _) if here > 0 => here - 1,
            (true, true) => 0,
            (false, true) => size - 1,
            _ => return None,
        };
        Some(node - here * self.strides[step.dimension] + there * self.strides[step.dimension])
    }

    /// The first step from `from` to `to`, `None` where they are equal.
    pub(crate) fn next(&self, from: usize, to: usize) -> Option<Step> {
        (0..self.dims.len()).find_map(|dimension| {
            let (here, there) = (
                self.coordinate(from, dimension),
                self.coordinate(to, dimension),
            );
            let forward = goes_forward(here, there, self.dims[dimension])?;
            Some(Step { dimension, forward })
        })
    }

    /// The neighbour that is next on the way to `to`.
    pub(crate) fn next_node(&self, from: usize, to: usize) -> Option<usize> {
        self.neighbour(from, self.next(from, to)?)
    }
}

/// The direction in one dimension, `None` if the packet has already arrived in it.
///
/// Without wrap-around: straight. With it, two rules must hold at once. All
/// destinations behind one direction must be at most two intervals of
/// coordinates in total (registers), and the channel dependencies of each
/// direction must not close into a ring (deadlock; there is one virtual channel).
/// - Up to size 4 the shortest way satisfies both, if ties do not wrap.
/// - From size 5 on, shortest ways from all nodes would close the ring. So only the two
///   nodes at the wrap-around cable send over it. The other nodes send straight, and
///   their routes can be longer than the shortest.
fn goes_forward(here: usize, there: usize, dimension: Dimension) -> Option<bool> {
    let size = dimension.size;
    if here == there {
        return None;
    }
    let straight = there > here;
    if !dimension.wraps || size <= 2 {
        return Some(straight);
    }
    let ahead = (there + size - here) % size;
    let behind = size - ahead;
    let beside_wrap = here == 0 || here == size - 1;
    if size <= 4 || beside_wrap {
        return Some(if ahead == behind {
            straight
        } else {
            ahead < behind
        });
    }
    Some(straight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(size: usize) -> Grid {
        Grid::new(&[Dimension { size, wraps: true }])
    }

    #[test]
    fn routes_arrive_and_use_at_most_two_intervals_per_dimension() {
        for size in 1..=12 {
            let grid = ring(size);
            for from in 0..size {
                let mut runs = 0;
                let mut last = None;
                for to in 0..size {
                    let step = grid.next(from, to);
                    if step.is_some() && step != last {
                        runs += 1;
                    }
                    last = step;
                    let mut at = from;
                    for _ in 0..size {
                        at = grid.next_node(at, to).unwrap_or(at);
                    }
                    assert_eq!(at, to, "ring of {size}, from {from}");
                }
                assert!(runs <= 2, "ring of {size}, node {from}: {runs} intervals");
            }
        }
    }

    #[test]
    fn mesh_goes_through_rows_first() {
        let grid = Grid::mesh(&[3, 4]);
        assert_eq!(grid.nodes(), 12);
        // 1 = (0,1), 10 = (2,2): down first.
        assert_eq!(grid.next_node(1, 10), Some(5));
        assert_eq!(grid.next_node(9, 10), Some(10));
        assert_eq!(
            grid.neighbour(
                3,
                Step {
                    dimension: 1,
                    forward: true
                }
            ),
            None
        );
    }

    #[test]
    fn hypercube_corrects_the_highest_bit_first() {
        let grid = Grid::mesh(&[2; 6]);
        assert_eq!(grid.next_node(0b000_000, 0b100_001), Some(0b100_000));
        assert_eq!(grid.next_node(0b111_111, 0b111_010), Some(0b111_011));
    }
}
