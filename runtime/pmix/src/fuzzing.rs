//! The check of values that a PMIx library gives, of any kind. `qa/fuzzing` runs it.

use crate::Pmix;
use crate::abi::{ByteObject, Data};
use crate::fake::{RANK, api, give, malloced};

/// Kinds of values, as PMIx numbers them.
const KINDS: [u16; 12] = [1, 3, 4, 6, 9, 10, 11, 13, 14, 15, 27, 28];

/// A script: the rank (a byte; 255 for all ones), then values, the first of them the size of the
/// job: a status (0 is success), a kind, and a number of 8 bytes or a length and bytes. Returns
/// the texts of all errors.
///
/// # Panics
/// If the result is not the value that was given.
pub fn values(script: &[u8]) -> Vec<String> {
    let (rank, mut rest) = script.split_first().unwrap_or((&0, &[]));
    RANK.set(match *rank {
        u8::MAX => (0, u32::MAX),
        254 => (-1, 0),
        rank => (0, rank.into()),
    });
    let mut errors = Vec::new();
    value("pmix.job.size", &mut rest);
    match Pmix::init_with(api()) {
        Err(error) => errors.push(error.to_string()),
        Ok(mut pmix) => {
            assert!(pmix.rank() < pmix.size());
            while !rest.is_empty() {
                let given = value("key", &mut rest);
                match (pmix.get(1, "key"), given) {
                    (Ok(got), Some(given)) => assert_eq!(Some(&got[..]), given.strip_prefix(b"=")),
                    (Ok(got), None) => panic!("{got:?} out of nothing"),
                    (Err(error), _) => errors.push(error.to_string()),
                }
            }
        }
    }
    errors
}

/// Lets the library have the next value under `key`. Returns its bytes, if it has some.
fn value(key: &str, rest: &mut &[u8]) -> Option<Vec<u8>> {
    let [status, kind, behind @ ..] = *rest else {
        *rest = &[];
        return None;
    };
    *rest = behind;
    let status = i32::from(*status as i8);
    let kind = KINDS[usize::from(*kind) % KINDS.len()];
    let (data, bytes) = match kind {
        3 | 27 => {
            let (len, behind) = rest.split_first().unwrap_or((&0, &[]));
            let (bytes, behind) = behind.split_at(usize::from(*len).min(behind.len()));
            *rest = behind;
            text_or_bytes(kind, bytes)
        }
        _ => {
            let (number, behind) = rest.split_at(rest.len().min(8));
            *rest = behind;
            let mut word = [0; 8];
            word[..number.len()].copy_from_slice(number);
            let uint64 = u64::from_le_bytes(word);
            (Data { uint64 }, None)
        }
    };
    give(key, status, Some((kind, data)));
    bytes.filter(|_| status == 0)
}

/// A string ends at its first zero. A string that begins with 0 is missing, and bytes that begin
/// with 0 contradict themselves.
fn text_or_bytes(kind: u16, bytes: &[u8]) -> (Data, Option<Vec<u8>>) {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_none = bytes.first() == Some(&0);
    if kind == 3 {
        let string = match is_none {
            true => core::ptr::null_mut(),
            false => malloced(&[text, &[0]].concat()),
        };
        return (Data { string }, (!is_none).then(|| text.to_vec()));
    }
    let object = match is_none {
        true => ByteObject {
            bytes: core::ptr::null_mut(),
            size: bytes.len(),
        },
        false => ByteObject {
            bytes: malloced(bytes),
            size: bytes.len(),
        },
    };
    let given = (!is_none).then(|| bytes.to_vec());
    (Data { bytes: object }, given)
}
