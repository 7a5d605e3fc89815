//! Tunnels between programs of iceoryx2. Each host is a configuration of its own: programs of different prefixes do not find each other.
//!
//! The tests run on one host, where tunnels share memory. `scripts/iceoryx2.sh` runs them a second time with the tunnels in two network
//! namespaces, where they send frames: `TUNNEL_AGENT` is the command that starts one on another host.

#![allow(clippy::print_stderr, reason = "a test that fails says why")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iceoryx2::config::Config;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;

type Shared = ipc_threadsafe::Service;

/// Nothing takes so long that works.
const LIMIT: Duration = Duration::from_secs(60);

/// A folder, and in it the hosts.
struct World {
    folder: tempfile::TempDir,
}

/// A host: where programs of iceoryx2 find each other.
struct Host {
    folder: PathBuf,
    name: &'static str,
    config: Config,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn host(&self, name: &'static str) -> Host {
        let folder = self.folder.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        let world = self.folder.path().file_name().unwrap().to_str().unwrap();
        let world: String = world.chars().filter(char::is_ascii_alphanumeric).collect();
        let root = folder.join("iceoryx2");
        let text = format!(
            "[global]\nroot-path = '{}'\nprefix = '{world}{name}_'\n",
            root.display()
        );
        std::fs::write(folder.join("iceoryx2.toml"), text).unwrap();
        let file = folder.join("iceoryx2.toml");
        let file = FilePath::new(file.as_os_str().as_encoded_bytes()).unwrap();
        let config = Config::from_file(&file).unwrap();
        Host {
            folder,
            name,
            config,
        }
    }
}

impl Host {
    fn node(&self) -> Node<Shared> {
        NodeBuilder::new().config(&self.config).create().unwrap()
    }

    fn name_file(&self) -> PathBuf {
        self.folder.join("name")
    }

    fn tunnel(&self, peers: &[&Host], options: &[&str]) -> Tunnel {
        let program = env!("CARGO_BIN_EXE_hostwire-iceoryx2");
        let agent = std::env::var("TUNNEL_AGENT").ok();
        // The first host is the one of the tests.
        let words = agent.filter(|_| self.name != "a").unwrap_or_default();
        let mut words = words.split_whitespace().chain([program]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).arg("--name").arg(self.name_file());
        for peer in peers {
            command.arg("--peer").arg(peer.name_file());
        }
        command
            .arg("--config")
            .arg(self.folder.join("iceoryx2.toml"));
        command.args(["--look", "20"]).args(options);
        let log = std::fs::File::create(self.folder.join("log")).unwrap();
        command.stderr(log).stdout(Stdio::null());
        let child = command.spawn().unwrap();
        until("a tunnel has a name", || self.name_file().exists());
        Tunnel {
            child,
            log: self.folder.join("log"),
        }
    }
}

impl Drop for World {
    /// What iceoryx2 keeps for each prefix.
    fn drop(&mut self) {
        let world = self.folder.path().file_name().unwrap().to_str().unwrap();
        let world: String = world.chars().filter(char::is_ascii_alphanumeric).collect();
        for entry in std::fs::read_dir("/dev/shm").unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&world) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

struct Tunnel {
    child: Child,
    log: PathBuf,
}

impl Tunnel {
    /// As Ctrl-C does.
    fn interrupt(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(kill.success());
        self.child.wait().unwrap().code()
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}: {}", self.log.display(), self.said());
        }
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LIMIT, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ZeroCopySend, Default)]
#[repr(C)]
struct Reading {
    number: u64,
    value: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, ZeroCopySend, Default)]
#[repr(C)]
struct Stamp {
    who: u32,
    when: u64,
}

type Readings =
    iceoryx2::service::port_factory::publish_subscribe::PortFactory<Shared, Reading, ()>;

fn readings(node: &Node<Shared>, name: &str) -> Readings {
    let name = name.try_into().unwrap();
    let builder = node.service_builder(&name).publish_subscribe::<Reading>();
    builder.open_or_create().unwrap()
}

/// Writes readings until one has come, waits for the last, and gives its number. The first are lost while the tunnels find the service.
fn join(publisher: &Publisher<Shared, Reading, ()>, to: &Subscriber<Shared, Reading, ()>) -> u64 {
    let mut number = 0;
    let mut came = None;
    until("a reading comes", || {
        if came.is_none() {
            number += 1;
            let value = number as f64 / 2.0;
            publisher.send_copy(Reading { number, value }).unwrap();
        }
        while let Some(sample) = to.receive().unwrap() {
            assert_eq!(sample.value, sample.number as f64 / 2.0);
            came = Some(sample.number);
        }
        came == Some(number)
    });
    number
}

