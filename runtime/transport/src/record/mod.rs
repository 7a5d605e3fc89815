//! Stores of a PE as a capture file for Wireshark.
//!
//! A [`Recorder`] is a wire around another one. It writes each store to another PE into
//! `pe-N.pcapng` in a folder, N being the number of this PE, as HToE frames with packets as
//! [`hostwire_link::put`] makes them. The format does not depend on what the wire itself sends. So the file
//! also has stores within the host, and nothing in it is encrypted. The dissector is
//! `tools/wireshark/hostwire.lua`.
//!
//! | in a frame | is |
//! |---|---|
//! | source and destination address | `02:00` and the number of the PE |
//! | virtual link | the lower 16 bits of the number of the sender |
//! | SEQ | the number of the frame between these two PEs |
//! | address of a packet | the address of the place in the job ([`hostwire_address`]) |
//!
//! The buffer is written to the file when it is full, when this PE is about to sleep, and at the end. What
//! is in the file stays readable however the process ends. A file has a [limit](Options::limit_bytes):
//! frames beyond it are counted, and the last block of a file that was closed in good order has their
//! number. If the file cannot be written, the program gets the error only when it
//! [closes](crate::wire::Lifetime::close_recording) the recording.
//!
//! Stores of a PE to itself are not recorded: most do not pass a wire.

mod file;
mod frames;

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire_packet::pcapng::{Block, Direction};

use self::file::CaptureFile;
use self::frames::Frames;
use crate::addresses::Addresses;
use crate::error::{PeId, TransportError};
use crate::printable::quoted;
use crate::wire::Wire;
use crate::wrap::{Stage, Store, Wrapped};

/// A wire around another one, whose stores to other PEs are written to a file. See the
/// [module text](self).
pub type Recorder = Wrapped<Recording>;

/// Where to record, and how much.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the files of all PEs.
    pub folder: PathBuf,
    /// Most bytes of a file.
    pub limit_bytes: u64,
    /// Added to [`Clock::now`](crate::wire::Clock::now) it gives the time since 1970, or since the beginning
    /// of a simulation.
    pub epoch: Duration,
}

/// The stage of [`Recorder`].
#[derive(Debug)]
pub struct Recording {
    addresses: Addresses,
    epoch: Duration,
    path: PathBuf,
    state: Mutex<OpenCapture>,
}

#[derive(Debug)]
struct OpenCapture {
    frames: Frames,
    file: CaptureFile,
}

hostwire_link::counters! {
    /// The counters of a recorder.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct RecordCounters {
        /// Frames that were recorded.
        pub recorded: u64 = ["frames recorded"],
        /// Frames that were not recorded: the file has reached its limit, or cannot be written.
        pub left_out: u64 = ["frames not recorded"],
    }
}

/// Makes the folder if it does not exist, and checks that files can be made in it.
///
/// # Errors
/// [`TransportError::Environment`].
pub fn prepare(folder: &Path) -> Result<(), TransportError> {
    use rustix::fs::{Access, access};
    std::fs::create_dir_all(folder).map_err(|e| cannot_record(folder, e))?;
    let may = access(folder, Access::WRITE_OK | Access::EXEC_OK);
    may.map_err(|e| cannot_record(folder, std::io::Error::from(e)))
}

fn cannot_record(path: &Path, error: std::io::Error) -> TransportError {
    let path = quoted(&path.to_string_lossy());
    TransportError::environment(format!("recording to {path}"), error)
}

impl Recorder {
    /// Around `wire`.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if the file cannot be made; as [`Wrapped::around`].
    pub fn new(wire: Arc<dyn Wire>, options: &Options) -> Result<Self, TransportError> {
        prepare(&options.folder)?;
        let pe = wire.pe();
        let path = options.folder.join(format!("pe-{pe}.pcapng"));
        let file = CaptureFile::create(&path, pe, options.limit_bytes);
        let stage = Recording {
            addresses: Addresses::new(wire.pes(), wire.segment().memory())?,
            epoch: options.epoch,
            state: Mutex::new(OpenCapture {
                frames: Frames::of(pe),
                file: file.map_err(|e| cannot_record(&path, e))?,
            }),
            path,
        };
        Self::around(wire, stage)
    }

    /// What it has counted.
    pub fn counters(&self) -> RecordCounters {
        self.stage().lock().file.counters
    }
}

