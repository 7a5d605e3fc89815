//! Parameters of boards, chips and adapters in clusters that have several kinds of them: each one changes
//! what it stands for, and each point of a sweep is a configuration of its own.

use hostwire_sim::engine::Ps;
use hostwire_sim::experiments::file::{
    BadExperiment, Built, Experiment, Monitor, read, read_hardware,
};
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::models::ht::nic::Nic;
use hostwire_sim::models::htea::adapter::Adapter;
use hostwire_sim::models::pcie::Link;

const MIXED: &str = include_str!("../clusters/mixed.toml");
/// Boards around a switch.
const SWITCHED: &str = "[[switch]]\nname = \"s\"\nports = 2\n\
    [[node]]\nname = \"a0\"\nmemory = \"1GiB\"\nboard = true\n\
    [[node]]\nname = \"b0\"\nmemory = \"1GiB\"\nboard = true\n\
    [[cable]]\nfrom = \"a0.board.p0\"\nto = \"s.p0\"\n\
    [[cable]]\nfrom = \"b0.board.p0\"\nto = \"s.p1\"\n";

fn experiment(cluster: &str, text: &str) -> Result<Experiment, BadExperiment> {
    let text = format!("cluster = \"cluster.toml\"\n{text}");
    read("test.toml", text.as_bytes(), &|_| Ok(cluster.into()))
}

/// The time of a put from a0, point by point, in picoseconds.
fn times(cluster: &str, to: &str, size: &str, text: &str) -> Vec<u64> {
    let text = format!(
        "[workload]\nkind = \"put\"\nfrom = \"a0\"\nto = \"{to}\"\nsize = \"{size}\"\n{text}"
    );
    let read = experiment(cluster, &text).unwrap_or_else(|bad| panic!("{bad}"));
    let outcome = read.run(&Monitor::default(), None).unwrap();
    let times = outcome.results.iter().map(|result| {
        let ns = result.metric("time").unwrap();
        (ns * 1e3).round() as u64
    });
    times.collect()
}

/// A word takes so many nanoseconds more with this value of a parameter. It waits for the next bit time
/// `bit_ns` of two HyperTransport links.
fn check(cluster: &str, to: &str, (key, value): (&str, &str), (ns, bit_ns): (f64, f64)) {
    let (table, name) = key.split_once('.').unwrap();
    let usual = times(cluster, to, "8B", "")[0];
    let set = format!("[parameters.{table}]\n{name} = {value}\n");
    let other = times(cluster, to, "8B", &set)[0];
    let more = (other as f64 - usual as f64) / 1e3;
    assert!((more - ns).abs() <= 2.0 * bit_ns, "{key}: {more} ns more");
}

/// Boards run at 200 MHz on their HyperTransport links and at 100 MHz within; their cables carry 2 B per
/// 10 ns. A write crosses two of them.
#[test]
fn boards_take_the_time_of_their_parameters() {
    for (key, value, ns) in [
        ("htx.core_in_cycles", "21", 50.0),
        ("htx.core_out_cycles", "17", 50.0),
        ("htx.requester_cycles", "15", 100.0),
        ("htx.network_out_cycles", "15", 100.0),
        ("htx.network_in_cycles", "16", 100.0),
        ("htx.completer_cycles", "15", 100.0),
        ("htx.frame_overhead", "\"16B\"", 40.0),
        // The cable is a parallel one.
        ("htx.serdes", "\"100ns\"", 0.0),
        // Boards with one cable have none.
        ("htx.crossbar_cycles", "14", 0.0),
    ] {
        check(MIXED, "b0", (key, value), (ns, 2.5));
    }
    check(SWITCHED, "b0", ("htx.switch_cycles", "14"), (100.0, 2.5));
}

/// A write crosses three links and two chips, as 32 bytes.
#[test]
fn chips_take_the_time_of_their_parameters() {
    for (key, value, ns) in [
        ("peach2.ingress_cycles", "56", 200.0),
        // Only DMA goes through the inside TLP by TLP.
        ("peach2.chip_bus", "\"32B\"", 0.0),
        ("peach2.egress_cycles", "56", 200.0),
        ("peach2.chip_clock", "\"125MHz\"", 496.0),
        ("peach2.link_lanes", "4", 24.0),
        ("peach2.link_rate", "\"2.5GT/s\"", 24.0),
        ("peach2.cable", "\"15ns\"", 30.0),
    ] {
        check(MIXED, "c0", (key, value), (ns, 0.193));
    }
}

