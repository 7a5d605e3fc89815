//! What was a constant of the models is a parameter: each key changes the result by what it says.

use hostwire_sim::engine::Ps;
use hostwire_sim::experiments::file::{Monitor, RunResult, read};
use hostwire_sim::experiments::tccluster::TWO_BOARDS;
use hostwire_sim::firmware::{BootOptions, BootTimes, boot};
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::opteron::OpteronConfig;

fn run(text: &str) -> RunResult {
    let read = read("test.toml", text.as_bytes(), &|path| {
        let file = match path {
            "two-boards.toml" => TWO_BOARDS,
            "four-sockets.toml" => {
                include_str!("../experiments/tccluster/two-boards-four-sockets.toml")
            }
            "htea-eight.toml" => include_str!("../clusters/htea-eight.toml"),
            _ => return Err("no such file".to_owned()),
        };
        // Where the file says no length, the usual one counts.
        let lines = file.lines().filter(|line| !line.starts_with("length"));
        Ok(lines.collect::<Vec<_>>().join("\n").into_bytes())
    });
    let read = read.unwrap_or_else(|bad| panic!("{bad}"));
    let outcome = read.run(&Monitor::default(), None);
    outcome.unwrap_or_else(|e| panic!("{e}")).results.remove(0)
}

const PING_PONG: &str = "cluster = \"two-boards.toml\"\n[workload]\nkind = \"ping-pong\"\n\
                         from = \"left\"\nto = \"right\"\n";

/// The metric with the key at this value, less that with its default.
fn change(workload: &str, metric: &str, key: &str, value: &str) -> f64 {
    let usual = run(workload);
    let written = match value.parse::<u64>() {
        Ok(count) => count.to_string(),
        Err(_) => format!("\"{value}\""),
    };
    let other = run(&format!("{workload}[parameters]\n{key} = {written}\n"));
    assert_ne!(usual.configuration_hash, other.configuration_hash, "{key}");
    let set = other.configuration.parameters.iter();
    let mut set = set.filter(|parameter| parameter.overridden);
    let only = set
        .next()
        .map(|parameter| (&*parameter.key, &*parameter.value));
    assert_eq!(only, Some((key, value)));
    assert!(set.next().is_none());
    let of = |result: &RunResult| match metric {
        "virtual_time" => result.run.virtual_time_ns,
        _ => result.metric(metric).unwrap_or_else(|| panic!("{metric}")),
    };
    of(&other) - of(&usual)
}

/// Within the rounding of a mean over the phases of a poll.
fn is_near(got: f64, expected: f64, what: &str) {
    assert!((got - expected).abs() < 1.0, "{what}: {got} for {expected}");
}

#[test]
fn cables_and_phys_delay_messages() {
    let by = |key, value| change(PING_PONG, "half_round_trip", key, value);
    is_near(by("phys", "12ns"), 10.0, "PHYs");
    is_near(by("phys", "0ns"), -2.0, "no PHYs");
    is_near(by("cable_inch", "0.52ns"), 25.0 * 0.4, "an inch of cable");
    is_near(
        by("cable_length", "125in"),
        100.0 * 0.12,
        "a length of cable",
    );
}

/// On one board, between two processors.
#[test]
fn traces_delay_what_crosses_a_board() {
    let two = "cluster = \"four-sockets.toml\"\n[workload]\nkind = \"ping-pong\"\n\
               from = \"left.p0\"\nto = \"right.p0\"\n";
    let by = |key, value| change(two, "half_round_trip", key, value);
    is_near(by("trace_inch", "0.67ns"), 6.0 * 0.5, "an inch of trace");
    is_near(by("trace_length", "16in"), 10.0 * 0.17, "a length of trace");
}

/// A write is seen by the next look that samples memory behind it: earlier samples see it later by what is
/// left of their loads.
#[test]
fn loads_sample_memory_when_the_file_says() {
    let by = |value| {
        change(
            PING_PONG,
            "half_round_trip",
            "memory_sample_per_mille",
            value,
        )
    };
    // Half of a load of 74 ns. Not all phases of a poll are equally frequent when two PEs answer each other.
    for (value, expected) in [("0", 37.0), ("1000", -37.0)] {
        let got = by(value);
        assert!(
            (got - expected).abs() < 74.0 / 8.0,
            "{value}: {got} for {expected}"
        );
    }
}

/// Fewer buffers at links on a board, or of an adapter, carry less. With a NOP for each buffer, links that
/// both ends use carry less.
#[test]
fn buffers_and_nops_of_all_links_are_those_of_the_file() {
    let put = |cluster: &str, from: &str, to: &str| {
        format!(
            "cluster = \"{cluster}\"\n[workload]\nkind = \"put\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             size = \"512KiB\"\n"
        )
    };
    let across = put("four-sockets.toml", "left.p0", "right.p1");
    for key in ["inner_posted_command_credits", "inner_posted_data_credits"] {
        let less = change(&across, "receiver_bandwidth", key, "1");
        assert!(less < 0.0, "{key}: {less}");
    }
    let ethernet = put("htea-eight.toml", "n0", "n3");
    for key in ["adapter_command_credits", "adapter_data_credits"] {
        let less = change(&ethernet, "receiver_bandwidth", key, "1");
        assert!(less < 0.0, "{key}: {less}");
    }
    let both = "cluster = \"two-boards.toml\"\n[workload]\nkind = \"traffic\"\n\
                pattern = \"all-to-all\"\nmessages = 200\nsize = \"256B\"\nin_flight = 50\n";
    let longer = change(both, "virtual_time", "nop_credits", "1");
    assert!(longer > 0.0, "{longer}");
}

