//! How the example programs begin and end.
//!
//! A parallel program has two ways to fail. An error that *all* PEs find together, such
//! as a wrong result or a missing file, is printed once, and the job ends in good
//! order. A PE that finds an error *alone* has to print it and leave at once: the
//! others may be waiting for it, and a PE that waits for them to finish would never end
//! the job. The launcher, or [`hostwire::Error::PeerLost`], ends the others.

use std::fmt::Display;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use hostwire::Job;

/// Exit status of a command line that makes no sense.
const USAGE_STATUS: u8 = 2;

/// Why a program fails.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// All PEs have found this together. PE 0 prints it.
    #[error("{0}")]
    Together(String),
    /// As [`Together`](Self::Together), when the command line is to blame.
    #[error("{0}")]
    Usage(String),
    /// Only this PE has found it.
    #[error("{0}")]
    Alone(String),
}

impl Failure {
    /// An error that only this PE has found, and its operation.
    pub fn alone(what: impl Display, cause: impl Display) -> Self {
        Self::Alone(format!("{what}: {cause}"))
    }
}

impl From<hostwire::Error> for Failure {
    fn from(error: hostwire::Error) -> Self {
        Self::Alone(error.to_string())
    }
}

/// Attaches to the job, reads the command line, runs `program` and leaves the job.
///
/// The exit status is 0 if `program` returned `Ok` on this PE, 2 if the command line
/// was wrong, and 1 otherwise.
pub fn run<A: Parser>(
    name: &str,
    program: impl FnOnce(&Job, A) -> Result<(), Failure>,
) -> ExitCode {
    let args = A::try_parse();
    let job = match Job::attach() {
        Ok(job) => job,
        Err(error) => {
            eprintln!("{name}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (pe, speaks) = (job.pe(), job.pe() == 0);
    let (message, status) = match args.map(|args| program(&job, args)) {
        Ok(Ok(())) => (None, ExitCode::SUCCESS),
        Ok(Err(Failure::Alone(text))) => {
            eprintln!("{name}: PE {pe}: {text}");
            // Dropping it would wait for the other PEs.
            std::mem::forget(job);
            return ExitCode::FAILURE;
        }
        Ok(Err(Failure::Together(text))) => (Some(text), ExitCode::FAILURE),
        Ok(Err(Failure::Usage(text))) => (Some(text), ExitCode::from(USAGE_STATUS)),
        Err(error) => {
            if speaks {
                // Nowhere to report to if this fails.
                let _ = error.print();
            }
            let asked = matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            );
            let status = if asked { 0 } else { USAGE_STATUS };
            (None, ExitCode::from(status))
        }
    };
    if let Some(text) = message.filter(|_| speaks) {
        eprintln!("{name}: {text}");
    }
    match job.finalize() {
        Ok(()) => status,
        Err(error) => {
            eprintln!("{name}: PE {pe}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What share `index` of `shares` equal ones gets of `total` things.
pub fn share(total: u64, index: u32, shares: u32) -> std::ops::Range<u64> {
    let bound = |index: u32| {
        let bound = u128::from(total) * u128::from(index) / u128::from(shares.max(1));
        // Not above `total` for any index up to `shares`.
        u64::try_from(bound).unwrap_or(total)
    };
    bound(index)..bound(index.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_follow_each_other_and_cover_everything() {
        for total in [0, 1, 5, 64, 1000, u64::MAX] {
            for shares in [1, 2, 3, 7, 4096] {
                let mut end = 0;
                for index in 0..shares {
                    let share = share(total, index, shares);
                    assert_eq!(share.start, end);
                    assert!(share.end - share.start <= total.div_ceil(shares.into()));
                    end = share.end;
                }
                assert_eq!(end, total);
            }
        }
    }
}
