//! What the message-passing design does with what is no message, and with a cable that leads nowhere: it counts and
//! reports each.

mod common;

use common::{WIDTHS, figure, network, networks};
use hostwire_packet::ht::{Dwords, ReadSize, ResponseKind, ResponseRepr, ResponseStatus};
use hostwire_rtl_harness::board::Faults;
use hostwire_rtl_harness::board::network::{Network, Shape};
use hostwire_rtl_harness::ht::requests::{self, Data, dword, is_normal};

/// Registers.
const OWN: u64 = 0x08;
const SENT: u64 = 0x20;
const COMPLETED: u64 = 0x24;
const STRAY: u64 = 0x28;
const REFUSED: u64 = 0x2c;
const TIMEOUTS: u64 = 0x40;

fn run(network: &mut Network, clocks: u64) {
    for _ in 0..clocks {
        network.clock().unwrap();
    }
}

#[test]
fn writes_that_are_no_messages_are_counted() {
    for mut network in networks(Shape::Pair, 1, 3) {
        let window = network.window(0, 1);
        let none = requests::write(window, Data::Masked(0, &[7; 8]), None).unwrap();
        let mut damaged = requests::write(window, Data::Dwords(&[7; 8]), None).unwrap();
        // DataError of a posted write is bit 20 of the last but one dword of its command.
        damaged.bytes[damaged.control - 6] |= 1 << 4;
        for packet in [none, damaged] {
            network.hosts[0].partner.outbox[0].push_back(packet);
        }
        network.send_dwords(0, 1, 64).unwrap();
        run(&mut network, 300);
        assert!(network.is_done());
        assert_eq!(network.read_register(0, SENT), Ok(1));
        let mut sent = 1;
        for clocks in 0..60 {
            network.send_dwords(0, 1, 64).unwrap();
            network.hosts[0].partner.change(0, 0);
            run(&mut network, clocks % 20);
            sent += 1;
            assert_eq!(
                network.read_register(0, SENT),
                Ok(sent),
                "a read does not pass a message"
            );
        }
        // Bits of the mask outside of the data are no data.
        let mut long = requests::write(window, Data::Masked(15, &[0; 4]), None).unwrap();
        long.bytes[long.control..].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4]);
        network.hosts[0].partner.outbox[0].push_back(long);
        network.expect(0, 1, vec![1, 2, 3, 4]);
        sent += 1;
        run(&mut network, 300);
        assert!(network.is_done());
        assert_eq!(network.read_register(0, REFUSED), Ok(2));
        assert_eq!(network.read_register(1, COMPLETED), Ok(sent));
        assert_eq!(network.read_register(1, 0), Ok(0x4845_5832));
        assert_eq!(network.read_register(1, OWN), Ok(network.numbers[1].into()));
        let ring = &network.rings[1];
        let (base, slots) = (ring.base, ring.slots as u32);
        for (at, value) in [
            (0x04, 1),
            (0x10, base as u32),
            (0x14, (base >> 32) as u32),
            (0x18, slots),
            (0x1c, 0),
            (0x100, 0),
        ] {
            assert_eq!(network.read_register(1, at), Ok(value), "register {at:#x}");
        }
    }
}

#[test]
fn messages_for_another_board_are_dropped_and_counted() {
    for mut network in networks(Shape::Pair, 2, 3) {
        let stray =
            requests::write(network.window(0, 0) ^ 0x5000, Data::Dwords(&[1; 32]), None).unwrap();
        network.hosts[0].partner.outbox[0].push_back(stray);
        network.send_dwords(0, 1, 8).unwrap();
        run(&mut network, 300);
        assert!(network.is_done(), "the message behind it arrives");
        assert_eq!(network.read_register(1, STRAY), Ok(1));
        assert_eq!(network.read_register(1, COMPLETED), Ok(1));
    }
}

#[test]
fn a_switch_drops_what_has_no_output() {
    for mut network in networks(Shape::Star, 3, 3) {
        let stray = requests::write(
            network.hosts[0].bars[0] + 0x5000,
            Data::Dwords(&[1; 32]),
            None,
        )
        .unwrap();
        network.hosts[0].partner.outbox[0].push_back(stray);
        network.send_dwords(0, 2, 8).unwrap();
        run(&mut network, 400);
        assert!(network.is_done(), "the message behind it arrives");
        assert_eq!(
            network.switch.as_ref().map(|switch| switch.events[3]),
            Some(1)
        );
    }
}

