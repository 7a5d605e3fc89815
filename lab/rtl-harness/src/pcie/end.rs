//! An end of a link: the hardware `pcie_dll`, and the transaction layer above it.

use hostwire_packet::pcie::CreditClass;

use crate::model::{Error, Files, In, Model, Out};
use crate::random::Random;

use super::line::Beat;
use super::tlp::Tlp;

/// Inputs of a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pins {
    /// Symbols that arrive.
    pub symbols: Option<Beat>,
    /// The physical layer takes symbols.
    pub symbol_ready: bool,
    /// The transaction layer takes TLPs.
    pub rx_ready: bool,
    /// The link retrains.
    pub recovery: bool,
    /// Framing of generation 3.
    pub gen3: bool,
    /// Percent of the cycles between beats in which the transaction layer has nothing to offer.
    pub pauses: u64,
}

/// What a cycle brought.
#[derive(Debug, Default)]
pub struct Offer {
    /// Symbols that leave.
    pub symbols: Option<Beat>,
    /// A TLP that the transaction layer got.
    pub received: Option<Vec<u8>>,
    /// A TLP whose first beat was taken: from now on its place in the order is fixed.
    pub accepted: Option<Tlp>,
    /// The layer asks for retraining.
    pub retrain: bool,
    /// It says that no frame is open before the symbols.
    pub between: bool,
}

/// Pulses that were counted, in the order of [`ERRORS`].
pub const ERRORS: [&str; 6] = ["timeout", "ack", "overflow", "tlp", "dllp", "frame"];

struct Ports {
    clk: In,
    rst_n: In,
    gen3: In,
    recovery: In,
    tx_valid: In,
    tx_ready: Out,
    tx_data: In,
    tx_keep: In,
    tx_last: In,
    rx_valid: Out,
    rx_ready: In,
    rx_data: Out,
    rx_keep: Out,
    rx_last: Out,
    symbol_ready: In,
    symbols_out: Out,
    ks_out: Out,
    between: Out,
    symbol_valid: In,
    symbols_in: In,
    ks_in: In,
    active: Out,
    retrain: Out,
    errors: [Out; 6],
}

impl Ports {
    fn new(model: &Model) -> Result<Self, Error> {
        let error = |name: &str| model.output(&format!("err_{name}_o"));
        let [a, b, c, d, e, f] = ERRORS;
        Ok(Self {
            clk: model.input("clk_i")?,
            rst_n: model.input("rst_ni")?,
            gen3: model.input("gen3_i")?,
            recovery: model.input("recovery_i")?,
            tx_valid: model.input("tx_valid_i")?,
            tx_ready: model.output("tx_ready_o")?,
            tx_data: model.input("tx_data_i")?,
            tx_keep: model.input("tx_keep_i")?,
            tx_last: model.input("tx_last_i")?,
            rx_valid: model.output("rx_valid_o")?,
            rx_ready: model.input("rx_ready_i")?,
            rx_data: model.output("rx_data_o")?,
            rx_keep: model.output("rx_keep_o")?,
            rx_last: model.output("rx_last_o")?,
            symbol_ready: model.input("symbol_ready_i")?,
            symbols_out: model.output("symbol_data_o")?,
            ks_out: model.output("symbol_k_o")?,
            between: model.output("symbol_between_o")?,
            symbol_valid: model.input("symbol_valid_i")?,
            symbols_in: model.input("symbol_data_i")?,
            ks_in: model.input("symbol_k_i")?,
            active: model.output("active_o")?,
            retrain: model.output("retrain_o")?,
            errors: [
                error(a)?,
                error(b)?,
                error(c)?,
                error(d)?,
                error(e)?,
                error(f)?,
            ],
        })
    }
}

/// A TLP that is offered to one of the three streams.
struct Stream {
    tlp: Tlp,
    at: usize,
    shown: bool,
}

/// An end of a link.
pub struct End {
    model: Model,
    ports: Ports,
    lanes: usize,
    dwords: usize,
    time: u64,
    streams: [Option<Stream>; 3],
    receiving: Vec<u8>,
    random: Random,
    /// Pulses of `ERRORS`.
    pub errors: [u64; 6],
}

impl End {
    /// An end with so many lanes, after its reset.
    ///
    /// # Errors
    /// As [`Model::new`]: nobody has built it.
    pub fn new(lanes: usize, seed: u64, files: Files) -> Result<Self, Error> {
        let mut model = Model::new(&format!("pcie_x{lanes}"), files)?;
        let ports = Ports::new(&model)?;
        let mut time = 0;
        for (rst_n, clk) in [(1, 0), (0, 0), (0, 1), (0, 0), (1, 0)] {
            model.set(ports.rst_n, rst_n);
            model.set(ports.clk, clk);
            model.eval(time);
            time += 1;
        }
        Ok(Self {
            model,
            ports,
            lanes,
            dwords: if lanes > 4 { 2 } else { 1 },
            time,
            streams: [None, None, None],
            receiving: Vec::new(),
            random: Random::new(seed),
            errors: [0; 6],
        })
    }

