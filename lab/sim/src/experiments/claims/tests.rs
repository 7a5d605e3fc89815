use super::super::ExperimentError;
use super::*;

const HEAD: &str =
    "paper = \"p\"\ntitle = \"t\"\nauthors = [\"A. Bee\", \"C. Dee\"]\nyear = 2010\n";

/// A file with one claim, which has all that every class needs.
fn claims(body: &str) -> Result<Claims, ExperimentError> {
    claims_at("text", body)
}

fn claims_at(at: &str, body: &str) -> Result<Claims, ExperimentError> {
    Claims::parse(&format!(
        "{HEAD}[[claim]]\nid = \"X\"\nquantity = \"q\"\nunit = \"ns\"\nsection = \"VI\"\n\
         at = \"{at}\"\nreason = \"r\"\n{body}"
    ))
}

fn verdict(claims: &Claims, value: f64) -> Verdict {
    claims.judge(&[("X", value)])[0].verdict
}

const ASSUMED: &str = "assumed = { parameter = \"p\", value = 4.0, unit = \"ns\", passes_from = 3.0, passes_to = 5.5 }";

#[test]
fn only_predictions_and_bounds_agree() {
    let predicted =
        claims("published = 100.0\nclass = \"predicted\"\ntolerance_pct = 1.0").unwrap();
    assert_eq!(verdict(&predicted, 100.9), Verdict::Agrees);
    assert_eq!(verdict(&predicted, 101.1), Verdict::Fail);
    assert_eq!(verdict(&predicted, f64::NAN), Verdict::Fail);
    assert_eq!(predicted.judge(&[])[0].verdict, Verdict::NotSimulated);
    let bound = claims("published = 50.0\nclass = \"bound\"\nbound = \"below\"").unwrap();
    assert_eq!(verdict(&bound, 49.0), Verdict::Agrees);
    assert_eq!(verdict(&bound, 50.0), Verdict::Fail);
    assert_eq!(bound.judge(&[("X", 49.0)])[0].deviation_pct, None);
    for set in [
        "class = \"identity\"\ntolerance_pct = 1.0".to_owned(),
        "class = \"fitted\"\ntolerance_pct = 1.0\nparameter = \"p\"".to_owned(),
        format!("class = \"tuned-assumption\"\ntolerance_pct = 1.0\n{ASSUMED}"),
    ] {
        let set = claims(&format!("published = 100.0\n{set}")).unwrap();
        assert_eq!(verdict(&set, 100.0), Verdict::AsSet);
        assert_eq!(verdict(&set, 102.0), Verdict::Fail);
    }
    let unknowable = claims("published = 100.0\nclass = \"unknowable\"").unwrap();
    assert_eq!(verdict(&unknowable, 100.0), Verdict::NotCompared);
    let own = claims_at("not printed", "class = \"own-number\"").unwrap();
    assert_eq!(verdict(&own, 100.0), Verdict::NotCompared);
    let quotation = claims("published = 1.4\nclass = \"identity\"").unwrap();
    assert_eq!(quotation.judge(&[])[0].verdict, Verdict::NotCompared);
    assert_eq!(verdict(&quotation, 1.5), Verdict::NotCompared);
}

#[test]
fn errors_have_nothing_that_a_terminal_obeys() {
    for bad in [
        "\0".to_owned(),
        "paper = \"p\"\n\u{1b}[2J = 1\n".to_owned(),
        "paper = \"\\u001b[2J\"\n".to_owned(),
        HEAD.replace("\"t\"", "\"\"")
            .replace("\"p\"", "\"a\\u0007b\""),
    ] {
        let text = Claims::parse(&bad).unwrap_err().to_string();
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(control), "{text:?}");
    }
}

/// Also checks that a disagreement which no longer exists is noticed.
#[test]
fn known_disagreements_are_neither_agreements_nor_failures() {
    let known = claims(
        "published = 100.0\nclass = \"predicted\"\ntolerance_pct = 1.0\ndisagrees = \"why\"",
    )
    .unwrap();
    assert_eq!(verdict(&known, 250.0), Verdict::Disagrees);
    assert_eq!(verdict(&known, 100.0), Verdict::Fail);
    let row = &known.judge(&[("X", 250.0)])[0];
    assert_eq!(row.remark.as_deref(), Some("why"));
}

