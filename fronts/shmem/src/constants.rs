//! The constants of `shmem.h`, generated.

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
