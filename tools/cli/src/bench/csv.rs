//! The figures as CSV: a head, and a line for each. Fields are words and numbers, which need
//! no quotes.

use super::report::Line;

const HEAD: &str = "bench,wire,pes,size_bytes,unit,median,p99,min,limit,ratio,repeats";

/// All of `lines`. A missing value is an empty field.
pub fn text(lines: &[Line]) -> String {
    let rows = lines.iter().map(|line| {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        format!(
            "{},{},{},{},{},{},{},{},{},{},{}\n",
            line.bench,
            line.wire,
            line.pes,
            line.size_bytes,
            line.unit,
            line.median,
            line.p99,
            line.min,
            number(line.limit),
            number(line.ratio),
            line.repeats
        )
    });
    format!("{HEAD}\n{}", rows.collect::<String>())
}

/// The figures of a file that [`text`] has made.
///
/// # Errors
/// A sentence that names the line and its fault.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = text.lines();
    match lines.next() {
        Some(HEAD) => {}
        other => {
            let got = other.unwrap_or("nothing");
            return Err(format!("line 1: expected \"{HEAD}\", got \"{got}\""));
        }
    }
    let parsed = lines.enumerate().map(|(at, line)| {
        row(line).ok_or_else(|| {
            format!(
                "line {}: expected 11 fields of figures, got \"{line}\"",
                at + 2
            )
        })
    });
    parsed.collect()
}

fn row(line: &str) -> Option<Line> {
    let fields: Vec<&str> = line.split(',').collect();
    let [
        bench,
        wire,
        pes,
        size_bytes,
        unit,
        median,
        p99,
        min,
        limit,
        ratio,
        repeats,
    ] = fields[..]
    else {
        return None;
    };
    let number = |text: &str| text.parse::<f64>().ok();
    let optional = |text: &str| match text {
        "" => Some(None),
        text => number(text).map(Some),
    };
    Some(Line {
        bench: bench.to_owned().into(),
        wire: wire.to_owned(),
        pes: pes.parse().ok()?,
        size_bytes: size_bytes.parse().ok()?,
        unit: unit.to_owned().into(),
        median: number(median)?,
        p99: number(p99)?,
        min: number(min)?,
        limit: optional(limit)?,
        ratio: optional(ratio)?,
        repeats: repeats.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<Line> {
        let alone = Line::alone("startup", "shm", 64, 0, "ms", vec![3.0, 1.0, 2.0], 3);
        let beside = Line {
            limit: Some(0.1),
            ratio: Some(20.0),
            ..alone.clone()
        };
        vec![alone, beside]
    }

    #[test]
    fn figures_are_written_and_read_again() {
        let text = text(&lines());
        assert_eq!(
            text,
            "bench,wire,pes,size_bytes,unit,median,p99,min,limit,ratio,repeats\n\
             startup,shm,64,0,ms,2,3,1,,,3\nstartup,shm,64,0,ms,2,3,1,0.1,20,3\n"
        );
        assert_eq!(parse(&text).unwrap(), lines());
    }

    #[test]
    fn other_files_are_refused_with_the_line() {
        for (text, said) in [
            ("", "line 1"),
            ("a,b\n", "line 1"),
            (&format!("{HEAD}\na,b\n"), "line 2"),
            (
                &format!("{}x,shm,two,0,ms,1,1,1,,,1\n", text(&lines())),
                "line 4",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