#[test]
fn rounded_numbers_have_to_round_to_what_is_printed() {
    let rounded = claims("published = 6.0\nclass = \"predicted\"\nrounded_to = 1.0").unwrap();
    assert_eq!(verdict(&rounded, 6.4), Verdict::Agrees);
    assert_eq!(verdict(&rounded, 6.6), Verdict::Fail);
    assert_eq!(verdict(&rounded, f64::NAN), Verdict::Fail);
    let remark = rounded.judge(&[])[0].remark.clone().unwrap();
    assert_eq!(remark, "printed to 1 ns: has to round to it");
}

#[test]
fn rows_say_where_their_number_stands() {
    let claims = claims_at("figure 7", "published = 1.0\nclass = \"identity\"").unwrap();
    let row = &claims.judge(&[])[0];
    assert_eq!(row.place(), "Bee et al. 2010, section VI, figure 7");
    assert_eq!((row.title.as_str(), row.year), ("t", Some(2010)));
    assert!(!row.elsewhere);
}

/// A talk has no sections, and of some only the title is known.
#[test]
fn numbers_of_other_publications_have_their_own_source() {
    let file = |head: &str, section: &str, source: &str| {
        Claims::parse(&format!(
            "paper = \"p\"\ntitle = \"t\"\n{head}[[claim]]\nid = \"X\"\nquantity = \"q\"\nunit = \"ns\"\n\
             section = \"{section}\"\nat = \"text\"\nreason = \"r\"\nclass = \"predicted\"\npublished = 1.0\n\
             tolerance_pct = 1.0\n{source}"
        ))
    };
    let talk = file("", "", "source = { title = \"A talk\", year = 2014 }").unwrap();
    let rows = talk.judge(&[("X", 1.0)]);
    assert_eq!(rows[0].place(), "\"A talk\" 2014");
    assert!(rows[0].elsewhere);
    let known = "source = { title = \"A talk\", authors = [\"A. Bee\"] }";
    let known = file("", "Abstract", known).unwrap();
    assert_eq!(known.judge(&[])[0].place(), "Bee, abstract");
    let [papers, elsewhere, _] = Summary::apart(&rows);
    assert_eq!(
        (papers.rows(), elsewhere.rows(), elsewhere.agree),
        (0, 1, 1)
    );
    let of_a_paper = "authors = [\"A. Bee\"]\nyear = 2010\n";
    for (head, section, source) in [
        (of_a_paper, "VI", "source = { title = \"A talk\" }"),
        ("", "VI", ""),
        ("", "VI", "source = { title = \" \" }"),
        (of_a_paper, "", ""),
    ] {
        let refused = file(head, section, source);
        assert!(refused.is_err(), "{head} {section} {source}");
    }
}

#[test]
fn assumptions_say_what_passes() {
    let tuned =
        format!("published = 9.0\nclass = \"tuned-assumption\"\nbound = \"below\"\n{ASSUMED}");
    let row = &claims(&tuned).unwrap().judge(&[("X", 8.0)])[0];
    let said = "assumed: p, 4 ns; the row passes for 3 to 5.5 ns";
    assert_eq!(row.remark.as_deref(), Some(said));
    let assumed = row.assumed.as_ref().unwrap();
    assert!(assumed.passes(5.5) && !assumed.passes(5.6) && !assumed.passes(2.9));
}

