//! The scale of a picture's colours: a strip from the highest to the lowest temperature, with
//! numbers beside it.

use crate::picture::colour;

const PAPER: [u8; 3] = [0xff; 3];
const INK: [u8; 3] = [0x20; 3];
/// Columns: a gap, the strip, a mark, a gap, and the numbers.
const GAP: usize = 8;
const STRIP: usize = 16;
const MARK: usize = 4;
/// A letter is 5 x 7 dots, and one column apart from the next.
const LETTER_COLUMNS: usize = 5;
const LETTER_ROWS: usize = 7;
const ADVANCE: usize = LETTER_COLUMNS + 1;
/// Rows that a number needs for itself.
const NUMBER_ROWS: usize = 16;
/// Numbers beside the strip, at most.
const NUMBERS_MAX: usize = 11;

/// The part to the right of a picture.
pub struct Scale {
    /// Columns.
    pub width: usize,
    rows: usize,
    /// Numbers, each with the row of its middle.
    numbers: Vec<(usize, String)>,
}

impl Scale {
    /// The scale of a picture of so many rows; none where two numbers have no room.
    pub fn new(rows: usize, low: f64, high: f64) -> Option<Scale> {
        let numbers = (rows / NUMBER_ROWS).min(NUMBERS_MAX);
        let range = high - low;
        if numbers < 2 || range.is_nan() || range <= 0.0 {
            return None;
        }
        // Numbers at both ends stay inside of the picture.
        let edge = LETTER_ROWS / 2 + 1;
        let numbers: Vec<(usize, String)> = (0..numbers)
            .map(|number| {
                let share = number as f64 / (numbers - 1) as f64;
                let row = edge + (share * (rows - 1 - 2 * edge) as f64).round() as usize;
                (row, format!("{:.2}", high - down(row, rows) * (high - low)))
            })
            .collect();
        let longest = numbers.iter().map(|(_, text)| text.len()).max()?;
        Some(Scale {
            width: GAP + STRIP + MARK + GAP / 2 + longest * ADVANCE + GAP / 2,
            rows,
            numbers,
        })
    }

    /// The colours of a row.
    pub fn row(&self, row: usize) -> Vec<[u8; 3]> {
        let mut pixels = vec![PAPER; self.width];
        let strip = colour(1.0 - down(row, self.rows));
        for pixel in pixels.iter_mut().skip(GAP).take(STRIP) {
            *pixel = strip;
        }
        for (middle, text) in &self.numbers {
            if row == *middle {
                for pixel in pixels.iter_mut().skip(GAP + STRIP).take(MARK) {
                    *pixel = INK;
                }
            }
            let Some(line) = (row + LETTER_ROWS / 2).checked_sub(*middle) else {
                continue;
            };
            let left = GAP + STRIP + MARK + GAP / 2;
            for (place, letter) in text.bytes().enumerate() {
                let dots = dots(letter).get(line).copied().unwrap_or(0);
                for column in 0..LETTER_COLUMNS {
                    let inked = dots >> (LETTER_COLUMNS - 1 - column) & 1 == 1;
                    if let Some(pixel) = pixels.get_mut(left + place * ADVANCE + column)
                        && inked
                    {
                        *pixel = INK;
                    }
                }
            }
        }
        pixels
    }
}

/// How far down the strip a row is: 0 at the top, 1 at the bottom.
fn down(row: usize, rows: usize) -> f64 {
    row as f64 / (rows.max(2) - 1) as f64
}

/// The rows of a letter, five dots each; nothing for letters that no number has.
fn dots(letter: u8) -> [u8; LETTER_ROWS] {
    match letter {
        b'0' => [
            0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110,
        ],
        b'1' => [
            0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110,
        ],
        b'2' => [
            0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111,
        ],
        b'3' => [
            0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110,
        ],
        b'4' => [
            0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010,
        ],
        b'5' => [
            0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110,
        ],
        b'6' => [
            0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110,
        ],
        b'7' => [
            0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000,
        ],
        b'8' => [
            0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110,
        ],
        b'9' => [
            0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100,
        ],
        b'.' => [0, 0, 0, 0, 0, 0b01100, 0b01100],
        b'-' => [0, 0, 0, 0b11111, 0, 0, 0],
        _ => [0; LETTER_ROWS],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strip_goes_from_the_highest_to_the_lowest() {
        let scale = Scale::new(256, -0.5, 1.0).unwrap();
        assert_eq!(scale.row(0)[GAP], colour(1.0));
        assert_eq!(scale.row(255)[GAP + STRIP - 1], colour(0.0));
        assert!((0..256).all(|row| scale.row(row).len() == scale.width));
        let first = scale.numbers.first().unwrap();
        let last = scale.numbers.last().unwrap();
        assert_eq!((first.1.as_str(), last.1.as_str()), ("0.98", "-0.48"));
        assert_eq!(scale.numbers.len(), NUMBERS_MAX);
    }

    /// A number says the temperature of the strip at its mark.
    #[test]
    fn numbers_say_what_the_strip_shows_beside_them() {
        let scale = Scale::new(100, 0.0, 1.0).unwrap();
        for (row, text) in &scale.numbers {
            assert_eq!(scale.row(*row)[GAP + STRIP], INK);
            let said: f64 = text.parse().unwrap();
            let shown = 1.0 - *row as f64 / 99.0;
            assert!((said - shown).abs() <= 0.005, "{text} at {row}");
        }
    }

    #[test]
    fn small_or_even_pictures_have_none() {
        assert!(Scale::new(31, 0.0, 1.0).is_none());
        assert!(Scale::new(256, 1.0, 1.0).is_none());
        assert!(Scale::new(256, f64::NAN, 1.0).is_none());
    }
}