#[test]
fn samples_cross_in_both_directions_in_order_and_none_comes_back() {
    let world = World::new();
    let (a, b) = (world.host("a"), world.host("b"));
    let _tunnels = [a.tunnel(&[&b], &[]), b.tunnel(&[&a], &[])];
    let nodes = [a.node(), b.node()];
    let services = [&nodes[0], &nodes[1]].map(|node| readings(node, "both/ways"));
    let out = services
        .each_ref()
        .map(|it| it.publisher_builder().create().unwrap());
    let own = services[0].subscriber_builder().create().unwrap();
    let other = services[1].subscriber_builder().create().unwrap();
    let last = join(&out[0], &other);
    join(&out[1], &own);
    for reader in [&own, &other] {
        while reader.receive().unwrap().is_some() {}
    }
    for number in last + 1..last + 200 {
        let value = number as f64 / 2.0;
        out[0].send_copy(Reading { number, value }).unwrap();
        // Once on the own host, where it does not come back from the other,
        assert_eq!(own.receive().unwrap().unwrap().number, number);
        assert!(own.receive().unwrap().is_none());
        // and once there.
        let mut came = Vec::new();
        until("the next one", || {
            came.extend(other.receive().unwrap().map(|sample| sample.number));
            !came.is_empty()
        });
        assert_eq!(came, [number]);
    }
}

#[test]
fn slices_of_all_lengths_and_user_headers_come_whole() {
    let world = World::new();
    let (a, b) = (world.host("a"), world.host("b"));
    // One of the two knows the other's name: that is enough.
    let _tunnels = [a.tunnel(&[], &[]), b.tunnel(&[&a], &[])];
    let nodes = [a.node(), b.node()];
    let name: ServiceName = "slices".try_into().unwrap();
    let services = [&nodes[0], &nodes[1]].map(|node| {
        let builder = node.service_builder(&name).publish_subscribe::<[u64]>();
        builder.user_header::<Stamp>().open_or_create().unwrap()
    });
    let reader = services[1].subscriber_builder().create().unwrap();
    let writer = services[0].publisher_builder();
    let writer = writer.allocation_strategy(AllocationStrategy::PowerOfTwo);
    let writer = writer.initial_max_slice_len(1).create().unwrap();
    let mut is_first = true;
    for len in [0, 1, 2, 100, 8191, 8192, 8193, 100_000, 1 << 20, 3, 0] {
        let mut came = None;
        let mut sent = 0_u32;
        until("a slice", || {
            // The first is sent until it comes; the others once.
            if is_first || sent == 0 {
                sent += 1;
                let sample = writer.loan_slice_uninit(len).unwrap();
                let mut sample = sample.write_from_fn(|at| at as u64 * 3);
                *sample.user_header_mut() = Stamp {
                    who: 7,
                    when: len as u64,
                };
                sample.send().unwrap();
            }
            while let Some(sample) = reader.receive().unwrap() {
                came = Some((*sample.user_header(), sample.payload().to_vec()));
            }
            matches!(&came, Some((stamp, _)) if stamp.when == len as u64)
        });
        let (stamp, payload) = came.unwrap();
        assert_eq!(stamp.who, 7);
        assert_eq!(payload.len(), len);
        assert!(
            payload
                .iter()
                .enumerate()
                .all(|(at, value)| *value == at as u64 * 3),
            "{len}"
        );
        is_first = false;
        while reader.receive().unwrap().is_some() {}
    }
}

fn listen(listener: &Listener<Shared>, into: &mut Vec<usize>) {
    let take = |what: iceoryx2::port::EventActivation| {
        into.extend((0..what.count).map(|_| what.id.as_value()));
    };
    listener.try_wait(take).unwrap();
}

