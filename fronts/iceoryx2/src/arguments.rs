//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Makes services of iceoryx2 on several hosts one.
///
/// Start one tunnel on each host. Each writes its name into a file, and reads the names of the others from files: a folder that the
/// hosts share, or copies. Who has a name can meet the tunnel, and all that it carries between hosts is sealed. HOSTWIRE_WIRE says how
/// tunnels of different hosts reach each other (udp, tcp, ether), HOSTWIRE_IFACE at which interface; tunnels of one host share
/// memory.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100)]
pub struct Arguments {
    /// Write the name of this tunnel into this file, and remove it at the end
    #[arg(long, value_name = "FILE")]
    pub name: PathBuf,
    /// Meet the tunnel whose name is in this file; wait for the file if it is not there, and read it again if it changes
    #[arg(long, value_name = "FILE")]
    pub peer: Vec<PathBuf>,
    /// Carry services of these names only; `*` stands for any text. Default: all
    #[arg(long, value_name = "PATTERN")]
    pub service: Vec<String>,
    /// Read the configuration of iceoryx2 from this file, not from where its programs look for it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Look for new services every so many milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub look: u64,
    /// Rest for at most so many microseconds while there is nothing to carry; 0: never, which takes a core
    #[arg(long, value_name = "US", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub rest: u64,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// Whether a name fits a pattern with `*` in it.
pub fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    // `split` gives at least one part.
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "a/b"),
            ("a/*", "a/b/c"),
            ("*/b", "a/b"),
            ("a*c*e", "abcde"),
            ("a*b", "ab"),
            ("ab", "ab"),
            ("é*é", "éé"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("a/*", "b/a/"),
            ("ab", "abc"),
            ("a*ba", "aba/"),
            ("ab*ba", "aba"),
            ("a*c*c", "abc"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
