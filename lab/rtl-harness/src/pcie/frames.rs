//! Frames of generations 1 to 3 as symbols, one symbol after the other.

use hostwire_packet::pcie::{DLLP_LEN, DllpRepr};

/// How packets are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Generations 1 and 2: K symbols.
    Symbols,
    /// Generation 3: tokens.
    Tokens,
}

impl Framing {
    /// The one that it is not.
    pub fn other(self) -> Self {
        match self {
            Self::Symbols => Self::Tokens,
            Self::Tokens => Self::Symbols,
        }
    }
}

const K: u16 = 0x100;
const STP: u16 = K | 0xfb;
const SDP: u16 = K | 0x5c;
const END: u16 = K | 0xfd;
const EDB: u16 = K | 0xfe;
const PAD: u16 = K | 0xf7;

/// What goes over the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Sequence number, TLP, LCRC; whether EDB is behind it.
    Tlp(Vec<u8>, bool),
    /// With its CRC.
    Dllp([u8; DLLP_LEN]),
    /// Something that is no frame.
    Broken,
}

impl Packet {
    /// A DLLP as bytes.
    pub fn dllp(repr: DllpRepr) -> Self {
        let mut bytes = [0; DLLP_LEN];
        // A buffer of this length holds any DLLP.
        let _ = repr.emit(&mut bytes);
        Self::Dllp(bytes)
    }
}

/// The symbols of a packet.
pub fn encode(packet: &Packet, framing: Framing) -> Vec<u16> {
    let wide = |bytes: &[u8]| bytes.iter().map(|b| u16::from(*b)).collect::<Vec<_>>();
    match (packet, framing) {
        (Packet::Tlp(bytes, edb), Framing::Symbols) => {
            let end = if *edb { EDB } else { END };
            [vec![STP], wide(bytes), vec![end]].concat()
        }
        (Packet::Tlp(bytes, edb), Framing::Tokens) => {
            let (sequence, rest) = bytes.split_at(2.min(bytes.len()));
            let length = rest.len() / 4 + 1;
            let mut symbols = token(length, sequence);
            symbols.extend(wide(rest));
            if *edb {
                symbols.extend([0xc0; 4]);
            }
            symbols
        }
        (Packet::Dllp(bytes), Framing::Symbols) => [vec![SDP], wide(bytes), vec![END]].concat(),
        (Packet::Dllp(bytes), Framing::Tokens) => [vec![0xf0, 0xac], wide(bytes)].concat(),
        (Packet::Broken, _) => Vec::new(),
    }
}

/// Lengths that a token may have: those of a header of three dwords and of the longest TLP; those behind are reserved, and
/// of another kind.
const LENGTHS: std::ops::Range<usize> = 5..1152;

/// The EDS token of generation 3: the next block is an ordered set. It is an STP token with the length 1.
pub const EDS: [u16; 4] = [0x1f, 0x80, 0x90, 0x00];

/// The STP token of generation 3 for so many dwords, token and LCRC among them, and the two bytes of a sequence number.
pub fn token(length: usize, sequence: &[u8]) -> Vec<u16> {
    let length = length as u16;
    let crc = frame_crc(length);
    let parity = ((length.count_ones() + crc.count_ones()) % 2) as u16;
    let high = sequence.first().map_or(0, |b| u16::from(*b) & 15);
    let low = sequence.get(1).map_or(0, |b| u16::from(*b));
    vec![
        0xf | (length & 15) << 4,
        (length >> 4) | parity << 7,
        high | crc << 4,
        low,
    ]
}

/// CRC of the length: x^4 + x + 1 over 11 bits, the lowest first.
fn frame_crc(length: u16) -> u16 {
    let mut crc = 0;
    for bit in 0..11 {
        let out = (crc >> 3) ^ (length >> bit & 1);
        crc = (crc << 1 & 15) ^ if out == 1 { 0b0011 } else { 0 };
    }
    crc
}

/// Takes symbols apart.
#[derive(Debug)]
pub struct Decoder {
    framing: Framing,
    lanes: usize,
    state: State,
    /// A frame has ended in this cycle: PAD follows, or another frame.
    ended: bool,
    /// Tokens only: one was wrong, and nothing can be read until [`restart`](Self::restart).
    pub stuck: bool,
}

#[derive(Debug)]
enum State {
    Between,
    /// A frame with K symbols, and whether it is a DLLP.
    Frame(Vec<u8>, bool),
    /// A frame that is complete with so many bytes.
    Token(Vec<u8>, usize),
}

impl Decoder {
    /// Between frames.
    pub fn new(framing: Framing, lanes: usize) -> Self {
        Self {
            framing,
            lanes,
            state: State::Between,
            ended: false,
            stuck: false,
        }
    }

    /// No frame is open.
    pub fn is_between(&self) -> bool {
        matches!(self.state, State::Between)
    }

    /// Forgets an open frame.
    pub fn restart(&mut self) {
        self.state = State::Between;
        self.stuck = false;
    }

    /// Takes the symbol that came on a lane; returns what it completes.
    pub fn take(&mut self, symbol: u16, lane: usize) -> Option<Packet> {
        match self.framing {
            Framing::Symbols => self.take_symbol(symbol, lane),
            Framing::Tokens if self.stuck => None,
            Framing::Tokens => self.take_byte(symbol as u8, lane),
        }
    }

    /// A frame begins on lane 0, or on lane 4 if there are eight.
    fn may_begin(&self, lane: usize) -> bool {
        lane == 0 || (lane == 4 && self.lanes == 8)
    }

