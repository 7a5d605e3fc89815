//! STREAM as the accesses that it makes.

use serde::Serialize;

use crate::engine::Ps;
use crate::models::memory::{
    Access, AccessKind, Loop, MemoryError, MemorySystem, RegionCounters, Strided, Watch,
};

/// Bytes of an element.
const ELEMENT: u64 = 8;

/// A function of STREAM (McCalpin).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// `c[i] = a[i]`
    Copy,
    /// `b[i] = s * c[i]`
    Scale,
    /// `c[i] = a[i] + b[i]`
    Add,
    /// `a[i] = b[i] + s * c[i]`
    Triad,
}

/// In STREAM's order.
pub const KERNELS: [Kernel; 4] = [Kernel::Copy, Kernel::Scale, Kernel::Add, Kernel::Triad];

/// A run of STREAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Elements of each of the three arrays.
    pub elements: u64,
    /// Times that all functions are run. All but the first count, as in STREAM, if there
    /// are several.
    pub series: u64,
    /// The work of the processor for an element of an array, without the access.
    pub work_per_access: Ps,
}

/// The time of a function, as a mean over the series that count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelTime {
    /// Which function.
    pub kernel: Kernel,
    /// Its time.
    pub time_s: f64,
    /// The bandwidth as STREAM counts it: 16 or 24 bytes per element, in 10^6 bytes per
    /// second.
    pub mb_s: f64,
}

/// What STREAM reports.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamTimes {
    /// The four functions.
    pub kernels: Vec<KernelTime>,
    /// The counts of each region in the last series.
    pub regions: Vec<RegionCounters>,
}

impl Kernel {
    /// The arrays that it reads and the one that it writes, by number.
    fn arrays(self) -> (&'static [u64], u64) {
        match self {
            Self::Copy => (&[0], 2),
            Self::Scale => (&[2], 1),
            Self::Add => (&[0, 1], 2),
            Self::Triad => (&[1, 2], 0),
        }
    }

    /// Its accesses, element by element. The three arrays lie one behind the other from 0 on.
    pub fn accesses_of(self, elements: u64) -> impl Iterator<Item = Access> {
        let (reads, write) = self.arrays();
        let array_bytes = elements.saturating_mul(ELEMENT);
        let reads = reads.iter().map(|array| (*array, AccessKind::Load));
        let body: Vec<_> = reads.chain([(write, AccessKind::Store)]).collect();
        (0..elements).flat_map(move |element| {
            let access = move |(array, kind): (u64, AccessKind)| Access {
                address: array.saturating_mul(array_bytes) + element * ELEMENT,
                bytes: ELEMENT,
                kind,
            };
            body.clone().into_iter().map(access)
        })
    }

    /// Accesses that an element takes.
    pub fn accesses(self) -> u64 {
        self.arrays().0.len() as u64 + 1
    }
}

impl StreamTimes {
    /// Mean time of the functions.
    pub fn mean_s(&self) -> f64 {
        self.mean(|kernel| kernel.time_s)
    }

    /// Mean of what the functions report.
    pub fn mean_mb_s(&self) -> f64 {
        self.mean(|kernel| kernel.mb_s)
    }

    fn mean(&self, of: impl Fn(&KernelTime) -> f64) -> f64 {
        self.kernels.iter().map(of).sum::<f64>() / self.kernels.len().max(1) as f64
    }
}

impl Stream {
    /// Bytes of the three arrays, one behind the other from address 0 on.
    pub fn bytes(&self) -> u64 {
        self.elements.saturating_mul(3 * ELEMENT)
    }

    /// Runs on a new memory system.
    ///
    /// # Errors
    /// [`MemoryError`]: the arrays do not fit the regions, or the run was ended.
    pub fn run(
        &self,
        memory: &mut MemorySystem,
        watch: Watch<'_>,
    ) -> Result<StreamTimes, MemoryError> {
        memory.place(0, self.bytes())?;
        let mut sums = [Ps::ZERO; KERNELS.len()];
        let mut counted = 0_u64;
        let mut before = memory.regions().to_vec();
        for series in 0..self.series.max(1) {
            let counts = series > 0 || self.series <= 1;
            before.copy_from_slice(memory.regions());
            for (kernel, sum) in KERNELS.into_iter().zip(&mut sums) {
                let time = self.run_kernel(kernel, memory, watch)?;
                if counts {
                    *sum += time;
                }
            }
            counted += u64::from(counts);
        }
        let kernels = KERNELS.into_iter().zip(sums).map(|(kernel, sum)| {
            let time_s = sum.as_s() / counted as f64;
            let bytes = self.elements as f64 * (ELEMENT * kernel.accesses()) as f64;
            KernelTime {
                kernel,
                time_s,
                mb_s: bytes / time_s / 1e6,
            }
        });
        let regions = memory
            .regions()
            .iter()
            .zip(&before)
            .map(|(now, before)| RegionCounters {
                reads: now.reads - before.reads,
                writes: now.writes - before.writes,
                page_ins: now.page_ins - before.page_ins,
                page_outs: now.page_outs - before.page_outs,
            });
        Ok(StreamTimes {
            kernels: kernels.collect(),
            regions: regions.collect(),
        })
    }

    fn run_kernel(
        &self,
        kernel: Kernel,
        memory: &mut MemorySystem,
        watch: Watch<'_>,
    ) -> Result<Ps, MemoryError> {
        let array_bytes = self.elements.saturating_mul(ELEMENT);
        let access = |array: u64, kind| Strided {
            first: Access {
                address: array.saturating_mul(array_bytes),
                bytes: ELEMENT,
                kind,
            },
            stride_bytes: ELEMENT,
        };
        let (reads, write) = kernel.arrays();
        let reads = reads.iter().map(|array| access(*array, AccessKind::Load));
        let body: Vec<Strided> = reads.chain([access(write, AccessKind::Store)]).collect();
        let begin = memory.time();
        let program = Loop {
            body: &body,
            iterations: self.elements,
            work: Ps(self.work_per_access.0.saturating_mul(kernel.accesses())),
        };
        memory.run(&program, watch)?;
        memory.drain();
        Ok(memory.time() - begin)
    }
}
