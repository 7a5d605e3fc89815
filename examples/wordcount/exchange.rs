//! Words on their way between PEs.
//!
//! | bytes | field |
//! |---|---|
//! | 0..8 | count, little endian |
//! | 8..12 | length of the word, little endian |
//! | 12.. | the word; the next entry follows at once |

use hostwire::{Job, PeId};
use hostwire_examples::Failure;

use crate::counts::{Counts, Entry, sort};

const TAG: u64 = 1;
const HEADER_BYTES: usize = 12;

/// Sends every word to the PE that its hash names, and adds up what comes.
pub fn by_owner(job: &Job, counts: Counts) -> Result<Counts, Failure> {
    let pes = job.pes();
    let mut out = vec![Vec::new(); pes as usize];
    for entry in counts {
        let owner = hash(&entry.word) % u64::from(pes);
        pack(&entry, &mut out[owner as usize]);
    }
    // First how much there is from whom, then the words.
    let lengths: Vec<u64> = out.iter().map(|bytes| bytes.len() as u64).collect();
    let mut expected = vec![0; pes as usize];
    job.all_to_all(&lengths, &mut expected)?;

    let mut owned = Counts::new();
    unpack(job.pe(), &out[job.pe() as usize], |word, count| {
        owned.add(word, count);
    })?;
    let mut into = Vec::new();
    for step in 1..pes {
        let (to, from) = ((job.pe() + step) % pes, (job.pe() + pes - step) % pes);
        into.resize(expected[from as usize] as usize, 0);
        job.exchange(to, &out[to as usize], from, &mut into, TAG)?;
        unpack(from, &into, |word, count| owned.add(word, count))?;
    }
    Ok(owned)
}

/// All entries of all PEs, sorted, at PE 0.
pub fn to_pe_0(job: &Job, entries: Vec<Entry>) -> Result<Option<Vec<Entry>>, Failure> {
    if job.pe() != 0 {
        let mut bytes = Vec::new();
        for entry in &entries {
            pack(entry, &mut bytes);
        }
        job.send(0, TAG, &bytes)?;
        return Ok(None);
    }
    let mut all = entries;
    for from in 1..job.pes() {
        let bytes = job.recv_vec::<u8>(from, TAG)?;
        unpack(from, &bytes, |word, count| {
            all.push(Entry {
                count,
                word: word.into(),
            });
        })?;
    }
    sort(&mut all);
    Ok(Some(all))
}

/// FNV-1a, 64 bits: the same in every process, which the hashes of the standard
/// library are not.
fn hash(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn pack(entry: &Entry, into: &mut Vec<u8>) {
    into.extend(entry.count.to_le_bytes());
    into.extend((entry.word.len() as u32).to_le_bytes());
    into.extend(&entry.word);
}

fn unpack(from: PeId, bytes: &[u8], mut each: impl FnMut(&[u8], u64)) -> Result<(), Failure> {
    let mut rest = bytes;
    while let Some((header, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let [c0, c1, c2, c3, c4, c5, c6, c7, length @ ..] = *header;
        let count = u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, c7]);
        let length = u32::from_le_bytes(length) as usize;
        let Some((word, behind)) = behind.split_at_checked(length) else {
            break;
        };
        each(word, count);
        rest = behind;
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Failure::alone(
            format_args!("words from PE {from}"),
            "an entry is cut short",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(bytes: &[u8]) -> Option<Vec<Entry>> {
        let mut entries = Vec::new();
        unpack(0, bytes, |word, count| {
            entries.push(Entry {
                count,
                word: word.into(),
            });
        })
        .ok()?;
        Some(entries)
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let entry = |count, word: &[u8]| Entry {
            count,
            word: word.into(),
        };
        let packed = [
            3, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, b'h', b'i', //
            1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        let unpacked = [entry(1 << 56 | 3, b"hi"), entry(1, b"")];
        let mut bytes = Vec::new();
        for entry in &unpacked {
            pack(entry, &mut bytes);
        }
        assert_eq!(bytes, packed);
        assert_eq!(entries(&packed).unwrap(), unpacked);
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let packed = [3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'h', b'i'];
        for length in 1..packed.len() {
            assert_eq!(entries(&packed[..length]), None, "{length}");
        }
    }

    #[test]
    fn the_hash_is_that_of_its_authors() {
        // Test vectors of draft-eastlake-fnv.
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