/// Each of these lacks what its class needs, or has what it excludes.
#[test]
fn files_are_checked() {
    let outside = ASSUMED.replace("value = 4.0", "value = 6.0");
    let endless = "assumed = { parameter = \"p\", value = 4.0, unit = \"ns\" }";
    for (body, said) in [
        (
            "class = \"predicted\"\ntolerance_pct = 1.0",
            "a published value",
        ),
        ("published = 1.0\nclass = \"predicted\"", "a tolerance"),
        (
            "published = 1.0\nclass = \"predicted\"\nbound = \"below\"",
            "class bound",
        ),
        (
            "published = 1.0\nclass = \"bound\"\ntolerance_pct = 1.0",
            "a bound",
        ),
        (
            "published = 1.0\nclass = \"fitted\"\ntolerance_pct = 1.0",
            "parameter",
        ),
        (
            "published = 1.0\nclass = \"identity\"\nparameter = \"p\"",
            "parameter",
        ),
        (
            "published = 1.0\nclass = \"tuned-assumption\"\ntolerance_pct = 1.0",
            "assumed",
        ),
        (
            "published = 1.0\nclass = \"unknowable\"\ntolerance_pct = 1.0",
            "nothing is compared",
        ),
        (
            "class = \"identity\"\ntolerance_pct = 1.0",
            "nothing to compare",
        ),
        (
            "published = 1.0\nclass = \"identity\"\ntolerance_pct = 1.0\nrounded_to = 1.0",
            "at most",
        ),
        (
            "published = 1.0\nclass = \"identity\"\ndisagrees = \"d\"",
            "predictions",
        ),
        ("class = \"own-number\"", "not printed"),
        (
            &format!(
                "published = 1.0\nclass = \"tuned-assumption\"\ntolerance_pct = 1.0\n{outside}"
            ),
            "in the range that passes",
        ),
        (
            &format!(
                "published = 1.0\nclass = \"tuned-assumption\"\ntolerance_pct = 1.0\n{endless}"
            ),
            "passes_from",
        ),
        (
            "published = 1.0\nclass = \"identity\"\ntolerance = 1.0",
            "tolerance",
        ),
    ] {
        let error = claims(body).unwrap_err().to_string();
        assert!(error.contains("claims of p"), "{error}");
        assert!(error.contains(said), "{said}: {error}");
    }
    let published = claims_at("not printed", "published = 1.0\nclass = \"own-number\"");
    let error = published.unwrap_err().to_string();
    assert!(error.contains("no published value"), "{error}");
    let error = claims_at("page 7", "class = \"identity\"")
        .unwrap_err()
        .to_string();
    assert!(error.contains("got \"page 7\""), "{error}");
}

#[test]
fn an_unknown_class_is_named_with_those_that_there_are() {
    let error = claims("class = \"derived\"").unwrap_err().to_string();
    assert!(error.contains("claims of p"), "{error}");
    assert!(error.contains("derived"), "{error}");
    for class in Class::ALL {
        assert!(error.contains(&class.to_string()), "{class}: {error}");
    }
}

#[test]
fn a_class_and_a_reason_have_to_be_there_and_ids_once() {
    let error = claims("published = 1.0").unwrap_err().to_string();
    assert!(error.contains("class"), "{error}");
    let claim = |reason: &str| {
        format!(
            "[[claim]]\nid = \"X\"\nquantity = \"q\"\nunit = \"\"\nsection = \"VI\"\nat = \"text\"\n\
             class = \"identity\"\n{reason}"
        )
    };
    let error = Claims::parse(&format!("{HEAD}{}", claim(""))).unwrap_err();
    assert!(error.to_string().contains("reason"), "{error}");
    let error = Claims::parse(&format!("{HEAD}{}", claim("reason = \" \""))).unwrap_err();
    assert!(error.to_string().contains("reason"), "{error}");
    let twice = claim("reason = \"r\"\n").repeat(2);
    let error = Claims::parse(&format!("{HEAD}{twice}")).unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
}

#[test]
fn rows_of_one_relation_are_one_statement() {
    let claim = |id: &str, class: &str, relation: &str| {
        format!(
            "[[claim]]\nid = \"{id}\"\nquantity = \"q\"\nunit = \"\"\nsection = \"VI\"\nat = \"text\"\n\
             reason = \"r\"\npublished = 1.0\ntolerance_pct = 1.0\nclass = \"{class}\"\n{relation}\n"
        )
    };
    let file = [
        HEAD.to_owned(),
        claim("A", "predicted", "relation = \"one\""),
        claim("B", "predicted", "relation = \"one\""),
        claim("C", "predicted", ""),
        claim("D", "identity", ""),
        claim("E", "identity", "relation = \"one\""),
    ];
    let rows = Claims::parse(&file.concat()).unwrap().judge(&[
        ("A", 1.0),
        ("B", 1.0),
        ("C", 1.0),
        ("D", 1.0),
        ("E", 2.0),
    ]);
    let summary = Summary::of(&rows);
    assert_eq!(
        (summary.rows(), summary.agree, summary.statements),
        (5, 3, 2)
    );
    assert_eq!(summary.fail(), 1);
    let identity = summary
        .classes
        .iter()
        .find(|count| count.class == Class::Identity);
    assert_eq!(
        identity.map(|count| (count.rows, count.agree, count.as_set)),
        Some((2, 0, 1))
    );
}
