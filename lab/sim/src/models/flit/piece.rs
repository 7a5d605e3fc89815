//! What flits and frames carry.

use super::Shape;

/// A request as it crosses the network: a put or a part of one, or a word of the hosts' own
/// protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Host that it comes from.
    pub from: u16,
    /// Host that it is for.
    pub to: u16,
    /// Its place among the pieces of data from that host to this one.
    pub number: u32,
    /// Its length in a flit or frame, header included.
    pub bytes: u16,
    /// What it is.
    pub kind: PieceKind,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Data.
    Data {
        /// Number of its message.
        message: u32,
        /// Bytes of the message.
        payload_bytes: u16,
    },
    /// All data before its number has arrived.
    Ack,
    /// The same, and the data from its number on is to be sent again.
    Nak,
}

/// A flit or frame, as what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// Bytes of all pieces, and of the buffers that they take.
    pub bytes: u32,
}

impl Cell {
    /// One of these pieces.
    pub fn new(pieces: Vec<Piece>) -> Cell {
        Cell {
            bytes: pieces.iter().map(|piece| u32::from(piece.bytes)).sum(),
            pieces,
        }
    }

    /// Bytes of messages.
    pub fn payload_bytes(&self) -> u64 {
        let payloads = self.pieces.iter().map(|piece| match piece.kind {
            PieceKind::Data { payload_bytes, .. } => u64::from(payload_bytes),
            PieceKind::Ack | PieceKind::Nak => 0,
        });
        payloads.sum()
    }

    /// Stands for it in the event hash.
    pub(super) fn digest(&self) -> u64 {
        self.pieces
            .iter()
            .fold(u64::from(self.bytes), |sum, piece| {
                let kind = match piece.kind {
                    PieceKind::Data { message, .. } => u64::from(message) << 2,
                    PieceKind::Ack => 1,
                    PieceKind::Nak => 2,
                };
                let ends = u64::from(piece.from) << 48 | u64::from(piece.to) << 32;
                (sum.rotate_left(7) ^ ends ^ u64::from(piece.number) ^ kind << 8)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            })
    }
}

/// Puts pieces into flits or frames.
#[derive(Debug)]
pub struct Packer {
    shape: Shape,
    /// A piece that has begun in an earlier flit, and its bytes there.
    begun: Option<(Piece, u32)>,
}

impl Packer {
    /// One for links of this shape.
    pub fn new(shape: Shape) -> Packer {
        Packer { shape, begun: None }
    }

    /// The next flit or frame with pieces from `next`; `None` if there are none. A piece that
    /// does not fit goes on in the next flit, and arrives with that.
    pub fn pack(&mut self, mut next: impl FnMut() -> Option<Piece>) -> Option<Cell> {
        let Shape::Flits { capacity_bytes, .. } = self.shape else {
            return next().map(|piece| Cell::new(vec![piece]));
        };
        let mut left_bytes = capacity_bytes;
        let mut pieces = Vec::new();
        while left_bytes > 0 {
            let begun = self.begun.take();
            let Some((piece, sent_bytes)) = begun.or_else(|| Some((next()?, 0))) else {
                break;
            };
            let rest_bytes = u32::from(piece.bytes).saturating_sub(sent_bytes);
            if rest_bytes > left_bytes {
                self.begun = Some((piece, sent_bytes + left_bytes));
                break;
            }
            left_bytes -= rest_bytes;
            pieces.push(piece);
        }
        let is_empty = pieces.is_empty() && self.begun.is_none();
        (!is_empty).then(|| Cell::new(pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of 80 bytes in flits for 236: one in three crosses from a flit to the next one.
    #[test]
    fn pieces_share_flits_and_cross_from_one_to_the_next() {
        let mut packer = Packer::new(Shape::Flits {
            flit_bytes: 256,
            capacity_bytes: 236,
        });
        let mut numbers = 0..6u32;
        let mut cells = std::iter::from_fn(|| {
            packer.pack(|| {
                Some(Piece {
                    from: 0,
                    to: 1,
                    number: numbers.next()?,
                    bytes: 80,
                    kind: PieceKind::Ack,
                })
            })
        });
        let counts: Vec<usize> = cells.by_ref().map(|cell| cell.pieces.len()).collect();
        assert_eq!(counts, [2, 3, 1], "480 bytes: 236, 236 and 8");
    }

    #[test]
    fn a_frame_has_one_piece() {
        let mut packer = Packer::new(Shape::Frames {
            check_bytes: 4,
            least_bytes: 64,
            gap_bytes: 20,
            control_bytes: 8,
        });
        let piece = Piece {
            from: 0,
            to: 1,
            number: 0,
            bytes: 158,
            kind: PieceKind::Ack,
        };
        let cell = packer.pack(|| Some(piece)).unwrap();
        assert_eq!((cell.pieces.len(), cell.bytes), (1, 158));
        assert_eq!(packer.shape.wire_bytes(cell.bytes), 182);
        assert_eq!(packer.shape.wire_bytes(46), 84);
        assert_eq!(packer.pack(|| None), None);
    }
}