#[test]
fn notifications_cross_and_do_not_come_back() {
    let world = World::new();
    let (a, b) = (world.host("a"), world.host("b"));
    let _tunnels = [a.tunnel(&[&b], &[]), b.tunnel(&[&a], &[])];
    let nodes = [a.node(), b.node()];
    let name: ServiceName = "ring".try_into().unwrap();
    let services = [&nodes[0], &nodes[1]].map(|node| {
        node.service_builder(&name)
            .event()
            .open_or_create()
            .unwrap()
    });
    let notifier = services[0].notifier_builder().create().unwrap();
    let own = services[0].listener_builder().create().unwrap();
    let other = services[1].listener_builder().create().unwrap();
    let mut came = Vec::new();
    until("a notification", || {
        notifier
            .notify_with_custom_event_id(EventId::new(1))
            .unwrap();
        std::thread::sleep(Duration::from_millis(5));
        listen(&other, &mut came);
        !came.is_empty()
    });
    notifier
        .notify_with_custom_event_id(EventId::new(9))
        .unwrap();
    until("all before the last", || {
        listen(&other, &mut came);
        came.last() == Some(&9)
    });
    let mut here = Vec::new();
    listen(&own, &mut here);
    here.clear();
    came.clear();
    for round in 2..6 {
        notifier
            .notify_with_custom_event_id(EventId::new(round))
            .unwrap();
        until("the notification of a round", || {
            listen(&other, &mut came);
            came.last() == Some(&round)
        });
    }
    listen(&own, &mut here);
    here.sort_unstable();
    assert_eq!((here, came), (vec![2, 3, 4, 5], vec![2, 3, 4, 5]));
}

#[test]
fn who_comes_late_gets_the_history() {
    let world = World::new();
    let (a, b) = (world.host("a"), world.host("b"));
    let mut tunnels = [a.tunnel(&[&b], &[]), b.tunnel(&[&a], &[])];
    let (node, other) = (a.node(), b.node());
    let name: ServiceName = "history".try_into().unwrap();
    let open = |node: &Node<Shared>| {
        let builder = node.service_builder(&name).publish_subscribe::<u64>();
        builder
            .history_size(3)
            .subscriber_max_buffer_size(3)
            .open_or_create()
            .unwrap()
    };
    let service = open(&node);
    let publisher = service.publisher_builder().create().unwrap();
    until("the other tunnel knows it", || {
        tunnels[1].said().contains("carries history")
    });
    until("the last three", || {
        for number in 1..=5 {
            publisher.send_copy(number).unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
        let late = open(&other).subscriber_builder().create().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let mut came = Vec::new();
        while let Some(sample) = late.receive().unwrap() {
            came.push(*sample);
        }
        came == [3, 4, 5]
    });
    assert!(tunnels.iter_mut().all(|it| it.interrupt() == Some(0)));
}

#[test]
fn a_tunnel_that_is_killed_is_met_again_and_leaves_nothing() {
    let world = World::new();
    let (a, b) = (world.host("a"), world.host("b"));
    let mut kept = a.tunnel(&[&b], &[]);
    let killed = b.tunnel(&[], &[]);
    let (node, other) = (a.node(), b.node());
    let publisher = readings(&node, "again")
        .publisher_builder()
        .create()
        .unwrap();
    let subscriber = readings(&other, "again")
        .subscriber_builder()
        .create()
        .unwrap();
    join(&publisher, &subscriber);
    drop(killed);
    until("its end is noticed", || kept.said().contains("is lost"));
    let mut again = b.tunnel(&[], &[]);
    join(&publisher, &subscriber);
    drop((publisher, subscriber));
    until("the services are left", || {
        kept.said().contains("leaves again") && again.said().contains("leaves again")
    });
    // The name of the killed one was in the same file.
    assert_eq!((kept.interrupt(), again.interrupt()), (Some(0), Some(0)));
    assert!(!a.name_file().exists() && !b.name_file().exists());
    for (host, node) in [(&a, &node), (&b, &other)] {
        node.blocking_cleanup_dead_nodes(Duration::from_secs(5));
        assert_eq!(left_in(&host.folder.join("iceoryx2/services")), [""; 0]);
        let mut nodes = 0;
        let count = |_| {
            nodes += 1;
            CallbackProgression::Continue
        };
        Node::<Shared>::list(&host.config, count).unwrap();
        assert_eq!(nodes, 1, "the one of this test");
    }
}

fn left_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let names = entries.map(|it| it.unwrap().file_name().to_string_lossy().into_owned());
    names.collect()
}

#[test]
fn three_hosts_are_one() {
    let world = World::new();
    let hosts = ["a", "b", "c"].map(|name| world.host(name));
    let [a, b, c] = &hosts;
    let _tunnels = [
        a.tunnel(&[], &[]),
        b.tunnel(&[a], &[]),
        c.tunnel(&[a, b], &[]),
    ];
    let nodes = hosts.each_ref().map(Host::node);
    let services = nodes.each_ref().map(|node| readings(node, "three"));
    let readers = services
        .each_ref()
        .map(|it| it.subscriber_builder().create().unwrap());
    for (from, service) in services.iter().enumerate() {
        let writer = service.publisher_builder().create().unwrap();
        for to in (0..3).filter(|to| *to != from) {
            join(&writer, &readers[to]);
        }
        for reader in &readers {
            while reader.receive().unwrap().is_some() {}
        }
    }
}

