//! Two hosts in virtual time. Some of the paths between them do not work.

use super::*;

const MS: u64 = 1_000_000;

/// A frame or report in flight.
#[derive(Debug, Clone, Copy)]
enum Sent {
    Frame,
    Report(Report),
}

/// Two hosts.
struct Net {
    now: Ns,
    hosts: [Paths; 2],
    /// Whether path `p` leads from host `h`: `leads[h][p]`.
    leads: [Vec<bool>; 2],
    /// Frames of each host by path.
    sent: [Vec<u64>; 2],
    lost: u64,
}

impl Net {
    fn new(count: usize) -> Self {
        Self {
            now: Ns(MS),
            hosts: [Paths::new(count, 1), Paths::new(count, 1 << 32)],
            leads: [vec![true; count], vec![true; count]],
            sent: [vec![0; count], vec![0; count]],
            lost: 0,
        }
    }

    fn carry(&mut self, from: usize, path: usize, what: Sent) {
        let is_lost = !self.leads[from][path];
        if let Sent::Frame = what {
            self.sent[from][path] += 1;
            self.lost += u64::from(is_lost);
        }
        if is_lost {
            return;
        }
        let to = 1 - from;
        match what {
            Sent::Frame => self.hosts[to].heard(self.now, path),
            Sent::Report(report) => self.hosts[to].told(self.now, path, report),
        }
        self.report(to);
    }

    fn report(&mut self, from: usize) {
        if let Some(report) = self.hosts[from].report(self.now) {
            for path in 0..self.leads[from].len() {
                self.carry(from, path, Sent::Report(report));
            }
        }
    }

    /// The path that it took.
    fn send(&mut self, from: usize) -> usize {
        let path = self.hosts[from].choose(self.now);
        self.report(from);
        self.carry(from, path, Sent::Frame);
        path
    }

    /// Host 0 sends a frame every `gap_ns`, and host 1 answers those that arrive.
    fn run(&mut self, time_ns: u64, gap_ns: u64) {
        let end = self.now.after(time_ns);
        while self.now < end {
            let path = self.send(0);
            if self.leads[0][path] {
                self.send(1);
            }
            self.now = self.now.after(gap_ns);
        }
    }

    fn clear(&mut self) {
        for sent in &mut self.sent {
            sent.fill(0);
        }
        self.lost = 0;
    }
}

#[test]
fn a_burst_takes_one_path_and_bursts_take_all() {
    for count in 2..=INTERFACES_MAX {
        let mut net = Net::new(count);
        for _ in 0..100 {
            let first = net.send(0);
            for _ in 0..1000 {
                net.now = net.now.after(QUIET_NS - 1);
                assert_eq!(net.send(0), first);
            }
            net.now = net.now.after(QUIET_NS);
        }
        let [sent, _] = &net.sent;
        // 100 bursts: a fair share would be 100 / count.
        assert!(
            sent.iter()
                .all(|frames| *frames > 100 / count as u64 / 2 * 1001),
            "{sent:?}"
        );
    }
}

#[test]
fn different_hosts_begin_on_different_paths() {
    let begins = (0..64).map(|host| Paths::new(2, host).current);
    let second = begins.filter(|path| *path == 1).count();
    assert!((16..=48).contains(&second), "{second}");
}

#[test]
fn a_cable_that_is_pulled_is_left_soon() {
    for count in 2..=INTERFACES_MAX {
        for pulled in 0..count {
            let mut net = Net::new(count);
            net.run(1000 * MS, 2 * MS);
            assert_eq!(net.lost, 0);
            net.leads = [vec![true; count], vec![true; count]];
            for leads in &mut net.leads {
                leads[pulled] = false;
            }
            net.run(200 * MS, MS / 10);
            net.clear();
            net.run(2000 * MS, 2 * MS);
            assert_eq!(
                (net.lost, net.sent[0][pulled], net.sent[1][pulled]),
                (0, 0, 0)
            );
            // The path works again.
            for leads in &mut net.leads {
                leads[pulled] = true;
            }
            net.run(100 * MS, 2 * MS);
            net.clear();
            net.run(1000 * MS, 2 * MS);
            assert!(
                net.sent.iter().flatten().all(|frames| *frames > 50),
                "{:?}",
                net.sent
            );
        }
    }
}

