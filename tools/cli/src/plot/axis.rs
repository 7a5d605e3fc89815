//! Where values are on an axis, and which of them get a label.

use std::ops::Range;

use super::Scale;

pub struct Axis<'s> {
    scale: &'s Scale,
    values: Range<f64>,
    pixels: Range<f64>,
}

impl<'s> Axis<'s> {
    /// An axis for all of `values`, from one place to the other.
    pub fn new(
        scale: &'s Scale,
        values: impl Iterator<Item = f64>,
        pixels: Range<f64>,
    ) -> Axis<'s> {
        Axis {
            scale,
            values: scale.range(values),
            pixels,
        }
    }

    pub fn place(&self, value: f64) -> f64 {
        let on = |value: f64| {
            if self.scale.is_log() {
                value.ln()
            } else {
                value
            }
        };
        let (low, high) = (on(self.values.start), on(self.values.end));
        let share = (on(value) - low) / (high - low);
        self.pixels.start + share * (self.pixels.end - self.pixels.start)
    }

    /// Values with a label: about `most` of them.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let Range { start, end } = self.values;
        match self.scale {
            Scale::Words(words) => (0..words.len()).map(|place| place as f64).collect(),
            // Powers alone would be few.
            Scale::Log if end / start < 100.0 => {
                let from = start.log10().floor() as i32;
                let values = (from..from + 4)
                    .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powi(power)));
                values
                    .filter(|value| (start..=end).contains(value))
                    .collect()
            }
            Scale::Log | Scale::Bytes => {
                let base = self.scale.base();
                let from = start.log(base).ceil() as i32;
                let to = end.log(base).floor() as i32;
                let every = ((to - from) / most.max(1) as i32 + 1).max(1) as usize;
                (from..=to)
                    .step_by(every)
                    .map(|power| base.powi(power))
                    .collect()
            }
            Scale::Linear => {
                let rough = (end - start) / most.max(1) as f64;
                let power = 10f64.powf(rough.log10().floor());
                let factor = [1.0, 2.0, 5.0, 10.0]
                    .into_iter()
                    .find(|f| f * power >= rough);
                let step = factor.unwrap_or(10.0) * power;
                let first = (start / step).ceil() as i64;
                (first..first + 2 * most as i64)
                    .map(|k| k as f64 * step)
                    .take_while(|v| *v <= end)
                    .collect()
            }
        }
    }
}
