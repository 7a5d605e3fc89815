//! What `docs/costs.md` has from the layout's own functions. `HOSTWIRE_BLESS=1` writes it anew.

use hostwire::settings::page::with_block;
use hostwire::{Layout, Sizes};
use hostwire_frames::{AdapterMemory, CONNECTIONS_MAX};

/// PEs of each host.
const EACH: u32 = 64;

/// Connections of a host, KiB that its PEs share with their adapter, and MiB of addresses of a segment.
fn row(pes: u32) -> String {
    let hosts = pes / EACH;
    let connections = (hosts as usize - 1).min(CONNECTIONS_MAX);
    let shared = match hosts {
        1 => 0,
        _ => AdapterMemory::bytes(pes, hosts, EACH).div_ceil(1 << 10),
    };
    let segment = Layout::new(pes, Sizes::USUAL).unwrap().segment_bytes();
    let segment = segment.div_ceil(1 << 20);
    let sockets = u32::from(hosts > 1);
    format!("| {pes} | {hosts} | {sockets} | {connections} | {shared} KiB | {segment} MiB |\n")
}

#[test]
fn the_page_of_costs_has_what_the_layout_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/costs.md");
    let mut block = "| PEs | hosts | sockets for frames of a host | control connections of a host | shared with its adapter, at most | addresses of a segment |\n\
        |---|---|---|---|---|---|\n"
        .to_owned();
    for pes in [64, 256, 1024, 4096, 16_384, 65_536] {
        block += &row(pes);
    }
    let page = std::fs::read_to_string(path).unwrap();
    let wanted = with_block(&page, "layout", &block).unwrap();
    if std::env::var_os("HOSTWIRE_BLESS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    } else {
        assert_eq!(page, wanted);
    }
}
