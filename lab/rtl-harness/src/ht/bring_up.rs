//! What a host does with the link before others use it: reset, initialisation, widths, registers.

use hostwire_packet::ht::{Dwords, ReadSize};

use super::chip::Chip;
use super::packets::Packet;
use super::partner::Partner;
use super::requests::{self, Data, is_normal};

/// Why a run ends: what was expected and got.
pub type Failure = String;

/// Clocks until a link that works is up.
const UP_CLOCKS: u64 = 2000;
/// Clocks until the core or a board answers, and in which posted packets of others have gone.
const ANSWER_CLOCKS: u64 = 3000;
/// SrcTag of reads behind a base address.
const READ_TAG: u8 = 3;

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
pub trait BringUp {
    /// Both.
    fn parts(&mut self) -> (&mut Chip, &mut Partner);

    /// One clock of the core.
    ///
    /// # Errors
    /// What was seen that must not be.
    fn clock(&mut self) -> Result<(), Failure>;

    /// A partner with 16 bits towards the core, and from it, or with 8. What was under way is forgotten.
    fn partner(&mut self, wide: (bool, bool)) -> Partner;

    /// What the core is to get.
    fn settings(&self) -> Settings;

    /// Brings the link up from power on, sets the core up, and widens the link.
    ///
    /// # Errors
    /// If it does not come up, or a register does not answer.
    fn boot(&mut self, wide: (bool, bool)) -> Result<(), Failure> {
        self.come_up(true, (false, false))?;
        self.configure()?;
        if wide != (false, false) {
            self.widen(wide)?;
            self.come_up(false, wide)?;
            self.configure()?;
        }
        Ok(())
    }

    /// Resets the link, with or without power, and initialises it with a new partner of these widths.
    ///
    /// # Errors
    /// If it does not come up.
    fn come_up(&mut self, cold: bool, wide: (bool, bool)) -> Result<(), Failure> {
        *self.parts().1 = self.partner(wide);
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
    fn configure(&mut self) -> Result<(), Failure> {
        let [others @ .., (at, unit)] = self.settings().registers();
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
        match is_normal(&answer) && answer.bytes.len() == 4 {
            true => Ok(()),
            false => Err(format!(
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
        let packet = config_packet(unit, at, None)?;
        self.read_by(packet)
    }

    /// Reads a dword behind a base address, behind all posted packets.
    ///
    /// # Errors
    /// As [`read_register`](Self::read_register).
    fn read_dword(&mut self, address: u64) -> Result<u32, Failure> {
        let packet = requests::read(address, ReadSize::Dwords(Dwords::MIN), READ_TAG);
        self.read_by(packet.map_err(|error| error.to_string())?)
    }

    /// Sends a read of a dword.
    ///
    /// # Errors
    /// As [`read_register`](Self::read_register).
    fn read_by(&mut self, packet: Packet) -> Result<u32, Failure> {
        let command = packet.command();
        let answer = self.ask(packet)?;
        match <[u8; 4]>::try_from(answer.data()) {
            Ok(data) if is_normal(&answer) => Ok(u32::from_le_bytes(data)),
            _ => Err(format!(
                "a read, {command:x?}, is answered with {answer:x?}"
            )),
        }
    }

    /// Sends a request behind all posted packets, while no other one is under way, and waits for the answer.
    ///
    /// # Errors
    /// Without answer.
    fn ask(&mut self, packet: Packet) -> Result<Packet, Failure> {
        for _ in 0..ANSWER_CLOCKS {
            if self.parts().1.outbox[0].is_empty() {
                break;
            }
            self.clock()?;
        }
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
    let address = 0xfd_fe00_0000 | u64::from(unit) << 11 | at;
    let tag = at as u8 / 4 % 32;
    let packet = match value {
        Some(value) => requests::write(address, Data::Dwords(&value.to_le_bytes()), Some(tag)),
        None => requests::read(address, ReadSize::Dwords(Dwords::MIN), tag),
    };
    packet.map_err(|error| error.to_string())
}
