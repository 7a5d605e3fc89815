//! What a host does with the link before others use it: reset, initialisation, registers.

use hostwire_packet::ht::{
    Address, Dwords, PacketRepr, Read, ReadSize, RequestKind, RequestRepr, ResponseRepr,
    ResponseStatus, SeqId, SrcTag, UnitId, Write, WriteMode, WriteSize,
};

use super::chip::Chip;
use super::packets::Packet;
use super::partner::Partner;

/// Why a run ends: what was expected and got.
pub type Failure = String;

/// Clocks until a link that works is up.
const UP_CLOCKS: u64 = 2000;
/// Clocks until the core answers for itself.
const ANSWER_CLOCKS: u64 = 1000;

/// What software gives a device.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Base addresses.
    pub bars: [u64; 2],
    /// UnitID.
    pub unit: u8,
}

impl Settings {
    /// Registers and what they get, in this order: base addresses, what they enable, and the UnitID.
    pub fn registers(&self) -> [(u64, u32); 6] {
        let [bar0, bar1] = self.bars;
        [
            (0x10, bar0 as u32),
            (0x14, (bar0 >> 32) as u32),
            (0x18, bar1 as u32),
            (0x1c, (bar1 >> 32) as u32),
            (0x04, 6),
            (0x40, u32::from(self.unit) << 16),
        ]
    }
}

/// A chip and its partner, which is the host.
pub trait Host {
    /// Both.
    fn parts(&mut self) -> (&mut Chip, &mut Partner);

    /// One clock of the core.
    ///
    /// # Errors
    /// What was seen that must not be.
    fn clock(&mut self) -> Result<(), Failure>;

    /// Resets the link, with or without power, and initialises it with a new partner.
    ///
    /// # Errors
    /// If it does not come up.
    fn come_up(&mut self, cold: bool, partner: Partner) -> Result<(), Failure> {
        *self.parts().1 = partner;
        for (pwrok, clocks) in [(!cold, 10), (true, 10)] {
            self.parts().0.reset(pwrok, false);
            for _ in 0..clocks {
                // In reset nothing is compared.
                let _ = self.clock();
                self.parts().1.wrong.clear();
            }
        }
        let (chip, partner) = self.parts();
        chip.reset(true, true);
        partner.begin();
        for _ in 0..UP_CLOCKS {
            self.clock()?;
            let (chip, partner) = self.parts();
            if chip.is_up() && partner.is_up() {
                return Ok(());
            }
        }
        Err("the link does not come up".to_owned())
    }

    /// Sets UnitID, base addresses, and what they enable.
    ///
    /// # Errors
    /// As [`write_register`](Self::write_register).
    fn configure(&mut self, settings: &Settings) -> Result<(), Failure> {
        let [others @ .., (at, unit)] = settings.registers();
        for (at, value) in others {
            self.write_register(at, value)?;
        }
        // In reset its number is 0.
        self.write_register_of(0, at, unit)
    }

    /// Asks for 16 bits towards the core, and from it, after the next reset of the link.
    ///
    /// # Errors
    /// As [`write_register`](Self::write_register).
    fn widen(&mut self, (input, output): (bool, bool)) -> Result<(), Failure> {
        self.write_register(0x44, u32::from(input) << 24 | u32::from(output) << 28)
    }

    /// Writes a dword of the configuration space.
    ///
    /// # Errors
    /// If the answer is not as it has to be.
    fn write_register(&mut self, at: u64, value: u32) -> Result<(), Failure> {
        let unit = self.parts().0.settings().0 as u8;
        self.write_register_of(unit, at, value)
    }

    /// The same of a device with this UnitID.
    ///
    /// # Errors
    /// As [`write_register`](Self::write_register).
    fn write_register_of(&mut self, unit: u8, at: u64, value: u32) -> Result<(), Failure> {
        let packet = config_packet(unit, at, Some(value))?;
        let answer = self.ask(packet)?;
        match ResponseRepr::parse(&answer.bytes) {
            Ok(response)
                if response.status == ResponseStatus::Normal && answer.bytes.len() == 4 =>
            {
                Ok(())
            }
            _ => Err(format!(
                "a write of register {at:#x} is answered with {answer:x?}"
            )),
        }
    }

    /// Reads a dword of the configuration space.
    ///
    /// # Errors
    /// If the answer is not as it has to be.
    fn read_register(&mut self, at: u64) -> Result<u32, Failure> {
        let unit = self.parts().0.settings().0 as u8;
        let answer = self.ask(config_packet(unit, at, None)?)?;
        let response = ResponseRepr::parse(&answer.bytes);
        match (response, <[u8; 4]>::try_from(answer.data())) {
            (Ok(response), Ok(data)) if response.status == ResponseStatus::Normal => {
                Ok(u32::from_le_bytes(data))
            }
            _ => Err(format!(
                "a read of register {at:#x} is answered with {answer:x?}"
            )),
        }
    }

    /// Sends a request to the core itself while nothing else is under way, and waits for the answer.
    ///
    /// # Errors
    /// Without answer.
    fn ask(&mut self, packet: Packet) -> Result<Packet, Failure> {
        self.parts().1.outbox[1].push_back(packet);
        for _ in 0..ANSWER_CLOCKS {
            self.clock()?;
            let partner = self.parts().1;
            if let Some((packet, _)) = partner.inbox.pop_front() {
                partner.free(&packet);
                return Ok(packet);
            }
        }
        Err("no answer".to_owned())
    }
}

/// A read of a register of a device, or a write if there is a value.
///
/// # Errors
/// If there is no such register.
pub fn config_packet(unit: u8, at: u64, value: Option<u32>) -> Result<Packet, Failure> {
    let text = |error: hostwire_packet::Error| error.to_string();
    let address = 0xfd_fe00_0000 | u64::from(unit) << 11 | at;
    let src_tag = SrcTag::new(at as u8 / 4 % 32).map_err(text)?;
    let address = Address::new(address).map_err(text)?;
    let one = Dwords::new(1).map_err(text)?;
    let kind = match value {
        Some(_) => RequestKind::Write(Write {
            mode: WriteMode::NonPosted { src_tag },
            address,
            size: WriteSize::Dwords(one),
            isoc: false,
            coherent: false,
            compat: false,
        }),
        None => RequestKind::Read(Read {
            src_tag,
            address,
            size: ReadSize::Dwords(one),
            response_pass_pw: false,
            isoc: false,
            coherent: false,
            compat: false,
        }),
    };
    let request = RequestRepr {
        unit_id: UnitId::new(0).map_err(text)?,
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind,
    };
    let data = value.map(u32::to_le_bytes);
    let data = data.as_ref().map_or(&[][..], |data| &data[..]);
    let packet = PacketRepr::new(request, data).map_err(text)?;
    let mut bytes = vec![0; packet.buffer_len()];
    packet.emit(&mut bytes).map_err(text)?;
    Packet::parse(&bytes).map_err(text)
}
