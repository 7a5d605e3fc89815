use core::fmt;

use crate::bits::room;
use crate::error::{Error, Result, check_block};

use super::channel::VirtualChannel;
use super::command::Command;
use super::fields::{Address, ByteEnables, Dwords, MaskedDwords, SeqId, SrcTag, UnitId};

mod view;

pub use view::Packet;
pub(super) use view::field;

/// A request as a value, without its data phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Unit that sends it.
    pub unit_id: UnitId,
    /// Ordered sequence of non-posted requests; 0 for none.
    pub seq_id: SeqId,
    /// The request may pass posted writes.
    pub pass_pw: bool,
    /// What is asked for.
    pub kind: Kind,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Sized write.
    Write(Write),
    /// Sized read.
    Read(Read),
    /// Answered when earlier posted writes of the unit have reached the host.
    Flush {
        /// Tag of the response.
        src_tag: SrcTag,
        /// Isochronous.
        isoc: bool,
    },
    /// Barrier for posted writes of all units.
    Fence {
        /// Isochronous.
        isoc: bool,
    },
    /// Taken by every device of the chain.
    Broadcast {
        /// Meaning left to the devices.
        address: Address,
    },
    /// Atomic read-modify-write of one qword.
    Atomic {
        /// Tag of the response.
        src_tag: SrcTag,
        /// Multiple of 8.
        address: Address,
        /// Which operation.
        operation: AtomicOperation,
        /// For the subtractive decoder (southbridge).
        compat: bool,
    },
}

/// Sized write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// Posted or not.
    pub mode: WriteMode,
    /// First dword written.
    pub address: Address,
    /// Amount and form of the data.
    pub size: WriteSize,
    /// Isochronous.
    pub isoc: bool,
    /// The access has to be coherent with the host's caches.
    pub coherent: bool,
    /// For the subtractive decoder (southbridge).
    pub compat: bool,
}

/// Whether a write is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteMode {
    /// No response.
    Posted {
        /// The data was damaged in transit.
        data_error: bool,
        /// Another posted write of this unit follows and must not be separated from this
        /// one.
        chain: bool,
    },
    /// Answered by a TgtDone.
    NonPosted {
        /// Tag of the response.
        src_tag: SrcTag,
    },
}

/// Data of a sized write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteSize {
    /// Whole dwords inside one aligned block of 64 bytes.
    Dwords(Dwords),
    /// A mask dword, then dwords inside one aligned block of 32 bytes.
    Bytes(MaskedDwords),
}

/// Sized read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// Tag of the response.
    pub src_tag: SrcTag,
    /// First dword read.
    pub address: Address,
    /// How much.
    pub size: ReadSize,
    /// PassPW of the response.
    pub response_pass_pw: bool,
    /// Isochronous.
    pub isoc: bool,
    /// The access has to be coherent with the host's caches.
    pub coherent: bool,
    /// For the subtractive decoder (southbridge).
    pub compat: bool,
}

/// Amount asked for by a sized read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadSize {
    /// Whole dwords inside one aligned block of 64 bytes.
    Dwords(Dwords),
    /// Some bytes of one dword.
    Bytes(ByteEnables),
}

/// Operation of an atomic request; the size of its data tells which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOperation {
    /// One qword of data: the addend.
    FetchAndAdd,
    /// Two qwords of data: compare value and new value.
    CompareAndSwap,
}

impl AtomicOperation {
    const fn count(self) -> u32 {
        match self {
            AtomicOperation::FetchAndAdd => 1,
            AtomicOperation::CompareAndSwap => 3,
        }
    }

    fn from_count(count: u8) -> Result<Self> {
        match count {
            1 => Ok(AtomicOperation::FetchAndAdd),
            3 => Ok(AtomicOperation::CompareAndSwap),
            other => Err(Error::Value {
                field: "ht.atomic.count",
                expected: "1 (fetch and add) or 3 (compare and swap)",
                got: other.into(),
            }),
        }
    }
}

impl WriteSize {
    fn parse(dwords: bool, count: u8) -> Result<Self> {
        Ok(if dwords {
            Self::Dwords(Dwords::from_count(count.into()))
        } else {
            Self::Bytes(MaskedDwords::new(count)?)
        })
    }
}

impl Repr {
    /// A posted write of whole dwords with no optional field: the only packet in the
    /// data of TCCluster and HToE.
    pub const fn posted_write(unit_id: UnitId, address: Address, dwords: Dwords) -> Self {
        Self {
            unit_id,
            seq_id: SeqId::MIN,
            pass_pw: false,
            kind: Kind::Write(Write {
                mode: WriteMode::Posted {
                    data_error: false,
                    chain: false,
                },
                address,
                size: WriteSize::Dwords(dwords),
                isoc: false,
                coherent: false,
                compat: false,
            }),
        }
    }