#[test]
fn requests_into_the_window_are_answered() {
    for mut network in networks(Shape::Pair, 4, 3) {
        let window = network.window(0, 1);
        let read =
            requests::read(window + 0x20, ReadSize::Dwords(Dwords::new(3).unwrap()), 5).unwrap();
        let answer = network.ask(0, read).unwrap();
        let address = window as u32 + 0x20;
        let expected: Vec<u8> = (0..3)
            .flat_map(|at| (address + 4 * at).to_le_bytes())
            .collect();
        assert!(is_normal(&answer));
        assert_eq!(answer.data(), expected, "a read gets its address");
        let write = requests::write(window, Data::Dwords(&[1; 8]), Some(9)).unwrap();
        let answer = network.ask(0, write).unwrap();
        let answer = ResponseRepr::parse(&answer.bytes).unwrap();
        assert_eq!(
            (answer.kind, answer.status),
            (ResponseKind::TargetDone, ResponseStatus::TargetAbort)
        );
        let write = requests::write(
            network.hosts[0].bars[1] + OWN,
            Data::Dwords(&[3, 0, 0, 0]),
            Some(9),
        )
        .unwrap();
        assert!(is_normal(&network.ask(0, write).unwrap()));
        assert_eq!(network.read_register(0, OWN), Ok(3));
        assert_eq!(network.read_register(0, SENT), Ok(0));
    }
}

/// Nothing is delivered before software says so, nor lost.
#[test]
fn a_board_that_must_not_deliver_keeps_messages_at_the_sender() {
    for mut network in networks(Shape::Pair, 5, 3) {
        let control = network.hosts[1].bars[1] + 0x04;
        network.hosts[1].partner.outbox[0].push_back(dword(control, 0).unwrap());
        run(&mut network, 100);
        for _ in 0..70 {
            network.send_dwords(0, 1, 64).unwrap();
        }
        run(&mut network, 30_000);
        assert_eq!(network.arrived, 0);
        assert!(
            network.errors > 0,
            "the sender says that nothing is acknowledged"
        );
        assert!(network.read_register(1, 0x3c).unwrap() > 0, "no room");
        network.hosts[1].partner.outbox[0].push_back(dword(control, 1).unwrap());
        run(&mut network, 10_000);
        assert!(network.is_done());
        assert_eq!(network.arrived, 70);
        assert!(!network.hosts[0].chip.cable_error());
    }
}

#[test]
fn a_cable_that_leads_nowhere_is_reported() {
    for mut network in networks(Shape::Pair, 6, 3) {
        let all_lost = Faults {
            lost: 100,
            ..Faults::default()
        };
        network.set_faults(all_lost);
        network.send_dwords(0, 1, 64).unwrap();
        run(&mut network, 15 * 801);
        assert!(!network.hosts[0].chip.cable_error());
        run(&mut network, 2 * 801);
        assert!(network.hosts[0].chip.cable_error());
        assert!(!network.hosts[1].chip.cable_error(), "it has sent nothing");
        network.set_faults(Faults::default());
        run(&mut network, 2 * 801);
        assert!(network.is_done());
        assert!(!network.hosts[0].chip.cable_error());
        assert!(network.read_register(0, TIMEOUTS).unwrap() >= 16);
    }
}

/// A frame with a right CRC, as no port sends it.
fn frame(words: &[u16]) -> Vec<u32> {
    let crc = words.iter().fold(u32::MAX, |crc, &word| {
        (0..16).rev().fold(crc, |crc, bit| {
            let out = (crc >> 31) ^ u32::from(word >> bit & 1);
            crc << 1 ^ if out == 1 { 0x04c1_1db7 } else { 0 }
        })
    });
    let mut words = words.to_vec();
    words.extend([(!crc >> 16) as u16, !crc as u16]);
    let last = words.len() - 1;
    let kind = |at| match at {
        0 => 1,
        at if at == last => 3,
        _ => 2,
    };
    let phits = words.iter().enumerate();
    phits
        .map(|(at, &word)| kind(at) << 16 | u32::from(word))
        .collect()
}

