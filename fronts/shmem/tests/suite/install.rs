//! Wrappers, and an installation that works where it is put.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::install::{Args, place, uninstall};

use hostwire_testing::{is_installed, left_out, need};

use crate::build::{TABLE, oshrun, tree};
use crate::{output, succeeds, text};

const HELLO: &str = "\
#include <shmem.h>
#include <stdio.h>
int main(void)
{
    shmem_init();
    printf(\"PE %d of %d\\n\", shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}
";

fn says(program: &Path, argument: &str) -> String {
    succeeds(Command::new(program).arg(argument))
        .trim()
        .to_string()
}

#[test]
fn oshcc_shows_what_it_would_do() {
    let Some(tree) = tree() else { return };
    let (oshcc, oshcxx) = (tree.join("bin/oshcc"), tree.join("bin/oshc++"));
    let (include, lib) = (tree.join("include"), tree.join("lib"));
    assert_eq!(
        says(&oshcc, "--showme:compile"),
        format!("-I{}", include.display())
    );
    let link = says(&oshcc, "--showme:link");
    assert!(link.starts_with(&format!("-L{}", lib.display())), "{link}");
    assert!(link.ends_with("-lshmem -lm"), "{link}");
    assert_eq!(
        says(&oshcc, "--showme:incdirs"),
        include.display().to_string()
    );
    let whole = succeeds(Command::new(&oshcc).args(["--showme", "-c", "hello.c"]));
    assert_eq!(
        whole.trim(),
        format!("cc -I{} -c hello.c", include.display())
    );
    assert_eq!(says(&oshcxx, "--showme:command"), "c++");
    let wrong = output(Command::new(&oshcc).arg("--showme:colour"));
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn oshrun_says_what_it_cannot_do() {
    let Some(tree) = tree() else { return };
    let oshrun = tree.join("bin/oshrun");
    for (arguments, word) in [
        (&["true"][..], "how many PEs"),
        (&["-n", "2"], "which program"),
        (&["-n", "2", "-H", "a:0", "true"], "at least one PE"),
        (&["-n", "2", "--colour", "true"], "--colour"),
        (
            &["-n", "1", "-x", "NOT_SET_ANYWHERE", "true"],
            "NOT_SET_ANYWHERE",
        ),
        (&["-n", "1", "-n", "2", "true"], "twice"),
    ] {
        let output = output(Command::new(&oshrun).args(arguments));
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}

#[test]
fn oshrun_hands_on_variables_folders_and_arguments() {
    let Some(tree) = tree() else { return };
    let mut command = oshrun(tree, 1);
    command.args([
        "-x",
        "COLOUR=light blue",
        "-env",
        "SHAPE",
        "round",
        "-wd",
        "/",
        "--",
    ]);
    command.args([
        "sh",
        "-c",
        "echo \"$COLOUR,$SHAPE,$(pwd),$1,$2\"",
        "sh",
        "a  b",
        "$x '",
    ]);
    assert_eq!(
        succeeds(&mut command).trim(),
        "light blue,round,/,a  b,$x '"
    );
}

#[test]
fn oshrun_finds_a_program_that_is_here() {
    let Some(tree) = tree() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    succeeds(
        Command::new("cp")
            .arg("/bin/echo")
            .arg(folder.path().join("only-here")),
    );
    let arguments = ["only-here", "a  b", "-n"];
    let mut here = oshrun(tree, 1);
    here.current_dir(folder.path()).args(arguments);
    assert_eq!(succeeds(&mut here).trim(), "a  b -n");
    let mut there = oshrun(tree, 1);
    there.arg("-wd").arg(folder.path()).args(arguments);
    assert_eq!(succeeds(&mut there).trim(), "a  b -n");
}

/// All parts of an installation, at a fixed address and at any.
#[test]
fn programs_are_linked_statically() {
    let Some(tree) = tree() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let hello = folder.path().join("hello.c");
    fs::write(&hello, HELLO).expect("a file");
    for option in ["-static", "-static-pie"] {
        let program = folder.path().join("hello");
        let mut oshcc = Command::new(tree.join("bin/oshcc"));
        oshcc.arg(option).arg(&hello).arg("-o").arg(&program);
        let linked = output(&mut oshcc);
        if !linked.status.success() {
            return left_out(
                &need::C,
                "the C library is not there to be linked statically",
            );
        }
        // The linker warns of functions that load libraries when the program runs.
        assert_eq!(text(&linked), "", "{option}");
        let said = succeeds(oshrun(tree, 2).arg(&program));
        assert!(said.contains("PE 1 of 2"), "{option}: {said}");
        let pmix = [("PMIX_NAMESPACE", "job"), ("PMIX_RANK", "0")];
        let named = [("PMI_PORT", "launcher.invalid:1"), ("PMI_ID", "0")];
        for (environment, word) in [(pmix, "linked statically"), (named, "name resolution")] {
            let output = output(Command::new(&program).envs(environment));
            let said = text(&output);
            assert_eq!(output.status.code(), Some(1), "{option}: {said}");
            assert!(said.contains(word), "{option}: {said}");
        }
    }
}

#[test]
fn an_installation_works_and_goes_without_a_trace() {
    let Some(tree) = tree() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("usr");
    let args = Args {
        prefix: prefix.clone(),
        destdir: None,
    };
    place(&TABLE, tree, &args).expect("it can be installed");

    let hello = folder.path().join("hello.c");
    fs::write(&hello, HELLO).expect("a file");
    let program = folder.path().join("hello");
    succeeds(
        Command::new(prefix.join("bin/oshcc"))
            .arg(&hello)
            .arg("-o")
            .arg(&program),
    );
    let mut said: Vec<String> = succeeds(oshrun(&prefix, 2).arg(&program))
        .lines()
        .map(str::to_string)
        .collect();
    said.sort();
    assert_eq!(said, ["PE 0 of 2", "PE 1 of 2"]);
    for path in [
        "bash-completion/completions/hostwire",
        "zsh/site-functions/_hostwire",
        "fish/vendor_completions.d/hostwire.fish",
        "bash-completion/completions/oshrun",
        "zsh/site-functions/_oshrun",
        "fish/vendor_completions.d/oshrun.fish",
        "hostwire/wireshark/hostwire.lua",
        "hostwire/clusters/two-boards.toml",
        "man/man1/hostwire.1",
        "man/man1/hostwire-run.1",
    ] {
        assert!(prefix.join("share").join(path).exists(), "{path}");
    }
    for page in ["man1/oshrun.1", "man3/shmem_int_put.3", "man3/shmem_put.3"] {
        assert!(prefix.join("share/man").join(page).exists(), "{page}");
    }
    if is_installed("pkg-config", &need::PKG_CONFIG) {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        let flags = succeeds(command.args(["--cflags", "--libs", "hostwire-shmem"]));
        let flags: Vec<&str> = flags.split_whitespace().collect();
        assert!(flags.contains(&"-lshmem"), "{flags:?}");
        let by_flags = folder.path().join("by-flags");
        succeeds(
            Command::new("cc")
                .arg(&hello)
                .args(flags)
                .arg("-o")
                .arg(&by_flags),
        );
        succeeds(oshrun(&prefix, 2).arg(&by_flags));
    }
    tca(&prefix, folder.path());
    // CMake keeps libraries within a project out of the paths of installed programs.
    let project = folder.path().join("project");
    fs::create_dir(&project).expect("a folder");
    fs::copy(&hello, project.join("hello.c")).expect("a file");
    cmake(&prefix, &project);

    uninstall(&args).expect("it can be removed");
    assert!(!prefix.join("bin").exists() && !prefix.join("share").exists());
}

/// The TCA interface: its library, header and pages, as a program of C finds them.
fn tca(prefix: &Path, folder: &Path) {
    for page in ["hostwire_tca.3", "tcaInit.3", "tcaMemcpyPeerAsync.3"] {
        assert!(prefix.join("share/man/man3").join(page).exists(), "{page}");
    }
    if !is_installed("pkg-config", &need::PKG_CONFIG) {
        return;
    }
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = succeeds(command.args(["--cflags", "--libs", "hostwire-tca"]));
    let program = folder.join("tca_ring");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/tca_ring.c");
    let mut compile = Command::new("cc");
    compile.arg(source).args(flags.split_whitespace());
    succeeds(compile.arg("-o").arg(&program));
    let mut run = Command::new(prefix.join("bin/hostwire"));
    run.env_remove("LD_LIBRARY_PATH");
    let said = succeeds(
        run.args(["run", "-n", "2", "--devices", "none"])
            .arg(&program),
    );
    assert_eq!(said.matches("host to host").count(), 2, "{said}");
}

/// A debugger stops in the function that it was told, not in library code that was inlined into it; the next frame is
/// the program's line.
#[test]
fn a_break_point_on_a_function_stops_in_it() {
    let Some(tree) = tree() else { return };
    if !is_installed("gdb", &need::GDB) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let source = HELLO.replace(
        "    shmem_finalize",
        "    shmem_barrier_all();\n    shmem_finalize",
    );
    fs::write(folder.path().join("hello.c"), source).expect("a file");
    let mut compile = Command::new(tree.join("bin/oshcc"));
    compile.current_dir(folder.path());
    succeeds(compile.args(["-g", "hello.c", "-o", "hello"]));
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-ex", "set breakpoint pending on"]);
    gdb.args([
        "-ex",
        "break shmem_barrier_all",
        "-ex",
        "run",
        "-ex",
        "bt 2",
    ]);
    let output = output(
        gdb.arg(folder.path().join("hello"))
            .env_remove("LD_LIBRARY_PATH"),
    );
    let said = text(&output);
    if !said.contains("Breakpoint 1, ") {
        return left_out(&need::TRACING, "gdb cannot run programs here");
    }
    let frame = |number: &str| {
        said.lines()
            .find(|line| line.starts_with(number))
            .unwrap_or("")
    };
    assert!(frame("#0").contains("shmem_barrier_all"), "{said}");
    assert!(frame("#1").contains("main () at hello.c:7"), "{said}");
}

#[test]
fn an_installation_can_be_staged() {
    let Some(tree) = tree() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let args = Args {
        prefix: "/opt/hostwire".into(),
        destdir: Some(folder.path().to_path_buf()),
    };
    place(&TABLE, tree, &args).expect("it can be installed");
    let there = folder.path().join("opt/hostwire");
    let package = fs::read_to_string(there.join("lib/pkgconfig/shmem.pc")).expect("a package");
    assert!(package.starts_with("prefix=/opt/hostwire\n"), "{package}");
    uninstall(&args).expect("it can be removed");
    assert!(!there.join("lib").exists());
}

fn cmake(prefix: &Path, folder: &Path) {
    if !is_installed("cmake", &need::CMAKE) {
        return;
    }
    let project = "\
cmake_minimum_required(VERSION 3.13)
project(hello C)
find_package(HostwireShmem REQUIRED)
add_executable(hello-cmake hello.c)
target_link_libraries(hello-cmake HostwireShmem::shmem)
add_executable(hello-static hello.c)
target_link_libraries(hello-static HostwireShmem::shmem_static)
install(TARGETS hello-cmake hello-static RUNTIME DESTINATION bin)
";
    fs::write(folder.join("CMakeLists.txt"), project).expect("a file");
    let build = folder.join("build");
    let mut command = Command::new("cmake");
    command.arg("-S").arg(folder).arg("-B").arg(&build);
    succeeds(command.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    succeeds(Command::new("cmake").arg("--build").arg(&build));
    let installed = folder.join("installed");
    let mut install = Command::new("cmake");
    install.arg("-DCMAKE_INSTALL_PREFIX=".to_string() + &installed.display().to_string());
    succeeds(install.arg("-P").arg(build.join("cmake_install.cmake")));
    for program in ["hello-cmake", "hello-static"] {
        for place in [build.join(program), installed.join("bin").join(program)] {
            succeeds(oshrun(prefix, 2).env_remove("LD_LIBRARY_PATH").arg(place));
        }
    }
}
