//! Regions behind paths, and jobs that come and go.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use hostwire_transport::error::{EnvironmentFault, PeId};
use hostwire_transport::wire::{Liveness, Wire};

use super::*;

const MIB: u64 = 1 << 20;
const LOST_AFTER: Duration = Duration::from_secs(30);

/// The path of a file that is removed after the test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let name = format!("hostwire-region-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn spec(&self) -> Spec {
        Spec {
            path: Some(self.0.clone()),
            ..Spec::default()
        }
    }

    fn make(&self, mib: u64) -> Result<Region> {
        Region::make(&Spec {
            size_bytes: Some(mib * MIB),
            ..self.spec()
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn fault<T>(result: Result<T>) -> RegionFault {
    match result.err() {
        Some(TransportError::Environment {
            fault: EnvironmentFault::Region(fault),
            ..
        }) => *fault,
        other => panic!("{other:?}"),
    }
}

/// A job of one PE, in this process.
fn join(spec: &Spec, segment_mib: u64) -> Result<hostwire_transport::shm::Shm> {
    let needs = Needs::new(1, segment_mib * MIB);
    let region = Region::open(spec)?;
    let ticket = region.claim(&needs, LOST_AFTER)?;
    Joining::new(region, &ticket, 0, &needs)?.finish(LOST_AFTER)
}

#[test]
fn a_path_is_made_shown_and_opened() {
    let file = Temporary::new("made");
    let made = *file.make(16).unwrap().head();
    assert_eq!(made.contract, Visibility::Coherent);
    assert_eq!(made.size_bytes, 16 * MIB);
    assert_eq!(Region::open(&file.spec()).unwrap().head(), &made);
    let report = Region::open(&file.spec()).unwrap().report().unwrap();
    assert_eq!((report.used_bytes, report.jobs.len()), (2 * MIB, 0));
    // It may be made anew, because no job is in it.
    let again = *file.make(16).unwrap().head();
    assert_ne!(again.identity, made.identity);
    let mode = std::fs::metadata(&file.0).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_region_that_cannot_be_made_leaves_no_file() {
    let file = Temporary::new("unmade");
    let spec = Spec {
        size_bytes: Some(MIB),
        ..file.spec()
    };
    assert!(matches!(
        fault(Region::make(&spec)),
        RegionFault::Unaligned { .. }
    ));
    assert!(!file.0.exists());
    // A file that was there stays.
    let found = std::fs::File::create(&file.0).unwrap();
    found
        .set_permissions(PermissionsExt::from_mode(0o600))
        .unwrap();
    assert!(Region::make(&spec).is_err());
    assert!(file.0.exists());
}

/// On a full file system a load would end the process.
#[test]
fn an_empty_file_is_refused_without_memory_for_it() {
    use std::os::fd::AsRawFd;
    let file = hostwire_transport::shm::create_file("empty", 16 << 20).unwrap();
    rustix::fs::fchmod(&file, 0o600.into()).unwrap();
    let spec = Spec {
        path: Some(format!("/proc/self/fd/{}", file.as_raw_fd()).into()),
        ..Spec::default()
    };
    assert_eq!(fault(Region::open(&spec)), RegionFault::NoRegion);
    assert_eq!(rustix::fs::fstat(&file).unwrap().st_blocks, 0);
}

#[test]
fn what_is_no_region_or_another_one_is_refused() {
    let file = Temporary::new("refused");
    assert!(Region::open(&file.spec()).is_err(), "it does not exist");
    std::fs::write(&file.0, vec![0; 4 << 20]).unwrap();
    let mode = |mode| std::fs::set_permissions(&file.0, PermissionsExt::from_mode(mode)).unwrap();
    mode(0o644);
    let wanted = 0o600;
    let is_open = RegionFault::Mode {
        mode: 0o644,
        wanted,
    };
    assert_eq!(fault(Region::open(&file.spec())), is_open);
    mode(0o600);
    assert_eq!(fault(Region::open(&file.spec())), RegionFault::NoRegion);
    std::fs::write(&file.0, vec![7; 4 << 20]).unwrap();
    let other = fault(Region::make(&file.spec()));
    assert_eq!(other, RegionFault::OtherContents);
    std::fs::write(&file.0, []).unwrap();
    file.make(16).unwrap();
    let spec = |change: fn(&mut Spec)| {
        let mut spec = file.spec();
        change(&mut spec);
        fault(Region::open(&spec))
    };
    let size = spec(|spec| spec.size_bytes = Some(8 * MIB));
    let (theirs, ours) = (8 * MIB, 16 * MIB);
    assert_eq!(size, RegionFault::Size { theirs, ours });
    let contract = spec(|spec| spec.contract = Some(Visibility::Flushed));
    let (theirs, ours) = ("coherent", "flushed");
    assert_eq!(contract, RegionFault::Contract { theirs, ours });
    let offset = spec(|spec| spec.offset_bytes = 4096);
    assert!(matches!(offset, RegionFault::Unaligned { .. }));
    let behind = spec(|spec| spec.offset_bytes = 2 * MIB);
    assert_eq!(behind, RegionFault::NoRegion);
}

#[test]
fn a_ticket_of_another_region_is_refused() {
    let (file, other) = (Temporary::new("one"), Temporary::new("other"));
    let region = file.make(16).unwrap();
    other.make(16).unwrap();
    let ticket = region.claim(&Needs::new(1, 2 * MIB), LOST_AFTER).unwrap();
    let identity = fault(Region::open_for(&other.spec(), &ticket));
    assert!(matches!(identity, RegionFault::Identity { .. }));
    let older = Ticket {
        incarnation: ticket.incarnation - 1,
        ..ticket.clone()
    };
    let stranger = Ticket {
        key: ticket.key ^ 1,
        ..ticket.clone()
    };
    let join = |ticket: &Ticket, pe: PeId, pes: u32| {
        let needs = Needs::new(pes, 2 * MIB);
        let region = Region::open_for(&file.spec(), ticket).unwrap();
        Joining::new(region, ticket, pe, &needs).map(drop)
    };
    let old = fault(join(&older, 0, 1));
    assert!(matches!(old, RegionFault::Incarnation { .. }));
    assert_eq!(fault(join(&stranger, 0, 1)), RegionFault::Held);
    // PE 0 of another host has just stored the entry that is not found here.
    for unseen in [&older, &stranger] {
        let far = Ticket {
            epoch: file::epoch() ^ 1,
            ..unseen.clone()
        };
        assert_eq!(fault(join(&far, 0, 1)), RegionFault::OwnPages { pe: 0 });
    }
    assert_eq!(fault(join(&ticket, 1, 1)), RegionFault::Held);
    assert_eq!(fault(join(&ticket, 0, 2)), RegionFault::Held);
}

#[test]
fn who_has_left_in_order_is_told_from_who_is_gone() {
    let file = Temporary::new("left");
    let region = file.make(16).unwrap();
    let needs = Needs::new(2, 2 * MIB);
    let ticket = region.claim(&needs, LOST_AFTER).unwrap();
    let found = region.table.slot(ticket.slot as usize).unwrap();
    let place = region.place_of(ticket.slot as usize, &found).unwrap();
    let place = place.unwrap();
    // The lines as the PEs write them. PE 0 does not lock its line, so it counts as dead.
    for (pe, state) in [(0, SlotState::JOINED), (1, SlotState::LEFT)] {
        let line = PeLine {
            mark: place.mark(state),
            beat: 0,
            epoch: file::epoch(),
            segment_offset_bytes: 0,
            process: 1,
            bell: 0,
        };
        region.lines(&place).unwrap().write(pe, &line).unwrap();
    }
    let report = region.report().unwrap();
    let seen: Vec<_> = report.jobs[0]
        .pes
        .iter()
        .map(|pe| (pe.has_left, pe.lives))
        .collect();
    assert_eq!(seen, [(false, Some(false)), (true, Some(false))]);
}

#[test]
fn two_jobs_share_a_region_and_give_it_back_zeroed() {
    for contract in [
        Visibility::Coherent,
        Visibility::Flushed,
        Visibility::WriteCombining,
    ] {
        let file = Temporary::new(&format!("shared-{}", contract_name(contract)));
        let spec = Spec {
            size_bytes: Some(16 * MIB),
            contract: Some(contract),
            ..file.spec()
        };
        Region::make(&spec).unwrap();
        if contract == Visibility::Flushed && flush::instructions() == Instructions::None {
            let refused = join(&spec, 4).unwrap_err().to_string();
            assert!(refused.contains("write back lines"), "{refused}");
            continue;
        }
        let one = join(&spec, 4).unwrap();
        let two = join(&spec, 4).unwrap();
        one.store(0, 8192, b"one").unwrap();
        two.store(0, 8192, b"two").unwrap();
        let seen = |wire: &hostwire_transport::shm::Shm| {
            let mut bytes = [0; 3];
            wire.segment().get(8192, &mut bytes).unwrap();
            bytes
        };
        assert_eq!((seen(&one), seen(&two)), (*b"one", *b"two"));
        let report = || Region::open(&spec).unwrap().report().unwrap();
        assert_eq!(report().jobs.len(), 2);
        let full = fault(join(&spec, 8));
        assert!(matches!(full, RegionFault::Full { jobs: 2, .. }));
        drop(one);
        drop(two);
        assert_eq!(report().jobs.len(), 0);
        let again = join(&spec, 4).unwrap();
        assert_eq!(seen(&again), [0; 3]);
    }
}

#[test]
fn jobs_that_begin_at_once_share_nothing() {
    let file = Temporary::new("at-once");
    file.make(64).unwrap();
    let spec = &file.spec();
    let tickets = std::thread::scope(|scope| {
        let claims: Vec<_> = (0..8)
            .map(|n| {
                let needs = Needs::new(1, (2 + 2 * (n % 3)) * MIB);
                scope.spawn(move || {
                    let region = Region::open(spec).unwrap();
                    region.claim(&needs, LOST_AFTER).unwrap()
                })
            })
            .collect();
        let ended = claims.into_iter().map(|claim| claim.join().unwrap());
        ended.collect::<Vec<_>>()
    });
    let table = Region::open(&file.spec()).unwrap().table;
    let mut units = Vec::new();
    for Ticket {
        slot,
        incarnation,
        key,
        ..
    } in &tickets
    {
        let place = table.find(*slot as usize, *incarnation, *key).unwrap();
        let end = place.entry.first_unit + place.entry.units;
        units.extend(place.entry.first_unit..end);
    }
    let count = units.len();
    units.sort_unstable();
    units.dedup();
    assert_eq!(units.len(), count, "{tickets:?}");
}

#[test]
fn what_a_job_without_living_pes_has_left_is_taken_back() {
    let file = Temporary::new("gone");
    file.make(16).unwrap();
    let needs = Needs::new(2, 4 * MIB);
    let region = Region::open(&file.spec()).unwrap();
    // Its PEs have never joined and never will, but that cannot be known.
    let ticket = region.claim(&needs, LOST_AFTER).unwrap();
    assert_eq!(region.take_back(None).unwrap(), 0);
    assert_eq!(region.report().unwrap().jobs.len(), 1);
    let needs = Needs::new(1, 10 * MIB);
    let next = region.claim(&needs, Duration::from_millis(50)).unwrap();
    let report = region.report().unwrap();
    assert_eq!(report.jobs.len(), 1);
    assert!(next.incarnation > ticket.incarnation);
}

#[test]
fn a_job_that_has_lost_its_place_is_told() {
    let file = Temporary::new("lost");
    let region = file.make(16).unwrap();
    let needs = Needs::new(2, 4 * MIB);
    let ticket = region.claim(&needs, LOST_AFTER).unwrap();
    let joining = [0, 1].map(|pe| {
        let region = Region::open_for(&file.spec(), &ticket).unwrap();
        Joining::new(region, &ticket, pe, &needs).unwrap()
    });
    let job = joining.map(|pe| pe.finish(LOST_AFTER).unwrap());
    assert!(job[0].is_alive(1).is_ok());
    let mark = region.table.slot(0).unwrap().mark;
    region.table.free(0, 0, mark).unwrap();
    let begin = std::time::Instant::now();
    while job[0].is_alive(1).is_ok() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(fault(job[0].is_alive(1)), RegionFault::TakenAway);
}
