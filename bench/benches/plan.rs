//! How long planning and checking take. `cargo bench -p hostwire-bench --bench plan`
#![forbid(unsafe_code)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};

fn topology(kind: &str, shape: &str, memory: &str) -> String {
    format!(
        "[topology]\nkind = \"{kind}\"\n{shape}\n[topology.node]\nmemory = \"{memory}\"\nlinks = 8\n"
    )
}

fn plans(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan");
    group.sample_size(10);
    for (name, file) in [
        ("mesh-32x32", topology("mesh", "size = [32, 32]", "512MiB")),
        (
            "torus-8x8x8",
            topology("torus", "size = [8, 8, 8]", "512MiB"),
        ),
        ("hypercube-64", topology("hypercube", "nodes = 64", "8GiB")),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| hostwire_plan::plan(name, black_box(file.as_bytes())).expect("a plan"));
        });
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
