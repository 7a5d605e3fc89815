//! Collective operations of teams: the arguments of C programs, and their rules, around those of
//! [`hostwire::core`].

use core::ffi::c_int;

use hostwire::core::{Combine, Fold, Source, Strides};

use crate::buffer::Input;
use crate::debug::race::{Flow, Footprint};
use crate::fast::What;
use crate::handle::Team;
use crate::reduction::{Reduce, combine};
use crate::remote::{done, symmetric};
use crate::runtime::{self, Runtime};
use crate::team::{self, TeamState};

/// The inputs of every operation: its team, and symmetric buffers.
struct Call {
    runtime: &'static Runtime,
    team: &'static TeamState,
    what: &'static str,
    /// The offsets of the destination and the source in a segment.
    dest: usize,
    source: usize,
}

impl Call {
    /// `None` for the invalid team. Empty buffers may be at any address.
    fn new(
        what: &'static str,
        team: Team,
        (dest, dest_bytes): (*mut u8, usize),
        (source, source_bytes): (*const u8, usize),
        argument: usize,
    ) -> Option<Self> {
        let runtime = runtime::get(what);
        let team = team::find(runtime, team)?;
        let offset = |role, address, len| match len {
            0 => 0,
            len => symmetric(runtime, what, role, address, len),
        };
        let call = Self {
            runtime,
            team,
            what,
            dest: offset("the destination", dest.cast_const(), dest_bytes),
            source: offset("the source", source, source_bytes),
        };
        let arguments = [call.dest, source_bytes, argument];
        runtime
            .debug
            .compare_arguments(runtime, what, team, arguments);
        Some(call)
    }

    /// Reports the accesses of this member to the detector of races: it reads these own
    /// bytes, and stores to these bytes of the members with those ranks.
    fn comes(
        &self,
        flow: Flow,
        source: Footprint,
        destinations: impl Iterator<Item = (usize, Footprint)>,
    ) {
        if let Some(race) = self.runtime.debug.race() {
            let (members, source) = (self.team.meeting(), Some(source));
            race.collective(self.runtime, self.what, members, flow, source, destinations);
        }
    }

    fn done(&self, result: hostwire::Result<()>) -> c_int {
        done(self.what, result);
        0
    }
}

/// `shmem_broadcast`.
pub(crate) fn broadcast(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    len: usize,
    root: c_int,
) -> c_int {
    let what = *what;
    let Some(call) = Call::new(what, team, (dest, len), (source, len), root as usize) else {
        return -1;
    };
    let Some(root) = usize::try_from(root)
        .ok()
        .filter(|root| *root < call.team.size())
    else {
        call.runtime.debug.say(what, || {
            let size = call.team.size();
            format!("there is no PE_root {root} in a team of {size} PEs: -1 is returned")
        });
        return -1;
    };
    let is_root = call.team.rank() == root;
    let bytes = |of| Footprint::run(of, if is_root { len } else { 0 });
    let ranks = (0..call.team.size()).filter(|_| is_root);
    let destinations = ranks.map(|rank| (rank, bytes(call.dest)));
    call.comes(Flow::From(root as u32), bytes(call.source), destinations);
    let attachment = &call.runtime.attachment;
    let team = &call.team.core;
    call.done(team.broadcast(attachment, root, len, call.source, call.dest))
}

/// `shmem_fcollect`.
pub(crate) fn fcollect(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    len: usize,
) -> c_int {
    let what = *what;
    let size = team::find(runtime::get(what), team).map_or(0, TeamState::size);
    let all = len.saturating_mul(size);
    let Some(call) = Call::new(what, team, (dest, all), (source, len), 0) else {
        return -1;
    };
    let mine = call.team.rank() * len;
    let destinations = (0..size).map(|rank| (rank, Footprint::run(call.dest + mine, len)));
    call.comes(Flow::All, Footprint::run(call.source, len), destinations);
    let attachment = &call.runtime.attachment;
    let team = &call.team.core;
    call.done(team.gather(attachment, len, call.source, call.dest))
}

/// The bytes as a source, which may be symmetric.
pub(crate) fn source_at<'a>(runtime: &Runtime, source: Input<'a>) -> Source<'a> {
    match runtime.locate(source.address(), source.len()) {
        Some(offset) => Source::Own(offset),
        None => Source::Private(source.bytes()),
    }
}