    fn take_symbol(&mut self, symbol: u16, lane: usize) -> Option<Packet> {
        let state = core::mem::replace(&mut self.state, State::Between);
        let unpadded = self.ended && lane > 0 && symbol == 0;
        self.ended = matches!(symbol, END | EDB | PAD);
        match (state, symbol) {
            (state, STP | SDP) => {
                let was_open = !matches!(state, State::Between);
                if self.may_begin(lane) {
                    self.state = State::Frame(Vec::new(), symbol == SDP);
                }
                (was_open || !self.may_begin(lane)).then_some(Packet::Broken)
            }
            (State::Frame(bytes, false), END | EDB) => Some(Packet::Tlp(bytes, symbol == EDB)),
            (State::Frame(bytes, true), END) => {
                Some(bytes.try_into().map_or(Packet::Broken, Packet::Dllp))
            }
            (State::Frame(mut bytes, dllp), 0..=0xff) => {
                bytes.push(symbol as u8);
                self.state = State::Frame(bytes, dllp);
                None
            }
            (State::Frame(..), _) => Some(Packet::Broken),
            (_, 0 | PAD) if !unpadded => None,
            (..) => Some(Packet::Broken),
        }
    }

    fn take_byte(&mut self, byte: u8, lane: usize) -> Option<Packet> {
        let state = core::mem::replace(&mut self.state, State::Between);
        let (mut bytes, need) = match state {
            State::Token(bytes, need) => (bytes, need),
            _ if byte == 0 => return None,
            _ if !self.may_begin(lane) => return self.fail(),
            _ if byte & 15 == 15 => (Vec::new(), 4),
            _ if byte == 0xf0 => (Vec::new(), 2 + DLLP_LEN),
            _ => return self.fail(),
        };
        bytes.push(byte);
        let mut need = need;
        let is_tlp = bytes.first().is_some_and(|first| first & 15 == 15);
        if is_tlp && bytes.len() == 4 {
            if bytes.iter().zip(EDS).all(|(a, b)| u16::from(*a) == b) {
                return None;
            }
            let length = usize::from(bytes[0] >> 4) | usize::from(bytes[1] & 0x7f) << 4;
            let expected = token(length, &[bytes[2] & 15, bytes[3]]);
            if !LENGTHS.contains(&length)
                || expected
                    .iter()
                    .zip(&bytes)
                    .any(|(a, b)| *a != u16::from(*b))
            {
                return self.fail();
            }
            need = length * 4;
        }
        if !is_tlp && bytes.len() == 2 && byte != 0xac {
            return self.fail();
        }
        if bytes.len() < need {
            self.state = State::Token(bytes, need);
            return None;
        }
        if is_tlp {
            bytes[2] &= 15;
            return Some(Packet::Tlp(bytes.split_off(2), false));
        }
        Some(
            bytes
                .split_off(2)
                .try_into()
                .map_or(Packet::Broken, Packet::Dllp),
        )
    }

    fn fail(&mut self) -> Option<Packet> {
        self.stuck = true;
        Some(Packet::Broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let tlp = Packet::Tlp((0..18).map(|b| b % 16).collect(), false);
        let dllp = Packet::dllp(DllpRepr::Ack {
            sequence: Default::default(),
        });
        for framing in [Framing::Symbols, Framing::Tokens] {
            for packet in [&tlp, &dllp] {
                let symbols = encode(packet, framing);
                assert_eq!(symbols.len() % 4, 0, "{framing:?}");
                let mut decoder = Decoder::new(framing, 4);
                let lanes = (0..4).cycle();
                let got: Vec<_> = symbols
                    .iter()
                    .zip(lanes)
                    .filter_map(|(symbol, lane)| decoder.take(*symbol, lane))
                    .collect();
                assert_eq!(got, std::slice::from_ref(packet), "{framing:?}");
            }
        }
    }

    /// Base Specification 3.0 and later, section 4.2.2.3.1: the bits of the Frame CRC and the short form of the Frame
    /// Parity as they are printed, and the EDS token of figure 4-13.
    #[test]
    fn tokens_are_as_published() {
        const CRC: [&[u32]; 4] = [
            &[10, 7, 6, 4, 2, 1, 0],
            &[10, 9, 7, 5, 4, 3, 2],
            &[9, 8, 6, 4, 3, 2, 1],
            &[8, 7, 5, 3, 2, 1, 0],
        ];
        const PARITY: &[u32] = &[10, 9, 8, 6, 5, 2, 0];
        for length in 0..1 << 11_u16 {
            let sum = |bits: &[u32]| bits.iter().fold(0, |sum, bit| sum ^ length >> bit & 1);
            let crc = CRC.iter().rev().fold(0, |crc, bits| crc << 1 | sum(bits));
            let expected = [
                (length & 15) << 4 | 15,
                sum(PARITY) << 7 | length >> 4,
                crc << 4 | 0xa,
                0xbc,
            ];
            assert_eq!(token(length.into(), &[0xa, 0xbc]), expected, "{length}");
        }
        assert_eq!(token(1, &[0, 0]), EDS);
    }

    #[test]
    fn all_damaged_lengths_of_a_token_are_seen() {
        // One and two bits of the 16 that say how long the frame is.
        for length in 5..1032 {
            let sound = token(length, &[0, 0]);
            let bits = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23];
            for first in bits {
                for second in bits {
                    let mut bytes: Vec<_> = sound.iter().map(|b| *b as u8).collect();
                    bytes[first / 8] ^= 1 << (first % 8);
                    if second != first {
                        bytes[second / 8] ^= 1 << (second % 8);
                    }
                    let mut decoder = Decoder::new(Framing::Tokens, 4);
                    for (lane, byte) in bytes.into_iter().enumerate() {
                        decoder.take(byte.into(), lane);
                    }
                    assert!(decoder.stuck, "length {length}, bits {first} and {second}");
                }
            }
        }
    }
}
