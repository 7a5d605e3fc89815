//! Random bytes of the kernel.

use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{EnvironmentFault, TransportError};

/// Unpredictable bytes.
///
/// # Errors
/// [`TransportError::Environment`] if the kernel gives none, or fewer.
pub fn random<const N: usize>() -> Result<[u8; N], TransportError> {
    const WHAT: &str = "drawing a random number";
    let mut bytes = [0; N];
    let got = getrandom(&mut bytes, GetRandomFlags::empty());
    match got.map_err(|errno| TransportError::environment(WHAT, errno))? {
        got if got == N => Ok(bytes),
        got => {
            let expected = format_args!("{N} random bytes");
            let fault = EnvironmentFault::unexpected(expected, format_args!("{got}"));
            Err(TransportError::environment(WHAT, fault))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_alike() {
        assert_ne!(random::<16>().unwrap(), random().unwrap());
        assert_eq!(random::<0>(), Ok([]));
    }
}
