//! Recordings of links of all families: what is on each cable, and the bytes.

use hostwire_packet::ht::{ControlRepr, PacketRepr, RequestKind};
use hostwire_packet::htoe::ethernet::{ETHER_TYPE_HTOE, Repr as EthernetRepr};
use hostwire_packet::htoe::{FrameType, HeaderRepr};
use hostwire_sim::experiments::file::{Monitor, RunResult, read};
use hostwire_sim::record::{Direction, Recording, Slice};
use hostwire_testing::pcapng::{blocks, packets};

/// The left host uses memory of the right one.
const PAIR: &str = "fabric = \"htx\"\n[board]\nlink_frequency = \"400MHz\"\nuser_frequency = \"200MHz\"\n\
    [[node]]\nname = \"left\"\nmemory = \"64MiB\"\n[[node]]\nname = \"right\"\nmemory = \"64MiB\"\n\
    [[cable]]\nfrom = \"left.p0\"\nto = \"right.p0\"\n\
    [[region]]\nof = \"right\"\nat = \"left\"\nsize = \"1MiB\"\noffset = \"16MiB\"\n";

fn recorded(text: &str) -> (RunResult, Recording) {
    let run = |recording: Option<&Recording>| {
        let experiment = read("test.toml", text.as_bytes(), &|_| Ok(PAIR.into()));
        let experiment = experiment.unwrap_or_else(|bad| panic!("{bad}"));
        let outcome = experiment.run(&Monitor::default(), recording);
        outcome.unwrap_or_else(|e| panic!("{e}")).results.remove(0)
    };
    let recording = Recording::new();
    let result = run(Some(&recording));
    let plain = run(None);
    assert_eq!(
        result.run.event_hash, plain.run.event_hash,
        "nothing changes"
    );
    assert_eq!(recording.skipped(), 0);
    (result, recording)
}

fn capture(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording.write_pcapng(&mut bytes).unwrap();
    bytes
}

/// One frame at a time in each direction of each link.
fn do_not_overlap(slices: &[Slice]) {
    for (at, slice) in slices.iter().enumerate() {
        let same = |other: &&Slice| {
            (&other.interface, other.direction) == (&slice.interface, slice.direction)
        };
        if let Some(next) = slices[at + 1..].iter().find(same) {
            assert!(
                slice.begin < slice.end && slice.end <= next.begin,
                "{slice:?} {next:?}"
            );
        }
    }
}

#[test]
fn a_frame_is_on_the_cables_of_its_sender_and_of_its_receiver() {
    let text = "[workload]\nkind = \"ethernet\"\nhosts = 3\npattern = \"incast\"\nlines = 2_000\n\
                [parameters]\nlost_per_million = 20_000\ndoubled_per_million = 20_000\n\
                retry_first = \"1ms\"\nretry_min = \"100us\"\n";
    let (result, recording) = recorded(text);
    let slices = recording.slices();
    do_not_overlap(&slices);
    let count = |direction| {
        let of = slices.iter().filter(|slice| slice.direction == direction);
        of.count() as f64
    };
    let metric = |name: &str| result.metric(name).unwrap_or(0.0);
    let frames = metric("frames");
    assert_eq!(count(Direction::AToB), frames);
    let [lost, doubled] = ["lost_frames", "doubled_frames"].map(metric);
    assert!(lost > 0.0 && doubled > 0.0);
    assert_eq!(count(Direction::BToA), frames - lost + doubled);

    let capture = capture(&recording);
    assert_eq!(blocks(&capture)[1].1[..2], [1, 0], "LINKTYPE_ETHERNET");
    let mut data = 0;
    for packet in packets(&capture) {
        let header = EthernetRepr::parse(packet.data).unwrap();
        assert_eq!(header.ether_type, ETHER_TYPE_HTOE);
        for address in [header.source, header.destination] {
            assert_eq!(address.0[..5], [2, 0, 0, 0, 0]);
            assert!(address.0[5] < 3, "{address}");
        }
        assert_ne!(header.source, header.destination);
        let host = packet.interface as u8;
        assert!([header.source.0[5], header.destination.0[5]].contains(&host));
        assert!(packet.data.len() >= 60);
        let (frame, _) = HeaderRepr::parse(&packet.data[14..]).unwrap();
        data += usize::from(frame.frame_type == FrameType::Data);
    }
    assert!(data > 100, "{data}");

    // The use of cables is that of the frames.
    let used = |link: &str, from: &str| {
        let of = result
            .links
            .iter()
            .find(|used| used.link == link && used.from == from);
        of.unwrap_or_else(|| panic!("{link}: {:?}", result.links))
            .clone()
    };
    assert_eq!(result.links.len(), 6);
    assert_eq!(used("host 1 - switch", "A").payload_bytes, 2_000 * 64);
    assert_eq!(used("host 0 - switch", "B").payload_bytes, 2 * 2_000 * 64);
    assert_eq!(used("host 0 - switch", "A").payload_bytes, 0);
    let busy_ns = used("host 1 - switch", "A").utilisation * metric("time");
    let of_slices = slices
        .iter()
        .filter(|slice| slice.interface == "host 1 - switch" && slice.direction == Direction::AToB);
    let recorded_ns: f64 = of_slices
        .map(|slice| (slice.end - slice.begin).as_ns())
        .sum();
    assert!(
        (busy_ns - recorded_ns).abs() < 1e-3,
        "{busy_ns} {recorded_ns}"
    );
}

