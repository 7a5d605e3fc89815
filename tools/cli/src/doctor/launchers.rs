//! The launchers on this machine other than `hostwire run`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use hostwire::settings::PMIX_LIBRARY;

use super::Finding;

const TOPIC: &str = "launchers";
/// Programs, the option that prints their version, the Debian package, and its
/// description.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("mpirun", "--version", "openmpi-bin"),
    ("mpirun.openmpi", "--version", "openmpi-bin"),
    ("mpiexec.hydra", "--version", "mpich"),
    ("srun", "--version", "slurm-client"),
];

pub fn findings() -> Vec<Finding> {
    let mut findings = vec![Finding::ok(
        TOPIC,
        "hostwire run",
        format!("{} (one machine)", env!("CARGO_PKG_VERSION")),
    )];
    for (program, option, package) in PROGRAMS {
        match version(program, option) {
            Some(Ok(version)) => findings.push(Finding::ok(TOPIC, program, version)),
            Some(Err(complaint)) => findings.push(Finding::note(
                TOPIC,
                program,
                format!("fails: {complaint}"),
                "only for jobs that it shall start",
            )),
            // One of the two names of Open MPI's is enough.
            None if program == "mpirun" => {}
            None => findings.push(Finding::note(
                TOPIC,
                program,
                "not installed",
                format!("only for jobs that it shall start (Debian package {package})"),
            )),
        }
    }
    findings.push(pmix());
    findings
}

/// The line with its version, or its error text. `None` if there is no such program.
fn version(program: &str, option: &str) -> Option<Result<String, String>> {
    let output = Command::new(program)
        .arg(option)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(match output.status.success() {
        true => Ok(read_version(&String::from_utf8_lossy(&output.stdout))),
        false => Err(read_complaint(&String::from_utf8_lossy(&output.stderr))),
    })
}

fn read_version(text: &str) -> String {
    let has_number = |line: &&str| line.contains(|c: char| c.is_ascii_digit());
    match text.lines().find(has_number) {
        Some(line) => shown(line),
        None => "it does not say which version".to_owned(),
    }
}

/// The last line has the error that ended it.
pub(super) fn read_complaint(text: &str) -> String {
    match text.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => shown(line),
        None => "without a word".to_owned(),
    }
}

/// A line of another program, short and without control characters.
pub(super) fn shown(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain = |c: char| if c.is_control() { '?' } else { c };
    words.join(" ").chars().take(80).map(plain).collect()
}

/// The library by which PEs talk to mpirun and srun --mpi=pmix.
fn pmix() -> Finding {
    let set = PMIX_LIBRARY.in_environment();
    let file = set.or_else(|| {
        let roots = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib"];
        let folders = roots.iter().flat_map(|root| {
            let below = fs::read_dir(root).into_iter().flatten().flatten();
            let below = below.map(|entry| entry.path()).filter(|path| path.is_dir());
            below.chain([Path::new(root).to_path_buf()])
        });
        let files = folders.map(|folder| folder.join("libpmix.so.2"));
        let found = files.into_iter().find(|file| file.exists());
        found.map(|file| file.to_string_lossy().into_owned())
    });
    match file {
        Some(file) if Path::new(&file).exists() => Finding::ok(TOPIC, "PMIx", file),
        Some(file) => Finding::no(
            TOPIC,
            "PMIx",
            format!("{PMIX_LIBRARY}={file} is not there"),
            "unset it, or name the libpmix.so.2 of the launcher",
        ),
        None => Finding::note(
            TOPIC,
            "PMIx",
            "no libpmix.so.2 in the usual folders",
            "only for mpirun and srun --mpi=pmix (Debian package libpmix2)",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_launchers_say() {
        let hydra = "HYDRA build details:\n    Version:              4.0.2\n";
        assert_eq!(read_version(hydra), "Version: 4.0.2");
        assert_eq!(read_version("slurm-wlm 22.05.8\n"), "slurm-wlm 22.05.8");
        assert_eq!(read_version(""), "it does not say which version");
        let slurm = "srun: error: no DNS\nsrun: fatal: no configuration\n\n";
        assert_eq!(read_complaint(slurm), "srun: fatal: no configuration");
        assert_eq!(version("/nonexistent/mpirun", "--version"), None);
        let failed = Some(Err("without a word".to_owned()));
        assert_eq!(version("false", "--version"), failed);
    }
}
