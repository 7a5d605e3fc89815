//! Temperatures as a picture, with the scale of its colours beside it.

use std::fs::File;
use std::io::BufWriter;

use crate::grid::Size;
use crate::scale::Scale;

/// The colour map `inferno` (public domain, from matplotlib) at eleven even steps:
/// equal steps of temperature look like equal steps of colour, in print and to the
/// colour-blind, too.
const COLOURS: [[u8; 3]; 11] = [
    [0x00, 0x00, 0x04],
    [0x16, 0x0b, 0x39],
    [0x42, 0x0a, 0x68],
    [0x6a, 0x17, 0x6e],
    [0x93, 0x26, 0x67],
    [0xbc, 0x37, 0x54],
    [0xdd, 0x51, 0x3a],
    [0xf3, 0x78, 0x19],
    [0xfc, 0xa5, 0x0a],
    [0xf6, 0xd7, 0x46],
    [0xfc, 0xff, 0xa4],
];

/// The lowest and the highest temperature.
pub fn extremes(field: &[f64]) -> (f64, f64) {
    let empty = (f64::INFINITY, f64::NEG_INFINITY);
    field
        .iter()
        .fold(empty, |(low, high), cell| (low.min(*cell), high.max(*cell)))
}

/// Writes `field`, row by row, as a PNG picture: dark is cold. To its right are the colours from
/// the lowest to the highest temperature, with numbers, if there is room for them.
pub fn write(file: File, size: Size, field: &[f64]) -> Result<(), png::EncodingError> {
    let (low, high) = extremes(field);
    let steps = if high > low { 1.0 / (high - low) } else { 0.0 };
    let plate = field.iter().map(|cell| colour((cell - low) * steps));
    let scale = Scale::new(size.rows, low, high);
    let width = size.columns + scale.as_ref().map_or(0, |scale| scale.width);
    let mut pixels = Vec::with_capacity(width * size.rows * 3);
    let plate: Vec<[u8; 3]> = plate.collect();
    for (row, cells) in plate.chunks(size.columns).enumerate() {
        pixels.extend(cells.iter().flatten());
        if let Some(scale) = &scale {
            pixels.extend(scale.row(row).iter().flatten());
        }
    }
    let mut encoder = png::Encoder::new(BufWriter::new(file), width as u32, size.rows as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()
}

/// The colour of a temperature from 0 to 1.
pub fn colour(temperature: f64) -> [u8; 3] {
    let place = temperature.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let lower = (place as usize).min(COLOURS.len() - 2);
    let part = place - lower as f64;
    std::array::from_fn(|i| {
        let (a, b) = (COLOURS[lower][i], COLOURS[lower + 1][i]);
        (f64::from(a) + part * (f64::from(b) - f64::from(a))).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_meet_their_anchors() {
        assert_eq!(colour(0.0), COLOURS[0]);
        assert_eq!(colour(1.0), COLOURS[10]);
        assert_eq!(colour(0.5), COLOURS[5]);
        assert_eq!(colour(-1.0), COLOURS[0]);
    }
}