#[test]
fn only_what_is_asked_for_is_carried_and_what_does_not_fit_is_said() {
    let world = World::new();
    let (a, b) = (world.host("a"), world.host("b"));
    let tunnels = [
        a.tunnel(&[&b], &[]),
        b.tunnel(&[&a], &["--service", "good/*"]),
    ];
    let (node, other) = (a.node(), b.node());
    let bad = readings(&node, "bad/one")
        .publisher_builder()
        .create()
        .unwrap();
    // One of the same name and another type is on the other host.
    let clash: ServiceName = "good/clash".try_into().unwrap();
    let clash = other.service_builder(&clash).publish_subscribe::<[u8]>();
    let clash = clash.open_or_create().unwrap();
    let _clash = clash.subscriber_builder().create().unwrap();
    let clashing = readings(&node, "good/clash")
        .publisher_builder()
        .create()
        .unwrap();
    let good = readings(&node, "good/one")
        .publisher_builder()
        .create()
        .unwrap();
    let reader = readings(&other, "good/one")
        .subscriber_builder()
        .create()
        .unwrap();
    join(&good, &reader);
    until("the clash is said", || {
        tunnels.iter().any(|it| it.said().contains("good/clash: "))
    });
    let silent = readings(&other, "bad/one")
        .subscriber_builder()
        .create()
        .unwrap();
    for _ in 0..20 {
        bad.send_copy(Reading::default()).unwrap();
        clashing.send_copy(Reading::default()).unwrap();
        join(&good, &reader);
    }
    assert!(silent.receive().unwrap().is_none());
    assert!(!tunnels[1].said().contains("bad/one"));
}

/// The station of a tunnel, as a program that is none has it.
fn station_of(host: &Host) -> hostwire::station::Name {
    let text = std::fs::read_to_string(host.name_file()).unwrap();
    let (pairs, []) = text.trim().as_bytes().as_chunks::<2>() else {
        panic!("a name of half a byte")
    };
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = pairs.iter().map(byte).collect();
    hostwire::station::Name::from_bytes(&bytes).unwrap()
}

#[test]
fn a_peer_that_sends_nonsense_is_told_of_and_hurts_nobody() {
    use hostwire::station::{Label, Lane, Station};
    let world = World::new();
    let (a, b) = (world.host("a"), world.host("b"));
    let tunnels = [a.tunnel(&[&b], &[]), b.tunnel(&[], &[])];
    let (node, other) = (a.node(), b.node());
    let writer = readings(&node, "good");
    let writer = writer.publisher_builder().create().unwrap();
    let reader = readings(&other, "good");
    let reader = reader.subscriber_builder().create().unwrap();
    join(&writer, &reader);
    let station = Station::open().unwrap();
    let peer = station.number(&station_of(&a)).unwrap();
    let send = |kind: u64, number: u64, bytes: Vec<u8>| {
        let tag = 1 << 48 | kind << 32 | number;
        let (lane, data) = (Lane::Tagged, Some(u64::MAX));
        let label = Label { lane, tag, data };
        let ticket = station.send(peer, label, Box::new(bytes)).unwrap();
        until("it is sent", || {
            let done = station.wait(Duration::from_millis(10)).unwrap();
            done.is_some_and(|done| done.ticket == ticket)
        });
    };
    for kind in 0..12 {
        for len in [0, 1, 8, 100, 5000] {
            send(kind, 1, vec![0xff; len]);
            send(kind, 0, vec![0; len]);
            send(kind, 0xffff_ffff, vec![0; len]);
        }
    }
    // A service that would take all memory, and samples of a service that has others.
    let mut offer = vec![4, 0];
    offer.extend(b"huge");
    offer.push(0);
    for size in [0_u64, 1 << 60] {
        offer.extend([0, 1, 0, b'T']);
        offer.extend(size.to_le_bytes());
        offer.extend(1_u64.to_le_bytes());
    }
    offer.push(1);
    offer.extend([1_u64; 6].map(u64::to_le_bytes).as_flattened());
    send(1, 7, offer);
    send(6, 7, vec![0; 64]);
    until("the huge one is refused", || {
        tunnels[0].said().contains("huge: the layout of a type")
    });
    until("nonsense is told of", || {
        tunnels[0].said().contains("in a way that is none")
    });
    join(&writer, &reader);
    drop(station);
    join(&writer, &reader);
}
