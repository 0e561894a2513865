//! How the ranks of several processes find each other: rank 0 waits at an address, the others come.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io::Read};

use super::frame::{Frame, Hello, MAGIC, PROTOCOL, Refusal, Room};
use super::hub::Hub;
use super::rendezvous::{self, Notice};
use super::{Control, Kind, local, remote};
use crate::error::{Fault, RankError};
use crate::limits::Limits;
use crate::world::World;
use crate::world::secret::NEEDED;

/// How often somebody who waits looks again.
const LOOK: Duration = Duration::from_millis(20);
/// How many may be at the door at once beside the ranks.
const MOST_STRANGERS: usize = 64;
/// How long an address may be silent before it is looked up again: a file that is left names a host that may be off,
/// or a port that another service has by now.
const SILENCE: Duration = Duration::from_secs(2);

/// Connects this process, which is a rank, to the others.
pub(crate) fn meet(
    world: &World,
    folder: Option<&Path>,
    limits: Limits,
) -> Result<Control, RankError> {
    let control = match (world.size(), world.rank()) {
        (1, _) => local::connected(1, limits).0.remove(0),
        (_, 0) => wait(&Place::of(world, folder)?, world, limits)?,
        _ => come(&Place::of(world, folder)?, world, limits)?,
    };
    // Also says that all have come.
    control.round(Kind::Barrier, &[])?;
    Ok(control)
}

/// Where the ranks meet.
enum Place {
    /// Rank 0 writes its address into this file.
    File(PathBuf),
    /// The launcher has chosen the address; the token is the run's secret and the job's name.
    Address {
        host: String,
        port: u16,
        token: String,
    },
}

impl Place {
    fn of(world: &World, folder: Option<&Path>) -> Result<Place, RankError> {
        match (folder, world.master()) {
            (Some(folder), _) => Ok(Place::File(rendezvous::path(folder, world.job()))),
            (None, Some((host, port))) => {
                let refused = |reason| RankError::Rendezvous {
                    place: PathBuf::from(format!("{host}:{port}")),
                    reason,
                };
                let secret = world.secret().ok_or_else(|| refused(NEEDED.to_owned()))?;
                let secret = secret.read().map_err(refused)?;
                Ok(Place::Address {
                    host: host.to_owned(),
                    port,
                    token: format!("{secret} {}", world.job().unwrap_or_default()),
                })
            }
            (None, None) => Err(RankError::Rendezvous {
                place: PathBuf::from("MASTER_ADDR and MASTER_PORT"),
                reason:
                    "they are not both set: name a folder that all ranks share, by --rendezvous"
                        .to_owned(),
            }),
        }
    }

    fn name(&self) -> PathBuf {
        match self {
            Place::File(path) => path.clone(),
            Place::Address { host, port, .. } => PathBuf::from(format!("{host}:{port}")),
        }
    }

    /// Listens for the other ranks: at the address that all were told alone, or at a free port of this host.
    fn listen(&self) -> Result<Vec<TcpListener>, RankError> {
        let addresses: Vec<SocketAddr> = match self {
            Place::File(_) => vec![(Ipv4Addr::UNSPECIFIED, 0).into()],
            Place::Address { host, port, .. } => {
                let addresses = (&**host, *port).to_socket_addrs();
                addresses.map_err(|it| self.error(it))?.collect()
            }
        };
        let mut listeners = Vec::new();
        let mut why = "the host has no address".to_owned();
        for address in addresses {
            let bound = TcpListener::bind(address);
            match bound.and_then(|it| it.set_nonblocking(true).map(|()| it)) {
                Ok(listener) => listeners.push(listener),
                Err(error) => why = format!("rank 0 cannot listen there: {error}"),
            }
        }
        match listeners.is_empty() {
            true => Err(self.error(why)),
            false => Ok(listeners),
        }
    }

    fn error(&self, reason: impl ToString) -> RankError {
        RankError::Rendezvous {
            place: self.name(),
            reason: reason.to_string(),
        }
    }
}

