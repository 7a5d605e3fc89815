//! The order of messages: those of one pair do not overtake each other.
//! `docs/memory-model.md`, "The order of messages", says what is held here.

use hostwire::{AgentMode, Job, Sizes, Tag};
use hostwire_transport::conformance::{Testbed, Threads};

fn run(pes: u32, program: impl Fn(Job) + Sync) {
    let sizes = Sizes {
        heap_bytes: 1 << 20,
        ..Sizes::default()
    };
    let layout = hostwire::Layout::new(pes, sizes).unwrap();
    Threads::default().run(pes, layout.segment_bytes(), &|wire| {
        program(Job::over(wire, sizes, AgentMode::Thread).unwrap());
    });
}

const WORK: u64 = 1;
const STOP: u64 = 2;

/// For short messages and for long ones, which travel another way.
#[test]
fn messages_of_one_pair_and_tag_arrive_in_the_order_in_which_they_were_sent() {
    let len = |number: u64| if number.is_multiple_of(7) { 3000 } else { 5 };
    run(2, |job| {
        if job.pe() == 1 {
            for number in 0..200 {
                let tag = number % 3;
                job.send(0, tag, &vec![number; len(number)]).unwrap();
            }
        } else {
            // In the order of sending: the sender of a long message waits for its receiver.
            for number in 0..200 {
                let tag = number % 3;
                let got: Vec<u64> = job.recv_vec(1, tag).unwrap();
                assert_eq!(got, vec![number; len(number)]);
            }
        }
        job.finalize().unwrap();
    });
}

#[test]
fn messages_of_one_tag_keep_their_order_while_those_of_another_are_taken_first() {
    run(2, |job| {
        if job.pe() == 1 {
            for number in 0..40 {
                job.send(0, number % 2, &[number]).unwrap();
            }
        } else {
            for tag in [1, 0] {
                for index in 0..20 {
                    let mut got = [0];
                    job.recv(1, tag, &mut got).unwrap();
                    assert_eq!(got, [2 * index + tag]);
                }
            }
        }
        job.finalize().unwrap();
    });
}

/// A server that asks for any tag gets the messages in the order in which they were sent.
#[test]
fn a_server_that_asks_for_any_tag_sees_the_earlier_message_first() {
    run(2, |job| {
        if job.pe() == 1 {
            job.send(0, WORK, &[7u64]).unwrap();
            job.send(0, STOP, &[0u64]).unwrap();
        } else {
            let mut got = [0u64];
            let tags = [WORK, STOP].map(|_| job.recv_any(1, Tag::ANY, &mut got).unwrap().tag);
            assert_eq!(tags, [WORK, STOP]);
        }
        job.finalize().unwrap();
    });
}

/// The example of the documentation: a server that asks for two tags in turn sees the later
/// message first.
#[test]
fn a_server_that_polls_two_tags_may_see_the_later_message_first() {
    run(2, |job| {
        if job.pe() == 1 {
            job.barrier().unwrap();
            job.send(0, WORK, &[7u64]).unwrap();
            job.send(0, STOP, &[0u64]).unwrap();
            job.barrier().unwrap();
        } else {
            let mut got = [0u64];
            assert_eq!(job.try_recv(1, WORK, &mut got), Ok(None));
            job.barrier().unwrap();
            job.barrier().unwrap();
            assert_eq!(job.try_recv(1, STOP, &mut got), Ok(Some(1)));
            // The earlier message is there too: a server that stops has to look once more.
            assert_eq!(job.try_recv(1, WORK, &mut got), Ok(Some(1)));
            assert_eq!(got, [7]);
        }
        job.finalize().unwrap();
    });
}
