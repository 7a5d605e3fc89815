//! The figures as CSV: a head, and a line for each. Fields are words and numbers, which need
//! no quotes.

use super::cores::Cores;
use super::report::Line;

/// Columns that there have always been.
const FIRST: &str = "bench,wire,pes,size_bytes,unit,median,p99,min,limit,ratio,repeats";
/// Columns behind them; files of earlier versions have none of these.
const ADDED: &str = "spread,noisy,cores,line_ns,no_limit";
/// What stands in the column of that name.
const NOISY: &str = "noisy";

/// All of `lines`. A missing value is an empty field.
pub fn text(lines: &[Line]) -> String {
    let rows = lines.iter().map(|line| {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let fields = [
            line.bench.to_string(),
            line.wire.clone(),
            line.pes.to_string(),
            line.size_bytes.to_string(),
            line.unit.to_string(),
            line.median.to_string(),
            line.p99.to_string(),
            line.min.to_string(),
            number(line.limit),
            number(line.ratio),
            line.repeats.to_string(),
            number(line.spread),
            if line.noisy { NOISY } else { "" }.to_owned(),
            line.cores.map_or("", Cores::name).to_owned(),
            number(line.line_ns),
            // A reason is a sentence; in this file it has no comma.
            line.no_limit.as_deref().unwrap_or("").replace(',', ";"),
        ];
        fields.join(",") + "\n"
    });
    format!("{FIRST},{ADDED}\n{}", rows.collect::<String>())
}

/// The figures of a file that [`text`] has made, here or in an earlier version.
///
/// # Errors
/// A sentence that names the line and its fault.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or("nothing");
    let is_whole = head.strip_prefix(FIRST).and_then(|rest| match rest {
        "" => Some(false),
        rest => (rest.strip_prefix(',') == Some(ADDED)).then_some(true),
    });
    let Some(is_whole) = is_whole else {
        return Err(format!(
            "line 1: expected \"{FIRST},{ADDED}\", got \"{head}\""
        ));
    };
    let count = head.split(',').count();
    let parsed = lines.enumerate().map(|(at, line)| {
        row(line, is_whole).ok_or_else(|| {
            format!(
                "line {}: expected {count} fields of figures, got \"{line}\"",
                at + 2
            )
        })
    });
    parsed.collect()
}

fn row(line: &str, is_whole: bool) -> Option<Line> {
    let fields: Vec<&str> = line.split(',').collect();
    let (first, added) = fields.split_at_checked(FIRST.split(',').count())?;
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
    ] = *first
    else {
        return None;
    };
    let [spread, noisy, cores, line_ns, no_limit] = match (is_whole, added) {
        (false, []) => [""; 5],
        (true, added) => *added.first_chunk().filter(|_| added.len() == 5)?,
        _ => return None,
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
        limit: optional(limit, number)?,
        ratio: optional(ratio, number)?,
        repeats: repeats.parse().ok()?,
        spread: optional(spread, number)?,
        noisy: optional(noisy, |word| (word == NOISY).then_some(()))?.is_some(),
        cores: optional(cores, Cores::from_name)?,
        line_ns: optional(line_ns, number)?,
        no_limit: optional(no_limit, |why| Some(why.to_owned().into()))?,
    })
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// None if the field is wrong; nothing in it if it is empty.
fn optional<'a, T>(text: &'a str, read: impl FnOnce(&'a str) -> Option<T>) -> Option<Option<T>> {
    match text {
        "" => Some(None),
        text => read(text).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<Line> {
        let alone = Line::alone("startup", "shm", 64, 0, "ms", vec![3.0, 1.0, 2.0], 3);
        let beside = Line {
            limit: Some(0.1),
            ratio: Some(20.0),
            cores: Some(Cores::Far),
            line_ns: Some(190.5),
            ..alone.clone()
        };
        let noisy = Line {
            no_limit: Some("nobody knows one".into()),
            ..alone.clone().with_spread(Some(4.5))
        };
        vec![alone, beside, noisy]
    }

    #[test]
    fn figures_are_written_and_read_again() {
        let text = text(&lines());
        assert_eq!(
            text,
            "bench,wire,pes,size_bytes,unit,median,p99,min,limit,ratio,repeats,spread,noisy,cores,line_ns,no_limit\n\
             startup,shm,64,0,ms,2,3,1,,,3,3,,,,\nstartup,shm,64,0,ms,2,3,1,0.1,20,3,3,,far,190.5,\n\
             startup,shm,64,0,ms,2,3,1,,,3,4.5,noisy,,,nobody knows one\n"
        );
        assert_eq!(parse(&text).unwrap(), lines());
    }

    #[test]
    fn files_of_earlier_versions_are_read() {
        let old = format!("{FIRST}\nstartup,shm,64,0,ms,2,3,1,0.1,20,3\n");
        let line = &parse(&old).unwrap()[0];
        assert_eq!(
            (line.ratio, line.cores, line.noisy),
            (Some(20.0), None, false)
        );
    }

    #[test]
    fn other_files_are_refused_with_the_line() {
        for (text, said) in [
            ("", "line 1"),
            ("a,b\n", "line 1"),
            (&format!("{FIRST},x\n"), "line 1"),
            (&format!("{FIRST}\na,b\n"), "line 2"),
            (&format!("{FIRST}\nx,shm,2,0,ms,1,1,1,,,1,,,,,\n"), "line 2"),
            (
                &format!("{}x,shm,two,0,ms,1,1,1,,,1,,,,,\n", text(&lines())),
                "line 5",
            ),
            (
                &format!("{}x,shm,2,0,ms,1,1,1,,,1,,,close,,\n", text(&lines())),
                "line 5",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
