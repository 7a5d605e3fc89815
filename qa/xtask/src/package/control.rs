//! What each package says of itself.

use super::contents::Package;

const MAINTAINER: &str = "hostwire <hostwire@users.noreply.github.com>";
const HOMEPAGE: &str = env!("CARGO_PKG_REPOSITORY");

/// What a package is: section, what it needs besides libraries, and what it is for. `=` stands for the version of all of them.
struct Card {
    section: &'static str,
    needs: &'static [&'static str],
    wishes: &'static [&'static str],
    title: &'static str,
    text: &'static str,
}

fn card(package: Package) -> Card {
    match package {
        Package::Hostwire => Card {
            section: "net",
            needs: &[],
            wishes: &[
                "openssh-client",
                "gdb",
                "libpmix2",
                "libhostwire-fi (=)",
                "hostwire-lab (=)",
            ],
            title: "launcher and tools for programs on one written address space",
            text: "Starts parallel programs on this host and, by ssh, on others; says which\n\
                   wires a machine can use, measures them, and lends memory to other hosts.",
        },
        Package::Lab => Card {
            section: "science",
            needs: &["hostwire (=)"],
            wishes: &[],
            title: "plans and simulates clusters that hostwire runs on",
            text: "Makes register plans of clusters, runs unmodified programs on modelled\n\
                   hardware in virtual time, and repeats published experiments.",
        },
        Package::Shmem => Card {
            section: "libs",
            needs: &[],
            wishes: &["hostwire (=)"],
            title: "OpenSHMEM 1.6 on hostwire, shared libraries",
            text: "What programs need that were compiled by oshcc.hostwire, or that use\n\
                   hostwire_tca.h.",
        },
        Package::ShmemDev => Card {
            section: "libdevel",
            needs: &[
                "libhostwire-shmem1 (=)",
                "hostwire (=)",
                "libc6-dev",
                "gcc | c-compiler",
            ],
            wishes: &["pkgconf | pkg-config"],
            title: "OpenSHMEM 1.6 on hostwire, headers and compiler wrappers",
            text: "oshcc.hostwire, oshc++.hostwire and oshrun.hostwire, headers, a static\n\
                   library, pkg-config and CMake files, and the manual. It can be installed\n\
                   beside Open MPI.",
        },
        Package::Fi => Card {
            section: "libs",
            needs: &["libfabric1", "hostwire (=)"],
            wishes: &[],
            title: "provider of libfabric by which MPI runs over hostwire",
            text: "Programs take it where 'hostwire env mpi' says so, and no others.",
        },
        Package::Python => Card {
            section: "python",
            needs: &["python3 (>= 3.11)", "python3-numpy", "hostwire (=)"],
            wishes: &[],
            title: "one address space over many processes, for NumPy arrays",
            text: "Put, get, atomics, messages and collective operations on NumPy arrays of\n\
                   other processes, and a backend of torch.distributed.",
        },
    }
}

/// The file `control`. `libraries`: what dpkg-shlibdeps has found; `size_kib`: of all files.
pub fn control(
    package: Package,
    version: &str,
    architecture: &str,
    libraries: &str,
    size_kib: u64,
) -> String {
    let card = card(package);
    let list = |names: &[&str]| {
        let names = names
            .iter()
            .map(|name| name.replace("(=)", &format!("(= {version})")));
        names.collect::<Vec<_>>()
    };
    let mut needs = list(card.needs);
    needs.extend(Some(libraries.to_owned()).filter(|libraries| !libraries.is_empty()));
    let mut text = format!(
        "Package: {}\nSource: hostwire\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: {MAINTAINER}\nInstalled-Size: {size_kib}\n",
        package.name()
    );
    let wishes = list(card.wishes);
    for (field, names) in [("Depends", needs), ("Suggests", wishes)] {
        if !names.is_empty() {
            text += &format!("{field}: {}\n", names.join(", "));
        }
    }
    text += &format!(
        "Section: {}\nPriority: optional\nHomepage: {HOMEPAGE}\nDescription: {}\n",
        card.section, card.title
    );
    for line in card.text.lines() {
        text += &format!(" {line}\n");
    }
    text
}

/// The file `copyright`.
pub fn copyright() -> String {
    let licence = |name: &str, path: &str| match path {
        "" => format!(
            "License: {name}\n{}",
            paragraph(include_str!("../../../../LICENSE-MIT"))
        ),
        path => format!("License: {name}\n On Debian systems, the text is in {path}.\n"),
    };
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: hostwire\nSource: {HOMEPAGE}\n\
         Comment: Programs and libraries contain crates of crates.io, which are under MIT,\n \
         Apache-2.0, ISC, Unicode-3.0 or 0BSD; parts.cdx.json of each release lists them.\n\n\
         Files: *\nCopyright: The hostwire contributors\nLicense: Expat or Apache-2.0\n\n{}\n{}",
        licence("Expat", ""),
        licence("Apache-2.0", "/usr/share/common-licenses/Apache-2.0"),
    )
}

/// A text as the value of a field.
fn paragraph(text: &str) -> String {
    let lines = text.lines().map(|line| match line.trim() {
        "" => " .\n".to_owned(),
        _ => format!(" {line}\n"),
    });
    lines.collect()
}

/// The file `changelog.Debian`. `date`: as RFC 2822 has it.
pub fn changelog(version: &str, date: &str) -> String {
    format!(
        "hostwire ({version}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- {MAINTAINER}  {date}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_one_version_belong_together() {
        let control = control(Package::Fi, "0.2.0", "amd64", "libc6 (>= 2.36)", 12);
        assert!(
            control.contains("\nDepends: libfabric1, hostwire (= 0.2.0), libc6 (>= 2.36)\n"),
            "{control}"
        );
        assert!(
            control
                .ends_with(" Programs take it where 'hostwire env mpi' says so, and no others.\n")
        );
        for package in Package::ALL {
            let card = card(package);
            assert!(card.title.len() < 80 && card.title.starts_with(|c: char| !c.is_whitespace()));
            assert!(
                card.text.lines().all(|line| line.len() < 80),
                "{}",
                card.text
            );
        }
    }
}