/// As may happen with optical fibres, or with a filter on the path.
#[test]
fn a_path_that_leads_one_way_is_left_by_who_sends_in_vain() {
    let mut net = Net::new(2);
    net.leads[0][1] = false;
    net.run(300 * MS, MS / 10);
    net.clear();
    net.run(1000 * MS, 2 * MS);
    assert_eq!((net.lost, net.sent[0][1]), (0, 0));
    assert!(net.sent[1][1] > 0);
}

/// A link that has lost a frame only sends it again after some time.
#[test]
fn a_stream_that_stands_still_finds_its_way() {
    for pulled in [0, 1] {
        let mut net = Net::new(2);
        net.run(100 * MS, MS / 10);
        for leads in &mut net.leads {
            leads[pulled] = false;
        }
        net.run(1000 * MS, 200 * MS);
        net.clear();
        net.run(1000 * MS, 200 * MS);
        assert_eq!(net.lost, 0, "{pulled}");
    }
}

#[test]
fn silence_between_frames_is_no_sign() {
    let mut net = Net::new(2);
    for _ in 0..100 {
        net.run(60 * MS, MS / 10);
        net.now = net.now.after(10_000 * MS);
        for host in &net.hosts {
            assert_eq!(host.usable(net.now), 0b11);
        }
    }
    assert_eq!(net.lost, 0);
}

#[test]
fn reports_end_with_the_frames() {
    let mut net = Net::new(2);
    net.run(100 * MS, MS);
    let mut reports = 0;
    for _ in 0..100 {
        net.now = net.now.after(REPORT_NS);
        for host in 0..2 {
            reports += u64::from(net.hosts[host].report(net.now).is_some());
        }
    }
    // Of each host.
    assert!(
        (1..=2 * ACTIVE_NS / REPORT_NS).contains(&reports),
        "{reports}"
    );
}

#[test]
fn who_only_listens_answers_reports() {
    let mut listener = Paths::new(2, 0);
    assert_eq!(listener.report(Ns(MS)), None);
    let asked = Report {
        hears: 0b11,
        asks: true,
    };
    listener.told(Ns(MS), 0, asked);
    let answer = listener.report(Ns(MS)).unwrap();
    assert_eq!((answer.hears, answer.asks), (0b11, false));
    // Two hosts that only listen do not make each other send reports.
    let mut other = Paths::new(2, 0);
    other.told(Ns(MS), 0, answer);
    assert_eq!(other.report(Ns(MS)), None);
}

#[test]
fn a_path_that_the_system_refuses_is_left_at_once_and_tried_again() {
    let mut paths = Paths::new(2, 0);
    let now = Ns(MS);
    let refused = paths.choose(now);
    paths.refused(now, refused);
    assert_eq!(paths.choose(now), 1 - refused);
    let mut seen = 0_u8;
    for burst in 0..100 {
        seen |= 1 << paths.choose(now.after(burst * QUIET_NS));
    }
    assert_eq!(seen, 1 << (1 - refused));
    for burst in 0..100 {
        seen |= 1 << paths.choose(now.after(REFUSED_NS + burst * QUIET_NS));
    }
    assert_eq!(seen, 0b11);
}

/// Sending in vain is better than not sending.
#[test]
fn where_no_path_seems_to_lead_all_are_tried() {
    let mut paths = Paths::new(2, 0);
    for path in [0, 1] {
        paths.refused(Ns(MS), path);
    }
    let nothing = Report {
        hears: 0,
        asks: true,
    };
    paths.told(Ns(MS), 0, nothing);
    let chosen: Vec<_> = (0..20)
        .map(|burst| paths.choose(Ns(MS + burst * QUIET_NS)))
        .collect();
    assert!(chosen.contains(&0) && chosen.contains(&1), "{chosen:?}");
}
