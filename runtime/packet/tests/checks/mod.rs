//! One function per parser: it takes any bytes and must return.
//!
//! Shared by `qa/fuzzing`, which runs them as fuzz targets, and the property tests. Each function checks that
//! - no call panics on a packet that was accepted;
//! - an accepted packet is stable: parse, emit, parse gives the same value, and emit
//!   writes exactly the announced number of bytes.

use hostwire_packet::ht::{self, periodic_crc};
use hostwire_packet::htoe::{self, FrameBuilder, FrameRepr};
use hostwire_packet::{Error, pcie};

/// A check, as the registry of targets holds it.
pub type Check = fn(&[u8]);

/// Every check by name.
#[allow(dead_code)]
pub const TARGETS: &[(&str, Check)] = &[
    ("ethernet_header", ethernet_header),
    ("ht_packet", ht_packet),
    ("ht_packet_crc", ht_packet_crc),
    ("ht_periodic_crc", ht_periodic_crc),
    ("ht_stream", ht_stream),
    ("htoe_build", htoe_build),
    ("htoe_frame", htoe_frame),
    ("pcie_dllp", pcie_dllp),
    ("pcie_link_tlp", pcie_link_tlp),
    ("pcie_tlp", pcie_tlp),
];

/// Emits, and checks length, overrun and the error for a buffer that is one
/// byte too short.
fn emitted(len: usize, emit: impl Fn(&mut [u8]) -> Result<usize, Error>) -> Vec<u8> {
    let mut buffer = vec![0xa5; len + 3];
    assert_eq!(emit(&mut buffer), Ok(len));
    assert_eq!(buffer[len..], [0xa5; 3]);
    buffer.truncate(len);

    let mut short = vec![0x5a; len.saturating_sub(1)];
    assert!(matches!(
        emit(&mut short),
        Err(Error::BufferTooSmall { .. })
    ));
    assert!(short.iter().all(|&byte| byte == 0x5a));
    buffer
}

/// Every HyperTransport packet, alone and with its data.
pub fn ht_packet(bytes: &[u8]) {
    if let Ok(repr) = ht::NopRepr::parse(bytes) {
        let again = emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
        assert_eq!(ht::NopRepr::parse(&again), Ok(repr));
    }
    if let Ok(repr) = ht::SyncRepr::parse(bytes) {
        emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
    }
    if let Ok(packet) = ht::ExtendedFlowPacket::new_checked(bytes) {
        let repr = ht::ExtendedFlowRepr::parse(bytes).unwrap();
        assert_eq!(packet.len(), repr.buffer_len());
        let again = emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
        assert_eq!(ht::ExtendedFlowRepr::parse(&again), Ok(repr));
    }
    if let Ok(packet) = ht::RequestPacket::new_checked(bytes) {
        let _ = (packet.address(), packet.chain(), packet.data_error());
        if let Ok(repr) = ht::RequestRepr::parse(bytes) {
            assert_eq!(packet.len(), repr.buffer_len());
            assert_eq!(packet.command(), repr.command());
            assert_eq!(packet.address(), repr.address());
            let again = emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
            assert_eq!(ht::RequestRepr::parse(&again), Ok(repr));
        }
    }
    if let Ok(repr) = ht::ResponseRepr::parse(bytes) {
        let again = emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
        assert_eq!(ht::ResponseRepr::parse(&again), Ok(repr));
    }
    if let Ok(control) = ht::ControlRepr::parse(bytes) {
        assert_eq!(
            control.credit_cost().is_some(),
            control.virtual_channel().is_some()
        );
        assert_eq!(
            ht::OrderingKey::of(&control).map(|key| key.channel),
            control.virtual_channel()
        );
        assert!(control.wire_len() <= ht::PACKET_LEN_MAX);
        assert_eq!(control.data_len() > 0, control.command().has_data());
    }
    if let Ok(packet) = ht::PacketRepr::parse(bytes) {
        let _ = packet.to_string();
        assert_eq!(packet.buffer_len(), packet.control().wire_len());
        assert_eq!(packet.data_phase().len(), packet.data().len());
        if let ht::DataPhase::Masked(masked) = packet.data_phase() {
            assert_eq!(masked.enabled().count() as u32, masked.mask().count_ones());
        }
        let again = emitted(packet.buffer_len(), |buffer| packet.emit(buffer));
        assert_eq!(ht::PacketRepr::parse(&again), Ok(packet));

        assert_eq!(ht::PacketBuf::from(packet).as_repr(), packet);

        let view = ht::Packet::new_checked(bytes).unwrap();
        assert_eq!(view.data(), packet.data());
        assert_eq!(view.len(), packet.buffer_len());
    }
}