#[test]
fn frames_that_no_port_sends_are_damaged_ones() {
    const DAMAGED: u64 = 0x38;
    for mut network in networks(Shape::Pair, 8, 3) {
        let header = network.numbers[1].into();
        let (no_message, bare) = ([header, 0], [header, 0x8000, 1, 2]);
        let too_long: Vec<u16> = [header, 0].into_iter().chain(0..33).collect();
        for (count, words) in [&no_message[..], &bare, &too_long].into_iter().enumerate() {
            network.hosts[1].cable[0].coming.extend(frame(words));
            run(&mut network, 100);
            assert_eq!(
                network.read_register(1, DAMAGED),
                Ok(count as u32 + 1),
                "{words:x?}"
            );
        }
        assert_eq!(network.read_register(1, COMPLETED), Ok(0));
        network.send_dwords(0, 1, 64).unwrap();
        run(&mut network, 300);
        assert!(network.is_done(), "the next one is taken");
    }
}

/// A peer that acknowledges what was never sent changes nothing.
#[test]
fn acknowledgements_of_nothing_are_ignored() {
    for mut network in networks(Shape::Pair, 9, 3) {
        for number in [1, 50, 64, 100, 127] {
            let ahead = frame(&[0, 0x8000 | number]);
            network.hosts[0].cable[0].coming.extend(ahead);
            run(&mut network, 60);
            network.send_dwords(0, 1, 64).unwrap();
            run(&mut network, 300);
            assert!(network.is_done(), "after {number}");
        }
        assert_eq!(network.read_register(0, TIMEOUTS), Ok(0));
    }
}

/// Nothing of cable `at` arrives for some clocks.
fn deaf(network: &mut Network, at: usize, clocks: u64) {
    network.cables[at].faults.lost = 100;
    run(network, clocks);
    network.cables[at].faults.lost = 0;
}

#[test]
fn a_gap_is_repaired_without_a_timeout() {
    for mut network in networks(Shape::Pair, 10, 0) {
        for gap in 0..5 {
            network.send_dwords(0, 1, 16).unwrap();
            deaf(&mut network, 0, 100);
            assert!(!network.is_done());
            network.send_dwords(0, 1, 16).unwrap();
            run(&mut network, 150);
            assert!(network.is_done(), "gap {gap}");
        }
        assert_eq!(network.read_register(0, TIMEOUTS), Ok(0));
    }
}

#[test]
fn a_lost_acknowledgement_is_said_again() {
    for mut network in networks(Shape::Pair, 11, 0) {
        network.send_dwords(0, 1, 16).unwrap();
        deaf(&mut network, 1, 100);
        assert!(network.is_done());
        run(&mut network, 3 * 801);
        assert_eq!(network.read_register(0, TIMEOUTS), Ok(1));
        assert_eq!(network.read_register(1, COMPLETED), Ok(1));
    }
}

/// Messages of 64 bytes without a break, one way and both ways.
#[test]
fn how_much_a_cable_carries() {
    const CLOCKS: u64 = 10_000;
    for (both, width) in [false, true]
        .into_iter()
        .flat_map(|both| WIDTHS.map(|width| (both, width)))
    {
        let Some(mut network) = network(Shape::Pair, width, 7, 0) else {
            return;
        };
        for host in &mut network.hosts {
            host.partner.change(0, 0);
        }
        let begin = network.arrived;
        for _ in 0..CLOCKS {
            for from in 0..1 + usize::from(both) {
                while network.hosts[from].partner.outbox[0].len() < 3 {
                    network.send_dwords(from, 1 - from, 64).unwrap();
                }
            }
            network.clock().unwrap();
        }
        let messages = network.arrived - begin;
        let ways = 1 + u64::from(both);
        let clocks = (ways * CLOCKS) as f64 / messages as f64;
        figure(&format!(
            "bandwidth | two boards, {} bit, messages of 64 B, {} | one in {clocks:.1} clocks: {:.0} MB/s each way at 100 MHz",
            width.bits(),
            if both { "both ways" } else { "one way" },
            6400.0 / clocks
        ));
        // Header, link word, CRC, and the phit between frames.
        assert!(clocks > 36.9 && clocks < 40.0, "{clocks}");
    }
}
