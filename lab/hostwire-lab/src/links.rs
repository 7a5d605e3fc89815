//! Lines about the links of modelled hardware.

use hostwire_sim::experiments::link_use::LinkUse;

/// Directions of links that `--stats` shows.
const LINKS_SHOWN_MAX: usize = 16;

/// The use of links, the busiest ones first, for `--stats`.
pub fn lines(links: &[LinkUse]) -> Vec<String> {
    let mut busiest: Vec<&LinkUse> = links.iter().collect();
    busiest.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    let lines = busiest.iter().take(LINKS_SHOWN_MAX).map(|link| {
        let towards = if link.from == "A" { "->" } else { "<-" };
        let percent = link.utilisation * 100.0;
        let bytes = link.payload_bytes;
        format!(
            "link {} {towards}: {percent:.1} % busy, {bytes} B of data",
            link.link
        )
    });
    let mut lines: Vec<String> = lines.collect();
    if let Some(more @ 1..) = links.len().checked_sub(LINKS_SHOWN_MAX) {
        lines.push(format!("links: {more} more directions carried something"));
    }
    lines
}
