//! Names of tunnels in files. Who can read the file of a tunnel can meet it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hostwire::station::Name;

/// The file with the name of this tunnel. It is gone when this is dropped.
pub struct Written(PathBuf);

impl Written {
    /// Writes it, for the owner alone to read.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new(path: &Path, name: &Name) -> io::Result<Self> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        // What an earlier tunnel has left that was killed while it wrote.
        let _ = fs::remove_file(&part);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part)?;
        writeln!(file, "{}", to_text(name))?;
        drop(file);
        fs::rename(&part, path)?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The name in the file of another tunnel: `None` if there is none now.
pub fn read(path: &Path) -> Option<Name> {
    of_text(fs::read_to_string(path).ok()?.trim())
}

fn to_text(name: &Name) -> String {
    let digits = name.to_bytes().map(|byte| format!("{byte:02x}"));
    digits.concat()
}

fn of_text(text: &str) -> Option<Name> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? * 16 + digit(low)?) as u8);
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    Name::from_bytes(&bytes?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_its_file_and_the_file_is_gone_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("name");
        // "hwst", version 2, no port; a host, a station and a key; no address.
        let text = format!(
            "687773740200{}{}",
            "0000",
            "11".repeat(40) + &"00".repeat(16)
        );
        let name = of_text(&text).unwrap();
        let written = Written::new(&path, &name).unwrap();
        assert_eq!(to_text(&read(&path).unwrap()), text);
        drop(written);
        assert!(read(&path).is_none());
        for wrong in [
            "",
            "6",
            "68777374",
            "zz",
            &text[2..],
            &text.replace('6', "g"),
        ] {
            assert!(of_text(wrong).is_none(), "{wrong}");
        }
    }
}
