//! Strategies for every packet as a value.

use hostwire_packet::ht::{
    Address, AtomicOperation, ByteEnables, ChannelCredits, ControlRepr, Dwords, ExtendedFlowFree,
    ExtendedFlowRepr, MaskedBlock, MaskedDwords, NopRepr, Read, ReadSize, RequestKind, RequestRepr,
    ResponseKind, ResponseRepr, ResponseStatus, RqUid, SeqId, SrcTag, SyncRepr, UnitId, VcSet,
    Write, WriteMode, WriteSize,
};
use hostwire_packet::pcie;
use proptest::prelude::*;

fn address() -> impl Strategy<Value = Address> {
    let any_reach = prop_oneof![any::<u64>(), 0..Address::PLAIN_END];
    (any_reach, any::<bool>()).prop_map(|(bytes, extend)| {
        let address = Address::new(bytes & !3).unwrap();
        if extend {
            address.with_extension()
        } else {
            address
        }
    })
}

/// An address from which `len_bytes` fit into a block.
fn address_for(len_bytes: usize, block: u64) -> impl Strategy<Value = Address> {
    let offsets = (block - len_bytes as u64) / 4;
    (address(), 0..=offsets).prop_map(move |(address, offset)| {
        let moved = Address::new((address.get() & !(block - 1)) + offset * 4).unwrap();
        if address.is_extended() {
            moved.with_extension()
        } else {
            moved
        }
    })
}

fn src_tag() -> impl Strategy<Value = SrcTag> {
    (0..=31u8).prop_map(|tag| SrcTag::new(tag).unwrap())
}

fn dwords() -> impl Strategy<Value = Dwords> {
    (1..=16u8).prop_map(|dwords| Dwords::new(dwords).unwrap())
}

fn write_mode() -> impl Strategy<Value = WriteMode> {
    prop_oneof![
        (any::<bool>(), any::<bool>())
            .prop_map(|(data_error, chain)| WriteMode::Posted { data_error, chain }),
        src_tag().prop_map(|src_tag| WriteMode::NonPosted { src_tag }),
    ]
}

fn write_size() -> impl Strategy<Value = (WriteSize, Address)> {
    prop_oneof![
        dwords().prop_flat_map(|dwords| {
            (
                Just(WriteSize::Dwords(dwords)),
                address_for(dwords.len_bytes(), 64),
            )
        }),
        (1..=8u8).prop_flat_map(|dwords| {
            let dwords = MaskedDwords::new(dwords).unwrap();
            (
                Just(WriteSize::Bytes(dwords)),
                address_for(dwords.len_bytes(), 32),
            )
        }),
    ]
}

fn read_size() -> impl Strategy<Value = (ReadSize, Address)> {
    prop_oneof![
        dwords().prop_flat_map(|dwords| {
            (
                Just(ReadSize::Dwords(dwords)),
                address_for(dwords.len_bytes(), 64),
            )
        }),
        (0..=15u8, address()).prop_map(|(enables, address)| {
            (ReadSize::Bytes(ByteEnables::new(enables).unwrap()), address)
        }),
    ]
}

fn request_kind() -> impl Strategy<Value = RequestKind> {
    let write = (write_mode(), write_size(), any::<[bool; 3]>()).prop_map(
        |(mode, (size, address), [isoc, coherent, compat])| {
            RequestKind::Write(Write {
                mode,
                address,
                size,
                isoc,
                coherent,
                compat,
            })
        },
    );
    let read = (src_tag(), read_size(), any::<[bool; 4]>()).prop_map(
        |(src_tag, (size, address), [response_pass_pw, isoc, coherent, compat])| {
            RequestKind::Read(Read {
                src_tag,
                address,
                size,
                response_pass_pw,
                isoc,
                coherent,
                compat,
            })
        },
    );
    let atomic = (src_tag(), address_for(8, 8), any::<[bool; 2]>()).prop_map(
        |(src_tag, address, [swap, compat])| RequestKind::Atomic {
            src_tag,
            address,
            operation: if swap {
                AtomicOperation::CompareAndSwap
            } else {
                AtomicOperation::FetchAndAdd
            },
            compat,
        },
    );
    prop_oneof![
        write,
        read,
        atomic,
        (src_tag(), any::<bool>()).prop_map(|(src_tag, isoc)| RequestKind::Flush { src_tag, isoc }),
        any::<bool>().prop_map(|isoc| RequestKind::Fence { isoc }),
        address().prop_map(|address| RequestKind::Broadcast { address }),
    ]
}

