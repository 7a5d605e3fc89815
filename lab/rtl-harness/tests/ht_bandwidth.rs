//! How much of the link 64-byte writes use, both ways at once. The paper's Table III has the peak: 400 MB/s each way for 8 bit at 200 MHz.

mod common;

use common::{LINKS, bench, figure, name};
use hostwire_rtl_harness::ht::BringUp as _;
use hostwire_rtl_harness::ht::Options;
use hostwire_rtl_harness::ht::bench::{BAR0, UNIT};
use hostwire_rtl_harness::ht::packets::Packet;

/// A write of a whole line.
fn line(unit: u8) -> Packet {
    use hostwire_packet::ht::{Address, Dwords, PacketRepr, RequestRepr, UnitId};
    let address = Address::new(BAR0.0).unwrap();
    let request = RequestRepr::posted_write(UnitId::new(unit).unwrap(), address, Dwords::MAX);
    let packet = PacketRepr::new(request, &[0x5a; 64]).unwrap();
    let mut bytes = [0; 72];
    packet.emit(&mut bytes).unwrap();
    Packet::parse(&bytes).unwrap()
}

#[test]
fn lines_both_ways() {
    const CLOCKS: u64 = 20_000;
    for (width, wide) in LINKS {
        let mut options = Options::new(width, wide, 5);
        options.buffers = Some(16);
        let Some(mut bench) = bench(&options) else {
            return;
        };
        // NOPs between packets, with buffers that are free.
        bench.partner.change(40, 0);
        let (mut down, mut up) = (0_u64, 0_u64);
        for _ in 0..CLOCKS {
            while bench.partner.outbox[0].len() < 3 {
                bench.partner.outbox[0].push_back(line(0));
                bench.user.outbox[0].push_back(line(UNIT));
            }
            while bench.user.outbox[0].len() < 3 {
                bench.user.outbox[0].push_back(line(UNIT));
            }
            bench.clock().unwrap();
            down += bench.user.received.drain(..).count() as u64;
            for (packet, _) in std::mem::take(&mut bench.partner.inbox) {
                bench.partner.free(&packet);
                up += 1;
            }
        }
        // At 200 MHz the core has 100 million clocks a second.
        let megabytes = |lines: u64| lines as f64 * 64.0 * 100.0 / CLOCKS as f64;
        let peak = |wide| if wide { 800.0 } else { 400.0 };
        let (down, up) = (megabytes(down), megabytes(up));
        figure(&format!(
            "bandwidth | {} | at HT200 {down:.0} MB/s in, {up:.0} MB/s out of 64-byte writes",
            name(width, wide)
        ));
        // Commands take 8 of 72 bytes, CRCs 4 of 516 bit-times, NOPs a little.
        let most = |wide| peak(wide) * 64.0 / 72.0 * 512.0 / 516.0;
        assert!(
            down > 0.94 * most(wide.0) && down <= most(wide.0) * 1.01,
            "{down}"
        );
        // A narrow link from the partner brings credits too slowly for a wide one to it.
        let least = if wide == (false, true) { 0.8 } else { 0.94 };
        assert!(
            up > least * most(wide.1) && up <= most(wide.1) * 1.01,
            "{up}"
        );
    }
}
