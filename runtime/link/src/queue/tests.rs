use super::*;
use hostwire_packet::ht::{
    Address, ControlRepr, Dwords, OrderingKey, RequestKind, RequestRepr, ResponseKind,
    ResponseRepr, ResponseStatus, RqUid, SeqId, SrcTag, UnitId, may_pass,
};

use VirtualChannel::{NonPosted, Posted, Response};

fn packet(channel: VirtualChannel, pass_pw: bool) -> Vec<u8> {
    let control: ControlRepr = match channel {
        Posted => RequestRepr {
            pass_pw,
            ..RequestRepr::posted_write(UnitId::MIN, Address::new(0).unwrap(), Dwords::MIN)
        }
        .into(),
        NonPosted => RequestRepr {
            unit_id: UnitId::MIN,
            seq_id: SeqId::MIN,
            pass_pw,
            kind: RequestKind::Flush {
                src_tag: SrcTag::MIN,
                isoc: false,
            },
        }
        .into(),
        Response => ResponseRepr {
            kind: ResponseKind::TargetDone,
            unit_id: UnitId::MIN,
            src_tag: SrcTag::MIN,
            rq_uid: RqUid::MIN,
            bridge: true,
            pass_pw,
            isoc: false,
            status: ResponseStatus::Normal,
        }
        .into(),
    };
    let data = vec![0; control.data_len()];
    let packet = PacketRepr::new(control, &data).unwrap();
    let mut bytes = vec![0; packet.buffer_len()];
    packet.emit(&mut bytes).unwrap();
    bytes
}

/// Every sequence of four packets, with every set of channels that have credits: no
/// packet passes another that it must not pass, and every packet passes those that it
/// must pass.
#[test]
fn the_table_of_the_ordering_rules() {
    let kinds: Vec<(VirtualChannel, bool)> = VirtualChannel::ALL
        .into_iter()
        .flat_map(|channel| [(channel, false), (channel, true)])
        .collect();
    for sequence in 0..kinds.len().pow(4) {
        let sequence: Vec<_> = (0..4)
            .map(|i| kinds[sequence / kinds.len().pow(i) % kinds.len()])
            .collect();
        for credits in 0..8u32 {
            let mut queues = Queues::default();
            let bytes: Vec<_> = sequence.iter().map(|&(c, p)| packet(c, p)).collect();
            for ((channel, _), bytes) in sequence.iter().zip(&bytes) {
                let packet = PacketRepr::parse(bytes).unwrap();
                assert_eq!(queues.push(*channel, &packet, 4), Ok(true));
            }
            let covers = |channel: VirtualChannel, _| credits >> channel.index() & 1 == 1;
            let mut left: Vec<usize> = (0..4).collect();
            while let Some((channel, waiting)) = queues.next(covers) {
                let stamp = waiting.stamp as usize;
                queues.pop(channel);
                let key = |i: usize| {
                    let packet = PacketRepr::parse(&bytes[i]).unwrap();
                    OrderingKey::of(packet.control()).unwrap()
                };
                for &earlier in left.iter().filter(|&&i| i < stamp) {
                    let passing = may_pass(&key(stamp), &key(earlier));
                    assert!(passing.allowed(), "{sequence:?}: {stamp} passed {earlier}");
                }
                left.retain(|&i| i != stamp);
            }
            // Each remaining packet has no credit, or waits for a packet of its own
            // channel or a posted one.
            for &i in &left {
                let (channel, _) = sequence[i];
                let blocked = !covers(channel, false)
                    || left
                        .iter()
                        .any(|&j| j < i && (sequence[j].0 == channel || sequence[j].0 == Posted));
                assert!(blocked, "{sequence:?}, credits {credits:03b}: {i} waits");
            }
        }
    }
}

#[test]
fn bounds() {
    let bytes = packet(Posted, false);
    let packet = PacketRepr::parse(&bytes).unwrap();
    let mut queues = Queues::default();
    assert_eq!(queues.push(Posted, &packet, 0), Ok(false));
    assert_eq!(queues.push(Posted, &packet, 1), Ok(true));
    assert_eq!(queues.push(Posted, &packet, 1), Ok(false));
    assert_eq!(queues.len(Posted), 1);
    assert!(!queues.lets_pass(Response, false));
    assert!(queues.lets_pass(Response, true));
    assert!(!queues.lets_pass(Posted, true));
}