fn request() -> impl Strategy<Value = RequestRepr> {
    (0..=31u8, 0..=15u8, any::<bool>(), request_kind()).prop_map(
        |(unit_id, seq_id, pass_pw, kind)| RequestRepr {
            unit_id: UnitId::new(unit_id).unwrap(),
            seq_id: SeqId::new(seq_id).unwrap(),
            pass_pw,
            kind,
        },
    )
}

fn response() -> impl Strategy<Value = ResponseRepr> {
    let kind = prop_oneof![
        dwords().prop_map(|dwords| ResponseKind::Read { dwords }),
        Just(ResponseKind::TargetDone)
    ];
    let status = prop_oneof![
        Just(ResponseStatus::Normal),
        Just(ResponseStatus::DataError),
        Just(ResponseStatus::TargetAbort),
        Just(ResponseStatus::MasterAbort),
    ];
    let ids = (0..=31u8, src_tag(), 0..=3u8);
    (kind, ids, any::<[bool; 3]>(), status).prop_map(
        |(kind, (unit_id, src_tag, rq_uid), [bridge, pass_pw, isoc], status)| ResponseRepr {
            kind,
            unit_id: UnitId::new(unit_id).unwrap(),
            src_tag,
            rq_uid: RqUid::new(rq_uid).unwrap(),
            bridge,
            pass_pw,
            isoc,
            status,
        },
    )
}

pub fn nop() -> impl Strategy<Value = NopRepr> {
    let credits = || (0..=3u8, 0..=3u8).prop_map(|(c, d)| ChannelCredits::new(c, d).unwrap());
    let flags = any::<[bool; 3]>();
    (credits(), credits(), credits(), flags, any::<u8>()).prop_map(
        |(posted, non_posted, response, [disconnect, isoc, diag], next_to_ack)| NopRepr {
            disconnect,
            posted,
            non_posted,
            response,
            isoc,
            diag,
            next_to_ack,
        },
    )
}

fn ext_flow() -> impl Strategy<Value = ExtendedFlowRepr> {
    let free = prop_oneof![
        any::<u8>().prop_map(ExtendedFlowFree::One),
        any::<[u8; 4]>().prop_map(ExtendedFlowFree::Four),
    ];
    (0..=7u8, free, 0..=15u8, any::<u8>()).prop_map(|(vc_set, free, vendor, next_to_ack)| {
        ExtendedFlowRepr {
            vc_set: VcSet::new(vc_set).unwrap(),
            free,
            vendor,
            next_to_ack,
        }
    })
}

/// Any control packet.
pub fn control() -> impl Strategy<Value = ControlRepr> {
    prop_oneof![
        6 => request().prop_map(ControlRepr::Request),
        2 => response().prop_map(ControlRepr::Response),
        1 => nop().prop_map(ControlRepr::Nop),
        1 => ext_flow().prop_map(ControlRepr::ExtendedFlow),
        1 => Just(ControlRepr::Sync(SyncRepr)),
    ]
}

/// Any packet: control packet and data that goes with it.
pub fn ht_packet() -> impl Strategy<Value = (ControlRepr, Vec<u8>)> {
    (control(), proptest::collection::vec(any::<u8>(), 64)).prop_map(|(control, mut data)| {
        data.truncate(control.data_len());
        if let ControlRepr::Request(RequestRepr {
            kind:
                RequestKind::Write(Write {
                    address,
                    size: WriteSize::Bytes(dwords),
                    ..
                }),
            ..
        }) = control
        {
            // The mask may enable only bytes that follow it.
            let mut reachable = MaskedBlock::around(address.get());
            let all = vec![0; dwords.len_bytes()];
            reachable.store(address.get(), &all).unwrap();
            for (byte, mask) in data.iter_mut().zip(reachable.mask().to_le_bytes()) {
                *byte &= mask;
            }
        }
        (control, data)
    })
}