/// What a boot takes.
fn boot_ns(times: BootTimes) -> f64 {
    let plan = hostwire_plan::plan("two-boards.toml", TWO_BOARDS.as_bytes()).unwrap();
    let mut machine = Machine::new(plan, &OpteronConfig::shanghai()).unwrap();
    let options = BootOptions {
        times,
        ..BootOptions::default()
    };
    boot(&mut machine, &options).unwrap();
    machine.sim.now().as_ns()
}

#[test]
fn firmware_takes_the_time_that_a_file_says() {
    let usual = BootTimes::default();
    let longer = |key, value, times: BootTimes, each_ns: f64| {
        let boot = boot_ns(times) - boot_ns(usual);
        let times = boot / each_ns;
        assert!(
            times >= 2.0 && (times - times.round()).abs() < 1e-6,
            "{key}: {times}"
        );
        // The program begins elsewhere in the CRC windows of links, and takes some ns more or less.
        let run = change(PING_PONG, "virtual_time", key, value);
        assert!((run - boot).abs() < 1_000.0, "{key}: {run} for {boot}");
    };
    let rom = BootTimes {
        rom_access: Ps::from_us(10),
        ..usual
    };
    longer("rom_access", "10000ns", rom, 8_000.0);
    let memory = BootTimes {
        memory_access: Ps::from_us(10),
        ..usual
    };
    longer("memory_access", "10000ns", memory, 9_800.0);
    let init = BootTimes {
        memory_init: Ps::from_us(6_000),
        ..usual
    };
    longer("memory_init", "6000000ns", init, 1_000_000.0);
}

#[test]
fn boards_in_slots_have_their_own_ways() {
    let read = "[workload]\nkind = \"htx-read\"\n";
    is_near(
        change(read, "latency", "slot", "15ns"),
        20.0,
        "there and back",
    );
    let message = "[workload]\nkind = \"htx-message\"\n";
    let by = |key, value| change(message, "hardware_time", key, value);
    is_near(by("cable_length", "125in"), 100.0 * 0.12, "a looped cable");
    is_near(by("phys", "12ns"), 10.0, "PHYs");
    // 8 bits at 200 MHz carry 0.4 B in a nanosecond.
    is_near(
        change(message, "wire_time", "status", "64B"),
        48.0 / 0.4,
        "a longer status",
    );
    let write = "[workload]\nkind = \"htx-write\"\n";
    for key in ["core_command_credits", "core_data_credits"] {
        let less = change(write, "bandwidth", key, "1");
        assert!(less < 0.0, "{key}: {less}");
    }
    let answered = "[workload]\nkind = \"htx-ping-pong\"\n";
    is_near(
        change(answered, "half_round_trip", "phys", "12ns"),
        10.0,
        "PHYs",
    );
}

/// A controller that may have fewer descriptors reads its table at other times.
#[test]
fn controllers_fetch_as_many_descriptors_as_the_file_says() {
    let copy = "[cluster]\nfabric = \"peach2\"\n[cluster.topology]\nkind = \"ring\"\nnodes = 2\n\
                [cluster.topology.node]\nmemory = \"4GiB\"\n[workload]\nkind = \"tca-dma\"\n\
                from = \"n0\"\nsource = \"host\"\nto = \"n1\"\ntarget = \"host\"\n\
                descriptors = 100\nsize = \"8B\"\n";
    assert_ne!(change(copy, "virtual_time", "descriptors_ahead", "1"), 0.0);
}

/// Results of earlier versions keep their hashes.
#[test]
fn new_keys_at_their_defaults_leave_the_hash_of_a_configuration() {
    let usual = run(PING_PONG);
    let said = run(&format!(
        "{PING_PONG}[parameters]\nphys = \"2ns\"\ncable_length = \"25in\"\nmemory_init = \"5ms\"\n\
         nop_credits = 3\nmemory_sample_per_mille = 500\nadapter_data_credits = 32\n"
    ));
    assert_eq!(usual.configuration, said.configuration);
    assert_eq!(usual.configuration_hash, said.configuration_hash);
    assert_eq!(usual.configuration_hash, "b0b5747d0dc671d1");
}

/// Lengths that inches with two decimals cannot say are shown as they are.
#[test]
fn lengths_that_differ_are_different_configurations() {
    let of = |length: &str| {
        let file = format!("{PING_PONG}[parameters]\ncable_length = \"{length}\"\n");
        let result = run(&file);
        let set = result.configuration.parameters.iter();
        let mut set = set.filter(|parameter| parameter.overridden);
        let shown = set.next().map(|parameter| parameter.value.to_string());
        (shown.unwrap_or_default(), result.configuration_hash)
    };
    assert_eq!(of("10cm").0, "100mm");
    assert_ne!(of("10cm"), of("9.99cm"));
    assert_eq!(of("25.4mm"), of("1in"));
}
