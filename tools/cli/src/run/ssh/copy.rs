//! How a copy of this program becomes the starter of a host.
//!
//! It is written into a file that has lost its name before its first byte comes, so it goes with its process, whatever is
//! killed.

use super::{COPY_FD, STARTER};

/// The status by which the shell of a host says that its last line explains why nothing can be copied.
pub const REFUSED: i32 = 96;

/// For the shell of the user on the host, whichever that is: reads so many bytes of hostwire from its input, and becomes
/// that. It takes the first folder that has room and from which programs may be run. The text has neither a quote nor a
/// mark that another shell than sh could mistake.
pub fn remote_line(bytes: usize) -> String {
    let machine = format!("Linux {}", std::env::consts::ARCH);
    let mib = bytes.div_ceil(1 << 20);
    let file = format!("/proc/self/fd/{COPY_FD}");
    let script = format!(
        r#"refuse() {{ echo "$1" >&2; exit {REFUSED}; }}
m=$(uname -sm)
test "$m" = "{machine}" || refuse "it has $m, and this hostwire is for {machine}"
why=
for d in "${{TMPDIR:-/tmp}}" /var/tmp /dev/shm "$HOME"; do
f=$(mktemp "$d/hostwire.XXXXXXXX" 2>/dev/null) || {{ why="$why, $d may not be written"; continue; }}
exec {COPY_FD}<"$f"; rm -f "$f"; chmod 700 {file}
head -c {bytes} /dev/zero 2>/dev/null >{file} || {{ why="$why, $d is full"; continue; }}
echo : >{file}
{file} 2>/dev/null || {{ why="$why, $d is noexec"; continue; }}
e=$(head -c {bytes} 2>&1 >{file}) || refuse "hostwire cannot be written to $d: ${{e:-it was ended}}"
test "$(wc -c <{file})" -eq {bytes} || refuse "the connection ended while hostwire was copied"
exec {file} {STARTER} --copied
done
refuse "there is no place for the {mib} MiB of hostwire: ${{why#, }}""#
    );
    format!(
        "exec sh -c '{}'",
        script.replace("\n", "; ").replace("do; ", "do ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script that a shell takes in single quotes, in one line.
    #[test]
    fn any_shell_hands_the_line_on() {
        let line = remote_line(1234);
        let inner = line.strip_prefix("exec sh -c '").unwrap();
        let inner = inner.strip_suffix('\'').unwrap();
        assert!(!inner.contains(['\'', '!', '\\', '\n']), "{inner}");
        let checked = std::process::Command::new("sh")
            .args(["-nc", inner])
            .status();
        assert!(checked.unwrap().success(), "{inner}");
    }
}
