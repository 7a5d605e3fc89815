//! The C entry points, written by the build script from the table (`fronts/shmem/table`).
//!
//! Each function of OpenSHMEM is a strong symbol `pshmem_NAME` that calls
//! [`api`](crate::api), and a weak one `shmem_NAME`, so that a tool can put its own function
//! in its place and call the strong one. The few that Rust cannot express are in
//! `csrc/abi.c`.

mod inline;

mod entry_points {
    // A caller has to keep the conditions of the C function in the specification.
    #![allow(clippy::missing_safety_doc, clippy::too_many_arguments)]
    // Code that is written by a program, which does not know the routines that are safe.
    #![allow(clippy::collapsible_if, unused_unsafe)]

    use core::ffi::{
        c_char, c_int, c_long, c_longlong, c_schar, c_short, c_uchar, c_uint, c_ulong, c_ulonglong,
        c_ushort, c_void,
    };

    use crate::api::{
        self, And, Bits128, CTX_DEFAULT, ComplexF32, ComplexF64, Ctx, LongDouble, Max, Min, Or,
        Prod, SessionConfig, Sum, Team, TeamConfig, Xor,
    };
    use crate::arguments::{self, Extent};

    include!(concat!(env!("OUT_DIR"), "/entry_points.rs"));
}
