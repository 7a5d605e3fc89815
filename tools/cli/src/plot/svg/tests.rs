use super::*;

fn chart(points: &[(f64, f64)]) -> Chart {
    Chart {
        title: "a <title> that is long enough that it has to be broken into several lines".into(),
        x_label: "size, B".into(),
        y_label: "latency, ns".into(),
        x: Scale::Bytes,
        y: Scale::Log,
        series: vec![
            Series::new("ours", points.to_vec(), Kind::Line),
            Series::new("limit", vec![(8.0, 3.0), (64.0, 4.0)], Kind::Limit),
            Series::new("published & known", vec![(64.0, 227.0)], Kind::Published),
        ],
    }
}

/// The numbers of an attribute of the first element that begins with `start`.
fn numbers(svg: &str, start: &str, attribute: &str) -> Vec<f64> {
    let element = &svg[svg.find(start).unwrap()..];
    let value = element.split(&format!("{attribute}=\"")).nth(1).unwrap();
    let value = value.split('"').next().unwrap();
    let numbers = value.split(|c: char| c != '.' && !c.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

#[test]
fn a_line_goes_from_left_to_right_in_whatever_order_points_come() {
    let svg = inline(&chart(&[(4096.0, 9.0), (8.0, 1.0), (64.0, 5.0)]));
    let places = numbers(&svg, "<polyline class=\"line c0\"", "points");
    let x: Vec<f64> = places.iter().copied().step_by(2).collect();
    assert_eq!(x.len(), 3);
    assert!(x.is_sorted(), "{x:?}");
}

/// Names of the series are above the highest line of the grid.
#[test]
fn names_of_series_are_not_over_the_points() {
    for names in [1, 3, 12] {
        let mut chart = chart(&[(8.0, 1.0), (64.0, 5.0)]);
        let series = chart.series[0].clone();
        chart.series = (0..names)
            .map(|name| Series {
                name: format!("a name of some length {name}"),
                ..series.clone()
            })
            .collect();
        let svg = inline(&chart);
        let top = numbers(&svg, "<line class=\"grid\"", "y1")[0];
        let keys: Vec<_> = svg.match_indices("<g class=\"key\"").collect();
        assert_eq!(keys.len(), names);
        for (at, _) in keys {
            let [x, y] = ["x", "y"].map(|name| numbers(&svg[at..], "<text", name)[0]);
            assert!(y < top, "{y} is in the plot, which begins at {top}");
            assert!(x < WIDTH);
        }
    }
}

#[test]
fn a_file_stands_alone_and_text_is_escaped() {
    let svg = file(&chart(&[(8.0, 1.0)]));
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
    assert!(svg.contains("<style>") && svg.contains("a &lt;title&gt; that"));
    assert!(svg.contains("published &amp; known"));
    assert!(
        svg.matches("class=\"title\"").count() > 1,
        "a long title has lines"
    );
    assert!(!inline(&chart(&[(8.0, 1.0)])).contains("<style>"));
}

/// The first label of a page of `hostwire bench` began to the left of the picture.
#[test]
fn turned_labels_lie_in_the_picture() {
    let names = ["allreduce of 64 KiB, 2 PEs", "x", "startup, 64 PEs"];
    for count in 1..40 {
        for (turn, long) in ["", "examples/clusters/a-path-that-is-much-too-long/"]
            .iter()
            .enumerate()
        {
            let mut chart = chart(&[(0.0, 1.0)]);
            let word = |at: usize| format!("{long}{}", names[(at + turn) % names.len()]);
            chart.x = Scale::Words((0..count).map(word).collect());
            let svg = inline(&chart);
            let labels: Vec<_> = svg.match_indices("<text transform=\"translate(").collect();
            for (at, start) in labels {
                let label = &svg[at + start.len()..];
                let Some((place, rest)) = label.split_once(") rotate(-45)") else {
                    continue; // The name of y.
                };
                let text = rest.split(['>', '<']).nth(1).unwrap();
                let x: f64 = place.split(' ').next().unwrap().parse().unwrap();
                let begin = x - 0.71 * LETTER * text.chars().count() as f64;
                assert!(begin > 0.0 && x < WIDTH, "{text} goes from {begin} to {x}");
            }
        }
    }
}

/// The sample beside a name is what is drawn.
#[test]
fn names_of_series_show_their_marks() {
    let mut chart = chart(&[(0.0, 1.0)]);
    chart.x = Scale::Words(vec!["a".into(), "b".into()]);
    let svg = inline(&chart);
    for (series, shape) in [
        ("ours", "<circle"),
        ("limit", "<rect"),
        ("published", "<path"),
    ] {
        let start = format!("<g class=\"key\" data-series=\"{series}");
        let key = &svg[svg.find(&start).unwrap()..];
        let key = &key[..key.find("</g>").unwrap()];
        assert!(key.contains(shape) && !key.contains("<line"), "{key}");
    }
}

/// Values that an axis cannot show are left out, and no others. No coordinate is NaN.
#[test]
fn odd_points_do_no_harm() {
    for points in [
        vec![],
        vec![(8.0, 0.0), (8.0, f64::NAN), (0.0, 1.0)],
        vec![(8.0, 1e-300), (1e300, 1e300)],
    ] {
        let svg = file(&chart(&points));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    let mut words = chart(&[(0.0, 1.0), (1.0, 2.0)]);
    words.x = Scale::Words(vec!["a word that is rather long".into(); 6]);
    let svg = inline(&words);
    assert!(
        svg.contains("rotate(-45)"),
        "labels that are too long are turned"
    );
    assert!(!svg.contains("<polyline"), "no line between words");
}
