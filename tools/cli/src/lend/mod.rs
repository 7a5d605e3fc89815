//! `hostwire lend`: lends memory of this host to `hostwire borrow` elsewhere.
//!
//! | file | |
//! |---|---|
//! | this one | the command: waits for borrowers |
//! | [`door`] | peers that have connected and not shown the key yet |
//! | [`local`] | how lenders and borrowers of one user meet on a machine |
//! | [`loan`] | one loan: a connection, and the process that has the memory |
//! | [`pe`] | that process: a PE of the borrower's job |
//! | [`channel`] | frames between lender and borrower, sealed between hosts |
//! | [`terms`] | what is asked for, where lenders are, the key file |

pub mod channel;
mod door;
mod loan;
pub mod local;
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

use channel::{Secret, Socket};
use door::Door;
use hostwire_transport::os::signals::{ENDINGS, unblock};
use loan::Stock;
use signal_hook::consts::SIGCHLD;

use crate::run::parse_size;
use crate::{USAGE_STATUS, report};

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

    It says when it lends, and when each loan begins and ends.

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
    let bytes = args.memory.unwrap_or(0);
    let place = match &args.listen {
        Some(address) => address.clone(),
        None => format!("local:{}", args.name),
    };
    let Err(error) = lend(args, secret, &place, bytes);
    report::line(&format!("cannot lend at {place}: {error}"));
    ExitCode::FAILURE
}

fn lend(
    args: &Args,
    secret: Option<Secret>,
    place: &str,
    bytes: u64,
) -> io::Result<std::convert::Infallible> {
    // Signals must end it even if its parent has blocked them. Where SIGCHLD is ignored, loans could not be waited for.
    unblock(&ENDINGS);
    signal_hook::flag::register(SIGCHLD, Arc::default())?;
    let lender = Arc::new(Lender {
        secret,
        stock: Arc::new(Stock::new(bytes)),
        door: Door::new(),
    });
    let lent = |at: &str| report::out(&format!("{} are lent at {at}", shown(bytes)));
    match &args.listen {
        Some(address) => {
            let door = TcpListener::bind(address.as_str())?;
            lent(place);
            lender.over_tcp(&door)
        }
        None => {
            let door = local::listen(&args.name)?;
            lent(place);
            lender.over_unix(&door)
        }
    }
}

/// After a failure to accept: usually too many open files for a moment.
const PAUSE: Duration = Duration::from_millis(100);

/// What all loans share.
struct Lender {
    secret: Option<Secret>,
    stock: Arc<Stock>,
    door: Door,
}

impl Lender {
    fn over_tcp(self: &Arc<Self>, door: &TcpListener) -> io::Result<std::convert::Infallible> {
        loop {
            match door.accept() {
                Ok((socket, from)) => self.begin(Socket::Tcp(socket), from.to_string()),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    fn over_unix(self: &Arc<Self>, door: &UnixListener) -> io::Result<std::convert::Infallible> {
        loop {
            match door.accept() {
                Ok((socket, _)) if local::is_same_user(&socket) => {
                    self.begin(Socket::Unix(socket), "this user".into());
                }
                // Another user gets no answer.
                Ok(_) => {}
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Serves a loan in a thread of its own. The loan's process ends with the thread.
    fn begin(self: &Arc<Self>, socket: Socket, who: String) {
        let lender = Arc::clone(self);
        let stranger = self.door.admit(&socket);
        let serve = move || {
            let secret = lender.secret.as_ref();
            let served = stranger
                .and_then(|stranger| loan::serve(socket, secret, &lender.stock, &who, stranger));
            if let Err(error) = served {
                report::line(&format!("a borrower ({who}) was refused: {error}"));
            }
        };
        let started = thread::Builder::new().name("loan".into()).spawn(serve);
        if let Err(error) = started {
            report::line(&format!("no thread for a loan: {error}"));
        }
    }
}

/// A size, for people.
fn shown(bytes: u64) -> String {
    match bytes.is_multiple_of(1 << 20) {
        true => format!("{} MiB", bytes >> 20),
        false => format!("{bytes} bytes"),
    }
}