    /// Whether the stream of this class takes another TLP.
    pub fn wants(&self, class: CreditClass) -> bool {
        self.streams[class as usize].is_none()
    }

    /// Offers a TLP to its stream, which has to want it.
    pub fn offer(&mut self, tlp: Tlp) {
        let class = tlp.class() as usize;
        self.streams[class] = Some(Stream {
            tlp,
            at: 0,
            shown: false,
        });
    }

    /// Whether all TLPs that were offered have been taken.
    pub fn is_idle(&self) -> bool {
        self.streams.iter().all(Option::is_none)
    }

    /// Flow control is initialised.
    pub fn is_active(&self) -> bool {
        self.model.get(self.ports.active) == 1
    }

    /// One cycle.
    pub fn cycle(&mut self, pins: &Pins) -> Offer {
        self.drive(pins);
        self.model.set(self.ports.clk, 0);
        self.model.eval(self.time);
        let mut offer = Offer {
            symbols: pins.symbol_ready.then(|| self.symbols()),
            retrain: self.model.get(self.ports.retrain) == 1,
            between: self.model.get(self.ports.between) == 1,
            ..Offer::default()
        };
        offer.accepted = self.sent();
        if pins.rx_ready && self.model.get(self.ports.rx_valid) == 1 {
            offer.received = self.received();
        }
        for (count, port) in self.errors.iter_mut().zip(&self.ports.errors) {
            *count += self.model.get(*port);
        }
        self.model.set(self.ports.clk, 1);
        self.model.eval(self.time + 1);
        self.time += 2;
        offer
    }

    fn drive(&mut self, pins: &Pins) {
        let ports = &self.ports;
        self.model.set(ports.gen3, pins.gen3.into());
        self.model.set(ports.recovery, pins.recovery.into());
        self.model.set(ports.symbol_ready, pins.symbol_ready.into());
        self.model.set(ports.rx_ready, pins.rx_ready.into());
        self.model
            .set(ports.symbol_valid, pins.symbols.is_some().into());
        let beat = pins.symbols.unwrap_or_default();
        let (mut data, mut k) = (0, 0);
        for (lane, symbol) in beat.iter().take(self.lanes).enumerate() {
            data |= u64::from(symbol & 0xff) << (8 * lane);
            k |= u64::from(symbol >> 8) << lane;
        }
        self.model.set(ports.symbols_in, data);
        self.model.set(ports.ks_in, k);

        let (mut valid, mut last, mut keep) = (0, 0, 0);
        let width = 4 * self.dwords;
        for (class, stream) in self.streams.iter_mut().enumerate() {
            let Some(stream) = stream else { continue };
            stream.shown = stream.shown || !self.random.chance(pins.pauses);
            if !stream.shown {
                continue;
            }
            let rest = stream.tlp.bytes.get(stream.at..).unwrap_or(&[]);
            let mut bytes = [0; 8];
            for (to, from) in bytes.iter_mut().zip(rest.iter().take(width)) {
                *to = *from;
            }
            let at = 8 * width * class;
            self.model
                .set_bits(ports.tx_data, at, 8 * width, u64::from_le_bytes(bytes));
            valid |= 1 << class;
            last |= u64::from(rest.len() <= width) << class;
            let kept = (rest.len().min(width) / 4) as u32;
            keep |= ((1 << kept) - 1) << (self.dwords * class);
        }
        self.model.set(ports.tx_valid, valid);
        self.model.set(ports.tx_last, last);
        self.model.set(ports.tx_keep, keep);
    }

    fn symbols(&self) -> Beat {
        let data = self.model.get(self.ports.symbols_out);
        let k = self.model.get(self.ports.ks_out);
        let mut beat = Beat::default();
        for (lane, symbol) in beat.iter_mut().take(self.lanes).enumerate() {
            *symbol = (data >> (8 * lane) & 0xff | (k >> lane & 1) << 8) as u16;
        }
        beat
    }

    /// Which beats are taken; the TLP whose first beat is.
    fn sent(&mut self) -> Option<Tlp> {
        let ready = self.model.get(self.ports.tx_ready);
        let mut accepted = None;
        for (class, slot) in self.streams.iter_mut().enumerate() {
            let Some(stream) = slot else { continue };
            if !stream.shown || ready >> class & 1 == 0 {
                continue;
            }
            if stream.at == 0 {
                accepted = Some(stream.tlp.clone());
            }
            stream.at += 4 * self.dwords;
            stream.shown = false;
            if stream.at >= stream.tlp.bytes.len() {
                *slot = None;
            }
        }
        accepted
    }

    fn received(&mut self) -> Option<Vec<u8>> {
        let data = self.model.get(self.ports.rx_data).to_le_bytes();
        let kept = self.model.get(self.ports.rx_keep).count_ones() as usize;
        self.receiving.extend(data.iter().take(4 * kept));
        let last = self.model.get(self.ports.rx_last) == 1;
        last.then(|| core::mem::take(&mut self.receiving))
    }
}
