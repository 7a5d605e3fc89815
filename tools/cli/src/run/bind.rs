//! Which CPU each PE runs on.

use std::fmt;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::start_error::StartError;

/// The value of `--bind`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bind {
    /// A CPU for each PE, if there are enough.
    Auto,
    /// Wherever the kernel likes.
    None,
    /// PE `i` on the CPU at place `i mod len`; not empty.
    List(Vec<usize>),
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bind::Auto => f.write_str("auto"),
            Bind::None => f.write_str("none"),
            Bind::List(cpus) => {
                let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
                f.write_str(&cpus.join(","))
            }
        }
    }
}

/// The CPU of each PE. Children inherit the affinity of the launcher's thread, so it is
/// set on the launcher before each start and put back at the end.
pub struct Binding {
    original: CpuSet,
    /// Empty if no PE is bound.
    cpus: Vec<usize>,
}

impl Binding {
    /// Decides where `pes` PEs go.
    ///
    /// # Errors
    /// [`StartError::NoSuchCpu`] when the list names a CPU that this process
    /// cannot use.
    pub fn new(bind: &Bind, pes: u32) -> Result<Binding, StartError> {
        let original = match sched_getaffinity(None) {
            Ok(set) => set,
            // More CPUs than the set can name: no PE can be bound.
            Err(_) if !matches!(bind, Bind::List(_)) => CpuSet::new(),
            Err(errno) => {
                return Err(StartError::System {
                    what: "ask for the CPUs",
                    errno,
                });
            }
        };
        let usable = cpus_of(&original);
        let cpus = match bind {
            Bind::None => Vec::new(),
            Bind::Auto if usable.len() >= pes as usize => usable,
            Bind::Auto => Vec::new(),
            Bind::List(cpus) => {
                check(cpus, &original, &usable)?;
                cpus.clone()
            }
        };
        Ok(Binding { original, cpus })
    }

    /// All PEs to the first CPU that this process may use.
    pub fn to_one_cpu() -> Result<Binding, StartError> {
        let mut binding = Self::new(&Bind::Auto, 1)?;
        binding.cpus.truncate(1);
        Ok(binding)
    }

    /// Sets this thread's affinity to that of PE `pe`.
    pub fn enter(&self, pe: u32) -> Result<(), StartError> {
        let index = (pe as usize).checked_rem(self.cpus.len());
        let Some(cpu) = index.and_then(|index| self.cpus.get(index)) else {
            return Ok(());
        };
        sched_setaffinity(None, &only(*cpu)).map_err(|errno| StartError::System {
            what: "bind a PE to its CPU",
            errno,
        })
    }

    /// Puts this thread's affinity back.
    pub fn leave(&self) {
        if !self.cpus.is_empty() {
            // This thread had it before. If the CPUs no longer exist, there is nothing
            // to do.
            let _ = sched_setaffinity(None, &self.original);
        }
    }
}

/// Tries every CPU of the list, since the allowed ones may be more than those
/// that this thread is bound to now.
fn check(cpus: &[usize], original: &CpuSet, usable: &[usize]) -> Result<(), StartError> {
    let mut wrong = None;
    for &cpu in cpus {
        match sched_setaffinity(None, &only(cpu)) {
            Ok(()) => {}
            Err(Errno::INVAL) => {
                wrong = Some(StartError::NoSuchCpu {
                    cpu,
                    usable: ranges(usable),
                });
                break;
            }
            Err(errno) => {
                wrong = Some(StartError::System {
                    what: "bind to a CPU",
                    errno,
                });
                break;
            }
        }
    }
    let _ = sched_setaffinity(None, original);
    wrong.map_or(Ok(()), Err)
}

fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    if cpu < CpuSet::MAX_CPU {
        set.set(cpu);
    }
    set
}

fn cpus_of(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect()
}

/// Ascending numbers in the form `0-3,7`.
pub fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number == *last + 1 => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let texts: Vec<String> = runs
        .iter()
        .map(|(first, last)| match last - first {
            0 => format!("{first}"),
            1 => format!("{first},{last}"),
            _ => format!("{first}-{last}"),
        })
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[0, 1]), "0,1");
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9,10");
    }

    #[test]
    fn a_job_larger_than_the_machine_is_not_bound() {
        let binding = Binding::new(&Bind::Auto, 4096).unwrap();
        assert!(binding.cpus.is_empty());
    }

    #[test]
    fn an_absent_cpu_is_refused_and_the_affinity_survives() {
        let before = cpus_of(&sched_getaffinity(None).unwrap());
        let present = *before.first().unwrap();
        let error = Binding::new(&Bind::List(vec![present, 1023]), 2)
            .err()
            .unwrap();
        assert!(error.to_string().contains("CPU 1023"), "{error}");
        assert_eq!(cpus_of(&sched_getaffinity(None).unwrap()), before);
    }
}