/// `shmem_collect`: as [`fcollect`], with as many bytes as each member likes.
pub(crate) fn collect(what: What, team: Team, dest: *mut u8, source: Input<'_>) -> c_int {
    let what = *what;
    let len = source.len();
    let runtime = runtime::get(what);
    let Some(team) = team::find(runtime, team) else {
        return -1;
    };
    let place = runtime.locate(dest.addr(), 0).unwrap_or(0);
    runtime
        .debug
        .compare_arguments(runtime, what, team, [place, 0, 0]);
    let data = source_at(runtime, source);
    let goes = |lens: &[usize]| {
        let sum = |lens: &[usize]| {
            lens.iter()
                .fold(0usize, |sum, len| sum.saturating_add(*len))
        };
        let dest = match sum(lens) {
            0 => return None,
            all => symmetric(runtime, what, "the destination", dest, all),
        };
        if let Some(race) = runtime.debug.race() {
            let mine = Footprint::run(dest + sum(&lens[..team.rank()]), len);
            let destinations = (0..team.size()).map(|rank| (rank, mine));
            let source = runtime.locate(source.address(), len);
            let source = source.map(|source| Footprint::run(source, len));
            let members = team.meeting();
            race.collective(runtime, what, members, Flow::All, source, destinations);
        }
        Some(dest)
    };
    done(
        what,
        team.core.collect(&runtime.attachment, data, len, goes),
    );
    0
}

/// `shmem_alltoall`.
pub(crate) fn alltoall(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    len: usize,
) -> c_int {
    let what = *what;
    let size = team::find(runtime::get(what), team).map_or(0, TeamState::size);
    let all = len.saturating_mul(size);
    let Some(call) = Call::new(what, team, (dest, all), (source, all), 0) else {
        return -1;
    };
    let mine = call.team.rank() * len;
    let destinations = (0..size).map(|rank| (rank, Footprint::run(call.dest + mine, len)));
    call.comes(Flow::All, Footprint::run(call.source, all), destinations);
    let attachment = &call.runtime.attachment;
    let team = &call.team.core;
    call.done(team.all_to_all(attachment, len, call.source, call.dest))
}

/// `shmem_alltoalls`. `strides` are those of the destination and the source in elements,
/// and the bytes of an element.
pub(crate) fn alltoalls(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    (dst, sst, element): (isize, isize, usize),
    nelems: usize,
) -> c_int {
    let what = *what;
    if dst < 1 || sst < 1 {
        crate::fail::fatal(what, "strides have to be at least 1");
    }
    let size = team::find(runtime::get(what), team).map_or(0, TeamState::size);
    let (dst, sst) = (dst as usize * element, sst as usize * element);
    let span = |step: usize| match nelems.saturating_mul(size) {
        0 => 0,
        count => step.saturating_mul(count - 1).saturating_add(element),
    };
    let buffers = ((dest, span(dst)), (source, span(sst)));
    let Some(call) = Call::new(what, team, buffers.0, buffers.1, dst << 32 ^ sst) else {
        return -1;
    };
    let mine = call.team.rank() * nelems;
    let elements = |start: usize, stride: usize, count: usize| Footprint {
        start,
        block_bytes: element,
        stride_bytes: stride as isize,
        blocks: count,
    };
    let destinations = (0..size).map(|rank| (rank, elements(call.dest + mine * dst, dst, nelems)));
    let source_elements = elements(call.source, sst, nelems * size);
    call.comes(Flow::All, source_elements, destinations);
    let strides = Strides {
        target: dst,
        source: sst,
        element_bytes: element,
        count: nelems,
    };
    let attachment = &call.runtime.attachment;
    let team = &call.team.core;
    call.done(team.all_to_all_strided(attachment, strides, call.source, call.dest))
}

/// Reductions, and scans: of the values up to this rank, with the own one or without.
pub(crate) fn fold<Op: 'static, T: Reduce<Op>>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    count: usize,
    of: Fold,
) -> c_int {
    fold_bytes(
        what,
        team,
        (dest.cast(), source.cast()),
        count,
        combine::<Op, T>(),
        of,
    )
}

fn fold_bytes(
    what: What,
    team: Team,
    (dest, source): (*mut u8, *const u8),
    count: usize,
    combine: Combine<'_>,
    of: Fold,
) -> c_int {
    let what = *what;
    let element = combine.element_bytes;
    let len = count.saturating_mul(element);
    let Some(call) = Call::new(what, team, (dest, len), (source, len), element) else {
        return -1;
    };
    let (flow, first) = match of {
        Fold::All => (Flow::All, 0),
        Fold::UpTo | Fold::Before => (Flow::Up, call.team.rank()),
    };
    let destinations = (first..call.team.size()).map(|rank| (rank, Footprint::run(call.dest, len)));
    call.comes(flow, Footprint::run(call.source, len), destinations);
    let attachment = &call.runtime.attachment;
    let places = (call.source, call.dest);
    let team = &call.team.core;
    call.done(team.fold(attachment, count, places, combine, of))
}
