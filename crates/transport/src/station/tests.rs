use super::*;

const TERMS: Terms = Terms {
    version: 1,
    segment_bytes: 1 << 20,
};

fn wait_for<R>(mut look: impl FnMut() -> Option<R>) -> R {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(result) = look() {
            return result;
        }
        assert!(Instant::now() < deadline, "waited for a minute");
        std::thread::yield_now();
    }
}

#[test]
fn two_meet_by_name_and_number_each_other_as_they_like() {
    let (a, b) = (
        Stations::open(TERMS).unwrap(),
        Stations::open(TERMS).unwrap(),
    );
    let c = Stations::open(TERMS).unwrap();
    // So that B is 2 for A, and A is 1 for B.
    assert_eq!(a.number(&c.name()), Ok(1));
    assert_eq!(a.number(&b.name()), Ok(2));
    assert_eq!(a.number(&b.name()), Ok(2));
    assert_eq!(a.number(&a.name()), Ok(0));
    assert!(a.store_word(2, 4096, 1).is_err());
    a.meet(2).unwrap();
    a.meet(2).unwrap();
    assert_eq!(a.take_news(), [News::Met(2)]);
    assert_eq!(wait_for(|| b.take_news().pop()), News::Met(1));
    assert_eq!((a.number_at(2), b.number_at(1)), (1, 2));
    a.store_word(2, 4096, 77).unwrap();
    b.store_word(1, 4096, 88).unwrap();
    assert_eq!(b.segment().load_word(4096), Ok(77));
    assert_eq!(a.segment().load_word(4096), Ok(88));
    assert_eq!(b.name_of(1).unwrap().to_bytes(), a.name().to_bytes());
}

#[test]
fn both_may_begin_at_once() {
    for _ in 0..50 {
        let (a, b) = (
            Stations::open(TERMS).unwrap(),
            Stations::open(TERMS).unwrap(),
        );
        let (to_b, to_a) = (a.number(&b.name()).unwrap(), b.number(&a.name()).unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| a.meet(to_b).unwrap());
            scope.spawn(|| b.meet(to_a).unwrap());
        });
        assert_eq!(
            (a.take_news(), b.take_news()),
            (vec![News::Met(1)], vec![News::Met(1)])
        );
    }
}

#[test]
fn the_end_of_a_station_shows() {
    let a = Stations::open(TERMS).unwrap();
    let b = Stations::open(TERMS).unwrap();
    let to_b = a.number(&b.name()).unwrap();
    a.meet(to_b).unwrap();
    assert_eq!(a.is_alive(to_b), Ok(true));
    let name = b.name();
    drop(b);
    let ended = |news: Vec<News>| news.contains(&News::Ended(to_b)).then_some(());
    wait_for(|| ended(a.take_news()));
    assert_eq!(a.is_alive(to_b), Ok(false));
    assert_eq!(a.meet(to_b), Err(super::ended(to_b)));
    // Who never met it learns it at once.
    let c = Stations::open(TERMS).unwrap();
    let gone = c.number(&name).unwrap();
    assert_eq!(c.meet(gone), Err(super::ended(gone)));
}

#[test]
fn without_the_key_there_is_no_answer() {
    let a = Stations::open(TERMS).unwrap();
    let socket = handover::socket().unwrap();
    rustix::net::connect(&socket, &a.name().address().unwrap()).unwrap();
    let hello = Hello {
        from: Name::draw().unwrap(),
        number: 1,
        terms: TERMS,
        proof_at: 0,
    };
    let wrong = Name::draw().unwrap().key();
    hello.send(&socket, wrong, &a.file).unwrap();
    assert!(matches!(Answer::receive(&socket), Ok(None)));
    assert_eq!(a.take_news(), []);
}

#[test]
fn one_that_means_other_things_is_refused() {
    let a = Stations::open(TERMS).unwrap();
    let b = Stations::open(Terms {
        version: 2,
        ..TERMS
    })
    .unwrap();
    let to_b = a.number(&b.name()).unwrap();
    let error = a.meet(to_b).unwrap_err().to_string();
    assert!(error.contains("version: 2"), "{error}");
}

#[test]
fn a_name_with_the_key_of_another_is_none() {
    let (a, b) = (
        Stations::open(TERMS).unwrap(),
        Stations::open(TERMS).unwrap(),
    );
    a.number(&b.name()).unwrap();
    let mut forged = b.name().to_bytes();
    forged[40] ^= 1;
    assert!(a.number(&Name::from_bytes(&forged).unwrap()).is_err());
    forged[8] ^= 1;
    forged[20] ^= 1;
    let error = a.number(&Name::from_bytes(&forged).unwrap()).unwrap_err();
    assert!(error.to_string().contains("another host"), "{error}");
}
