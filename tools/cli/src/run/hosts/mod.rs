//! The hosts of a job that is started by ssh: a connection to each, with the starter of its PEs behind it. If there are many,
//! most connections lead through the starters of other hosts.

mod far;
mod input;
mod link;
mod lost;
mod tree;
mod way;

use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use hostwire_bootstrap::starter::{
    BEAT, How, News, Order, PIECE_BYTES_MAX, ROOM_BYTES, Report, Stream,
};
use hostwire_transport::printable;
use rustix::event::PollFlags;

use self::far::Far;
use self::input::Input;
use self::link::{Link, Stage};
use super::copies::Copies;
use super::crew::Crew;
use super::pes::{End, Pe};
use super::pipe::Which;
use super::plan::HostPlan;
use super::ssh;
use super::start_error::StartError;

/// How long other hosts may take to fail once one has failed, so that all are named.
const FAIL_TOGETHER: Duration = Duration::from_secs(1);
/// How long a starter has to end what is left on its host when the job is over.
const SWEEP: Duration = Duration::from_secs(10);
/// How long the answers about what PEs are doing are waited for, and how long they hold.
const LOOK: Duration = Duration::from_secs(1);
const LOOK_HOLDS: Duration = Duration::from_millis(100);

/// What the launcher has to know.
#[derive(Debug)]
pub enum Event {
    /// A PE has said something to its launcher.
    Pmi(usize),
    /// A PE has written something, or closed an output.
    Output(usize, Which),
    /// Processes have ended.
    Ended,
    /// A host is lost, or has refused to start its PEs.
    Lost(Loss),
}

/// A host that is lost.
#[derive(Debug)]
pub struct Loss {
    pub host: String,
    /// Its first PE, and all of them in words.
    pub first: u32,
    pub pes: String,
    pub why: String,
    /// Whether its PEs may have run.
    pub has_run: bool,
}

/// What is polled for a host.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    Reports,
    Orders,
    Said,
}

/// All of them.
pub struct Hosts {
    /// The command that reaches a host.
    ssh: String,
    links: Vec<Link>,
    /// The first host that has said what kind of machine it is, and that.
    first: Option<(String, String)>,
    input: Input,
    lost_after: Duration,
    /// How long a host may take to answer, after it was reached for or the last of a copy has left.
    start_within: Duration,
    /// Hosts that have failed before any PE was started.
    failed: Vec<Loss>,
    fail_at: Option<Instant>,
    /// Whether the PEs have been started, or never will be.
    has_started: bool,
    look: Option<Instant>,
    looks_due: u32,
    looked_at: Option<Instant>,
    sweep_until: Option<Instant>,
    /// When this process has last looked at the clock.
    ticked: Instant,
}

impl Hosts {
    /// Connects to all hosts, and copies to those that are not this one what is to be copied. What comes of it is told
    /// later.
    pub fn open(
        (ssh, fan_out): (&str, usize),
        plans: Vec<HostPlan>,
        copies: &Copies,
        crew: &mut Crew,
        limits: (Duration, Duration),
    ) -> Result<Hosts, StartError> {
        let (lost_after, start_within) = limits;
        let mut links = Vec::new();
        let are_here: Vec<bool> = plans.iter().map(|plan| ssh::is_here(&plan.name)).collect();
        let parents = tree::parents(&are_here, fan_out);
        for (plan, is_here) in plans.into_iter().zip(are_here) {
            let copies = match is_here {
                true => Copies::default(),
                false => copies.clone(),
            };
            links.push(Link::new(plan.name, plan.description, copies));
        }
        for (host, parent) in parents.into_iter().enumerate() {
            match parent {
                Some(parent) => set_behind(&mut links, host, parent),
                None => {
                    let link = links.get_mut(host).map(|link| link.reach(ssh));
                    let pid = link.transpose()?.flatten();
                    pid.into_iter().for_each(|pid| crew.warden.watch(pid));
                }
            }
        }
        Ok(Hosts {
            ssh: ssh.to_owned(),
            first: None,
            input: Input::new(),
            links,
            lost_after: lost_after.max(BEAT * 3),
            start_within,
            failed: Vec::new(),
            fail_at: None,
            has_started: false,
            look: None,
            looks_due: 0,
            looked_at: None,
            sweep_until: None,
            ticked: Instant::now(),
        })
    }