/// Rank 0's part: takes all others in.
fn wait(place: &Place, world: &World, limits: Limits) -> Result<Control, RankError> {
    let listeners = place.listen()?;
    let own = listeners[0].local_addr().map_err(|it| place.error(it))?;
    let mut notice = Notice::new(own.port()).map_err(|it| place.error(it))?;
    match place {
        Place::File(path) => notice.publish(path).map_err(|it| place.error(it))?,
        Place::Address { token, .. } => notice.token.clone_from(token),
    }
    let hub = Arc::new(Hub::new(world.size()));
    let control = local::at_hub(0, world.size(), limits, &hub);
    let door = Door {
        place,
        notice: &notice,
        listeners: &listeners,
        inside: Arc::default(),
        size: world.size(),
        limits,
    };
    let gathered = door.gather(&hub);
    if let Place::File(path) = place
        && notice.is_at(path)
    {
        // Whoever reads a file that is left finds nobody there.
        let _ = fs::remove_file(path);
    }
    gathered?;
    Ok(control)
}

/// Where rank 0 waits.
struct Door<'a> {
    place: &'a Place,
    notice: &'a Notice,
    listeners: &'a [TcpListener],
    /// As many as there are guests that have not said who they are, and one.
    inside: Arc<()>,
    size: usize,
    limits: Limits,
}

impl Door<'_> {
    /// Until all are there, or something is wrong, of which those who are there are told.
    fn gather(&self, hub: &Arc<Hub>) -> Result<(), RankError> {
        let begin = Instant::now();
        let (guests, arrived) = mpsc::channel();
        loop {
            let absent = hub.absent();
            if let Some(fault) = hub.fault() {
                return Err(fault.into());
            }
            if absent.is_empty() {
                return Ok(());
            }
            if begin.elapsed() >= self.limits.fault {
                hub.raise(Fault::Missing {
                    ranks: absent,
                    size: self.size,
                    waited: self.limits.fault,
                });
                continue;
            }
            if let Place::File(path) = self.place
                && Notice::read(path).is_ok_and(|it| it != *self.notice)
            {
                let what = format!(
                    "two processes are rank 0, or two runs have the same rendezvous {}",
                    path.display()
                );
                hub.raise(Fault::Disagreeing(what));
                continue;
            }
            self.open(&guests);
            if let Ok((hello, stream)) = arrived.recv_timeout(LOOK) {
                self.answer(hub, hello, stream)?;
            }
        }
    }

    /// Lets everybody who knocks say who they are, each on a thread: nobody holds up the others.
    fn open(&self, guests: &Sender<(Hello, TcpStream)>) {
        let most = self.limits.fault.min(SILENCE);
        let knock = |listener: &TcpListener| listener.accept().ok();
        while let Some((stream, _)) = self.listeners.iter().find_map(knock) {
            if Arc::strong_count(&self.inside) > self.size + MOST_STRANGERS {
                // Who is of this run comes again.
                continue;
            }
            let (guests, inside) = (guests.clone(), Arc::clone(&self.inside));
            let named = thread::Builder::new().name("ranks-guest".to_owned());
            // Without a thread the guest is not let in, and comes again.
            let _ = named.spawn(move || {
                if let Ok(hello) = listen(&stream, most) {
                    // Nobody listens any more where all have come.
                    let _ = guests.send((hello, stream));
                }
                drop(inside);
            });
        }
    }

    fn answer(&self, hub: &Arc<Hub>, hello: Hello, stream: TcpStream) -> Result<(), RankError> {
        if !is_same(&hello.token, &self.notice.token) {
            refuse(&stream, Refusal::OtherRun);
            return Ok(());
        }
        match self.objection(hub, &hello) {
            None => remote::take_in(hub, (hello.rank, self.size), stream, self.limits),
            Some(what) => {
                refuse(&stream, Refusal::Disagreeing(what.clone()));
                hub.raise(Fault::Disagreeing(what));
                Ok(())
            }
        }
    }

    /// Why a process of this run cannot be a rank of it.
    fn objection(&self, hub: &Hub, hello: &Hello) -> Option<String> {
        let (rank, size) = (hello.rank, hello.size);
        if hello.protocol != PROTOCOL {
            return Some(format!(
                "rank {rank} speaks version {} of the ranks' protocol, and rank 0 version {PROTOCOL}",
                hello.protocol
            ));
        }
        if size != self.size {
            return Some(format!(
                "rank {rank} was told that there are {size} ranks, and rank 0 that there are {}",
                self.size
            ));
        }
        let is_free = rank < size && hub.absent().contains(&rank);
        (!is_free).then(|| format!("two processes are rank {rank} of {size}"))
    }
}

