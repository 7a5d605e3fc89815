use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::thread;

use super::*;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// Answers each line in turn with the given lines, and returns what it got.
fn server<S>(stream: S, script: Vec<&'static str>) -> thread::JoinHandle<Vec<String>>
where
    S: std::io::Read + std::io::Write + Send + 'static,
{
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut seen = Vec::new();
        for reply in script {
            let mut line = String::new();
            if stream.read_line(&mut line).unwrap() == 0 {
                break;
            }
            seen.push(line.trim_end().to_owned());
            stream.get_mut().write_all(reply.as_bytes()).unwrap();
        }
        seen
    })
}

const INIT: [&str; 3] = [
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
    "cmd=my_kvsname kvsname=kvs_7\n",
];

fn script(more: &[&'static str]) -> Vec<&'static str> {
    INIT.iter().chain(more).copied().collect()
}

fn client(more: &[&'static str]) -> (Client, thread::JoinHandle<Vec<String>>) {
    let (here, there) = UnixStream::pair().unwrap();
    let server = server(there, script(more));
    (Client::start(here.into(), 1, 2, soon()).unwrap(), server)
}

/// No call waits for ever, whatever the launcher has answered before.
#[test]
fn a_launcher_that_falls_silent_ends_in_an_error_that_names_the_variable() {
    let silent = |error: PmiError, expected: &str| match error {
        PmiError::Silent { asked, .. } => assert_eq!(asked, expected),
        other => panic!("{other}"),
    };
    let now = || Deadline::after(Duration::from_millis(20));
    // Half a line is no answer either.
    for (answered, asked) in [
        (&[][..], "init"),
        (&INIT[..1], "get_maxes"),
        (&INIT[..2], "get_my_kvsname"),
        (&["cmd=response_to_init pmi_ver"], "init"),
    ] {
        let (here, mut there) = UnixStream::pair().unwrap();
        for answer in answered {
            std::io::Write::write_all(&mut there, answer.as_bytes()).unwrap();
        }
        silent(Client::start(here.into(), 0, 2, now()).unwrap_err(), asked);
        drop(there);
    }
    let (here, there) = UnixStream::pair().unwrap();
    let kept = there.try_clone().unwrap();
    let server = server(there, script(&[]));
    let mut client = Client::start(here.into(), 0, 2, soon()).unwrap();
    server.join().unwrap();
    client.connection.deadline = now();
    silent(client.barrier().unwrap_err(), "barrier");
    silent(
        client.finalize().map(|()| String::new()).unwrap_err(),
        "finalize",
    );
    // The launcher does not even read.
    client.connection.deadline = now();
    let full = loop {
        if let Err(error) = client.connection.write("put", &[b'x'; 4096]) {
            break error;
        }
    };
    silent(full, "put");
    drop(kept);
}

#[test]
fn a_whole_conversation() {
    let (mut client, server) = client(&[
        "cmd=put_result rc=0 msg=success\n",
        "cmd=barrier_out\n",
        "cmd=get_result rc=0 msg=success value=a=b\n",
        "cmd=finalize_ack\n",
    ]);
    assert_eq!((client.rank(), client.size()), (1, 2));
    client.put("k1", "v1").unwrap();
    client.barrier().unwrap();
    assert_eq!(client.get("k0").unwrap(), "a=b");
    client.finalize().unwrap();
    assert_eq!(
        server.join().unwrap(),
        [
            "cmd=init pmi_version=1 pmi_subversion=1",
            "cmd=get_maxes",
            "cmd=get_my_kvsname",
            "cmd=put kvsname=kvs_7 key=k1 value=v1",
            "cmd=barrier_in",
            "cmd=get kvsname=kvs_7 key=k0",
            "cmd=finalize",
        ]
    );
}

#[test]
fn refusals_and_nonsense_are_told_as_seen() {
    let (mut client, server) = client(&[
        "cmd=get_result rc=-1 msg=key_not_found value=unknown\n",
        "cmd=put_result rc=0\n",
        "HTTP/1.1 400\n",
    ]);
    let error = client.get("k").unwrap_err().to_string();
    assert_eq!(
        error,
        "the launcher refused get: key_not_found, key \"k\" (rc=-1)"
    );
    let error = client.barrier().unwrap_err().to_string();
    assert_eq!(
        error,
        "the launcher answered barrier with \"cmd=put_result rc=0\"; expected barrier_out"
    );
    let error = client.barrier().unwrap_err().to_string();
    assert_eq!(
        error,
        "the launcher answered barrier with a line that does not begin with \"cmd=\": \"HTTP/1.1 400\""
    );
    server.join().unwrap();
    assert!(matches!(
        client.barrier(),
        Err(PmiError::Lost {
            asked: "barrier",
            ..
        })
    ));
}

#[test]
fn another_version_is_named() {
    let (here, there) = UnixStream::pair().unwrap();
    let refusal = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n";
    let server = server(there, vec![refusal]);
    let error = Client::start(here.into(), 0, 1, soon()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the launcher speaks PMI version 2, not 1"
    );
    server.join().unwrap();
}

#[test]
fn unfit_words_are_not_sent() {
    let (mut client, server) = client(&[]);
    for (key, value) in [
        ("", "v"),
        ("a b", "v"),
        ("a=b", "v"),
        ("a;b", "v"),
        ("k", "a\nb"),
        ("k", ""),
    ] {
        assert!(
            matches!(client.put(key, value), Err(PmiError::BadWord { .. })),
            "{key:?}"
        );
    }
    assert!(matches!(
        client.put(&"k".repeat(64), "v"),
        Err(PmiError::BadWord { .. })
    ));
    assert!(matches!(
        client.put("k", &"v".repeat(1024)),
        Err(PmiError::BadWord { .. })
    ));
    // The space in a line of a thousand bytes with the longest key.
    assert_eq!(client.value_bytes_max(), 1000 - 29 - 5 - 64);
    assert!(client.put("k", &"v".repeat(902)).is_err());
    drop(client);
    assert_eq!(server.join().unwrap().len(), 3);
}

#[test]
fn an_abort_is_one_line() {
    let (mut client, server) = client(&[""]);
    client.abort(3, "out of memory").unwrap();
    let seen = server.join().unwrap();
    assert_eq!(
        seen.last().unwrap(),
        "cmd=abort exitcode=3 message=out%20of%20memory"
    );
}

#[test]
fn a_port_tells_rank_and_size() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = vec!["cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n"];
        lines.extend(INIT);
        server(stream, lines).join().unwrap()
    });
    let lookup = |name: &str| match name {
        "PMI_PORT" => Some(address.clone()),
        "PMI_ID" => Some("3".to_owned()),
        _ => None,
    };
    let client = Client::from_lookup(lookup, soon()).unwrap().unwrap();
    assert_eq!((client.rank(), client.size()), (3, 4));
    assert_eq!(
        server.join().unwrap().first().unwrap(),
        "cmd=initack pmiid=3"
    );
}