/// Reads of memory of another host: they and their answers are on the cable as they are on links,
/// with the address in the memory of the owner.
#[test]
fn frames_of_boards_carry_packets() {
    let text = "cluster = \"pair.toml\"\n[workload]\nkind = \"remote-memory\"\n\
                pattern = \"random\"\nloads = 50\nread_size = \"64B\"\nin_flight = 4\n";
    let (_, recording) = recorded(text);
    let slices = recording.slices();
    do_not_overlap(&slices);
    let cable = slices.iter().map(|slice| slice.interface.as_str());
    let cable = cable
        .into_iter()
        .find(|name| name.contains(" - "))
        .unwrap()
        .to_owned();
    let times = |interface: &str, what: &str| {
        let of = slices
            .iter()
            .filter(|slice| slice.interface == interface && slice.what == what);
        of.cloned().collect::<Vec<_>>()
    };
    // From link to cable to link.
    let [sent, crossed, served] =
        ["left.htx", &cable, "right.htx"].map(|name| times(name, "read 64 B"));
    assert_eq!([sent.len(), crossed.len(), served.len()], [50; 3]);
    for ((sent, crossed), served) in sent.iter().zip(&crossed).zip(&served) {
        assert!(sent.end < crossed.begin && crossed.end < served.begin);
    }
    assert_eq!(times(&cable, "read response 64 B").len(), 50);
    assert!(!times(&cable, "acknowledgement").is_empty());

    let capture = capture(&recording);
    let interfaces: Vec<_> = blocks(&capture)
        .into_iter()
        .filter(|(kind, _)| *kind == 1)
        .collect();
    let number = interfaces
        .iter()
        .position(|(_, body)| body[..2] == [149, 0]);
    let number = number.expect("USER2") as u32;
    let mut addresses = [Vec::new(), Vec::new()];
    for packet in packets(&capture) {
        let on_cable = packet.interface == number;
        let bytes = match on_cable {
            false => packet.data,
            true if packet.data[0] == 2 => &packet.data[10..],
            true => continue,
        };
        let parsed = PacketRepr::parse(bytes).unwrap();
        if let ControlRepr::Request(request) = parsed.control()
            && let RequestKind::Read(read) = &request.kind
        {
            if on_cable {
                assert_eq!(packet.data[2..6], [0, 1, 0, 0], "for board 1, from board 0");
            }
            addresses[usize::from(on_cable)].push(read.address.get());
        }
    }
    let [links, cable] = addresses;
    assert_eq!((links.len(), cable.len()), (100, 50));
    assert!(cable.iter().all(|address| links.contains(address)));
}

/// Messages are on the cable with their bytes, there and back.
#[test]
fn frames_of_boards_carry_messages() {
    let text = "[workload]\nkind = \"htx-ping-pong\"\nsize = \"16B\"\n";
    let (_, recording) = recorded(text);
    let slices = recording.slices();
    do_not_overlap(&slices);
    let messages = slices.iter().filter(|slice| slice.what == "message 16 B");
    let messages: Vec<_> = messages.collect();
    assert!(messages.len() > 2);
    for pair in messages.windows(2) {
        assert_ne!(pair[0].direction, pair[1].direction, "to and fro");
    }
    let capture = capture(&recording);
    let frames: Vec<_> = packets(&capture)
        .into_iter()
        .filter(|p| p.data[0] == 1)
        .collect();
    let with_a_message = frames.iter().filter(|frame| frame.data.len() == 10 + 16);
    assert!(with_a_message.count() >= messages.len());
}