/// Reads a guest's greeting.
fn listen(stream: &TcpStream, most: Duration) -> io::Result<Hello> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(most))?;
    let mut stream = stream;
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic)?;
    match Frame::read(&mut stream, Room::GREETING)? {
        Frame::Hello(hello) if magic == MAGIC => Ok(hello),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn refuse(mut stream: &TcpStream, refusal: Refusal) {
    // A guest that has gone need not be told.
    let _ = stream.write_all(&Frame::Refused(refusal).to_bytes());
}

/// Every other rank's part: finds rank 0, until the time is over.
fn come(place: &Place, world: &World, limits: Limits) -> Result<Control, RankError> {
    let begin = Instant::now();
    loop {
        let left = limits.fault.saturating_sub(begin.elapsed());
        let failed = match knock(place, world, left.max(LOOK)) {
            Ok(Answer::Welcome(stream)) => {
                return remote::taken_in(world.rank(), world.size(), stream, limits);
            }
            Ok(Answer::Refused(what)) => return Err(RankError::Disagreeing(what)),
            Ok(Answer::OtherRun) => "rank 0 there is of another run".to_owned(),
            Err(error) => error.to_string(),
        };
        if begin.elapsed() >= limits.fault {
            let seconds = limits.fault.as_secs_f64();
            return Err(place.error(format!("no rank 0 within {seconds} s: {failed}")));
        }
        thread::sleep(LOOK);
    }
}

/// Rank 0's answer.
enum Answer {
    Welcome(TcpStream),
    Refused(String),
    OtherRun,
}

fn knock(place: &Place, world: &World, left: Duration) -> io::Result<Answer> {
    let (addresses, token) = match place {
        Place::File(path) => {
            let notice = Notice::read(path)?;
            (addresses_of(&notice.host, notice.port)?, notice.token)
        }
        // Rank 0 listens at no other.
        Place::Address { host, port, token } => {
            let addresses = (&**host, *port).to_socket_addrs()?;
            (addresses.collect(), token.clone())
        }
    };
    let hello = Hello {
        protocol: PROTOCOL,
        token,
        rank: world.rank(),
        size: world.size(),
    };
    let most = left.min(SILENCE);
    let mut stream = connect(&addresses, most)?;
    stream.set_read_timeout(Some(most))?;
    stream.write_all(&MAGIC)?;
    stream.write_all(&Frame::Hello(hello).to_bytes())?;
    match Frame::read(&mut stream, Room::GREETING)? {
        Frame::Welcome => Ok(Answer::Welcome(stream)),
        Frame::Refused(Refusal::OtherRun) => Ok(Answer::OtherRun),
        Frame::Refused(Refusal::Disagreeing(what)) => Ok(Answer::Refused(what)),
        other => Err(io::Error::other(format!("rank 0 answered {other:?}"))),
    }
}

/// Where a host that has written a notice listens: its own name may lead to an address at which it does not.
fn addresses_of(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok(match host == rendezvous::hostname() {
        true => vec![(Ipv4Addr::LOCALHOST, port).into()],
        false => (host, port).to_socket_addrs()?.collect(),
    })
}

/// Compares all bytes, so that the time that it takes tells nothing of how many are alike.
fn is_same(one: &str, other: &str) -> bool {
    let bits = one.bytes().zip(other.bytes()).map(|(a, b)| a ^ b);
    one.len() == other.len() && bits.fold(0, |all, it| all | it) == 0
}

fn connect(addresses: &[SocketAddr], left: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the host has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