    /// The PEs of the job, in order.
    pub fn pes(&self) -> Vec<Box<dyn Pe>> {
        let far = |link: &Link| {
            let (first, outgoing) = (link.first, link.outgoing.clone());
            let states = link.states.clone().into_iter();
            (first..).zip(states).map(move |(pe, state)| {
                let far = Far::new(pe, outgoing.clone(), state);
                Box::new(far) as Box<dyn Pe>
            })
        };
        self.links.iter().flat_map(far).collect()
    }

    /// The host and the number of PEs of each run of PEs, for MPICH.
    pub fn counts(&self) -> Vec<u32> {
        self.links.iter().map(|link| link.count).collect()
    }

    /// Whether it is still open whether the PEs will be started.
    pub fn are_connecting(&self) -> bool {
        !self.has_started
    }

    /// Hosts that have not got ready, for a line.
    pub fn unready(&self) -> Vec<&str> {
        let links = self.links.iter().filter(|link| link.is_unready());
        links.map(|link| link.name.as_str()).collect()
    }

    /// What to poll, by host.
    pub fn watched(&self) -> Vec<(usize, Side, BorrowedFd<'_>, PollFlags)> {
        let mut watched = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            let sides = [
                (Side::Reports, link.from(), PollFlags::IN),
                (Side::Said, link.says(), PollFlags::IN),
                (Side::Orders, link.blocked_on(), PollFlags::OUT),
            ];
            for (side, fd, flags) in sides {
                watched.extend(fd.map(|fd| (index, side, fd.as_fd(), flags)));
            }
        }
        watched
    }

    /// Standard input, while PE 0 has room for it.
    pub fn watched_input(&self) -> Option<BorrowedFd<'static>> {
        let runs = self
            .links
            .first()
            .is_some_and(|link| link.stage == Stage::Running);
        self.input.fd().filter(|_| runs)
    }

    /// Whether the launcher waits to come into the foreground, where it may read the terminal.
    pub fn is_input_in_background(&self) -> bool {
        self.input.is_in_background()
    }

    /// Passes standard input on.
    pub fn read_input(&mut self) {
        if let Some(link) = self.links.first() {
            self.input.read(&link.outgoing);
        }
    }

    /// PE 0 needs no more input.
    pub fn close_input(&mut self) {
        self.input.close();
    }

    /// Tells all hosts that a PE has ended without leaving the job.
    pub fn note_end(&self, pe: u32) {
        self.tell(&Order::NoteEnd { pe });
    }

    /// The launcher is about to stop for a while.
    pub fn pause(&mut self) {
        self.tell(&Order::Pause);
        self.send();
    }

    /// Sends what waits, to the hosts behind others first.
    fn send(&mut self) {
        self.links.iter_mut().rev().for_each(Link::send);
    }

    fn tell(&self, order: &Order) {
        for link in self.links.iter().filter(|link| link.is_running()) {
            link.outgoing.push(order);
        }
    }

    /// Reads from or writes to a host.
    pub fn handle(&mut self, index: usize, side: Side, crew: &Crew) -> Vec<Event> {
        let Some(link) = self.links.get_mut(index) else {
            return Vec::new();
        };
        match side {
            Side::Orders => link.send(),
            Side::Said => link.read_said(),
            Side::Reports => return self.hear(index, crew),
        }
        Vec::new()
    }

    fn hear(&mut self, index: usize, crew: &Crew) -> Vec<Event> {
        let mut events = Vec::new();
        match self.links.get_mut(index).map(Link::read) {
            Some(Err(why)) => return self.lose(index, why),
            Some(Ok(())) => self.take_all(index, crew, &mut events),
            None => {}
        }
        events
    }

    /// Takes all reports of a host that have come.
    fn take_all(&mut self, index: usize, crew: &Crew, events: &mut Vec<Event>) {
        while let Some(link) = self.links.get_mut(index) {
            let taken = match link.next() {
                Ok(Some(Report::Behind { host, news })) => {
                    self.take_news(index, host as usize, news, crew, events)
                }
                Ok(Some(report)) => self.take(index, report, crew, events),
                Ok(None) => return,
                Err(problem) => Err(format!("its starter sent {problem}")),
            };
            if let Err(why) = taken {
                events.extend(self.lose(index, why));
                return;
            }
        }
    }

    /// Takes what the starter of the host `parent` says of a host behind it.
    fn take_news(
        &mut self,
        parent: usize,
        index: usize,
        news: News,
        crew: &Crew,
        events: &mut Vec<Event>,
    ) -> Result<(), String> {
        let link = self.links.get_mut(index);
        let Some(link) = link.filter(|link| link.is_behind(parent) && link.has_begun()) else {
            return Err("its starter speaks of a host that is not behind it".to_owned());
        };
        match news {
            // It was on its way when the connection was cut.
            _ if link.is_over() => {}
            News::Bytes(bytes) => match link.hear(&bytes) {
                Ok(()) => self.take_all(index, crew, events),
                Err(why) => events.extend(self.lose(index, why)),
            },
            News::Said(bytes) => link.note_said(&bytes),
            News::Passed(bytes) => link.note_passed(bytes as usize),
            News::Left(how) => link.note_end(how.map(end)),
        }
        Ok(())
    }

    /// Takes one report.
    fn take(
        &mut self,
        index: usize,
        report: Report,
        crew: &Crew,
        events: &mut Vec<Event>,
    ) -> Result<(), String> {
        let Some(link) = self.links.get_mut(index) else {
            return Ok(());
        };
        let state = match report.pe() {
            None => None,
            Some(pe) => match link.state(pe) {
                Some(state) if link.is_running() => Some(Rc::clone(state)),
                _ => return Err(format!("its starter speaks of PE {pe}, which is not there")),
            },
        };
        let mut state = state.as_ref().map(|state| state.borrow_mut());
        match (report, &mut state) {
            (Report::Hello { version, machine }, _) if link.stage == Stage::Greeted => {
                suits(&version, &machine, &link.name, &mut self.first)?;
                link.describe();
            }
            (Report::Ready, _) if link.stage == Stage::Described => link.stage = Stage::Ready,
            (Report::Refused(why), _) => return Err(printable(&why)),
            (Report::Started | Report::Beat, _) => {}
            (Report::Pmi { pe, bytes }, Some(state)) => {
                state.pmi.extend(bytes);
                events.push(Event::Pmi(pe as usize));
            }
            (Report::Output { pe, stream, bytes }, Some(state)) => {
                let which = which(stream);
                let held = &mut state.output(which).bytes;
                held.extend(bytes);
                // One read may have had more than there was room for.
                if held.len() > ROOM_BYTES + PIECE_BYTES_MAX {
                    return Err("its starter sends more output than it may".to_owned());
                }
                events.push(Event::Output(pe as usize, which));
            }
            (Report::Closed { pe, stream }, Some(state)) => {
                state.output(which(stream)).is_closed = true;
                events.push(Event::Output(pe as usize, which(stream)));
            }
            (Report::Ended { how, last, core }, Some(state)) => {
                crew.board.mirror(last);
                let core = printable(&core);
                state.core = Some(core).filter(|core| !core.is_empty());
                state.end = state.end.or(Some(end(how)));
                events.push(Event::Ended);
            }
            (Report::Seen { is_dying, last }, Some(state)) => {
                crew.board.mirror(last);
                state.is_dying = is_dying;
            }
            (Report::Looked, _) => self.looks_due = self.looks_due.saturating_sub(1),
            (Report::Took(bytes), _) => self.input.give_room(bytes as usize),
            (Report::InputClosed, _) => self.input.close(),
            (Report::Counters { pe, record }, _) => crew.counters.mirror(pe, &record),
            (Report::Swept, _) if link.stage == Stage::Done => {
                link.stage = Stage::Swept;
                link.close();
                self.sweep_until = Some(Instant::now() + SWEEP);
            }
            (_, _) => return Err("its starter says things out of order".to_owned()),
        }
        Ok(())
    }

    /// Does what is due, and sends what waits.
    pub fn tick(&mut self) -> Vec<Event> {
        let now = Instant::now();
        // This process, or its host, was stopped.
        if now.saturating_duration_since(self.ticked) > BEAT * 2 {
            self.links.iter_mut().for_each(|link| link.forgive(now));
        }
        self.ticked = now;
        if self.look.is_some_and(|since| now >= since + LOOK) {
            self.looked();
        }
        let mut events = Vec::new();
        self.reach_behind();
        for index in 0..self.links.len() {
            let silence = self.silence(index, now);
            let Some(link) = self.links.get_mut(index) else {
                continue;
            };
            link.beat(now);
            if link.stage == Stage::Swept && link.has_ended() {
                link.cut();
            } else if let Some(why) = link.loss(now) {
                events.extend(self.lose(index, why));
            } else if let Some((index, seconds)) = silence {
                let why = format!("nothing was heard of it for {seconds} s");
                events.extend(self.lose(index, why));
            }
        }
        if self.are_connecting() {
            events.extend(self.start(now));
        } else if self.sweep_until.is_some() {
            events.extend(self.sweep(now));
        }
        self.send();
        events
    }

    /// Lets hosts that are ready reach those behind them.
    fn reach_behind(&mut self) {
        for index in 0..self.links.len() {
            let Some(link) = self.links.get(index).filter(|link| link.waits()) else {
                continue;
            };
            let parent = link.parent.as_ref();
            let parent = parent.and_then(|(parent, _)| self.links.get(*parent));
            let parent = parent.filter(|parent| parent.stage == Stage::Ready);
            let Some(outgoing) = parent.map(|parent| parent.outgoing.clone()) else {
                continue;
            };
            if let Some(link) = self.links.get_mut(index) {
                link.reach_through(&self.ssh, index, outgoing);
            }
        }
    }

    /// Lets hosts end what is left there, those behind others first.
    fn sweep(&mut self, now: Instant) -> Vec<Event> {
        let mut events = Vec::new();
        if self.holds_output() {
            // Output that nobody reads may take as long as it likes.
            self.sweep_until = Some(now + SWEEP);
        } else if self.sweep_until.is_some_and(|until| until <= now) {
            let why = format!(
                "it has not ended what is left there within {} s",
                SWEEP.as_secs()
            );
            for index in 0..self.links.len() {
                if self
                    .links
                    .get(index)
                    .is_some_and(|link| link.stage == Stage::Done)
                {
                    events.extend(self.lose(index, why.clone()));
                }
            }
            self.sweep_until = Some(now + SWEEP);
        }
        for index in (0..self.links.len()).rev() {
            let has_behind = !self.behind(index).is_empty();
            let link = self.links.get_mut(index);
            if let Some(link) = link.filter(|link| link.stage == Stage::Running && !has_behind) {
                link.outgoing.push(&Order::Done);
                link.stage = Stage::Done;
            }
        }
        events
    }

    fn holds_output(&self) -> bool {
        let mut states = self.links.iter().flat_map(|link| &link.states);
        states.any(|state| {
            let state = state.borrow();
            !state.stdout.bytes.is_empty() || !state.stderr.bytes.is_empty()
        })
    }

    /// Starts the PEs as soon as all hosts are ready, or gives up.
    fn start(&mut self, now: Instant) -> Vec<Event> {
        if self.links.iter().all(|link| link.stage == Stage::Ready) {
            self.has_started = true;
            for link in &mut self.links {
                link.stage = Stage::Running;
                let states = link.states.iter();
                states.for_each(|state| state.borrow_mut().is_started = true);
                link.outgoing.push(&Order::Go);
            }
            return Vec::new();
        }
        let all_decided = self.unready().is_empty();
        let has_failed =
            !self.failed.is_empty() && (all_decided || self.fail_at.is_some_and(|at| at <= now));
        if !has_failed && self.give_up().is_none_or(|at| now < at) {
            return Vec::new();
        }
        if !has_failed {
            let limit = hostwire::settings::ATTACH_TIMEOUT.variable;
            for index in 0..self.links.len() {
                let is_late = self.links.get(index).is_some_and(Link::is_unready);
                if is_late {
                    self.lose(index, format!("it did not answer in time ({limit})"));
                }
            }
        }
        self.has_started = true;
        let mut events: Vec<Event> = std::mem::take(&mut self.failed)
            .into_iter()
            .map(Event::Lost)
            .collect();
        events.extend(self.abandon());
        events
    }

    /// When the last host counts as lost that was reached for and has not got ready.
    fn give_up(&self) -> Option<Instant> {
        let unready = self.links.iter().filter(|link| link.is_unready());
        let times = unready.filter_map(|link| link.give_up(self.start_within));
        times.max()
    }

    /// When there is something to do without anything to read.
    pub fn deadline(&self) -> Option<Instant> {
        let links = self
            .links
            .iter()
            .filter_map(|link| link.deadline(self.lost_after));
        let connecting = self.fail_at.or_else(|| self.give_up());
        let connecting = connecting.filter(|_| self.are_connecting());
        let look = self.look.map(|look| look + LOOK);
        links
            .chain(connecting)
            .chain(look)
            .chain(self.sweep_until)
            .min()
    }

    /// Asks what the PEs are doing. Whether that is known by now, as far as hosts answer in time.
    pub fn looked(&mut self) -> bool {
        let now = Instant::now();
        if self
            .looked_at
            .is_some_and(|at| now.saturating_duration_since(at) < LOOK_HOLDS)
        {
            return true;
        }
        match self.look {
            None => {
                self.tell(&Order::Look);
                self.looks_due = self.links.iter().filter(|link| link.is_running()).count() as u32;
                self.look = Some(now);
                false
            }
            Some(since) if self.looks_due == 0 || now >= since + LOOK => {
                self.look = None;
                self.looked_at = Some(now);
                true
            }
            Some(_) => false,
        }
    }

    /// Whether answers about what PEs are doing are waited for.
    pub fn is_looking(&self) -> bool {
        self.look.is_some() && self.looks_due > 0
    }

    /// All PEs have ended: what is left on the hosts is to end.
    pub fn finish(&mut self) {
        if self.sweep_until.is_some() {
            return;
        }
        let now = Instant::now();
        self.sweep_until = Some(now + SWEEP);
        self.sweep(now);
        self.send();
    }

    /// Cuts all connections: starters end what they have started.
    pub fn abandon(&mut self) -> Vec<Event> {
        self.has_started = true;
        for link in &mut self.links {
            if !link.is_over() {
                link.cut();
            }
            link.states
                .iter()
                .for_each(|state| state.borrow_mut().give_up());
        }
        vec![Event::Ended]
    }

    /// Whether nothing more is expected of any host.
    pub fn are_over(&self) -> bool {
        self.links.iter().all(Link::is_over)
    }
}

