//! Keeps the library in the process: libfabric unloads providers at its end, and threads of a
//! station may run then.

fn main() {
    println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
}
