//! Hosts of a test: network namespaces of a thread's own, with interfaces and cables between them.

use hostwire_frames::Interface;
use hostwire_testing::{ip, left_out, need};

/// So many interfaces with so many queues, each with a cable to one switch, in a network
/// namespace as that of [`cable`].
pub fn switch(ports: u32, queues: u32) -> Option<Vec<Interface>> {
    let queues = format!("numrxqueues {queues} numtxqueues {queues}");
    own_namespace()?;
    ip("link add switch type bridge")?;
    ip("link set switch up")?;
    for port in 0..ports {
        ip(&format!(
            "link add host{port} {queues} type veth peer name port{port} {queues}"
        ))?;
        ip(&format!("link set port{port} master switch up"))?;
        ip(&format!("link set host{port} up"))?;
    }
    let choose = |port| Interface::choose(Some(&format!("host{port}"))).unwrap();
    Some((0..ports).map(choose).collect())
}

/// Two interfaces with a cable between them, in a network namespace of this thread. It
/// ends with the thread and the sockets made here.
pub fn cable() -> Option<Vec<Interface>> {
    own_namespace()?;
    ip("link add left type veth peer name right")?;
    ip("link set left up")?;
    ip("link set right up")?;
    let choose = |name| Interface::choose(Some(name)).unwrap();
    Some(vec![choose("left"), choose("right")])
}

/// So many of those side by side: `left0` to `right0` and so on.
pub fn cables(count: u32) -> Option<impl Iterator<Item = Vec<Interface>>> {
    own_namespace()?;
    for number in 0..count {
        ip(&format!(
            "link add left{number} type veth peer name right{number}"
        ))?;
        for end in ["left", "right"] {
            ip(&format!("link set {end}{number} up"))?;
        }
    }
    let choose = |name: String| Interface::choose(Some(&name)).unwrap();
    Some((0..count).map(move |number| {
        ["left", "right"]
            .map(|end| choose(format!("{end}{number}")))
            .to_vec()
    }))
}

fn own_namespace() -> Option<()> {
    // SAFETY: changes the network namespace of this thread alone, which runs one test.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == -1 {
        let error = std::io::Error::last_os_error();
        let why = format!("a network namespace of its own needs root: {error}");
        left_out(&need::NAMESPACES, why);
        return None;
    }
    Some(())
}