#[test]
fn variables_that_make_no_sense_are_named() {
    let error = |environment: &[(&str, &str)]| {
        Client::from_lookup(
            |name| {
                environment
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            },
            soon(),
        )
        .map(|client| client.is_some())
        .map_err(|error| error.to_string())
    };
    assert_eq!(error(&[]), Ok(false));
    assert_eq!(error(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), Ok(false));
    assert_eq!(
        error(&[("PMI_FD", "x")]).unwrap_err(),
        "PMI_FD is \"x\" in the environment; expected the number of an open socket"
    );
    assert_eq!(
        error(&[("PMI_FD", "5"), ("PMI_RANK", "0")]).unwrap_err(),
        "PMI_SIZE is missing in the environment; expected the number of processes of the job"
    );
    assert_eq!(
        error(&[("PMI_FD", "5"), ("PMI_RANK", "4"), ("PMI_SIZE", "4")]).unwrap_err(),
        "PMI_RANK is 4 of PMI_SIZE 4 in the environment; expected a rank below the size"
    );
    let closed = error(&[("PMI_FD", "999999"), ("PMI_RANK", "0"), ("PMI_SIZE", "1")]).unwrap_err();
    assert!(
        closed.starts_with("cannot reach the launcher at PMI_FD=999999: "),
        "{closed}"
    );
}

/// A connection to a launcher that has sent `bytes`, sends nothing more, and reads
/// nothing: requests stay in the socket.
fn deaf(bytes: &[u8]) -> (OwnedFd, UnixStream) {
    use std::io::Write;
    let (here, mut there) = UnixStream::pair().unwrap();
    there.write_all(bytes).unwrap();
    there.shutdown(std::net::Shutdown::Write).unwrap();
    (here.into(), there)
}

proptest::proptest! {
    #[test]
    fn no_bytes_of_a_launcher_panic(
        lines in proptest::collection::vec("cmd=[a-z_]{1,9}( [a-z]{1,5}=[!-~]{0,9}){0,3}\n|\\PC{0,20}\n", 0..6),
        begin in 0usize..4,
        raw in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60),
    ) {
        let mut bytes: Vec<u8> = INIT.iter().take(begin).flat_map(|line| line.bytes()).collect();
        bytes.extend(lines.concat().bytes());
        bytes.extend(raw);
        let (socket, _launcher) = deaf(&bytes);
        if let Ok(mut client) = Client::start(socket, 0, 2, soon()) {
            let _ = client.put("k", "v");
            let _ = client.barrier();
            let _ = client.get("k");
            let _ = client.finalize();
        }
    }
}
