//! Pages of results: one file each, that needs no other file and no network, and is read
//! on a wide screen, on a telephone, by day and by night, and on paper.

use std::fmt::Display;

/// The style of all pages.
const STYLE: &str = include_str!("html.css");

/// What hostwire is, for a reader who does not know it.
pub const WHAT: &str = "hostwire is a library and a launcher for parallel programs on Linux: processes share one address \
    space, and only ever write across the wire.";

/// A page with this title and body. `script` may be empty: then there is none.
pub fn page(title: &str, body: impl Display, script: &str) -> String {
    let script = match script {
        "" => String::new(),
        text => format!("<script>{text}</script>\n"),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}{script}</body>\n\
         </html>\n",
        title = escape(title),
    )
}

/// Text for an element, or for an attribute between double quotes. Controls other than
/// newlines and tabs, and characters that change the direction of text, are replaced,
/// because they would show the reader a different text.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(c),
            c if c.is_control() || turns(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Bytes as text that a page may hold (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let all = group
            .iter()
            .fold(0u32, |all, byte| all << 8 | u32::from(*byte));
        let all = all << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = LETTERS.get((all >> (18 - 6 * place)) as usize % 64);
            let there = place <= group.len();
            out.push(
                letter
                    .filter(|_| there)
                    .map_or('=', |letter| char::from(*letter)),
            );
        }
    }
    out
}

/// Whether a character changes the direction of the text behind it.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup_or_hide() {
        assert_eq!(escape("<b a=\"&\">"), "&lt;b a=&quot;&amp;&quot;&gt;");
        assert_eq!(escape("a\u{202e}b\u{1b}[1m\nc"), "a\u{fffd}b\u{fffd}[1m\nc");
    }

    /// The vectors of RFC 4648.
    #[test]
    fn bytes_become_letters() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0x00]), "//4A");
    }

    #[test]
    fn a_page_without_a_script_has_none() {
        let page = page("a & b", "<p>x</p>\n", "");
        assert!(page.contains("<title>a &amp; b</title>"), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }
}
