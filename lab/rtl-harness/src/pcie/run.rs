//! Runs of a link until all TLPs have arrived on both sides.

use std::collections::VecDeque;
use std::fmt;

use crate::model::{self, Files};
use crate::random::Random;

use super::end::{End, Pins};
use super::frames::{Decoder, Framing};
use super::line::{Beat, Line};
use super::partner::{Habits, Partner};
use super::tlp::Tlp;

/// Cycles without a TLP that arrives until a run has failed.
const STUCK_CYCLES: u64 = 200_000;
/// Cycles that a link retrains.
const RECOVERY_CYCLES: u64 = 20;
/// Cycles from one outage to the next, and how long one is.
const OUTAGE_CYCLES: (u64, u64) = (30_000, 8_000);
/// Cycles from one change of generation to the next.
const CHANGE_CYCLES: u64 = 5_000;

/// A run. The same setup gives the same run.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// 1, 2, 4 or 8.
    pub lanes: usize,
    /// How packets are framed.
    pub framing: Framing,
    /// TLPs in each direction.
    pub packets: u64,
    /// A symbol in so many is damaged, 0 for none.
    pub damage: u64,
    /// Percent of pauses of all kinds: symbols, beats, TLPs taken.
    pub pauses: u64,
    /// Dwords of data of all TLPs, which are memory writes; 0 for random TLPs.
    pub write_dwords: u64,
    /// Whether the link falls silent now and then, for longer than four replays take; only of a pair.
    pub outages: bool,
    /// Whether the link changes its generation now and then; only of a pair.
    pub changes: bool,
    /// What is random.
    pub seed: u64,
}

/// What a run was like.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Cycles, with initialisation and the last Acks.
    pub cycles: u64,
    /// Bytes of TLPs that arrived.
    pub bytes: u64,
    /// Symbols that were damaged.
    pub damaged: u64,
    /// Times that the link had to retrain.
    pub retrains: u64,
    /// Errors that the hardware counted; see `pcie::end::ERRORS`.
    pub errors: [u64; 6],
    /// Naks and TLPs that came again, as a partner has seen them.
    pub repeats: u64,
}

/// Why a run failed: the hardware's fault, or nobody has built it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// There is no model.
    #[error(transparent)]
    Model(#[from] model::Error),
    /// Something else came than what was sent.
    #[error("{setup:?}, cycle {cycle}: {reason}")]
    Wrong {
        /// To run it again.
        setup: Box<Setup>,
        /// When.
        cycle: u64,
        /// What.
        reason: String,
    },
}

impl Setup {
    fn wrong(&self, cycle: u64, reason: impl fmt::Display) -> Failure {
        Failure::Wrong {
            setup: Box::new(*self),
            cycle,
            reason: reason.to_string(),
        }
    }

    fn line(&self, seed: u64) -> Line {
        let random = Random::new(self.seed.wrapping_mul(7) + seed);
        Line::new(
            self.lanes,
            self.damage,
            self.framing == Framing::Symbols,
            random,
        )
    }

    fn tlp(&self, random: &mut Random) -> Option<Tlp> {
        match self.write_dwords {
            0 => Tlp::random(random),
            dwords => Tlp::write(dwords, random),
        }
    }
}

/// TLPs that were sent and have not arrived.
#[derive(Default)]
struct Underway {
    sent: u64,
    queue: VecDeque<Vec<u8>>,
    arrived: u64,
    bytes: u64,
}

impl Underway {
    fn arrive(&mut self, got: &[u8]) -> Result<(), String> {
        let expected = self.queue.pop_front().ok_or("a TLP that nobody sent")?;
        if expected != got {
            let number = self.arrived;
            return Err(format!(
                "TLP {number}: sent {expected:02x?}, got {got:02x?}"
            ));
        }
        self.arrived += 1;
        self.bytes += got.len() as u64;
        Ok(())
    }
}

/// How the readiness of a transaction layer changes: ready, half, seldom, not at all.
fn readiness(setup: &Setup, random: &mut Random) -> u64 {
    if setup.pauses == 0 {
        return 100;
    }
    [100, 100, 50, 10, 3, 0][random.below(6) as usize]
}

/// An end with a transaction layer above it.
struct Side {
    end: End,
    random: Random,
    ready: u64,
    /// What it sends.
    underway: Underway,
    /// Follows its frames; and how often it has said that none is open.
    watcher: Decoder,
    between: u64,
}

