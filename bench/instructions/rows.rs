//! The operations that are counted, each in a function of its own: callgrind knows it by its name.
//!
//! A function that is the same as another one would be made one with it, so each has a tag or an index of its own.

use hostwire::Result;

use crate::pair::{self, End};

/// Functions that are called as [`pair::Operation`].
macro_rules! rows {
    ($($name:ident = |$end:ident, $values:ident| $body:expr;)*) => {
        $(#[inline(never)]
        fn $name($end: &End, $values: &mut [u64]) -> Result<()> {
            $body
        })*
    };
}

rows! {
    row_put_8 = |end, values| end.words.put(1, 1, values);
    row_put_64 = |end, values| end.words.put(1, 8, values);
    row_put_4096 = |end, values| end.words.put(1, 512, values);
    row_get_8 = |end, values| end.words.get(1, 1, values);
    row_get_4096 = |end, values| end.words.get(1, 512, values);
    row_fetch_add = |end, _values| end.words.fetch_add(1, 0, 1).map(drop);
    row_message_send_8 = |end, values| end.job.send(1, 8, values);
    row_message_receive_8 = |end, values| end.job.recv(0, 8, values).map(drop);
    row_message_send_64 = |end, values| end.job.send(1, 64, values);
    row_message_receive_64 = |end, values| end.job.recv(0, 64, values).map(drop);
    row_message_send_256 = |end, values| end.job.send(1, 256, values);
    row_message_receive_256 = |end, values| end.job.recv(0, 256, values).map(drop);
    row_message_send_1024 = |end, values| end.job.send(1, 1024, values);
    row_message_receive_1024 = |end, values| end.job.recv(0, 1024, values).map(drop);
    row_message_send_4096 = |end, values| end.job.send(1, 4096, values);
    row_message_receive_4096 = |end, values| end.job.recv(0, 4096, values).map(drop);
    row_message_send_16384 = |end, values| end.job.send(1, 16384, values);
    row_message_receive_16384 = |end, values| end.job.recv(0, 16384, values).map(drop);
    row_barrier = |end, _values| end.job.barrier();
    row_all_reduce_8 = |end, values| end.job.all_reduce(values, u64::wrapping_add);
}

/// Does all of them.
pub fn all(end: &End) -> pair::Result {
    // For `lines`: both PEs have their memory now.
    if end.job.pe() == 0 {
        print!("{}", std::fs::read_to_string("/proc/self/maps")?);
    }
    end.alone(8, row_put_8)?;
    end.alone(64, row_put_64)?;
    end.alone(4096, row_put_4096)?;
    end.alone(8, row_get_8)?;
    end.alone(4096, row_get_4096)?;
    end.alone(8, row_fetch_add)?;
    let message = |bytes, send, receive| end.in_turn(bytes, &[(0, send), (1, receive)]);
    message(8, row_message_send_8, row_message_receive_8)?;
    message(64, row_message_send_64, row_message_receive_64)?;
    message(256, row_message_send_256, row_message_receive_256)?;
    message(1024, row_message_send_1024, row_message_receive_1024)?;
    message(4096, row_message_send_4096, row_message_receive_4096)?;
    message(16384, row_message_send_16384, row_message_receive_16384)?;
    end.together(0, row_barrier)?;
    end.together(8, row_all_reduce_8)
}
