use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use super::*;

fn soon() -> Deadline {
    Deadline::after(std::time::Duration::from_secs(60))
}

/// Answers the line and each message in turn, and returns what it got.
fn server(mut stream: UnixStream, script: Vec<String>) -> thread::JoinHandle<Vec<String>> {
    thread::spawn(move || {
        let mut seen = Vec::new();
        for (index, reply) in script.iter().enumerate() {
            let mut request = Vec::new();
            let mut byte = [0];
            if index == 0 {
                while !request.ends_with(b"\n") {
                    stream.read_exact(&mut byte).unwrap();
                    request.extend(byte);
                }
            } else {
                let mut head = [0; 6];
                stream.read_exact(&mut head).unwrap();
                let len = std::str::from_utf8(&head).unwrap().trim().parse().unwrap();
                request.resize(len, 0);
                stream.read_exact(&mut request).unwrap();
            }
            seen.push(String::from_utf8(request).unwrap());
            stream.write_all(reply.as_bytes()).unwrap();
        }
        seen
    })
}

fn message(body: &str) -> String {
    format!("{:<6}{body}", body.len())
}

const INIT: &str = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n";
const FULL: &str = "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=2;\
                    appnum=0;debugged=FALSE;pmiverbose=FALSE;";

fn client(more: &[&str]) -> (Result<Client2, PmiError>, thread::JoinHandle<Vec<String>>) {
    let (here, there) = UnixStream::pair().unwrap();
    let mut script = vec![INIT.to_owned()];
    script.extend(more.iter().map(|body| message(body)));
    let server = server(there, script);
    let socket = here.into();
    (
        Client2::start(
            Connection {
                socket,
                deadline: soon(),
            },
            1,
            2,
            "7.0",
        ),
        server,
    )
}

#[test]
fn a_whole_conversation() {
    let (client, server) = client(&[
        FULL,
        "cmd=kvs-put-response;rc=0;",
        "cmd=kvs-fence-response;rc=0;",
        "cmd=kvs-get-response;rc=0;found=TRUE;value=v0;",
        "cmd=kvs-get-response;rc=0;found=FALSE;",
        "cmd=finalize-response;rc=0;",
        "",
    ]);
    let mut client = client.unwrap();
    assert_eq!((client.rank(), client.size()), (1, 2));
    client.put("k1", "v1").unwrap();
    client.fence().unwrap();
    assert_eq!(client.get("k0").unwrap(), "v0");
    let error = client.get("k9").unwrap_err().to_string();
    assert_eq!(
        error,
        "the launcher refused kvs-get: nothing is there, key \"k9\" (rc=0)"
    );
    client.finalize().unwrap();
    client.abort("out; of paper").unwrap();
    assert_eq!(
        server.join().unwrap(),
        [
            "cmd=init pmi_version=2 pmi_subversion=0\n",
            "cmd=fullinit;pmijobid=7.0;pmirank=1;threaded=FALSE;",
            "cmd=kvs-put;key=k1;value=v1;",
            "cmd=kvs-fence;",
            "cmd=kvs-get;jobid=7.0;srcid=-1;key=k0;",
            "cmd=kvs-get;jobid=7.0;srcid=-1;key=k9;",
            "cmd=finalize;",
            "cmd=abort;isworld=TRUE;msg=out;; of paper;",
        ]
    );
}

#[test]
fn refusals_and_nonsense_are_told_as_seen() {
    let said = |more: &[&str]| {
        let (client, server) = client(more);
        let error = client.and_then(|mut client| client.fence()).unwrap_err();
        drop(server);
        error.to_string()
    };
    assert_eq!(
        said(&["cmd=fullinit-response;rc=14;errmsg=go away;"]),
        "the launcher refused fullinit: go away (rc=14)"
    );
    assert_eq!(
        said(&["cmd=fullinit-response;rc=0;rank=2;size=2;"]),
        "the launcher answered fullinit with \"cmd=fullinit-response;rc=0;rank=2;size=2;\"; \
         expected a rank below a size"
    );
    assert_eq!(
        said(&[FULL, "cmd=kvs-put-response;rc=0;"]),
        "the launcher answered kvs-fence with \"cmd=kvs-put-response;rc=0;\"; expected the \
         answer to it"
    );
    assert_eq!(
        said(&[FULL, "hello"]),
        "the launcher answered kvs-fence with a line that does not begin with \"cmd=\": \"hello\""
    );
    let lost = "lost the launcher while asking it for kvs-fence: ";
    assert!(said(&[FULL]).starts_with(lost));
}

proptest::proptest! {
    #[test]
    fn no_bytes_of_a_launcher_panic(
        bodies in proptest::collection::vec("cmd=[a-z-]{1,9};([a-z]{1,5}=[!-~]{0,9};){0,3}|\\PC{0,20}", 0..6),
        begin in 0usize..3,
        raw in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60),
    ) {
        let full = message(FULL);
        let mut bytes = [INIT, &full].iter().take(begin).map(|s| s.as_bytes()).collect::<Vec<_>>().concat();
        bytes.extend(bodies.iter().flat_map(|body| message(body).into_bytes()));
        bytes.extend(raw);
        let (here, mut there) = UnixStream::pair().unwrap();
        there.write_all(&bytes).unwrap();
        // The launcher reads nothing: requests to it stay in the socket.
        there.shutdown(std::net::Shutdown::Write).unwrap();
        let socket = here.into();
        if let Ok(mut client) = Client2::start(Connection { socket, deadline: soon() }, 0, 2, "j") {
            let _ = client.put("k", "v");
            let _ = client.fence();
            let _ = client.get("k");
            let _ = client.finalize();
        }
    }
}