impl Side {
    fn new(setup: &Setup, number: u64) -> Result<Self, Failure> {
        let seed = setup.seed.wrapping_mul(3) + number;
        Ok(Self {
            end: End::new(setup.lanes, seed, Files::default())?,
            random: Random::new(seed ^ 0x5eed),
            ready: 100,
            underway: Underway::default(),
            watcher: Decoder::new(setup.framing, setup.lanes),
            between: 0,
        })
    }

    /// One cycle: `arrive` gets TLPs for this side; returns the symbols, and whether to retrain.
    fn cycle(
        &mut self,
        setup: &Setup,
        cycle: u64,
        symbols: Option<Beat>,
        recovery: bool,
        framing: Framing,
        arrive: &mut Underway,
    ) -> Result<(Option<Beat>, bool), Failure> {
        if cycle.is_multiple_of(1000) {
            self.ready = readiness(setup, &mut self.random);
        }
        self.offer(setup);
        let pins = Pins {
            symbols,
            symbol_ready: !recovery && !self.random.chance(setup.pauses),
            rx_ready: self.random.chance(self.ready),
            recovery,
            gen3: framing == Framing::Tokens,
            pauses: setup.pauses,
        };
        let offer = self.end.cycle(&pins);
        if let Some(tlp) = offer.accepted {
            self.underway.queue.push_back(tlp.bytes);
        }
        if let Some(got) = offer.received {
            arrive
                .arrive(&got)
                .map_err(|reason| setup.wrong(cycle, reason))?;
        }
        if recovery {
            self.watcher = Decoder::new(framing, setup.lanes);
        }
        if let Some(beat) = offer.symbols {
            if offer.between && !self.watcher.is_between() {
                let reason = "an ordered set may go here, in a frame";
                return Err(setup.wrong(cycle, reason));
            }
            self.between += u64::from(offer.between);
            for (lane, symbol) in beat.iter().take(setup.lanes).enumerate() {
                self.watcher.take(*symbol, lane);
            }
        }
        Ok((offer.symbols, offer.retrain))
    }

    /// Keeps the streams full, as long as there are TLPs to send.
    fn offer(&mut self, setup: &Setup) {
        if self.underway.sent == setup.packets || self.random.chance(setup.pauses) {
            return;
        }
        if let Some(tlp) = setup.tlp(&mut self.random)
            && self.end.wants(tlp.class())
        {
            self.end.offer(tlp);
            self.underway.sent += 1;
        }
    }
}

/// Two ends of hardware, with lines between them that damage symbols.
///
/// # Errors
/// [`Failure`].
pub fn pair(setup: &Setup) -> Result<Report, Failure> {
    let mut sides = [Side::new(setup, 1)?, Side::new(setup, 2)?];
    let mut lines = [setup.line(1), setup.line(2)];
    let mut watch = Watch::default();
    let mut symbols = [None; 2];
    let mut framing = setup.framing;
    let mut cycle = 0;
    while !watch.is_over(setup, cycle, &sides[0].underway, &sides[1].underway)? {
        if setup.changes && cycle % CHANGE_CYCLES == CHANGE_CYCLES - 1 {
            watch.retrain(cycle, true);
            framing = framing.other();
        }
        let recovery = watch.recovery(cycle);
        if recovery || (setup.outages && cycle % OUTAGE_CYCLES.0 < OUTAGE_CYCLES.1) {
            lines.iter_mut().for_each(Line::clear);
        }
        let [a, b] = &mut sides;
        let [to_a, to_b] = symbols;
        let (from_a, retrain_a) =
            a.cycle(setup, cycle, to_a, recovery, framing, &mut b.underway)?;
        let (from_b, retrain_b) =
            b.cycle(setup, cycle, to_b, recovery, framing, &mut a.underway)?;
        symbols = [lines[0].carry(from_b), lines[1].carry(from_a)];
        watch.retrain(cycle, (retrain_a || retrain_b) && !recovery);
        cycle += 1;
    }
    let damaged = lines[0].damaged + lines[1].damaged;
    let [a, b] = &sides;
    if a.between.min(b.between) < setup.packets {
        return Err(setup.wrong(cycle, "no ordered set may go between frames"));
    }
    Ok(watch.report(
        cycle,
        damaged,
        [&a.underway, &b.underway],
        [a.end.errors, b.end.errors],
    ))
}