/// Fewer buffers, slower answers and damage cost time in a long put.
#[test]
fn buffers_and_damage_slow_long_puts() {
    // Cables as fast as the links to the boards.
    let mixed = format!("{MIXED}\n[board]\nuser_frequency = \"200MHz\"\n");
    let slower = |to: &str, table: &str, before: &str, key: &str, value: &str| {
        let keys = [before.to_owned(), format!("{before}{key} = {value}\n")];
        let [usual, slow] = keys.map(|keys| {
            let keys = format!("[parameters.{table}]\n{keys}");
            times(&mixed, to, "64KiB", &keys)[0]
        });
        assert!(slow > usual, "{key}: {slow} ps, without it {usual} ps");
    };
    for (key, value) in [("frames_in_flight", "1"), ("port_messages", "1")] {
        slower("b0", "htx", "", key, value);
    }
    let damaged = "damaged_tlps_per_million = 100_000\n";
    for (before, key, value) in [
        ("", "header_credits", "1"),
        ("", "data_credits", "16"),
        ("", "replay_places", "1"),
        ("", "damaged_tlps_per_million", "100_000"),
        (
            "header_credits = 1\n",
            "damaged_dllps_per_million",
            "300_000",
        ),
    ] {
        slower("c0", "peach2", before, key, value);
    }
    let seeds = "[sweep]\nkey = \"parameters.peach2.damage_seed\"\nvalues = [1, 2]\n";
    let keys = format!("[parameters.peach2]\n{damaged}{seeds}");
    let seeds = times(MIXED, "c0", "64KiB", &keys);
    assert_ne!(seeds[0], seeds[1]);
}

/// What shows in rare cases only: many senders to one board, traffic both ways, a link that
/// gives up.
#[test]
fn what_seldom_matters_arrives_too() {
    let text = "cluster = \"mixed.toml\"\n[parameters.htx]\nreceive_messages = 3\n\
                frame_timeout = \"9us\"\n[parameters.peach2]\nretraining = \"7us\"\n\
                retrainings_max = 5\nreplay_timeout = \"3us\"\ndllp_wait = \"90ns\"\n";
    let hardware = read_hardware("it.toml", text.as_bytes(), &|_| Ok(MIXED.into()));
    let hardware = hardware.unwrap_or_else(|bad| panic!("{bad}"));
    let Ok(Built::Sockets(machine)) = hardware.build() else {
        panic!("not sockets");
    };
    for nic in &machine.boards().nics {
        let board = machine.sim.component::<Nic>(*nic).unwrap().config();
        assert_eq!(board.receive_messages_max, 3);
        assert_eq!(board.ports[0].timeout, Ps::from_us(9));
    }
    assert_eq!(machine.pcie().len(), 3);
    for wire in machine.pcie() {
        let link = machine.sim.component::<Link>(wire.link).unwrap().config();
        assert_eq!((link.retrain, link.retrains_max), (Ps::from_us(7), 5));
        assert_eq!(link.replay_timeout, Ps::from_us(3));
        assert_eq!(link.dllp_wait, Ps::from_ns(90));
    }
}

