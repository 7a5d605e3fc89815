//! `hostwire lend`: lends memory of this host to `hostwire borrow` elsewhere.
//!
//! | file | |
//! |---|---|
//! | this one | the command: waits for borrowers |
//! | [`loan`] | one loan: a connection, and the process that has the memory |
//! | [`pe`] | that process: a PE of the borrower's job |
//! | [`channel`] | frames between lender and borrower, sealed between hosts |
//! | [`terms`] | what is asked for, where lenders are, the key file |

pub mod channel;
mod loan;
pub mod pe;
pub mod terms;

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::run::parse_size;
use crate::{USAGE_STATUS, report};
use channel::{Secret, Socket};
use loan::Stock;

const AFTER_HELP: &str = "\
EXAMPLES
    To programs of the same user on this machine:

        hostwire lend --memory 8G

    To other hosts. Both sides have a copy of the key file:

        hostwire lend --new-key ~/lend.key
        hostwire lend --memory 8G --listen 10.0.0.2:7700 --key ~/lend.key

WHAT IS LENT
    Memory is taken when somebody borrows it, and given back to the system when \
the loan ends: each loan has a process of its own, which ends with it. So the next \
borrower gets zeros. Ctrl-C ends all loans; programs that use them end with one \
line that says so.

    What goes over the network is encrypted, with keys that are drawn anew for each \
loan. Who has the key file may borrow, and see what other borrowers with this key \
do only by breaking into one of the hosts.

EXIT STATUS
    1    the address cannot be listened on
    2    there was an error in the command line or the key file";

/// Lend memory of this host to programs elsewhere.
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Args {
    /// How much memory to lend, all loans together: 8G, 512M.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, required_unless_present = "new_key")]
    memory: Option<u64>,

    /// The address and port to listen on, for other hosts: 10.0.0.2:7700.
    ///
    /// Needs --key. Without it, only programs of this user on this machine can borrow.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "key")]
    listen: Option<String>,

    /// The file with the key that borrowers must have.
    #[arg(long, value_name = "FILE", requires = "listen")]
    key: Option<PathBuf>,

    /// The name of this lender, where several of one user are on a machine.
    #[arg(long, value_name = "NAME", default_value = terms::USUAL_NAME, value_parser = terms::name, conflicts_with = "listen")]
    name: String,

    /// Make a key file, and do nothing else.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["memory", "listen", "key"])]
    new_key: Option<PathBuf>,
}

/// Lends until it is ended.
pub fn main(args: &Args) -> ExitCode {
    if let Some(path) = &args.new_key {
        return match terms::make_key(path) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                report::line(&format!("the key file {}: {error}", path.display()));
                ExitCode::from(USAGE_STATUS)
            }
        };
    }
    let secret = match args.key.as_deref().map(terms::read_key).transpose() {
        Ok(secret) => secret,
        Err(why) => {
            report::line(&why);
            return ExitCode::from(USAGE_STATUS);
        }
    };
    let stock = Arc::new(Stock::new(args.memory.unwrap_or(0)));
    let (place, error) = match &args.listen {
        Some(address) => {
            let listened = TcpListener::bind(address.as_str());
            (
                address.clone(),
                listened.map(|door| over_tcp(&door, secret, &stock)),
            )
        }
        None => {
            let bound = terms::local_address(&args.name);
            let listened = bound.and_then(|address| UnixListener::bind_addr(&address));
            (
                format!("local:{}", args.name),
                listened.map(|door| over_unix(&door, &stock)),
            )
        }
    };
    let Err(error) = error;
    report::line(&format!("cannot lend at {place}: {error}"));
    ExitCode::FAILURE
}

/// After a failure to accept: usually too many open files for a moment.
const PAUSE: Duration = Duration::from_millis(100);

fn over_tcp(
    door: &TcpListener,
    secret: Option<Secret>,
    stock: &Arc<Stock>,
) -> std::convert::Infallible {
    loop {
        match door.accept() {
            Ok((socket, from)) => {
                let (secret, stock) = (secret.clone(), Arc::clone(stock));
                begin(
                    move || {
                        let socket = Socket::Tcp(socket);
                        loan::serve(socket, secret.as_ref(), &stock)
                    },
                    from.to_string(),
                );
            }
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

fn over_unix(door: &UnixListener, stock: &Arc<Stock>) -> std::convert::Infallible {
    loop {
        match door.accept() {
            Ok((socket, _)) if terms::is_same_user(&socket) => {
                let stock = Arc::clone(stock);
                begin(
                    move || loan::serve(Socket::Unix(socket), None, &stock),
                    "this user".into(),
                );
            }
            // Another user gets no answer.
            Ok(_) => {}
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Serves a loan in a thread of its own. The loan's process ends with the thread.
fn begin(serve: impl FnOnce() -> io::Result<()> + Send + 'static, who: String) {
    let started = thread::Builder::new().name("loan".into()).spawn(move || {
        if let Err(error) = serve() {
            report::line(&format!("a borrower ({who}) was refused: {error}"));
        }
    });
    if let Err(error) = started {
        report::line(&format!("no thread for a loan: {error}"));
    }
}
