//! From the key of a job to the keys of frames: HKDF with SHA-256 (RFC 5869).

use core::fmt;
use core::str::FromStr;

use ring::aead::{AES_128_GCM, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

use super::{Aead, End};

const SALT: &[u8] = b"hostwire sealed frames 1";
const KEY_LEN: usize = 16;
const SECRET_LEN: usize = 32;
/// Bytes of a [`Proof`].
pub const PROOF_LEN: usize = 32;

/// The secret of all PEs of a job: 32 random bytes. It has no `==`, because the time of a
/// comparison would show how many bytes of a guess are right.
#[derive(Clone)]
pub struct JobKey([u8; 32]);

/// A text that is no [`JobKey`]. Does not quote the text, because it may be nearly a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a job key of 64 hexadecimal digits, got {got_chars} other characters")]
pub struct JobKeyError {
    /// Length of the text.
    pub got_chars: usize,
}

impl JobKey {
    /// From unpredictable random bytes.
    pub const fn new(random: [u8; 32]) -> Self {
        Self(random)
    }

    /// 64 hexadecimal digits, for code that passes the key on. There is no `Display`, so
    /// that no key gets into an error text by accident.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// The secret of the frames from one node to another.
    pub(super) fn secret(&self, from: End, to: End) -> Secret {
        let job = Salt::new(HKDF_SHA256, SALT).extract(&self.0);
        let (from_node, to_node) = (from.node.0.to_be_bytes(), to.node.0.to_be_bytes());
        let info: [&[u8]; 5] = [b"from to", &from_node, &to_node, &from.life.0, &to.life.0];
        let mut secret = [0; SECRET_LEN];
        expand(&job, &info, &mut secret);
        Secret(secret)
    }

    /// The proof that the host of `from` shows to that of `to`.
    pub fn proof(&self, from: End, to: End) -> Proof {
        let job = Salt::new(HKDF_SHA256, SALT).extract(&self.0);
        let (from_node, to_node) = (from.node.0.to_be_bytes(), to.node.0.to_be_bytes());
        let info: [&[u8]; 5] = [b"proof", &from_node, &to_node, &from.life.0, &to.life.0];
        let mut proof = [0; PROOF_LEN];
        expand(&job, &info, &mut proof);
        Proof(proof)
    }
}

/// Proves to one end that the other has the key of the job, without showing the key. There is
/// one for each direction between two lives. It has no `==`, as [`JobKey`].
#[derive(Clone, Copy)]
pub struct Proof([u8; PROOF_LEN]);

impl Proof {
    /// A proof of nothing, for jobs without a key.
    pub const NONE: Self = Self([0; PROOF_LEN]);

    /// The bytes as they are sent.
    pub const fn to_bytes(self) -> [u8; PROOF_LEN] {
        self.0
    }

    /// Whether the peer has shown this proof. Takes constant time.
    pub fn is(&self, shown: &[u8; PROOF_LEN]) -> bool {
        let differing = self.0.iter().zip(shown).map(|(a, b)| a ^ b);
        core::hint::black_box(differing.fold(0, |all, byte| all | byte)) == 0
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proof(..)")
    }
}

impl FromStr for JobKey {
    type Err = JobKeyError;

    fn from_str(text: &str) -> Result<Self, JobKeyError> {
        let got_chars = text.chars().count();
        unhex(text).map(Self).ok_or(JobKeyError { got_chars })
    }
}

impl fmt::Debug for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JobKey(..)")
    }
}

/// Identifies this life of a node: 16 random bytes that every process draws anew and
/// publishes to its peers. Frames of another life of either end do not open. Not secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Life(pub [u8; 16]);

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for Life {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        unhex(text).map(Self).ok_or(())
    }
}

/// The secret of one direction between two lives.
pub(super) struct Secret([u8; SECRET_LEN]);

impl Secret {
    /// The key of the frames of one epoch.
    pub(super) fn key(&self, epoch: u64) -> FrameKey {
        let prk = Prk::new_less_safe(HKDF_SHA256, &self.0);
        let mut made = [0; KEY_LEN + NONCE_LEN];
        expand(&prk, &[b"key", &epoch.to_be_bytes()], &mut made);
        let (key, iv) = made.split_at(KEY_LEN);
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(iv);
        #[allow(clippy::expect_used)]
        let key = UnboundKey::new(&AES_128_GCM, key).expect("16 bytes are an AES-128 key");
        FrameKey {
            epoch,
            iv: nonce,
            aead: Aead(LessSafeKey::new(key)),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Seals and opens frames of one epoch.
pub(super) struct FrameKey {
    pub(super) epoch: u64,
    iv: [u8; NONCE_LEN],
    pub(super) aead: Aead,
}

impl FrameKey {
    /// As in TLS 1.3 (RFC 8446, section 5.3): the number, padded on the left, XOR the IV.
    pub(super) fn nonce(&self, number: u64) -> Nonce {
        let mut nonce = self.iv;
        let (_, low) = nonce.split_at_mut(NONCE_LEN - size_of::<u64>());
        for (byte, number) in low.iter_mut().zip(number.to_be_bytes()) {
            *byte ^= number;
        }
        Nonce::assume_unique_for_key(nonce)
    }
}

impl fmt::Debug for FrameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameKey({}, ..)", self.epoch)
    }
}

struct Len(usize);

impl KeyType for Len {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand(prk: &Prk, info: &[&[u8]], out: &mut [u8]) {
    let made = prk
        .expand(info, Len(out.len()))
        .and_then(|okm| okm.fill(out));
    // Fails beyond 255 blocks of 32 bytes.
    debug_assert!(made.is_ok());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = *pair else { return None };
        *byte = (digit(high)? << 4 | digit(low)?) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Node;

    #[test]
    fn keys_come_back_and_are_not_shown() {
        let key = JobKey::new(core::array::from_fn(|i| i as u8 * 7));
        let parsed: JobKey = key.to_hex().parse().unwrap();
        assert_eq!(parsed.to_hex(), key.to_hex());
        assert_eq!(format!("{key:?}"), "JobKey(..)");
        let life = Life([0xab; 16]);
        assert_eq!(life.to_string().parse(), Ok(life));
        for bad in ["", "00", &"g".repeat(64), &"é".repeat(32)] {
            let got_chars = bad.chars().count();
            assert_eq!(bad.parse::<JobKey>().err(), Some(JobKeyError { got_chars }));
            assert!(bad.parse::<Life>().is_err());
        }
    }

    #[test]
    fn a_proof_is_of_one_direction_between_two_lives_of_one_job() {
        let end = |node, life| End {
            node: Node(node),
            life: Life([life; 16]),
        };
        let (a, b) = (end(1, 0xaa), end(2, 0xbb));
        let key = JobKey::new([7; 32]);
        let proof = key.proof(a, b);
        assert!(proof.is(&key.proof(a, b).to_bytes()));
        for other in [
            key.proof(b, a),
            key.proof(end(1, 0xac), b),
            key.proof(a, end(2, 0xbc)),
            key.proof(a, end(3, 0xbb)),
            JobKey::new([8; 32]).proof(a, b),
            Proof::NONE,
        ] {
            assert!(!proof.is(&other.to_bytes()));
        }
        assert!(Proof::NONE.is(&[0; PROOF_LEN]));
        assert_eq!(format!("{proof:?}"), "Proof(..)");
    }
}