/// Packets one after the other.
pub fn ht_stream(bytes: &[u8]) {
    let mut packets = ht::Packets::new(bytes);
    let mut consumed = 0;
    while let Some(packet) = packets.next() {
        match packet {
            Ok(packet) => {
                consumed += packet.buffer_len();
                assert_eq!(packets.rest(), &bytes[consumed..]);
            }
            Err(error) => {
                let _ = error.to_string();
                assert_eq!(packets.next(), None);
            }
        }
    }
}

/// Packets with a CRC of their own: as they come, and with the CRC put right.
pub fn ht_packet_crc(bytes: &[u8]) {
    use ht::packet_crc::{Ending, buffer_len, emit, parse};
    let _ = parse(bytes);
    if let Ok(packet) = ht::PacketRepr::parse(bytes) {
        let len = buffer_len(&packet);
        let good = emitted(len, |buffer| emit(&packet, Ending::Good, buffer));
        assert_eq!(parse(&good), Ok(packet));
        let stomped = emitted(len, |buffer| emit(&packet, Ending::Stomped, buffer));
        assert!(matches!(parse(&stomped), Err(Error::Stomped { .. })));
        for i in 0..4 {
            assert_eq!(good[len - 1 - i], !stomped[len - 1 - i]);
        }
    }
}

/// Bit-times in both directions of a lane.
pub fn ht_periodic_crc(bytes: &[u8]) {
    let mut receiver = periodic_crc::LaneReceiver::new();
    let mut transmitter = periodic_crc::LaneTransmitter::new();
    let mut far_end = periodic_crc::LaneReceiver::new();
    let mut window = periodic_crc::Window::new();
    let mut inserted = 0;
    let mut counted = 0;
    // Enough bit-times for several windows, whatever the input.
    for &cad in bytes.iter().cycle().take(bytes.len().min(1) * 2000) {
        let payload = periodic_crc::BitTime {
            cad,
            ctl: cad & 1 == 1,
        };
        let _ = receiver.step(payload);
        while transmitter.crc_due() {
            let crc = transmitter.step(|| unreachable!("a CRC was due"));
            assert!(crc.ctl);
            assert_ne!(far_end.step(crc), Ok(periodic_crc::Received::Payload));
            inserted += 1;
        }
        let sent = transmitter.step(|| payload);
        assert_eq!(far_end.step(sent), Ok(periodic_crc::Received::Payload));
        counted += window.advance(1);
    }
    if transmitter.crc_due() {
        inserted += periodic_crc::CRC_BIT_TIMES;
    }
    assert_eq!(inserted, counted);
}

/// TLPs of every type.
pub fn pcie_tlp(bytes: &[u8]) {
    if let Ok(header) = pcie::MemoryHeader::new_checked(bytes) {
        let _ = (header.address(), header.first_be(), header.last_be());
    }
    if let Ok(header) = pcie::CompletionHeader::new_checked(bytes) {
        let _ = (header.byte_count(), header.lower_address(), header.status());
    }
    if let Ok(header) = pcie::HeaderRepr::parse(bytes) {
        let _ = (header.credit_cost(), pcie::tlp_wire_len(&header));
        assert!(header.tlp_len() <= pcie::TLP_LEN_MAX);
        let again = emitted(header.buffer_len(), |buffer| header.emit(buffer));
        assert_eq!(pcie::HeaderRepr::parse(&again), Ok(header));
    }
    if let Ok(tlp) = pcie::TlpRepr::parse(bytes) {
        let _ = tlp.to_string();
        let again = emitted(tlp.buffer_len(), |buffer| tlp.emit(buffer));
        assert_eq!(pcie::TlpRepr::parse(&again), Ok(tlp));
        let view = pcie::TlpPacket::new_checked(bytes).unwrap();
        assert_eq!(view.data(), tlp.data());
        assert_eq!(view.digest(), tlp.digest());
    }
}

/// TLPs with sequence number and LCRC: as they come, and with the LCRC put
/// right.
pub fn pcie_link_tlp(bytes: &[u8]) {
    let _ = pcie::LinkTlpRepr::parse(bytes);
    let mut copy = bytes.to_vec();
    let Ok(mut packet) = pcie::LinkTlpPacket::new_checked(&mut copy[..]) else {
        return;
    };
    packet.nullify();
    assert!(matches!(packet.check_lcrc(), Err(Error::Stomped { .. })));
    packet.fill_lcrc();
    let repr = pcie::LinkTlpRepr::parse(&copy).unwrap();
    let again = emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
    assert_eq!(pcie::LinkTlpRepr::parse(&again), Ok(repr));
}

