//! From a fresh process to a PE, and back.
//!
//! The library may be initialised several times, and again after it was finalized. The
//! first time it attaches to the job and moves the static objects; both stay until the
//! process ends, so later times are cheap.

use core::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hostwire::attachment::{Attachment, Departure, Heap};
use hostwire::board::Activity;
use hostwire::core::team::{LEAVING, SHARED, WORLD};
use hostwire::core::{Kind, Tag};
use hostwire::{AgentMode, Error, Sizes};
use hostwire_transport::{EnvironmentFault, TransportError, Visibility, Window, worker};

use crate::arguments;
use crate::debug::Debug;
use crate::fail::{self, fatal};
use crate::fast::{self, Region};
use crate::fork;
use crate::heap::HEAP_ALIGN;
use crate::mpi;
use crate::remote::done;
use crate::runtime::{self, LibraryPhase, Runtime, THREAD_MULTIPLE, THREAD_SINGLE};
use crate::settings::{self, Settings};
use crate::statics::{self, Statics};
use crate::team::{self, Handles, TeamState};

/// The message rings of a segment are not used: as small as can be.
const RING_BYTES: usize = 256;

/// Initialisations that no finalization matches. The lock is held while the library
/// starts or ends.
static COUNT: Mutex<u32> = Mutex::new(0);
/// The process that initialised the library.
static PROCESS: AtomicU32 = AtomicU32::new(0);

pub(crate) fn is_initialized() -> bool {
    runtime::state() == LibraryPhase::Active
}

pub(crate) fn thread_level() -> c_int {
    runtime::get("shmem_query_thread");
    runtime::thread_level()
}

/// `shmem_init_thread`: provides any level that the program asks for.
///
/// # Safety
/// `provided` is null or can be written.
pub(crate) unsafe fn init_thread(requested: c_int, provided: *mut c_int) -> c_int {
    if !(THREAD_SINGLE..=THREAD_MULTIPLE).contains(&requested) {
        return -1;
    }
    const WHAT: &str = "shmem_init_thread";
    init(WHAT, requested);
    if !provided.is_null() {
        if arguments::are_checked() {
            arguments::writes(WHAT, "provided", provided, arguments::Extent::run(1));
        }
        // SAFETY: not null, and the caller promises that it can be written then.
        unsafe { provided.write(runtime::thread_level()) };
    }
    0
}

/// `start_pes`: only the first call has an effect, and programs need not finalize.
pub(crate) fn start_pes() {
    if !is_initialized() {
        init("start_pes", THREAD_SINGLE);
    }
}

pub(crate) fn init(what: &'static str, level: c_int) {
    let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
    match runtime::state() {
        LibraryPhase::Active => {}
        LibraryPhase::Forked => fail::not_in_use(what),
        LibraryPhase::Fresh => first_time(what, level),
        LibraryPhase::Finalized => again(what),
    }
    // Every level is provided in full; a later call may raise it.
    runtime::raise_thread_level(level);
    *count += 1;
}

fn first_time(what: &'static str, level: c_int) {
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => fatal(what, error),
    };
    let statics = statics::find();
    let runtime = match attach(&settings, statics) {
        Ok(runtime) => runtime::install(runtime),
        Err(error) => fatal(what, error),
    };
    if let Some(why) = runtime.debug.refusal(runtime) {
        fatal(what, why);
    }
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    if let Err(error) = fork::prepare_children(statics) {
        fatal(
            what,
            format_args!("looking after children that are forked: {error}"),
        );
    }
    at_exit();
    start(what, runtime);
    compare_layouts(what, runtime, &statics, level);
    if runtime.attachment.pe() == 0 {
        settings.print(runtime.heap_region.len_bytes);
        if let Some(hint) = runtime.debug.hint() {
            fail::say(hint);
        }
    }
}

fn again(what: &'static str) {
    let Some(runtime) = runtime::any() else {
        fatal(what, "the library was finalized before it was initialised");
    };
    runtime.attachment.tell_departure(Departure::Here);
    start(what, runtime);
    let world = &runtime.world.core;
    done(what, world.barrier_again(&runtime.attachment));
}

fn start(what: &'static str, runtime: &'static Runtime) {
    if let Err(error) = runtime.attachment.start(AgentMode::Thread) {
        fatal(what, error);
    }
    let (pe, pes) = (runtime.attachment.pe(), runtime.attachment.pes());
    runtime::set_state(LibraryPhase::Active);
    fast::set_identity(Some((pe, pes)));
    if let Some(race) = runtime.debug.race() {
        race.start(runtime);
    }
    // Checks of every access need the long way.
    if let Some((first, stride)) = runtime.mapped.filter(|_| !runtime.debug.is_on()) {
        fast::open(pes, first, stride, runtime.heap_region, runtime.statics);
    }
    arguments::set_checked(runtime.debug.is_on());
    runtime.attachment.activity(Activity::Computing, None);
}

