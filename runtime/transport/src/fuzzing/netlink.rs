//! Answers of the kernel about interfaces.

use super::kit::{Target, named, shown};
use crate::os::netlink::read_answer;

/// The kernel's answer to a request about interfaces.
pub(super) const ANSWER: Target = Target {
    name: "netlink_answer",
    check: |bytes| {
        if let Err(error) = read_answer(bytes) {
            shown(error);
        }
    },
    seeds: || {
        let answer = |error: i32| {
            let mut answer = vec![0; 36];
            answer[4..6].copy_from_slice(&2_u16.to_ne_bytes());
            answer[16..20].copy_from_slice(&error.to_ne_bytes());
            answer
        };
        named(vec![
            ("done", answer(0)),
            ("refused", answer(-17)),
            ("least", answer(i32::MIN)),
            ("cut", answer(-1)[..18].to_vec()),
        ])
    },
    cost: 1,
};
