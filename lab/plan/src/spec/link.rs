//! Links of a processor or a chip: their clocks and their names.

use super::{Fabric, PEACH2_PORTS};
use crate::id::LinkIndex;

/// Clocks that the 5-bit frequency field can name, in MHz.
pub(super) const FREQUENCIES_MHZ: [u64; 18] = [
    200, 300, 400, 500, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400, 2600, 2800, 3000,
    3200,
];

/// `l2` or `p1.l2`.
pub(crate) fn parse_link_path(path: &str, fabric: Fabric) -> Option<(u8, LinkIndex)> {
    match path.split_once('.') {
        None => Some((0, parse_link(path, fabric)?)),
        Some((processor, link)) => {
            let index: u8 = parse_digit(processor.strip_prefix('p')?)?;
            Some((index, parse_link(link, fabric)?))
        }
    }
}

pub(super) fn parse_link(name: &str, fabric: Fabric) -> Option<LinkIndex> {
    match fabric {
        Fabric::TcCluster => LinkIndex::new(parse_digit(name.strip_prefix('l')?)?),
        Fabric::Peach2 => {
            let index = PEACH2_PORTS.iter().take(3).position(|port| *port == name)?;
            LinkIndex::new(u8::try_from(index).ok()?)
        }
    }
}

fn parse_digit(text: &str) -> Option<u8> {
    (text.len() == 1)
        .then(|| text.parse().ok())?
        .filter(|&n| n < 8)
}
