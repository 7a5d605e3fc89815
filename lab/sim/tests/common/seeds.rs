//! Seeds of random tests.

/// A seed that is another one in each run, or that of the variable `SEED`. It is printed.
#[allow(clippy::print_stdout)]
pub fn seed() -> u64 {
    let given = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| {
        let since = std::time::UNIX_EPOCH.elapsed();
        // Room for what a test adds.
        since.map_or(1, |since| since.as_nanos() as u64 >> 8)
    });
    println!("seed {seed}");
    seed
}