/// DLLPs: as they come, and with the CRC put right.
pub fn pcie_dllp(bytes: &[u8]) {
    let _ = pcie::DllpRepr::parse(bytes);
    let mut copy = bytes.to_vec();
    let Ok(mut packet) = pcie::DllpPacket::new_checked(&mut copy[..]) else {
        return;
    };
    packet.fill_crc();
    if let Ok(repr) = pcie::DllpRepr::parse(&copy) {
        let _ = repr.to_string();
        let again = emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
        assert_eq!(pcie::DllpRepr::parse(&again), Ok(repr));
    }
}

/// Ethernet headers.
pub fn ethernet_header(bytes: &[u8]) {
    if let Ok(header) = htoe::EthernetHeader::new_checked(bytes) {
        assert_eq!(header.len() + header.payload().len(), bytes.len());
    }
    if let Ok(repr) = htoe::EthernetRepr::parse(bytes) {
        let _ = repr.to_string();
        let again = emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
        assert_eq!(again, bytes[..again.len()]);
    }
}

/// HToE frames: as they come, and with both CRCs put right.
pub fn htoe_frame(bytes: &[u8]) {
    let _ = FrameRepr::parse(bytes);
    let mut copy = bytes.to_vec();
    let Ok(mut header) = htoe::Header::new_checked(&mut copy[..]) else {
        return;
    };
    header.fill_hcrc();
    let Ok(mut frame) = htoe::Frame::new_checked(&mut copy[..]) else {
        return;
    };
    // Computes both CRCs; an ack frame needs to keep its ACK.
    frame.update_ack(Some(1), false);
    if let Ok(repr) = FrameRepr::parse(&copy) {
        let _ = repr.to_string();
        assert_eq!(repr.packets().len(), repr.packets().count());
        for packet in repr.packets() {
            assert!(packet.control().virtual_channel().is_some());
        }
        plain_writes_are_the_packets(&repr);
        for channel in ht::VirtualChannel::ALL {
            assert!(repr.credits(channel).0 <= 3 * 255);
        }
        let again = emitted(repr.buffer_len(), |buffer| repr.emit(buffer));
        assert_eq!(FrameRepr::parse(&again), Ok(repr));
    }
}

/// The writes, of one line or many, hold the bytes of the packets.
fn plain_writes_are_the_packets(frame: &FrameRepr<'_>) {
    let mut packets = frame.packets();
    let mut one_by_one = frame.packets();
    while packets.len() > 0 {
        match packets.next_plain() {
            Some(write) => {
                for (line, at) in write.data.chunks(64).zip((write.address..).step_by(64)) {
                    let packet = one_by_one.next().unwrap();
                    assert_eq!(packet.data(), line);
                    assert_eq!(packet.control().address().map(ht::Address::get), Some(at));
                }
            }
            None => assert_eq!(packets.next(), one_by_one.next()),
        }
        assert_eq!(packets.len(), one_by_one.len());
    }
}

/// Builds a frame out of the packets found in the input: NOPs in front, then
/// as many packets as fit. The first byte picks the size of the buffer.
pub fn htoe_build(bytes: &[u8]) {
    let [size, rest @ ..] = bytes else { return };
    let mut buffer = vec![0; usize::from(*size) * 8];
    let header = htoe::HeaderRepr::data(3, 4, None);
    let Ok(mut builder) = FrameBuilder::new(header, &mut buffer) else {
        return;
    };
    let mut nops = Vec::new();
    let mut packets = Vec::new();
    for packet in ht::Packets::new(rest).map_while(Result::ok) {
        match packet.control() {
            ht::ControlRepr::Nop(nop) => {
                let fits = builder.fits_nop();
                assert_eq!(builder.push_nop(nop).is_ok(), fits);
                if fits {
                    nops.push(*nop);
                }
            }
            control => {
                let fits =
                    control.virtual_channel().is_some() && builder.fits_packet(packet.buffer_len());
                assert_eq!(builder.push_packet(&packet).is_ok(), fits);
                if fits {
                    packets.push(packet);
                }
            }
        }
    }
    let before = builder.contents().packets;
    let (lines, _) = rest.as_chunks();
    let lines = &lines[..lines.len().min(4)];
    let pushed = builder.push_lines(u64::from(*size) << 6, lines).is_ok();
    let len = builder.finish().unwrap();
    let frame = FrameRepr::parse(&buffer[..len]).unwrap();
    assert!(frame.nops().eq(nops));
    assert!(frame.packets().take(before.into()).eq(packets));
    let added = frame.packets().skip(before.into());
    match pushed {
        true => assert!(
            added
                .map(|packet| packet.data().to_vec())
                .eq(lines.iter().map(|l| l.to_vec()))
        ),
        false => assert_eq!(added.count(), 0),
    }
}