fn attach(settings: &Settings, statics: Statics) -> Result<Runtime, Error> {
    let attachment = Attachment::join(|sizes, pes| {
        let heap_bytes = match hostwire::settings::HEAP.in_environment() {
            Some(_) => sizes.heap_bytes,
            None => match hostwire::modelled_heap_bytes()? {
                Some(bytes) => bytes.min(settings::DEFAULT_MAX),
                None => settings::default_bytes(pes),
            },
        };
        Ok(Sizes {
            ring_bytes: RING_BYTES,
            eager_bytes: sizes.eager_bytes,
            eager_memory_bytes: sizes.eager_memory_bytes,
            heap_bytes: settings.symmetric_bytes.unwrap_or(heap_bytes),
            heap_align_bytes: HEAP_ALIGN,
            static_bytes: statics.len_bytes,
            tool_bytes: Debug::area_bytes(settings, pes),
        })
    })?;
    if attachment.segment().visibility() == Visibility::Flushed {
        let missing = "programs load their own memory without asking the library, which would find \
                       old bytes: it takes a window that is coherent or write-combining";
        let fault = EnvironmentFault::Unsupported { missing };
        return Err(TransportError::environment("OpenSHMEM in a flushed window", fault).into());
    }
    let (pe, pes) = (attachment.pe(), attachment.pes());
    let layout = *attachment.layout();
    let own = attachment.segment().memory().clone();
    let alias = own.range(layout.statics(), statics.len_bytes)?;
    let own_address = address(attachment.segment());
    let region = |address, len_bytes, offset| Region {
        address,
        len_bytes,
        offset,
    };
    let mapped = attachment.wire().reach().and_then(|reach| {
        let (first, stride) = reach.segments();
        (reach.pes() == (0..pes)).then(|| (first.expose_provenance().get(), stride))
    });
    let near = near(&attachment, pes);
    let is_shared = |other: &u32| near[*other as usize].is_some();
    let shared = (0..pes).filter(is_shared).collect();
    let moved = own.file().map(|(file, segment)| {
        let segment = segment as usize + layout.statics();
        // SAFETY: the alias is the part of the own segment behind these pages of the file;
        // this is the first call of the library, before it starts any thread.
        unsafe { statics::share(statics, file, segment, alias) }
    });
    let statics = match moved {
        Some(Ok(())) => region(statics.address, statics.len_bytes, layout.statics()),
        Some(Err(error)) => {
            let what = "making the static objects of the program symmetric";
            return Err(hostwire_transport::TransportError::environment(what, error).into());
        }
        None => region(0, 0, layout.statics()),
    };
    Ok(Runtime {
        mapped,
        near,
        heap_region: region(
            own_address + layout.heap(),
            layout.heap_bytes(),
            layout.heap(),
        ),
        statics,
        heap: Mutex::new(Heap::new(layout.heap_bytes())),
        handles: Mutex::new(Handles::default()),
        world: TeamState::predefined(&attachment, WORLD, (0..pes).collect())?,
        shared: TeamState::predefined(&attachment, SHARED, shared)?,
        leaving: hostwire::core::Team::predefined(&attachment, LEAVING, (0..pes).collect())?,
        pairs: (0..pes).map(|_| AtomicU64::new(0)).collect(),
        is_serial: AtomicBool::new(false),
        debug: Debug::new(settings, layout.tools(), pe, pes),
        attachment,
    })
}

fn address(window: &Window) -> usize {
    window.memory().base().expose_provenance().get()
}

/// The addresses of the segments that are reached without an agent.
fn near(attachment: &Attachment, pes: u32) -> Box<[Option<usize>]> {
    let address = |other| {
        let route = attachment
            .route(other)
            .filter(|route| !route.needs_agent())?;
        route.window().map(address)
    };
    (0..pes).map(address).collect()
}

/// Offsets mean the same everywhere only if all PEs run the same executable, with the
/// same sizes. They also exchange whether they may have threads.
fn compare_layouts(what: &'static str, runtime: &Runtime, statics: &Statics, level: c_int) {
    let has_threads = |level: u64| level == THREAD_MULTIPLE as u64;
    let mut is_serial = !has_threads(level as u64);
    let ours = [
        statics.digest,
        statics.len_bytes as u64,
        runtime.heap_region.len_bytes as u64,
        u64::from(runtime.debug.is_on()),
        level as u64,
    ];
    let start = Tag::new(Kind::Start, 0);
    team::exchange(
        runtime,
        what,
        &runtime.world,
        start,
        &ours,
        |rank, theirs| {
            is_serial &= !has_threads(theirs[4]);
            if theirs[..4] != ours[..4] {
                fatal(
                    what,
                    format_args!(
                        "PE {rank} is laid out differently: all PEs have to run the same executable \
                     (static objects of {} bytes there, {} here), with the same \
                     SHMEM_SYMMETRIC_SIZE ({} there, {} here) and SHMEM_DEBUG",
                        theirs[1], ours[1], theirs[2], ours[2]
                    ),
                );
            }
        },
    );
    runtime.is_serial.store(is_serial, Ordering::Relaxed);
}

