//! `hostwire doctor --on`: what works from each host to each, and what does not.

use serde_json::Value;

use crate::job::Ended;
use crate::on_hosts;

/// The texts of the findings of a topic and a name.
fn found(ended: &Ended, topic: &str, name: &str) -> Vec<String> {
    let values = ended.stdout.lines().filter(|line| line.starts_with('{'));
    let values = values.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let values = values.filter(|value| value["topic"] == topic && value["name"] == name);
    let text = |value: &Value| {
        let state = value["state"].as_str().unwrap();
        format!("{state} {}", value["found"].as_str().unwrap())
    };
    values.map(|value| text(&value)).collect()
}

#[test]
fn all_wires_work_between_eight_hosts() {
    let script = "$HOSTWIRE doctor --on h1,h2,h3,h4,h5,h6,h7,h8 --json || exit; left";
    let Some(ended) = on_hosts(8, script) else {
        return;
    };
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    let ways = found(&ended, "ways", "way");
    assert_eq!(ways.len(), 8 * 7, "{ended:#?}");
    for way in &ways {
        assert!(
            way.starts_with("ok ") && way.ends_with(": xdp ether udp tcp"),
            "{way}"
        );
    }
    assert_eq!(found(&ended, "hosts", "host").len(), 8);
    assert_eq!(
        found(&ended, "wire auto", "between hosts"),
        ["ok xdp, for a job on all of them"]
    );
}

/// A switch that takes shorter packets, a firewall for one kind of packets in one direction, and a user who may not.
#[test]
fn what_is_in_the_way_is_named() {
    let script = r#"
        # Connections, that of ssh too, find out by themselves; bare frames and datagrams do not.
        ip -n hub link set h2 mtu 1000
        for host in h1 h3; do on $host ip route change 10.9.0.0/24 dev wire mtu 900; done
        on h3 ip rule add ipproto udp to 10.9.0.1 blackhole
        cp "$HOSTWIRE" /run/ssh/real
        printf '#!/bin/sh\nexec setpriv --bounding-set=-net_raw --inh-caps=-net_raw /run/ssh/real "$@"\n' >/run/ssh/bare
        chmod +x /run/ssh/bare; there h3 mount --bind /run/ssh/bare "$HOSTWIRE"
        $HOSTWIRE doctor --on h1,h2,h3,h9 --json; said $?; left"#;
    let Some(ended) = on_hosts(3, script) else {
        return;
    };
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    assert!(ended.stdout.ends_with("}\n1\n"), "{ended:#?}");
    let one = |topic: &str, name: &str, begin: &str| {
        let all = found(&ended, topic, name);
        assert!(
            all.iter().any(|text| text.starts_with(begin)),
            "{begin}: {ended:#?}"
        );
    };
    one("hosts", "ssh", "no h9: there is no host of this name");
    one(
        "wire ether",
        "socket",
        "no h3: opening a packet socket: not allowed",
    );
    one(
        "wire ether",
        "MTU",
        "no short frames arrive, and full ones do not: h1 -> h2 (of 1500 bytes)",
    );
    one("wire udp", "frames", "no nothing arrives h3 -> h1");
    let ways = found(&ended, "ways", "way");
    for way in ["ok h2 -> h1: tcp", "ok h1 -> h2: tcp", "ok h3 -> h1: tcp"] {
        assert!(ways.iter().any(|seen| seen == way), "{way}: {ended:#?}");
    }
}

#[test]
fn hosts_without_any_wire_end_with_1() {
    let script = r#"
        on h3 ip rule add to 10.9.0.2 blackhole
        cp "$HOSTWIRE" /run/ssh/real
        printf '#!/bin/sh\nexec setpriv --bounding-set=-net_raw --inh-caps=-net_raw /run/ssh/real "$@"\n' >/run/ssh/bare
        chmod +x /run/ssh/bare; there h3 mount --bind /run/ssh/bare "$HOSTWIRE"
        $HOSTWIRE doctor --on h2,h3; said $?; left"#;
    let Some(ended) = on_hosts(3, script) else {
        return;
    };
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    assert!(ended.stdout.ends_with("\n1\n"), "{ended:#?}");
    assert!(
        ended.stdout.contains("no wire works between h2 and h3"),
        "{ended:#?}"
    );
}
