use super::*;

fn region(len: usize, rights: Rights) -> MemoryRegion {
    MemoryRegion {
        memory: Memory::anonymous(len),
        first: 0,
        rights,
        witness: None,
    }
}

fn place(key: u64, at: u64, len: u64) -> RegionRange {
    RegionRange { key, at, len }
}

#[test]
fn only_bytes_that_are_there_may_be_used_and_only_so() {
    let regions = MemoryRegions::default();
    assert_eq!(regions.add(Some(7), region(100, Rights::WRITE)), Some(7));
    assert_eq!(regions.add(Some(7), region(100, Rights::WRITE)), None);
    let high = MemoryRegion {
        first: u64::MAX - 50,
        ..region(100, Rights::READ)
    };
    assert_eq!(regions.add(Some(8), high), Some(8));
    for (place, rights, expected) in [
        (place(7, 0, 100), Rights::WRITE, Ok(())),
        (place(7, 100, 0), Rights::WRITE, Ok(())),
        (place(6, 0, 0), Rights::WRITE, Ok(())),
        (place(6, 0, 1), Rights::WRITE, Err(Refusal::NoKey)),
        (place(7, 0, 1), Rights::READ, Err(Refusal::NoRight)),
        (place(7, 1, 100), Rights::WRITE, Err(Refusal::Outside)),
        (place(7, 101, 1), Rights::WRITE, Err(Refusal::Outside)),
        (place(7, u64::MAX, 2), Rights::WRITE, Err(Refusal::Outside)),
        (place(7, 1, u64::MAX), Rights::WRITE, Err(Refusal::Outside)),
        (place(8, u64::MAX, 2), Rights::READ, Ok(())),
        (
            place(8, u64::MAX - 51, 1),
            Rights::READ,
            Err(Refusal::Outside),
        ),
    ] {
        assert_eq!(regions.check(&[place], rights), expected, "{place:?}");
    }
    assert!(regions.remove(7) && !regions.remove(7));
    let gone = regions.store(&[place(7, 0, 1)], 0, &[1]);
    assert_eq!(gone, Err(Refusal::NoKey));
}

#[test]
fn keys_that_are_drawn_are_new() {
    let regions = MemoryRegions::default();
    regions.add(Some(1), region(1, Rights::READ));
    let second = regions.add(None, region(1, Rights::READ)).unwrap();
    assert!(regions.remove(second));
    let third = regions.add(None, region(1, Rights::READ)).unwrap();
    assert!(second != 1 && third != second);
}

#[test]
fn bytes_go_to_all_places_and_come_from_them() {
    let regions = MemoryRegions::default();
    let both = Rights {
        read: true,
        write: true,
    };
    regions.add(Some(1), region(10, both));
    regions.add(Some(2), region(10, both));
    let places = [place(1, 8, 2), place(9, 0, 0), place(2, 1, 3)];
    regions.store(&places, 0, &[1]).unwrap();
    regions.store(&places, 1, &[2, 3, 4, 5]).unwrap();
    let mut out = [0; 3];
    regions.load(&places, 1, &mut out).unwrap();
    assert_eq!(out, [2, 3, 4]);
    regions.load(&[place(2, 0, 3)], 0, &mut out).unwrap();
    assert_eq!(out, [0, 3, 4]);
}

/// What an operation leaves of two numbers, one of them aligned to nothing.
fn after(atomic: Atomic, old: &[u8], operand: &[u8], compare: &[u8]) -> Vec<u8> {
    let regions = MemoryRegions::default();
    let both = Rights {
        read: true,
        write: true,
    };
    regions.add(Some(1), region(64, both));
    let size = atomic.number.bytes() as u64;
    let places = [place(1, 0, size), place(1, 17, size)];
    let twice = |bytes: &[u8]| [bytes, bytes].concat();
    regions.store(&places, 0, &twice(old)).unwrap();
    let was = regions.change(&places, atomic, &twice(operand), &twice(compare));
    assert_eq!(was.unwrap(), twice(old));
    let mut new = twice(old);
    regions.load(&places, 0, &mut new).unwrap();
    let (first, second) = new.split_at(size as usize);
    assert_eq!(first, second);
    first.to_vec()
}

