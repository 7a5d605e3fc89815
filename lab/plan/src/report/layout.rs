//! Where the nodes of a cluster are drawn, in steps from one to the next.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::spec::{Dimension, ShapeSpec};

/// A place in steps: to the right, and down.
pub(super) type Position = (f64, f64);

/// More nodes than this, of no regular shape, would make a circle that is mostly empty.
const CIRCLE_NODES_MAX: usize = 16;
/// Between two blocks of a shape of more than two dimensions.
const GAP: f64 = 1.0;

/// A place for each of `count` nodes: a grid as it is wired, a ring or a few nodes as a circle,
/// others in rows. A layout that would be a strip is turned. Steps to the right and down are as
/// wide and as high as `step`.
pub(super) fn places(shape: Option<&ShapeSpec>, count: usize, step: Position) -> Vec<Position> {
    let places = upright(shape, count);
    let (width, height) = extent(&places);
    let ratio = |width: f64, height: f64| {
        let (width, height) = (width * step.0, height * step.1);
        width.max(height) / width.min(height)
    };
    match ratio(height, width) < ratio(width, height) {
        true => places
            .into_iter()
            .map(|(right, down)| (down, right))
            .collect(),
        false => places,
    }
}

/// Width and height, in steps.
fn extent(places: &[Position]) -> (f64, f64) {
    let of = |value: fn(&Position) -> f64| {
        let values = places.iter().map(value);
        values.clone().fold(0.0, f64::max) - values.fold(0.0, f64::min) + 1.0
    };
    (of(|place| place.0), of(|place| place.1))
}

fn upright(shape: Option<&ShapeSpec>, count: usize) -> Vec<Position> {
    match shape {
        Some(ShapeSpec::Grid(dims)) if dims.iter().filter(|dim| dim.size > 1).count() > 1 => {
            grid(dims, count)
        }
        Some(ShapeSpec::Grid(dims)) if dims.iter().all(|dim| !dim.wraps) => {
            (0..count).map(|node| (node as f64, 0.0)).collect()
        }
        _ if count <= CIRCLE_NODES_MAX => circle(count),
        _ => rows(count),
    }
}

/// Nodes in a circle, from the top on, clockwise, far enough apart that neighbours are a step
/// beside or below each other. Two are side by side.
fn circle(count: usize) -> Vec<Position> {
    if count < 3 {
        return (0..count).map(|node| (node as f64, 0.0)).collect();
    }
    let radius = FRAC_1_SQRT_2 / (PI / count as f64).sin();
    let angle = |node: usize| 2.0 * PI * node as f64 / count as f64 - PI / 2.0;
    let place = |node| (radius * angle(node).cos(), radius * angle(node).sin());
    (0..count).map(place).collect()
}

/// As many rows as columns.
fn rows(count: usize) -> Vec<Position> {
    let columns = (count as f64).sqrt().ceil().max(1.0) as usize;
    (0..count)
        .map(|node| ((node % columns) as f64, (node / columns) as f64))
        .collect()
}

/// The fastest dimension to the right, the next one down; each further dimension puts copies of
/// this to the right or below, so that the picture stays close to a square.
fn grid(dims: &[Dimension], count: usize) -> Vec<Position> {
    let mut extent = [0.0; 2];
    let mut steps = Vec::with_capacity(dims.len());
    for (place, dim) in dims.iter().rev().enumerate() {
        let axis = match place {
            0 => 0,
            1 => 1,
            _ => usize::from(extent[1] < extent[0]),
        };
        let gap = if place < 2 { 0.0 } else { GAP };
        let step = if extent[axis] == 0.0 {
            1.0
        } else {
            extent[axis] + gap
        };
        steps.push((axis, step, dim.size));
        extent[axis] = step * (dim.size as f64 - 1.0) + extent[axis].max(1.0);
    }
    let place = |node: usize| {
        let mut rest = node;
        let mut at = [0.0; 2];
        for (axis, step, size) in &steps {
            at[*axis] += (rest % size) as f64 * step;
            rest /= size;
        }
        (at[0], at[1])
    };
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(sizes: &[usize]) -> ShapeSpec {
        let dim = |size: &usize| Dimension {
            size: *size,
            wraps: true,
        };
        ShapeSpec::Grid(sizes.iter().map(dim).collect())
    }

    /// No two nodes are nearer than a step, and no picture is a strip.
    #[test]
    fn every_shape_has_places_apart_and_is_no_strip() {
        for (shape, count) in [
            (Some(dims(&[32, 32])), 1024),
            (Some(dims(&[4, 4, 8])), 128),
            (Some(dims(&[2; 6])), 64),
            (Some(dims(&[4, 4])), 16),
            (Some(dims(&[16])), 16),
            (Some(dims(&[40])), 40),
            (Some(ShapeSpec::Full(7)), 7),
            (None, 64),
            (None, 5),
        ] {
            let places = places(shape.as_ref(), count, (1.0, 1.0));
            assert_eq!(places.len(), count);
            for (at, a) in places.iter().enumerate() {
                for b in &places[..at] {
                    let apart = (a.0 - b.0).hypot(a.1 - b.1);
                    assert!(apart > 0.999, "{shape:?}: {a:?} {b:?}");
                }
            }
            let (width, height) = extent(&places);
            let ratio = width.max(height) / width.min(height);
            assert!(ratio < 3.0, "{shape:?}: {width} x {height}");
        }
    }

    #[test]
    fn neighbours_of_a_grid_are_beside_each_other() {
        let places = places(Some(&dims(&[3, 4])), 12, (1.0, 1.0));
        assert_eq!(places[0], (0.0, 0.0));
        assert_eq!(places[1], (1.0, 0.0));
        assert_eq!(places[4], (0.0, 1.0));
        assert_eq!(places[11], (3.0, 2.0));
    }

    /// Two rings of eight, where a step to the right is twice as long as one down.
    #[test]
    fn a_strip_is_turned() {
        let places = places(Some(&dims(&[2, 8])), 16, (2.6, 1.3));
        assert_eq!((places[7], places[8]), ((0.0, 7.0), (1.0, 0.0)));
    }
}
