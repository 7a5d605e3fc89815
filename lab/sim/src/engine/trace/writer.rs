//! Writing a trace.

use std::io::{self, Write};

use crate::engine::id::ComponentId;
use crate::engine::time::Ps;

use super::{TARGET_BITS, TRACE_MAGIC, TRACE_RECORD_BYTES, TraceError, TraceFilter, end_of};

/// A trace that is being written.
pub(in crate::engine) struct Trace {
    out: Box<dyn Write>,
    filter: TraceFilter,
    /// Components that are named in the header.
    components: usize,
    records: u64,
    failed: Option<io::Error>,
}

impl Trace {
    pub(in crate::engine) fn new(
        mut out: Box<dyn Write>,
        filter: TraceFilter,
        components: &[String],
        kinds: &[&str],
    ) -> Result<Trace, TraceError> {
        out.write_all(&TRACE_MAGIC)?;
        let components_of = components.iter().map(String::as_str);
        write_names(&mut out, components_of)?;
        write_names(&mut out, kinds.iter().copied())?;
        Ok(Trace {
            out,
            filter,
            components: components.len(),
            records: 0,
            failed: None,
        })
    }

    pub(in crate::engine) fn record(
        &mut self,
        time: Ps,
        [target, source]: [ComponentId; 2],
        kind: u8,
        digest: u64,
    ) {
        // A component that was added after the header has no name in it.
        let is_named =
            |id: ComponentId| id == ComponentId::EXTERNAL || id.index() < self.components;
        let filter = &self.filter;
        let passed = time.saturating_sub(filter.origin);
        let wanted = time >= filter.origin
            && passed >= filter.from
            && passed < filter.until
            && filter.kinds.as_ref().is_none_or(|set| set.contains(&kind))
            && (filter.components.as_ref()).is_none_or(|set| set.contains(&target))
            && is_named(target)
            && is_named(source);
        if !wanted || self.failed.is_some() {
            return;
        }
        let mut record = [0; TRACE_RECORD_BYTES];
        let target_and_kind = target.0 | u32::from(kind) << TARGET_BITS;
        record[0..8].copy_from_slice(&passed.0.to_le_bytes());
        record[8..12].copy_from_slice(&target_and_kind.to_le_bytes());
        record[12..16].copy_from_slice(&source.0.to_le_bytes());
        record[16..24].copy_from_slice(&digest.to_le_bytes());
        match self.out.write_all(&record) {
            Ok(()) => self.records += 1,
            Err(error) => self.failed = Some(error),
        }
    }

    pub(in crate::engine) fn finish(mut self) -> Result<u64, TraceError> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.out.write_all(&end_of(self.records))?;
        self.out.flush()?;
        Ok(self.records)
    }
}

fn write_names<'a>(
    out: &mut impl Write,
    names: impl ExactSizeIterator<Item = &'a str>,
) -> io::Result<()> {
    out.write_all(&(names.len() as u32).to_le_bytes())?;
    for name in names {
        out.write_all(&(name.len() as u32).to_le_bytes())?;
        out.write_all(name.as_bytes())?;
    }
    Ok(())
}
