//! Values of a PMIx library.

use hostwire_transport::fuzzing::kit::{blames, named};

use crate::Target;

pub(crate) const TARGETS: &[Target] = &[Target {
    name: "pmix_values",
    check: |bytes| {
        for error in hostwire_pmix::fuzzing::values(bytes) {
            blames(error, &["PMIx"]);
        }
    },
    seeds: || {
        let job = |size: u8| vec![1, 0, 8, size, 0, 0, 0, 0, 0, 0, 0];
        let with = |more: &[u8]| [&job(4)[..], more].concat();
        named(vec![
            ("bytes", with(&[0, 10, 4, b'=', b'a', 0, b'b'])),
            ("string", with(&[0, 1, 3, b'=', b'a', b'b'])),
            ("no_mark", with(&[0, 10, 40, 0x1b, b'[', b'2', b'J'])),
            ("nothing", with(&[0, 10, 3, 0, 0, 0, 0, 1, 2, 0, 0])),
            ("refused", with(&[210, 0])),
            ("number", with(&[0, 9, 7, 0, 0, 0, 0, 0, 0, 0])),
            (
                "negative",
                vec![1, 0, 3, 255, 255, 255, 255, 255, 255, 255, 255],
            ),
            ("small_job", job(1)),
            ("any_rank", vec![255]),
            ("no_launcher", vec![254]),
        ])
    },
    cost: 1,
}];