impl Recording {
    fn lock(&self) -> MutexGuard<'_, OpenCapture> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In nanoseconds.
    fn time(&self, wire: &dyn Wire) -> u64 {
        let time = self.epoch.saturating_add(wire.now());
        u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Stage for Recording {
    fn store(&self, wire: &dyn Wire, pe: PeId, store: Store<'_>) -> Result<(), TransportError> {
        let address = store.address(&self.addresses, pe)?;
        // Taken before a peer can answer the store.
        let time = self.time(wire);
        store.send(wire, pe)?;
        let mut state = self.lock();
        let OpenCapture { frames, file } = &mut *state;
        frames.each(pe, address, &store.contents(), |data| {
            file.add(&Block::Packet {
                interface: 0,
                time,
                direction: Direction::Outbound,
                data,
            });
        });
        Ok(())
    }

    /// So the file of a PE that waits has everything that the PE has done.
    fn rest(&self, _wire: &dyn Wire) {
        self.lock().file.flush();
    }

    fn finish(&self, wire: &dyn Wire) {
        let time = self.time(wire);
        self.lock().file.finish(time);
    }

    fn close_recording(&self, wire: &dyn Wire) -> Result<(), TransportError> {
        self.finish(wire);
        match self.lock().file.failed.take() {
            Some(error) => Err(cannot_record(&self.path, error)),
            None => Ok(()),
        }
    }

    fn tally(&self) -> Vec<(String, u64)> {
        let names = RecordCounters::table().map(|(name, _)| name.to_owned());
        let counters = self.lock().file.counters;
        names.zip(counters.values()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::{Bell, Lifetime};
    use std::collections::BTreeMap;

    use hostwire_packet::htoe::{EthernetRepr, FrameRepr, MacAddress};
    use hostwire_testing::pcapng::{blocks, packets};
    use proptest::prelude::*;

    use super::*;
    use crate::conformance::Random;
    use crate::wrap::log::{Asked, Log};

    const AT: usize = 8192;
    const EPOCH: Duration = Duration::from_secs(1000);
    /// From the segment of a PE to that of the next one: they have 1 MiB.
    const STRIDE: u64 = 1 << 20;

    /// A temporary folder, removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("hostwire-record-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        fn capture(&self) -> Vec<u8> {
            std::fs::read(self.0.join("pe-0.pcapng")).unwrap()
        }

        fn options(&self, limit_bytes: u64) -> Options {
            Options {
                folder: self.0.clone(),
                limit_bytes,
                epoch: EPOCH,
            }
        }

        fn recorder(&self, limit_bytes: u64) -> (Recorder, Arc<Log>) {
            let log = Arc::new(Log::new(3));
            let wire = Recorder::new(Arc::clone(&log) as _, &self.options(limit_bytes));
            (wire.unwrap(), log)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// What the frame of a packet stores: the target, the SEQ, and runs of bytes.
    fn frame(data: &[u8]) -> (PeId, u16, Vec<(u64, Vec<u8>)>) {
        let ethernet = EthernetRepr::parse(data).unwrap();
        assert_eq!(ethernet.source, MacAddress([2, 0, 0, 0, 0, 0]));
        let MacAddress([2, 0, pe @ ..]) = ethernet.destination else {
            panic!("{ethernet}");
        };
        let frame = FrameRepr::parse(&data[ethernet.buffer_len()..]).unwrap();
        let runs = frame.packets().flat_map(|packet| {
            let runs: Vec<_> = hostwire_link::put::runs(&packet).collect();
            runs
        });
        let runs = runs.map(|(address, run)| (address, run.to_vec()));
        (
            PeId::from_be_bytes(pe),
            frame.header().sequence,
            runs.collect(),
        )
    }

    #[test]
    fn stores_are_frames_with_their_times_and_go_on() {
        let folder = Folder::new("frames");
        let (wire, log) = folder.recorder(1 << 20);
        wire.store(1, AT + 64, &[0xab; 100]).unwrap();
        wire.store_word(2, AT, 0x0807_0605_0403_0201).unwrap();
        wire.store_line(1, AT, 7, b"behind it").unwrap();
        wire.store(0, AT, b"to itself").unwrap();
        assert_eq!(log.take().len(), 4);
        drop(wire);

        let capture = folder.capture();
        let seen: Vec<_> = packets(&capture)
            .iter()
            .map(|packet| (packet.time, frame(packet.data)))
            .collect();
        let line = [&7_u64.to_ne_bytes()[..], b"behind it"].concat();
        let at = |pe: u64| pe * STRIDE + AT as u64;
        let begin = EPOCH.as_nanos() as u64;
        let expected = [
            (
                begin,
                (
                    1,
                    0,
                    vec![(at(1) + 64, vec![0xab; 64]), (at(1) + 128, vec![0xab; 36])],
                ),
            ),
            (
                begin + 1000,
                (2, 0, vec![(at(2), (1..9).collect::<Vec<u8>>())]),
            ),
            (
                begin + 2000,
                (
                    1,
                    1,
                    vec![
                        (at(1), line[..16].to_vec()),
                        (at(1) + 16, line[16..].to_vec()),
                    ],
                ),
            ),
        ];
        assert_eq!(seen, expected);
        let kinds: Vec<u32> = blocks(&capture).iter().map(|block| block.0).collect();
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 6, 6, 6, 5]);
    }

    #[test]
    fn what_was_there_when_a_pe_slept_is_in_the_file() {
        let folder = Folder::new("killed");
        let (wire, _) = folder.recorder(1 << 20);
        wire.store(1, AT, &[1; 64]).unwrap();
        wire.arm(Duration::ZERO);
        wire.store(1, AT, &[2; 64]).unwrap();
        // As if it had been killed: nothing has run at its end.
        let capture = folder.capture();
        drop(wire);
        let [packet] = &packets(&capture)[..] else {
            panic!("{capture:?}");
        };
        assert_eq!(frame(packet.data).2, [(STRIDE + AT as u64, vec![1; 64])]);
    }

    #[test]
    fn a_file_has_a_limit_and_says_what_is_missing() {
        let folder = Folder::new("limit");
        let (wire, log) = folder.recorder(10_000);
        for _ in 0..200 {
            wire.store(1, AT, &[1; 64]).unwrap();
        }
        let RecordCounters { recorded, left_out } = wire.counters();
        assert_eq!(recorded + left_out, 200);
        assert_eq!(log.take().len(), 200);
        wire.finish();
        wire.finish();
        drop(wire);
        let capture = folder.capture();
        assert!((9_000..=10_000).contains(&capture.len()));
        assert_eq!(packets(&capture).len() as u64, recorded);
        let all = blocks(&capture);
        let statistics: Vec<_> = all.iter().filter(|block| block.0 == 5).collect();
        let [(_, body)] = &statistics[..] else {
            panic!("{statistics:?}");
        };
        assert_eq!(body[16..24], left_out.to_le_bytes());
    }

    #[test]
    fn a_full_device_ends_the_recording_and_nothing_else() {
        let full = Path::new("/dev/full");
        let mut file = CaptureFile::create(full, 0, 1 << 20).unwrap();
        for _ in 0..3 {
            file.add(&Block::Packet {
                interface: 0,
                time: 0,
                direction: Direction::Outbound,
                data: &[0; 64],
            });
        }
        file.flush();
        let RecordCounters { recorded, left_out } = file.counters;
        assert_eq!((recorded, left_out), (0, 3));
    }

    /// As on a full file system.
    #[test]
    fn a_file_that_could_not_be_written_is_named_at_the_end() {
        let folder = Folder::new("full");
        let (wire, _) = folder.recorder(1 << 20);
        wire.stage().lock().file.break_off("/dev/full");
        wire.store(1, AT, &[1; 64]).unwrap();
        let error = wire.close_recording().unwrap_err().to_string();
        let named = error.contains("pe-0.pcapng") && error.contains("No space left");
        assert!(named, "{error}");
        wire.close_recording().unwrap();
    }

    #[test]
    fn links_are_not_followed() {
        let folder = Folder::new("links");
        prepare(&folder.0).unwrap();
        let other = folder.0.join("other");
        std::fs::write(&other, "of somebody else").unwrap();
        std::os::unix::fs::symlink(&other, folder.0.join("pe-0.pcapng")).unwrap();
        let refused = Recorder::new(Arc::new(Log::new(3)), &folder.options(1 << 20));
        let error = refused.err().unwrap().to_string();
        let named = error.contains("pe-0.pcapng") && error.contains("symbolic link");
        assert!(named, "{error}");
        assert_eq!(std::fs::read(&other).unwrap(), b"of somebody else");
    }

    #[test]
    fn a_folder_that_cannot_be_is_named() {
        let file = Folder::new("file");
        std::fs::write(&file.0, "not a folder").unwrap();
        for folder in [file.0.clone(), file.0.join("below")] {
            let error = prepare(&folder).unwrap_err().to_string();
            let named = error.starts_with("recording to \"") && error.contains("record-file");
            assert!(named, "{error}");
        }
        std::fs::remove_file(&file.0).unwrap();
    }

    proptest! {
        /// Whatever is stored, the frames of a target store the same.
        #[test]
        fn frames_store_what_was_stored(
            stores in prop::collection::vec((1..3_u32, 0..200_usize, 0..5000_usize), 1..12),
            seed: u64,
        ) {
            let folder = Folder::new("any");
            let (wire, log) = folder.recorder(1 << 30);
            let mut random = Random::new(seed);
            for (pe, at, len) in stores {
                wire.store(pe, AT + at, &random.bytes(len)).unwrap();
            }
            drop(wire);
            let mut expected: BTreeMap<PeId, Vec<u8>> = BTreeMap::new();
            for asked in log.take() {
                let Asked::Store(pe, store) = asked else { continue };
                let (at, bytes) = (store.offset_bytes(), store.contents());
                let memory = expected.entry(pe).or_insert_with(|| vec![0; 6000]);
                memory[at - AT..][..bytes.len()].copy_from_slice(&bytes);
            }
            let mut found: BTreeMap<PeId, Vec<u8>> = BTreeMap::new();
            let mut next: BTreeMap<PeId, u16> = BTreeMap::new();
            for packet in packets(&folder.capture()) {
                prop_assert!(packet.data.len() <= 1514);
                let (pe, sequence, runs) = frame(packet.data);
                let number = next.entry(pe).or_default();
                prop_assert_eq!(sequence, *number);
                *number += 1;
                for (at, run) in runs {
                    let memory = found.entry(pe).or_insert_with(|| vec![0; 6000]);
                    let at = (at - u64::from(pe) * STRIDE) as usize - AT;
                    memory[at..][..run.len()].copy_from_slice(&run);
                }
            }
            for (pe, memory) in expected {
                let seen = found.remove(&pe).unwrap_or_else(|| vec![0; 6000]);
                prop_assert!(seen == memory, "PE {}", pe);
            }
            prop_assert!(found.is_empty());
        }
    }
}
