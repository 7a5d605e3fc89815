//! PEACH2 beside the way that the paper compares it with: three copies over InfiniBand.

use hostwire_sim::engine::Ps;
use hostwire_sim::experiments::file::{Monitor, read};
use hostwire_sim::experiments::tca_peach2::{Grade, Steps, ThreeCopies, three_copies};
use hostwire_sim::models::pcie::peach2::host::HostConfig;

fn copied(grade: Grade, bytes: u64, between_gpus: bool) -> Steps {
    let config = ThreeCopies::new(grade, HostConfig::default());
    three_copies(&config, bytes, between_gpus).unwrap().0
}

/// The one number that was fitted: 17 us for 8 B (GTC 2014).
#[test]
fn the_fitted_latency_is_that_of_the_talk() {
    let total = copied(Grade::Qdr, 8, true).total().as_ns();
    assert!((total / 17_000.0 - 1.0).abs() < 0.005, "{total}");
}

/// Announced: less than a microsecond for FDR (section IV.B.1), which is without MPI.
#[test]
fn adapters_take_less_than_what_is_announced() {
    let fdr = copied(Grade::Fdr, 8, false);
    assert!(fdr.adapters < Ps::from_us(1), "{}", fdr.adapters);
    assert!(fdr.adapters > Ps::from_ns(600), "{}", fdr.adapters);
    assert_eq!((fdr.out, fdr.into), (Ps::ZERO, Ps::ZERO));
}

/// Long copies run at the rate of the slowest link on their way, headers included.
#[test]
fn links_set_the_rate() {
    const MIB: u64 = 1 << 20;
    let rate = |step: fn(&Steps) -> Ps, grade| {
        let [short, long] = [MIB, 2 * MIB].map(|bytes| step(&copied(grade, bytes, true)));
        MIB as f64 / (long - short).as_s() / 1e9
    };
    // Gen2 x16: 256 of 280 bytes at 8 GB/s.
    let out = rate(|steps| steps.out, Grade::Qdr);
    assert!((out / (8.0 * 256.0 / 280.0) - 1.0).abs() < 0.01, "{out}");
    // QDR: 2048 of 2074 bytes at 4 GB/s. FDR has 6.73 GB/s, and the reads of the adapter as many
    // bytes as the host completes in turn: 276 bytes at 8 GB/s and the gap behind them.
    let qdr = rate(|steps| steps.network, Grade::Qdr);
    assert!((qdr / (4.0 * 2048.0 / 2074.0) - 1.0).abs() < 0.01, "{qdr}");
    let served = 256.0 / (276.0 / 8.0 + 7.035);
    for step in [|steps: &Steps| steps.network, |steps: &Steps| steps.into] {
        let rate = rate(step, Grade::Fdr);
        assert!((rate / served - 1.0).abs() < 0.02, "{rate} {served}");
    }
}

#[test]
fn runs_are_the_same_each_time() {
    let config = ThreeCopies::new(Grade::Qdr, HostConfig::default());
    let (_, summary) = three_copies(&config, 10_000, true).unwrap();
    assert_eq!(summary.hash.to_string(), "ecf946b8c74af734");
}

/// The result of an experiment with these parameters, in nanoseconds.
fn measured(size: &str, parameters: &str, metric: &str) -> f64 {
    let text = format!(
        "[cluster]\nfabric = \"peach2\"\n[cluster.topology]\nkind = \"ring\"\nnodes = 2\n\
         [cluster.topology.node]\nmemory = \"8GiB\"\ngpus = 2\ngpu_memory = \"5GiB\"\n\
         [workload]\nkind = \"tca-three-copies\"\nfrom = \"n0\"\nto = \"n1\"\n\
         devices = \"gpu\"\nnetwork = \"fdr\"\nsize = \"{size}\"\n[parameters]\n{parameters}\n"
    );
    let none = |_: &str| Err("no such file".to_owned());
    let experiment = read("copies.toml", text.as_bytes(), &none);
    let experiment = experiment.unwrap_or_else(|bad| panic!("{bad}"));
    let outcome = experiment.run(&Monitor::default(), None).unwrap();
    outcome.results[0].metric(metric).unwrap()
}

/// Times of the file are added to the step that they belong to.
#[test]
fn keys_of_the_file_change_their_step() {
    for (key, metric, more) in [
        ("mpi = \"1500ns\"", "network", 1_000.0),
        ("network_latency = \"1300ns\"", "network", 1_000.0),
        ("copy_call = \"8640ns\"", "copy_out", 1_000.0),
        ("copy_call = \"8640ns\"", "copy_in", 1_000.0),
        // 11 B more in a packet, at 6.818 GB/s: 1.613 ns.
        ("network_overhead = \"37B\"", "network", 1.613),
    ] {
        let got = measured("8B", key, metric) - measured("8B", "", metric);
        assert!((got - more).abs() < 0.002, "{key}: {metric} {got} ns more");
    }
    let slower = |metric, before: &str, key: &str| {
        let usual = measured("64KiB", before, metric);
        let slow = measured("64KiB", &format!("{before}\n{key}"), metric);
        assert!(
            slow > usual,
            "{key}: {metric} {slow} ns, without it {usual} ns"
        );
    };
    slower("copy_out", "", "gpu_link_rate = \"2.5GT/s\"");
    slower("copy_out", "", "gpu_link_lanes = 4");
    slower("copy_out", "", "engine_payload = \"128B\"");
    slower("copy_out", "", "header_credits = 1");
    slower("copy_in", "", "engine_read_tags = 1");
    slower(
        "copy_in",
        "engine_read_tags = 1",
        "engine_read_request = \"128B\"",
    );
    slower("network", "", "adapter_link_rate = \"2.5GT/s\"");
    slower("network", "", "adapter_link_lanes = 2");
    // 90 bytes for 64: the network is slower than the links then.
    slower("network", "", "network_packet = \"64B\"");
}