/// Timers of adapters: where frames are lost, later acks and a later timeout cost time.
#[test]
fn timers_of_adapters_come_from_the_file() {
    let node = |name| format!("[[node]]\nname = \"{name}\"\nmemory = \"1GiB\"\nadapter = true\n");
    let nodes = node("a0") + &node("b0");
    let time = |keys: &str| times(&format!("{nodes}{keys}"), "b0", "64KiB", "")[0];
    let lost = "[ethernet]\nlost_per_million = 400_000\n[htea]\n";
    // Otherwise the peer is asked before the timeout.
    let late = format!("{lost}ack_delay = \"200ms\"\n");
    for (before, key) in [
        (lost, "ack_delay = \"200ms\""),
        (&late, "retry_first = \"5ms\"\nretry_min = \"5ms\""),
    ] {
        let [usual, slow] = [before.to_owned(), format!("{before}{key}\n")].map(|keys| time(&keys));
        assert!(slow > usual, "{key}: {slow} ps, without it {usual} ps");
    }
    let others = "[htea]\ncredit_delay = \"7us\"\nack_frames = 9\nhello = \"50us\"\n";
    let machine = booted(&format!("{nodes}{others}")).unwrap();
    for adapter in machine.adapters() {
        let parts = machine
            .sim
            .component::<Adapter>(*adapter)
            .unwrap()
            .config()
            .parts;
        assert_eq!((parts.credit_delay_ps, parts.ack_frames), (7_000_000, 9));
        assert_eq!(parts.hello_ps, 50_000_000);
    }
    for key in [
        "read_tags = 33",
        "read_tags = 0",
        "read_buffer = \"64B\"",
        "completion = \"96B\"",
        "completion = \"8KiB\"",
    ] {
        let text = "[workload]\nkind = \"put\"\nfrom = \"a0\"\nto = \"c0\"\n";
        let Err(bad) = experiment(&format!("{MIXED}\n[bridge]\n{key}\n"), text) else {
            panic!("{key} is taken");
        };
        let bad = bad.to_string();
        assert!(bad.contains("expected"), "{bad}");
    }
    for key in ["hello = \"1ns\"", "retry_min = \"1s\"", "ack_frames = 0"] {
        let text = "[workload]\nkind = \"put\"\nfrom = \"a0\"\nto = \"b0\"\n";
        let Err(bad) = experiment(&format!("{nodes}[htea]\n{key}\n"), text) else {
            panic!("{key} is taken");
        };
        let bad = bad.to_string();
        assert!(bad.contains("expected"), "{bad}");
    }
}

/// Points whose clusters differ in their devices only are different configurations.
#[test]
fn each_point_of_a_sweep_has_its_own_hash() {
    for (key, values, to) in [
        ("parameters.htx.requester_cycles", "[5, 6]", "b0"),
        ("parameters.peach2.cable", "[\"5ns\", \"6ns\"]", "c0"),
        ("cluster.htea.mapping", "[\"192ns\", \"200ns\"]", "b0"),
        ("cluster.ethernet.switch", "[\"244ns\", \"250ns\"]", "b0"),
        ("cluster.bridge.down", "[\"100ns\", \"110ns\"]", "c0"),
        ("cluster.bridge.read_tags", "[4, 32]", "c0"),
        (
            "cluster.board.user_frequency",
            "[\"100MHz\", \"200MHz\"]",
            "b0",
        ),
    ] {
        let text = format!(
            "[workload]\nkind = \"put\"\nfrom = \"a0\"\nto = \"{to}\"\nsize = \"64B\"\n\
             [sweep]\nkey = \"{key}\"\nvalues = {values}\n"
        );
        let read = experiment(MIXED, &text).unwrap_or_else(|bad| panic!("{bad}"));
        let outcome = read.run(&Monitor::default(), None).unwrap();
        let [a, b] = &outcome.results[..] else {
            panic!("{key}: not two points");
        };
        assert_ne!(a.configuration_hash, b.configuration_hash, "{key}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_table() {
    let two_boards = include_str!("../clusters/two-boards.toml");
    let put = |from: &str, to: &str, keys: &str| {
        format!(
            "[workload]\nkind = \"put\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"64B\"\n{keys}\n"
        )
    };
    for (cluster, text, expected) in [
        (
            two_boards,
            put("left", "right", "[parameters.htx]\ncompleter_cycles = 5"),
            "no node has a board",
        ),
        (
            two_boards,
            put("left", "right", "[parameters.peach2]\ncable = \"5ns\""),
            "no node has a chip",
        ),
        (
            MIXED,
            put("a0", "b0", "[parameters.htx]\nread_cycles = 13"),
            "[parameters.htx] has no key `read_cycles`",
        ),
        (
            MIXED,
            put("a0", "b0", "[parameters.peach2]\nhost_out = \"90ns\""),
            "[parameters.peach2] has no key `host_out`",
        ),
        (
            MIXED,
            put("a0", "b0", "[parameters.peach2]\ndata_credits = 15"),
            "use at least 16",
        ),
        (
            MIXED,
            put("a0", "b0", "[parameters.htx]\nframes_in_flight = 0"),
            "expected 1 to 32767",
        ),
        (MIXED, put("a0", "b0", "[parameters]\nhtx = 3"), "a table"),
    ] {
        let Err(bad) = experiment(cluster, &text) else {
            panic!("{text} is taken");
        };
        let bad = bad.to_string();
        assert!(bad.contains(expected), "{bad}");
    }
}