/// An end of hardware and a partner with such habits.
///
/// # Errors
/// [`Failure`].
pub fn against_partner(setup: &Setup, habits: Habits) -> Result<Report, Failure> {
    let mut side = Side::new(setup, 3)?;
    let mut lines = [setup.line(3), setup.line(4)];
    let random = Random::new(setup.seed.wrapping_mul(11) + 1);
    let mut partner = Partner::new(setup.lanes, setup.framing, habits, random);
    let mut random = Random::new(setup.seed.wrapping_mul(13) + 1);
    let mut back = Underway::default();
    let mut watch = Watch::default();
    let mut frees = 100;
    let (mut cycle, mut symbols) = (0, None);
    while !watch.is_over(setup, cycle, &side.underway, &back)? {
        let recovery = watch.recovery(cycle);
        if recovery {
            lines.iter_mut().for_each(Line::clear);
            partner.recover();
        }
        if cycle.is_multiple_of(1000) {
            frees = readiness(setup, &mut random);
        }
        while partner.to_send.len() < 4 && back.sent < setup.packets {
            if let Some(tlp) = setup.tlp(&mut random) {
                back.queue.push_back(tlp.bytes.clone());
                partner.to_send.push_back(tlp);
                back.sent += 1;
            }
        }
        let pause = recovery || random.chance(setup.pauses);
        let from_partner = (!pause).then(|| partner.produce(frees));
        let (from_side, retrain) =
            side.cycle(setup, cycle, symbols, recovery, setup.framing, &mut back)?;
        symbols = lines[0].carry(from_partner);
        if let Some(beat) = lines[1].carry(from_side) {
            partner.consume(&beat);
        }
        while let Some(got) = partner.delivered.pop_front() {
            let arrived = side.underway.arrive(&got);
            arrived.map_err(|reason| setup.wrong(cycle, reason))?;
        }
        if let Some(fault) = &partner.fault {
            return Err(setup.wrong(cycle, fault));
        }
        watch.retrain(cycle, (retrain || partner.retrain) && !recovery);
        cycle += 1;
    }
    let damaged = lines[0].damaged + lines[1].damaged;
    let report = watch.report(
        cycle,
        damaged,
        [&side.underway, &back],
        [side.end.errors, [0; 6]],
    );
    Ok(Report {
        repeats: partner.repeats,
        ..report
    })
}

/// Progress of a run, and retraining.
#[derive(Default)]
struct Watch {
    arrived: u64,
    progress_at: u64,
    recovery_until: u64,
    retrains: u64,
    done_at: Option<u64>,
}

impl Watch {
    /// All has arrived, and nothing came behind it.
    fn is_over(
        &mut self,
        setup: &Setup,
        cycle: u64,
        there: &Underway,
        back: &Underway,
    ) -> Result<bool, Failure> {
        let arrived = there.arrived + back.arrived;
        if arrived != self.arrived {
            self.arrived = arrived;
            self.progress_at = cycle;
        }
        if arrived == 2 * setup.packets {
            return Ok(cycle - *self.done_at.get_or_insert(cycle) > 3000);
        }
        if cycle - self.progress_at > STUCK_CYCLES {
            let (there, back) = (there.arrived, back.arrived);
            let reason = format!("nothing arrives any more; {there} there, {back} back");
            return Err(setup.wrong(cycle, reason));
        }
        Ok(false)
    }

    fn recovery(&self, cycle: u64) -> bool {
        cycle < self.recovery_until
    }

    fn retrain(&mut self, cycle: u64, asked: bool) {
        if asked {
            self.recovery_until = cycle + RECOVERY_CYCLES;
            self.retrains += 1;
        }
    }

    fn report(
        &self,
        cycles: u64,
        damaged: u64,
        ways: [&Underway; 2],
        errors: [[u64; 6]; 2],
    ) -> Report {
        let [a, b] = errors;
        let mut sum = a;
        sum.iter_mut().zip(b).for_each(|(sum, b)| *sum += b);
        Report {
            cycles: self.done_at.unwrap_or(cycles),
            bytes: ways.iter().map(|way| way.bytes).sum(),
            damaged,
            retrains: self.retrains,
            errors: sum,
            repeats: 0,
        }
    }
}

impl Habits {
    /// Does nothing wrong, and gives credits without limit.
    pub fn honest() -> Self {
        Self {
            ack_cycles: 20,
            ..Self::default()
        }
    }

    /// Does all wrong that it can, now and then.
    pub fn awkward() -> Self {
        Self {
            lose_dllps: 5,
            lose_tlps: 2,
            damage_tlps: 2,
            double_tlps: 3,
            nullify_tlps: 2,
            ack_cycles: 100,
            credits: [(4, 24), (2, 8), (3, 0)],
        }
    }

    /// Gives as few credits as it may.
    pub fn stingy() -> Self {
        Self {
            ack_cycles: 40,
            credits: [(1, 16), (1, 1), (1, 16)],
            ..Self::default()
        }
    }
}
