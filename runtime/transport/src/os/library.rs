//! Foreign libraries that are loaded at run time.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::NonNull;

use super::signals;

/// A library that stays for the rest of the process, as its threads do.
#[derive(Debug, Clone, Copy)]
pub struct Library(NonNull<c_void>);

// SAFETY: a handle that nobody closes; the loader has locks of its own.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// Who sees the functions of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Only users of the [`Library`].
    Own,
    /// Also libraries that are loaded later: the library has plug-ins that it loads itself.
    Global,
}

type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

impl Library {
    /// Loads it. The program's signal handlers stay: see [`signals::kept`].
    ///
    /// # Errors
    /// The message of the loader.
    pub fn load(name: &CStr, scope: Scope) -> Result<Self, String> {
        let open = loader().ok_or_else(|| {
            "this program is linked statically and cannot load libraries".to_owned()
        })?;
        let flags = match scope {
            Scope::Own => libc::RTLD_NOW | libc::RTLD_LOCAL,
            Scope::Global => libc::RTLD_NOW | libc::RTLD_GLOBAL,
        };
        // SAFETY: the name is terminated. The library's constructors run, as they would if this
        // program were linked with it; its file is the administrator's, or the user's own choice.
        let handle = signals::kept(|| unsafe { open(name.as_ptr(), flags) });
        let handle = NonNull::new(handle).map(Self);
        handle.ok_or_else(|| last_error().unwrap_or_else(|| name.to_string_lossy().into_owned()))
    }

    /// The function of this name, in the newest version that the library has.
    pub fn function(self, name: &CStr) -> Option<NonNull<c_void>> {
        symbol(self.0.as_ptr(), name)
    }
}

/// `dlopen`, where the program has a loader. A statically linked program has none: there the
/// `dlopen` of a static C library would load a second C library, and crash. Looked up at run time,
/// because the linker would warn of a direct reference in each such program.
fn loader() -> Option<Open> {
    let found = symbol(libc::RTLD_DEFAULT, c"dlopen")?;
    // SAFETY: the function of this name, which has the type that dlopen(3) gives.
    Some(unsafe { core::mem::transmute::<NonNull<c_void>, Open>(found) })
}

fn symbol(handle: *mut c_void, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the default scope or a handle that `dlopen` gave and nobody closes, and a terminated
    // name.
    NonNull::new(unsafe { libc::dlsym(handle, name.as_ptr()) })
}

fn last_error() -> Option<String> {
    // SAFETY: takes nothing. It returns null or a string that lasts until the next call of this
    // thread.
    let text = NonNull::new(unsafe { libc::dlerror() })?;
    // SAFETY: a terminated string, as just said; copied before any other call.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    Some(text.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::process::Command;

    use hostwire_testing::{is_installed, need};

    use super::*;

    /// As libinfinipath does, with which Debian's libfabric is linked.
    const RUDE: &str = "
        #include <signal.h>
        #include <unistd.h>
        static void end(int number) { (void)number; _exit(1); }
        __attribute__((constructor)) static void take(void) {
            int all[] = {SIGTERM, SIGINT, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGUSR2, 40};
            for (unsigned i = 0; i < sizeof all / sizeof *all; i++) signal(all[i], end);
            signal(SIGPIPE, SIG_DFL);
            /* Somebody ends the program just now. */
            raise(SIGUSR2);
        }
        int rude(void) { return 7; }
    ";

    /// The C library sets it in each action that it installs, and the kernel shows it.
    const SA_RESTORER: c_int = 0x0400_0000;

    fn handler(signal: c_int) -> Option<(usize, c_int)> {
        let action = signals::action(signal)?;
        Some((action.sa_sigaction, action.sa_flags & !SA_RESTORER))
    }

    #[test]
    fn signals_stay_the_programs() {
        if !is_installed("cc", &need::C) {
            return;
        }
        let folder = std::env::temp_dir().join(format!("hostwire-rude-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (source, file) = (folder.join("rude.c"), folder.join("librude.so"));
        fs::write(&source, RUDE).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&file);
        assert!(compiler.arg(&source).status().unwrap().success());
        // SAFETY: nobody else in these tests uses it.
        unsafe { libc::signal(libc::SIGUSR2, libc::SIG_IGN) };
        let all = || (1..=libc::SIGRTMAX()).map(handler).collect::<Vec<_>>();
        let before = all();
        let name = CString::new(file.into_os_string().into_encoded_bytes()).unwrap();
        let library = Library::load(&name, Scope::Own).unwrap();
        assert!(library.function(c"rude").is_some() && library.function(c"polite").is_none());
        assert_eq!(all(), before);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = Library::load(c"libthere-is-none.so.9", Scope::Global).unwrap_err();
        assert!(error.contains("libthere-is-none.so.9"), "{error}");
    }
}