fn common() -> impl Strategy<Value = pcie::Common> {
    (0..=7u8, any::<[bool; 4]>()).prop_map(
        |(traffic_class, [has_digest, poisoned, relaxed_ordering, no_snoop])| pcie::Common {
            traffic_class: pcie::TrafficClass::new(traffic_class).unwrap(),
            has_digest,
            poisoned,
            relaxed_ordering,
            no_snoop,
        },
    )
}

fn memory() -> impl Strategy<Value = pcie::MemoryRepr> {
    let operation = prop_oneof![Just(pcie::Operation::Read), Just(pcie::Operation::Write)];
    let base = prop_oneof![any::<u64>(), any::<u32>().prop_map(u64::from)];
    let range = (base, 1..=4096usize).prop_map(|(base, len)| {
        let room = 4096 - len as u64;
        (base & !4095 | (base & 4095).min(room), len)
    });
    (operation, common(), any::<(u16, u8)>(), range).prop_map(
        |(operation, common, (requester_id, tag), (address, len))| {
            let requester_id = pcie::RoutingId(requester_id);
            let repr = pcie::MemoryRepr::covering(operation, requester_id, address, len).unwrap();
            pcie::MemoryRepr {
                common,
                tag,
                ..repr
            }
        },
    )
}

fn completion() -> impl Strategy<Value = pcie::CompletionRepr> {
    let ending = prop_oneof![
        (1..=1024u16).prop_map(|dwords| {
            let dwords = pcie::DwLength::new(dwords).unwrap();
            (Some(dwords), pcie::CompletionStatus::Success)
        }),
        Just((None, pcie::CompletionStatus::Success)),
        Just((None, pcie::CompletionStatus::UnsupportedRequest)),
        Just((None, pcie::CompletionStatus::ConfigurationRetry)),
        Just((None, pcie::CompletionStatus::CompleterAbort)),
    ];
    let ids = any::<(u16, u16, u8, bool)>();
    (ending, common(), ids, 1..=4096u16, 0..=127u8).prop_map(
        |((dwords, status), common, (completer, requester, tag, modified), count, lower)| {
            pcie::CompletionRepr {
                dwords,
                common,
                completer_id: pcie::RoutingId(completer),
                status,
                byte_count_modified: modified,
                byte_count: pcie::ByteCount::new(count).unwrap(),
                requester_id: pcie::RoutingId(requester),
                tag,
                lower_address: pcie::LowerAddress::new(lower).unwrap(),
            }
        },
    )
}

/// Any TLP: header, data that goes with it, and a digest.
pub fn tlp() -> impl Strategy<Value = (pcie::HeaderRepr, Vec<u8>, u32)> {
    let header = prop_oneof![
        memory().prop_map(pcie::HeaderRepr::Memory),
        completion().prop_map(pcie::HeaderRepr::Completion),
    ];
    header.prop_flat_map(|header| {
        let data = proptest::collection::vec(any::<u8>(), header.data_len());
        (Just(header), data, any::<u32>())
    })
}

/// Any DLLP.
pub fn dllp() -> impl Strategy<Value = pcie::DllpRepr> {
    let sequence = || (0..=4095u16).prop_map(|n| pcie::SequenceNumber::new(n).unwrap());
    let phase = prop_oneof![
        Just(pcie::FlowControlPhase::Init1),
        Just(pcie::FlowControlPhase::Init2),
        Just(pcie::FlowControlPhase::Update),
    ];
    let class = prop_oneof![
        Just(pcie::CreditClass::Posted),
        Just(pcie::CreditClass::NonPosted),
        Just(pcie::CreditClass::Completion),
    ];
    prop_oneof![
        sequence().prop_map(|sequence| pcie::DllpRepr::Ack { sequence }),
        sequence().prop_map(|sequence| pcie::DllpRepr::Nak { sequence }),
        (phase, class, 0..=7u8, any::<u8>(), 0..=4095u16).prop_map(
            |(phase, class, vc, header, data)| pcie::DllpRepr::FlowControl {
                phase,
                class,
                vc: pcie::VcId::new(vc).unwrap(),
                header,
                data: pcie::DataCredits::new(data).unwrap(),
            }
        ),
    ]
}