#[test]
fn operations_do_what_they_are_called() {
    let of = |number, change| Atomic::new(number, change).unwrap();
    let i16s = |change, old: i16, operand: i16, compare: i16| {
        let bytes = [old, operand, compare].map(i16::to_ne_bytes);
        let new = after(of(Number::I16, change), &bytes[0], &bytes[1], &bytes[2]);
        i16::from_ne_bytes(new.try_into().unwrap())
    };
    for (change, old, operand, compare, new) in [
        (Change::Min, 3, -2, 0, -2),
        (Change::Max, 3, -2, 0, 3),
        (Change::Sum, i16::MAX, 1, 0, i16::MIN),
        (Change::Product, 300, 300, 0, 24464),
        (Change::LogicalOr, 0, 8, 0, 1),
        (Change::LogicalAnd, 4, 8, 0, 1),
        (Change::LogicalXor, 4, 8, 0, 0),
        (Change::Or, 5, 2, 0, 7),
        (Change::And, 5, 4, 0, 4),
        (Change::Xor, 5, 4, 0, 1),
        (Change::Read, 5, 4, 0, 5),
        (Change::Write, 5, 4, 0, 4),
        (Change::CompareEqual, 5, 4, 5, 4),
        (Change::CompareEqual, 5, 4, 6, 5),
        (Change::CompareUnequal, 5, 4, 6, 4),
        (Change::CompareLessEqual, 5, 4, 5, 4),
        (Change::CompareLess, 5, 4, 5, 5),
        (Change::CompareLess, 5, 4, -1, 4),
        (Change::CompareGreaterEqual, 5, 4, 5, 4),
        (Change::CompareGreater, 5, 4, 6, 4),
        (Change::CompareGreater, 5, 4, 5, 5),
        (Change::Masked, 0x0ff0, 0x5555, 0x00ff, 0x0f55),
    ] {
        assert_eq!(i16s(change, old, operand, compare), new, "{change:?}");
    }
    let doubles = |change, old: f64, operand: f64| {
        let bytes = [old, operand].map(f64::to_ne_bytes);
        let new = after(of(Number::F64, change), &bytes[0], &bytes[1], &[]);
        f64::from_ne_bytes(new.try_into().unwrap())
    };
    assert_eq!(doubles(Change::Sum, 0.5, 0.25), 0.75);
    assert_eq!(doubles(Change::Min, 0.5, -0.25), -0.25);
    assert_eq!(doubles(Change::LogicalAnd, 0.5, -0.25), 1.0);
    let complex = |(re, im): (f64, f64)| [re.to_ne_bytes(), im.to_ne_bytes()].concat();
    let product = of(Number::C64, Change::Product);
    let new = after(product, &complex((1.0, 2.0)), &complex((3.0, -1.0)), &[]);
    assert_eq!(new, complex((5.0, 5.0)));
    let halves = [1.5_f32.to_ne_bytes(), 2.0_f32.to_ne_bytes()].concat();
    let sum = of(Number::C32, Change::Sum);
    let new = after(sum, &halves, &halves, &[]);
    assert_eq!(new, [3.0_f32.to_ne_bytes(), 4.0_f32.to_ne_bytes()].concat());
}

#[test]
fn what_makes_no_sense_is_not_there() {
    for (number, change) in [
        (Number::F32, Change::Or),
        (Number::C64, Change::Xor),
        (Number::C32, Change::Min),
        (Number::C32, Change::CompareLess),
        (Number::F64, Change::Masked),
    ] {
        assert_eq!(Atomic::new(number, change), None);
    }
    for code in 0..=u8::MAX {
        assert_eq!(
            Number::from_code(code).map(|it| it as u8),
            (code < 12).then_some(code)
        );
        assert_eq!(
            Change::from_code(code).map(|it| it as u8),
            (code < 19).then_some(code)
        );
    }
}
