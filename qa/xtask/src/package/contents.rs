//! Which package has which file of an installation, and where.
//!
//! All of hostwire lies below one folder, as after `make install`: its parts find each other there, and nothing is in the way of Open
//! MPI, whose package has `/usr/bin/oshcc` and `shmem.h`, too. What others look for is linked, or moved, to where they look.

use std::path::{Path, PathBuf};

/// The folder of all programs, libraries and headers.
pub const PREFIX: &str = "/usr/lib/hostwire";
/// The section of pages of the manual for C: those of Open MPI have the same names.
const SECTION: &str = "3hostwire";

/// The packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Package {
    Hostwire,
    Lab,
    Shmem,
    ShmemDev,
    Fi,
    Python,
}

impl Package {
    pub const ALL: [Package; 6] = [
        Package::Hostwire,
        Package::Lab,
        Package::Shmem,
        Package::ShmemDev,
        Package::Fi,
        Package::Python,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Package::Hostwire => "hostwire",
            Package::Lab => "hostwire-lab",
            Package::Shmem => "libhostwire-shmem1",
            Package::ShmemDev => "libhostwire-shmem-dev",
            Package::Fi => "libhostwire-fi",
            Package::Python => "python3-hostwire",
        }
    }

    /// Names in the path of users, and what they stand for below [`PREFIX`].
    pub fn links(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Package::Hostwire => &[("hostwire", "hostwire")],
            Package::Lab => &[("hostwire-lab", "hostwire-lab")],
            Package::ShmemDev => &[
                ("oshcc.hostwire", "oshcc"),
                ("oshc++.hostwire", "oshc++"),
                ("oshrun.hostwire", "oshrun"),
            ],
            Package::Shmem | Package::Fi | Package::Python => &[],
        }
    }
}

/// Where a file of an installation goes: its package, and its path in that. `path` is below the prefix; `triplet` is the folder of
/// libraries of this kind of machine, such as `x86_64-linux-gnu`. `None` for what no package has.
pub fn place(path: &Path, triplet: &str) -> Option<(Package, PathBuf)> {
    let text = path.to_str()?;
    let (folder, name) = text.rsplit_once('/')?;
    let below = |prefix: &str| text.strip_prefix(prefix);
    let own = |package| {
        Some((
            package,
            Path::new(PREFIX).strip_prefix("/").ok()?.join(path),
        ))
    };
    let at = |package, target: String| Some((package, PathBuf::from(target)));
    match folder {
        "bin" => own(match name {
            "hostwire" => Package::Hostwire,
            "hostwire-lab" => Package::Lab,
            _ => Package::ShmemDev,
        }),
        "lib/libfabric" => own(Package::Fi),
        "lib" => own(match name {
            "libhostwire_remote.so" => Package::Hostwire,
            "libhostwire_clock.so" => Package::Lab,
            "libhostwire_tca.so" | "libshmem.so.1" => Package::Shmem,
            _ => Package::ShmemDev,
        }),
        "share/man/man1" => at(
            page_owner(name),
            format!("usr/share/man/man1/{}", page(name)),
        ),
        "share/man/man3" => {
            let name = name.strip_suffix(".3")?;
            at(
                Package::ShmemDev,
                format!("usr/share/man/man3/{name}.{SECTION}"),
            )
        }
        "share/hostwire/clusters" => at(Package::Lab, format!("usr/{text}")),
        "share/hostwire/wireshark" => at(Package::Hostwire, format!("usr/{text}")),
        "share/zsh/site-functions" if name == "_hostwire" => at(
            Package::Hostwire,
            "usr/share/zsh/vendor-completions/_hostwire".to_owned(),
        ),
        _ if below("lib/pkgconfig/").is_some() || below("lib/cmake/").is_some() => {
            let rest = below("lib/")?;
            at(Package::ShmemDev, format!("usr/lib/{triplet}/{rest}"))
        }
        _ if below("include/").is_some() => own(Package::ShmemDev),
        // Those of oshrun would be asked for Open MPI's, too.
        _ if name == "hostwire" || name == "hostwire.fish" => {
            at(Package::Hostwire, format!("usr/{text}"))
        }
        _ => None,
    }
}

/// The package with a page of the manual.
fn page_owner(name: &str) -> Package {
    match name {
        _ if name.starts_with("hostwire-lab") => Package::Lab,
        _ if name.starts_with("osh") => Package::ShmemDev,
        _ => Package::Hostwire,
    }
}

/// The name of a page: programs that Open MPI has, too, have another name.
fn page(name: &str) -> String {
    match name
        .strip_suffix(".1")
        .filter(|program| program.starts_with("osh"))
    {
        Some(program) => format!("{program}.hostwire.1"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_one_place() {
        for (path, package, target) in [
            ("bin/hostwire", "hostwire", "usr/lib/hostwire/bin/hostwire"),
            (
                "bin/oshc++",
                "libhostwire-shmem-dev",
                "usr/lib/hostwire/bin/oshc++",
            ),
            (
                "lib/libshmem.so",
                "libhostwire-shmem-dev",
                "usr/lib/hostwire/lib/libshmem.so",
            ),
            (
                "lib/libshmem.so.1",
                "libhostwire-shmem1",
                "usr/lib/hostwire/lib/libshmem.so.1",
            ),
            (
                "lib/libfabric/libhostwire-fi.so",
                "libhostwire-fi",
                "usr/lib/hostwire/lib/libfabric/libhostwire-fi.so",
            ),
            (
                "lib/pkgconfig/shmem.pc",
                "libhostwire-shmem-dev",
                "usr/lib/t/pkgconfig/shmem.pc",
            ),
            (
                "lib/cmake/H/H.cmake",
                "libhostwire-shmem-dev",
                "usr/lib/t/cmake/H/H.cmake",
            ),
            (
                "include/mpp/shmem.h",
                "libhostwire-shmem-dev",
                "usr/lib/hostwire/include/mpp/shmem.h",
            ),
            (
                "share/man/man3/shmem_put.3",
                "libhostwire-shmem-dev",
                "usr/share/man/man3/shmem_put.3hostwire",
            ),
            (
                "share/man/man1/oshcc.1",
                "libhostwire-shmem-dev",
                "usr/share/man/man1/oshcc.hostwire.1",
            ),
            (
                "share/man/man1/hostwire-run.1",
                "hostwire",
                "usr/share/man/man1/hostwire-run.1",
            ),
            (
                "share/hostwire/clusters/a.toml",
                "hostwire-lab",
                "usr/share/hostwire/clusters/a.toml",
            ),
            (
                "share/bash-completion/completions/hostwire",
                "hostwire",
                "usr/share/bash-completion/completions/hostwire",
            ),
        ] {
            let (owner, place) = place(Path::new(path), "t").unwrap();
            assert_eq!((owner.name(), place), (package, target.into()), "{path}");
        }
        for nobody in [
            "share/hostwire/shmem.files",
            "share/bash-completion/completions/oshrun",
        ] {
            assert_eq!(place(Path::new(nobody), "t"), None, "{nobody}");
        }
    }
}