    /// Reads the request at the start of `bytes`. Its data phase is not read and may be
    /// missing.
    ///
    /// # Errors
    /// As [`Packet::new_checked`]; [`Error::Value`] or [`Error::OutOfRange`]
    /// for a count that its command does not define; [`Error::CrossesBlock`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let packet = Packet::new_checked(bytes)?;
        let address = packet.address().unwrap_or_default();
        let src_tag = packet.src_tag();
        let compat = packet.compat_or_isoc();
        let write = |mode, dwords, isoc, coherent| {
            Ok(Kind::Write(Write {
                mode,
                address,
                size: WriteSize::parse(dwords, packet.mask_count())?,
                isoc,
                coherent,
                compat,
            }))
        };
        let kind = match packet.command() {
            Command::WritePosted {
                dwords,
                isoc,
                coherent,
            } => {
                let mode = WriteMode::Posted {
                    data_error: packet.data_error(),
                    chain: packet.chain(),
                };
                write(mode, dwords, isoc, coherent)?
            }
            Command::WriteNonPosted {
                dwords,
                isoc,
                coherent,
            } => write(WriteMode::NonPosted { src_tag }, dwords, isoc, coherent)?,
            Command::Read {
                response_pass_pw,
                dwords,
                isoc,
                coherent,
            } => Kind::Read(Read {
                src_tag,
                address,
                size: if dwords {
                    ReadSize::Dwords(Dwords::from_count(packet.mask_count().into()))
                } else {
                    ReadSize::Bytes(ByteEnables::from_wire(packet.mask_count().into()))
                },
                response_pass_pw,
                isoc,
                coherent,
                compat,
            }),
            Command::Flush => Kind::Flush {
                src_tag,
                isoc: compat,
            },
            Command::Fence => Kind::Fence { isoc: compat },
            Command::Broadcast => Kind::Broadcast { address },
            Command::Atomic => Kind::Atomic {
                src_tag,
                address,
                operation: AtomicOperation::from_count(packet.mask_count())?,
                compat,
            },
            other => {
                return Err(Error::Value {
                    field: "ht.request.command",
                    expected: "a request",
                    got: other.encode().into(),
                });
            }
        };
        let repr = Self {
            unit_id: packet.unit_id(),
            seq_id: packet.seq_id(),
            pass_pw: packet.pass_pw(),
            kind,
        };
        repr.check()?;
        Ok(repr)
    }

    /// Checks what the types of the fields cannot rule out.
    ///
    /// # Errors
    /// [`Error::CrossesBlock`] for an access that leaves its aligned block,
    /// [`Error::Misaligned`] for an atomic.
    pub fn check(&self) -> Result<()> {
        let block = |field, block_bytes, address: Address, len_bytes: usize| {
            check_block(field, block_bytes, address.get(), len_bytes as u64)
        };
        match self.kind {
            Kind::Write(Write { address, size, .. }) => match size {
                WriteSize::Dwords(dwords) => {
                    block("ht.write.count", 64, address, dwords.len_bytes())
                }
                WriteSize::Bytes(dwords) => {
                    block("ht.byte_write.count", 32, address, dwords.len_bytes())
                }
            },
            Kind::Read(Read {
                address,
                size: ReadSize::Dwords(dwords),
                ..
            }) => block("ht.read.count", 64, address, dwords.len_bytes()),
            Kind::Atomic { address, .. } if !address.get().is_multiple_of(8) => {
                Err(Error::Misaligned {
                    field: "ht.atomic.address",
                    align_bytes: 8,
                    got: address.get(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Bytes that [`emit`](Self::emit) writes: 4, 8 or 12.
    #[inline]
    pub const fn buffer_len(&self) -> usize {
        match self.address() {
            None => 4,
            Some(address) if address.is_extended() => 12,
            Some(_) => 8,
        }
    }

    /// Length in bytes of the data phase that has to follow, 0 for none.
    #[inline]
    pub const fn data_len(&self) -> usize {
        match self.kind {
            Kind::Write(Write { size, .. }) => match size {
                WriteSize::Dwords(dwords) => dwords.len_bytes(),
                WriteSize::Bytes(dwords) => 4 + dwords.len_bytes(),
            },
            Kind::Atomic { operation, .. } => (operation.count() as usize + 1) * 4,
            _ => 0,
        }
    }

    /// Writes the request to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// As [`check`](Self::check), or [`Error::BufferTooSmall`]; with nothing
    /// written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        self.check()?;
        let len = self.buffer_len();
        let buffer = room("ht.request", buffer, len)?;
        buffer.fill(0);
        let extended = len == 12;
        if extended {
            field::COMMAND.set_le(buffer, Command::AddressExtension.encode().into());
        }
        let mut packet = Packet {
            buffer,
            command: self.command(),
            extended,
        };
        field::COMMAND.set_le(packet.dwords_mut(), self.command().encode().into());
        packet.set_unit_id(self.unit_id);
        packet.set_seq_id(self.seq_id);
        packet.set_pass_pw(self.pass_pw);
        if let Some(src_tag) = self.src_tag() {
            packet.set_src_tag(src_tag);
        }
        if let Some(address) = self.address() {
            packet.set_address(address);
        }
        match self.kind {
            Kind::Write(write) => {
                if let WriteMode::Posted { data_error, chain } = write.mode {
                    packet.set_data_error(data_error);
                    packet.set_chain(chain);
                }
                packet.set_compat_or_isoc(write.compat);
                packet.set_mask_count(match write.size {
                    WriteSize::Dwords(dwords) => dwords.count(),
                    WriteSize::Bytes(dwords) => dwords.get().into(),
                });
            }
            Kind::Read(read) => {
                packet.set_compat_or_isoc(read.compat);
                packet.set_mask_count(match read.size {
                    ReadSize::Dwords(dwords) => dwords.count(),
                    ReadSize::Bytes(enables) => enables.get().into(),
                });
            }
            Kind::Flush { isoc, .. } | Kind::Fence { isoc } => packet.set_compat_or_isoc(isoc),
            Kind::Broadcast { .. } => {}
            Kind::Atomic {
                operation, compat, ..
            } => {
                packet.set_compat_or_isoc(compat);
                packet.set_mask_count(operation.count());
            }
        }
        Ok(len)
    }

    /// The command this request is sent with.
    pub const fn command(&self) -> Command {
        match self.kind {
            Kind::Write(Write {
                mode,
                size,
                isoc,
                coherent,
                ..
            }) => {
                let dwords = matches!(size, WriteSize::Dwords(_));
                match mode {
                    WriteMode::Posted { .. } => Command::WritePosted {
                        dwords,
                        isoc,
                        coherent,
                    },
                    WriteMode::NonPosted { .. } => Command::WriteNonPosted {
                        dwords,
                        isoc,
                        coherent,
                    },
                }
            }
            Kind::Read(read) => Command::Read {
                response_pass_pw: read.response_pass_pw,
                dwords: matches!(read.size, ReadSize::Dwords(_)),
                isoc: read.isoc,
                coherent: read.coherent,
            },
            Kind::Flush { .. } => Command::Flush,
            Kind::Fence { .. } => Command::Fence,
            Kind::Broadcast { .. } => Command::Broadcast,
            Kind::Atomic { .. } => Command::Atomic,
        }
    }

    /// Address, `None` for Flush and Fence.
    #[inline]
    pub const fn address(&self) -> Option<Address> {
        match self.kind {
            Kind::Write(Write { address, .. })
            | Kind::Read(Read { address, .. })
            | Kind::Broadcast { address }
            | Kind::Atomic { address, .. } => Some(address),
            Kind::Flush { .. } | Kind::Fence { .. } => None,
        }
    }

    /// Tag of the response, `None` for posted requests.
    #[inline]
    pub const fn src_tag(&self) -> Option<SrcTag> {
        match self.kind {
            Kind::Write(Write {
                mode: WriteMode::NonPosted { src_tag },
                ..
            })
            | Kind::Read(Read { src_tag, .. })
            | Kind::Flush { src_tag, .. }
            | Kind::Atomic { src_tag, .. } => Some(src_tag),
            _ => None,
        }
    }

    /// Virtual channel: posted, or non-posted if there is a response.
    #[inline]
    pub const fn virtual_channel(&self) -> VirtualChannel {
        match self.src_tag() {
            Some(_) => VirtualChannel::NonPosted,
            None => VirtualChannel::Posted,
        }
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} unit={}", self.command(), self.unit_id)?;
        if self.seq_id != SeqId::MIN {
            write!(f, " seq={}", self.seq_id)?;
        }
        if let Some(src_tag) = self.src_tag() {
            write!(f, " tag={src_tag}")?;
        }
        if let Some(address) = self.address() {
            write!(f, " addr={address}")?;
        }
        match self.kind {
            Kind::Write(Write { size, .. }) => match size {
                WriteSize::Dwords(dwords) => write!(f, " len={}", dwords.len_bytes())?,
                WriteSize::Bytes(dwords) => write!(f, " len={} masked", dwords.len_bytes())?,
            },
            Kind::Read(Read { size, .. }) => match size {
                ReadSize::Dwords(dwords) => write!(f, " len={}", dwords.len_bytes())?,
                ReadSize::Bytes(enables) => write!(f, " bytes={:04b}", enables.get())?,
            },
            Kind::Atomic { operation, .. } => f.write_str(match operation {
                AtomicOperation::FetchAndAdd => " fetch-and-add",
                AtomicOperation::CompareAndSwap => " compare-and-swap",
            })?,
            _ => {}
        }
        if self.pass_pw {
            f.write_str(" passpw")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
