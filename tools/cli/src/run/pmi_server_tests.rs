use proptest::prelude::*;

use super::*;

fn server(pes: u32) -> Server {
    Server::new("kvs_1", pes)
}

/// The replies to `bytes` from `pe`, as `(pe, line)`.
fn say(server: &mut Server, pe: u32, bytes: &str) -> Vec<(u32, String)> {
    server
        .receive(pe, bytes.as_bytes())
        .into_iter()
        .map(|effect| match effect {
            Effect::Reply { pe, bytes } => (pe, String::from_utf8(bytes).unwrap()),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn one(server: &mut Server, line: &str) -> String {
    let mut replies = say(server, 0, line);
    assert_eq!(replies.len(), 1, "{line:?}: {replies:?}");
    replies.remove(0).1
}

#[test]
fn literal_conversation() {
    let mut server = server(3);
    for (line, reply) in [
        (
            "cmd=init pmi_version=1 pmi_subversion=1\n",
            "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n",
        ),
        (
            "cmd=get_maxes\n",
            "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n",
        ),
        ("cmd=get_appnum\n", "cmd=appnum rc=0 appnum=0\n"),
        (
            "cmd=get_my_kvsname\n",
            "cmd=my_kvsname rc=0 kvsname=kvs_1\n",
        ),
        ("cmd=get_universe_size\n", "cmd=universe_size rc=0 size=3\n"),
        (
            "cmd=get kvsname=kvs_1 key=PMI_process_mapping\n",
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,3))\n",
        ),
        (
            "cmd=put kvsname=kvs_1 key=a value=b=c\n",
            "cmd=put_result rc=0 msg=success\n",
        ),
        (
            "cmd=get kvsname=kvs_1 key=a\n",
            "cmd=get_result rc=0 msg=success value=b=c\n",
        ),
        (
            "cmd=get kvsname=kvs_1 key=x\n",
            "cmd=get_result rc=-1 msg=key_not_found value=unknown\n",
        ),
        (
            "cmd=get kvsname=other key=a\n",
            "cmd=get_result rc=-1 msg=kvs_not_found\n",
        ),
        (
            "cmd=getbyidx kvsname=kvs_1 idx=1\n",
            "cmd=getbyidx_results rc=0 nextidx=2 key=a val=b=c\n",
        ),
        (
            "cmd=getbyidx kvsname=kvs_1 idx=2\n",
            "cmd=getbyidx_results rc=-2 reason=no_more_keyvals\n",
        ),
        ("cmd=finalize\n", "cmd=finalize_ack rc=0\n"),
    ] {
        assert_eq!(one(&mut server, line), reply);
    }
}

#[test]
fn lines_may_come_in_any_pieces() {
    let mut server = server(1);
    assert_eq!(say(&mut server, 0, "cmd=get_app"), []);
    let replies = say(&mut server, 0, "num\ncmd=get_appnum\ncmd=");
    assert_eq!(replies.len(), 2);
    assert_eq!(
        say(&mut server, 0, "barrier_in\n"),
        [(0, "cmd=barrier_out rc=0\n".into())]
    );
}

#[test]
fn a_barrier_holds_until_the_last_one() {
    let mut server = server(3);
    for _ in 0..3 {
        assert_eq!(say(&mut server, 2, "cmd=barrier_in\n"), []);
        assert_eq!(say(&mut server, 0, "cmd=barrier_in\n"), []);
        let released = say(&mut server, 1, "cmd=barrier_in\n");
        let everybody: Vec<_> = (0..3)
            .map(|pe| (pe, "cmd=barrier_out rc=0\n".into()))
            .collect();
        assert_eq!(released, everybody);
    }
}

#[test]
fn a_barrier_that_cannot_complete_is_refused() {
    let refused = "cmd=barrier_out rc=-1 msg=PE%201%20has%20left%20the%20job\n".to_owned();

    let mut ended = server(2);
    assert_eq!(say(&mut ended, 0, "cmd=barrier_in\n"), []);
    let effects = ended.gone(1);
    assert_eq!(
        effects,
        [Effect::Reply {
            pe: 0,
            bytes: refused.clone().into_bytes()
        }]
    );
    assert_eq!(
        say(&mut ended, 0, "cmd=barrier_in\n"),
        [(0, refused.clone())]
    );

    let mut finalized = server(2);
    assert_eq!(say(&mut finalized, 0, "cmd=barrier_in\n"), []);
    let replies = say(&mut finalized, 1, "cmd=finalize\n");
    assert_eq!(
        replies,
        [(1, "cmd=finalize_ack rc=0\n".into()), (0, refused)]
    );
    assert_eq!(
        say(&mut finalized, 1, "cmd=barrier_in\n"),
        [(
            1,
            "cmd=barrier_out rc=-1 msg=barrier%20after%20finalize\n".into()
        )]
    );
}

#[test]
fn joining_and_leaving() {
    let mut server = server(1);
    assert!(!server.has_joined(0));
    one(&mut server, "cmd=init pmi_version=2 pmi_subversion=0\n");
    assert!(!server.has_joined(0));
    one(&mut server, "cmd=init pmi_version=1 pmi_subversion=1\n");
    assert!(server.has_joined(0));
    one(&mut server, "cmd=finalize\n");
    assert!(!server.has_joined(0));
}

#[test]
fn what_is_not_served_is_refused() {
    let mut server = server(1);
    for (line, begin) in [
        (
            "cmd=publish_name service=s port=p\n",
            "cmd=publish_result rc=-1 msg=publish_name%20is",
        ),
        (
            "cmd=lookup_name service=s\n",
            "cmd=lookup_result rc=-1 msg=lookup_name%20is",
        ),
        (
            "cmd=unpublish_name service=s\n",
            "cmd=unpublish_result rc=-1 msg=",
        ),
        ("cmd=spawn\n", "cmd=spawn_result rc=-1 msg=spawn%20is"),
        (
            "cmd=get_ranks2hosts\n",
            "cmd=error rc=-1 msg=unknown%20command%20get_ranks2hosts",
        ),
        (
            "cmd=put kvsname=kvs_1 key=k\n",
            "cmd=put_result rc=-1 msg=put%20without",
        ),
        (
            "mcmd=spawn\nnprocs=2\nexecname=x\nendcmd\n",
            "cmd=spawn_result rc=-1 msg=spawn%20is",
        ),
    ] {
        let reply = one(&mut server, line);
        assert!(reply.starts_with(begin), "{line:?}: {reply:?}");
    }
    let long = format!("cmd=put kvsname=kvs_1 key=k value={}\n", "v".repeat(1024));
    assert!(one(&mut server, &long).contains("rc=-1 msg=values%20have"));
    let long = format!("cmd=put kvsname=kvs_1 key={} value=v\n", "k".repeat(64));
    assert!(one(&mut server, &long).contains("rc=-1 msg=keys%20have"));
}

#[test]
fn a_key_keeps_its_first_value() {
    let mut server = server(1);
    let put = |value: &str| format!("cmd=put kvsname=kvs_1 key=k value={value}\n");
    assert!(one(&mut server, &put("1")).contains("rc=0"));
    assert!(one(&mut server, &put("1")).contains("rc=0"));
    assert!(one(&mut server, &put("2")).contains("rc=-1"));
    assert!(one(&mut server, "cmd=get kvsname=kvs_1 key=k\n").ends_with("value=1\n"));
}

#[test]
fn an_abort_is_passed_on() {
    let mut server = server(2);
    assert_eq!(
        server.receive(1, b"cmd=abort exitcode=3 message=no%20luck\ncmd=abort\n"),
        [
            Effect::Abort {
                pe: 1,
                code: 3,
                message: "no luck".into()
            },
            Effect::Abort {
                pe: 1,
                code: 1,
                message: String::new()
            },
        ]
    );
}

#[test]
fn nonsense_ends_its_sender_only() {
    let mut server = server(2);
    assert_eq!(say(&mut server, 0, "cmd=barrier_in\n"), []);
    let effects = server.receive(1, b"GET / HTTP/1.1\r\n\r\ncmd=get_appnum\n");
    let [
        Effect::Violation { pe: 1, reason },
        Effect::Reply { pe: 0, .. },
    ] = effects.as_slice()
    else {
        panic!("{effects:?}")
    };
    assert!(reason.contains("byte 0x0d"), "{reason}");
    assert_eq!(server.receive(1, b"cmd=get_appnum\n"), []);
    assert_eq!(
        one(&mut server, "cmd=get_appnum\n"),
        "cmd=appnum rc=0 appnum=0\n"
    );

    let effects = server.receive(0, &[b'x'; 5000]);
    let [Effect::Violation { pe: 0, reason }] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert!(reason.contains("5000 bytes"), "{reason}");
}

proptest! {
    #[test]
    fn random_bytes_never_panic(
        pieces in proptest::collection::vec((0u32..4, proptest::collection::vec(any::<u8>(), 0..200)), 0..20)
    ) {
        let mut server = server(3);
        for (pe, bytes) in pieces {
            server.receive(pe, &bytes);
        }
    }

    #[test]
    fn random_commands_get_at_most_one_reply_each(
        script in proptest::collection::vec((0u32..3, prop_oneof![
            Just("cmd=init pmi_version=1 pmi_subversion=1\n"),
            Just("cmd=get_maxes\n"),
            Just("cmd=barrier_in\n"),
            Just("cmd=finalize\n"),
            Just("cmd=put kvsname=kvs_1 key=k value=v\n"),
            Just("cmd=get kvsname=kvs_1 key=k\n"),
            Just("cmd=getbyidx kvsname=kvs_1 idx=99999999999999999999\n"),
            Just("cmd=nonsense a=b\n"),
        ]), 0..60)
    ) {
        let mut server = server(3);
        let (mut said, mut heard) = ([0usize; 3], [0usize; 3]);
        for (pe, line) in script {
            // A PE in a barrier waits for its reply and sends nothing.
            if said[pe as usize] > heard[pe as usize] {
                continue;
            }
            said[pe as usize] += 1;
            for effect in server.receive(pe, line.as_bytes()) {
                let Effect::Reply { pe, bytes } = effect else { panic!("{effect:?}") };
                prop_assert_eq!(bytes.last(), Some(&b'\n'));
                heard[pe as usize] += 1;
            }
            for pe in 0..3 {
                prop_assert!(heard[pe] <= said[pe]);
            }
        }
    }
}
