//! Just enough of a protobuf reader to check what the Perfetto writer wrote.

pub enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub fn varint(&self) -> u64 {
        match self {
            Value::Varint(value) => *value,
            Value::Bytes(_) => panic!("expected a varint"),
        }
    }

    pub fn message(&self) -> Vec<(u64, Value<'a>)> {
        match self {
            Value::Bytes(bytes) => fields(bytes),
            Value::Varint(_) => panic!("expected a message"),
        }
    }
}

pub fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(value)
            }
            other => panic!("wire type {other}"),
        };
        out.push((key >> 3, value));
    }
    out
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a whole varint");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}