/// A host is reached through the starter of another one.
fn set_behind(links: &mut [Link], host: usize, parent: usize) {
    let name = links.get_mut(parent).map(|parent| {
        parent.add_behind(host);
        parent.name.clone()
    });
    if let (Some(link), Some(name)) = (links.get_mut(host), name) {
        link.parent = Some((parent, name));
    }
}

/// Whether PEs of this version and this kind of machine can be in the job. `first` is the first host that was asked, and its
/// kind.
fn suits(
    version: &str,
    machine: &[u8],
    host: &str,
    first: &mut Option<(String, String)>,
) -> Result<(), String> {
    let own = env!("CARGO_PKG_VERSION");
    if version != own {
        return Err(format!(
            "hostwire there has version {}; this one has {own}",
            printable(version)
        ));
    }
    let machine = printable(&String::from_utf8_lossy(machine));
    let (other, theirs) = first.get_or_insert_with(|| (host.to_owned(), machine.clone()));
    match *theirs == machine {
        true => Ok(()),
        false => Err(format!(
            "it is {machine}, and {other} is {theirs}: PEs of one job need the same"
        )),
    }
}

fn end(how: How) -> End {
    match how {
        How::Exited(status) => End::Exited(status),
        How::Signal(signal) => End::Signal(signal),
    }
}

fn which(stream: Stream) -> Which {
    match stream {
        Stream::Stdout => Which::Stdout,
        Stream::Stderr => Which::Stderr,
    }
}