pub(crate) fn finalize() {
    const WHAT: &str = "shmem_finalize";
    // An exit handler of a PE that has ended the job calls this: no other PE will arrive.
    if global_status().is_some() {
        return;
    }
    let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = runtime::get(WHAT);
    *count = count.saturating_sub(1);
    if *count > 0 {
        team::barrier(runtime, WHAT, &runtime.world);
        if let Some(race) = runtime.debug.race() {
            race.barrier(runtime, WHAT, runtime.world.meeting());
        }
        return;
    }
    end(runtime);
}

fn end(runtime: &Runtime) {
    const WHAT: &str = "shmem_finalize";
    runtime.attachment.activity(Activity::Finalizing, None);
    runtime.debug.report_leaks(runtime);
    if let Some(race) = runtime.debug.race() {
        race.finish(runtime, WHAT, runtime.world.meeting());
    }
    runtime.attachment.tell_departure(Departure::Leaving);
    done(WHAT, runtime.leaving.last_barrier(&runtime.attachment));
    runtime.attachment.tell_departure(Departure::Gone);
    runtime::set_state(LibraryPhase::Finalized);
    arguments::set_checked(false);
    fast::close();
    fast::set_identity(None);
    team::forget_all(runtime);
    runtime
        .heap
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
    if let Some(race) = runtime.debug.race() {
        race.stop();
    }
    // The agent serves until all PEs are done.
    runtime.attachment.stop();
    let left = match runtime.attachment.is_under_pmi() && mpi::will_leave() {
        true => Ok(()),
        false => runtime.attachment.leave_launcher(),
    };
    if let Err(error) = left.and_then(|()| runtime.attachment.close_recording()) {
        fatal(WHAT, error);
    }
    runtime.attachment.activity(Activity::Finished, None);
}

/// The status of the job, after this PE has called `shmem_global_exit`.
static GLOBAL_EXIT: Mutex<Option<c_int>> = Mutex::new(None);
/// How long the exit handlers of a program may take until the job ends without them.
const EXIT_GRACE: Duration = Duration::from_secs(5);

fn global_status() -> Option<c_int> {
    *GLOBAL_EXIT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `shmem_global_exit`: ends this program as usual, with exit handlers, destructors and buffers of
/// files, and then all others.
pub(crate) fn global_exit(status: c_int) -> ! {
    const WHAT: &str = "shmem_global_exit";
    runtime::get(WHAT);
    let before = GLOBAL_EXIT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .replace(status);
    let deadline = worker::start("hostwire-exit", 128 << 10, move || {
        std::thread::sleep(EXIT_GRACE);
        fail::end(status, WHAT)
    });
    if before.is_some() || deadline.is_err() {
        // An exit handler or a second thread has called this, or no launcher would end a handler
        // which never returns.
        fail::end(status, WHAT);
    }
    // SAFETY: not called from a handler of ours, and whatever the program has registered
    // may be called when it says that it ends.
    unsafe { libc::exit(status) }
}

/// The last thing that happens in a process, behind all exit handlers and destructors.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_THE_VERY_END: extern "C" fn() = at_the_very_end;

extern "C" fn at_the_very_end() {
    if let Some(status) = global_status() {
        fail::end(status, "shmem_global_exit");
    }
    let is_ours = PROCESS.load(Ordering::Relaxed) == std::process::id();
    let race = runtime::any()
        .filter(|_| is_ours)
        .and_then(|runtime| runtime.debug.race());
    if race.is_some_and(|race| race.has_reported()) && LAST_STATUS.load(Ordering::Relaxed) == 0 {
        // The program has ended without an error, but races were found. SAFETY: ends
        // the process.
        unsafe { libc::_exit(RACES) };
    }
}

unsafe extern "C" {
    /// Of the GNU C library: as `atexit`, with the exit status.
    fn on_exit(function: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// A program that does not finalize the library before it ends does so now.
fn at_exit() {
    // SAFETY: a function that stays where it is. (If it fails there is no memory for it,
    // and a program that forgets to finalize is reported as lost.)
    unsafe { on_exit(at_end, core::ptr::null_mut()) };
}

/// The status of a PE that would end with 0, but has reported a race.
const RACES: c_int = 66;
/// The status of the process.
static LAST_STATUS: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn at_end(status: c_int, _argument: *mut c_void) {
    LAST_STATUS.store(status, Ordering::Relaxed);
    let is_ours = PROCESS.load(Ordering::Relaxed) == std::process::id();
    finalize_if_forgotten(is_ours && status == 0);
    // Other PEs may need stores of this PE for their own end. These may be on their way.
    if let Some(runtime) = runtime::any().filter(|_| is_ours && runtime::was_finalized()) {
        runtime.attachment.wire().finish();
    }
}

fn finalize_if_forgotten(in_good_order: bool) {
    // A PE that fails must not wait for the others: the launcher informs them, or they
    // find this PE lost.
    if !in_good_order || !is_initialized() || global_status().is_some() {
        return;
    }
    // Held by a thread that is in the middle of an initialisation or the end, and that no
    // longer runs: there is nothing to wait for.
    if let (Ok(mut count), Some(runtime)) = (COUNT.try_lock(), runtime::any()) {
        *count = 0;
        end(runtime);
    }
}
