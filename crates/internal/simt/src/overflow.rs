//! Stacks that emulated threads overflow, by deep recursion or large arrays.
//!
//! The page below a stack cannot be touched, so an overflow ends the process before it harms anything. Nothing
//! less would do: the frames cannot be unwound from within an instruction, and leaving them behind would leave
//! locks held, of the allocator too, and borrows open. What is left is to say whose stack it was, and what to do, and to
//! exit as a panic that nobody catches does, not by a signal.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

use libc::{c_int, c_void, siginfo_t};

use crate::Thread;
use crate::grid::STACK_BYTES;

/// The exit status of a process in which a stack has overflowed: that of a panic.
const STATUS: c_int = 101;

/// The thread that runs on a stack of its own.
#[derive(Clone, Copy)]
pub(crate) struct Running {
    pub(crate) kernel: &'static str,
    pub(crate) thread: Thread,
    /// The lowest address of its stack, where the page begins that cannot be touched.
    pub(crate) limit: usize,
}

thread_local! {
    static RUNNING: Cell<Option<Running>> = const { Cell::new(None) };
}

/// Runs `body`, which goes on on the stack of `running`.
pub(crate) fn within<R>(running: Running, body: impl FnOnce() -> R) -> R {
    let _before = Before(RUNNING.replace(Some(running)));
    body()
}

/// Says who ran before, as a launch within a launch ends.
struct Before(Option<Running>);

impl Drop for Before {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// The signals of an access to a page that cannot be touched.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The handlers of these signals before, and the size of a page.
struct Installed {
    before: [libc::sigaction; 2],
    page: usize,
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// From now on an overflow is told before the process ends; at other faults happens what did before.
pub(crate) fn tell() {
    INSTALLED.get_or_init(|| Installed {
        before: SIGNALS.map(install),
        // SAFETY: asks for a number.
        page: unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize,
    });
}

/// Puts the handler in place of what it returns.
fn install(signal: c_int) -> libc::sigaction {
    let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_fault;
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zeros are an action: the default one, with no flags. The handler is of the kind that
    // SA_SIGINFO asks for, and does only what a handler may. The standard library has given its threads the
    // stack that SA_ONSTACK takes.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, before.as_mut_ptr());
        before.assume_init()
    }
}

extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a description of the fault, which has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let Some(installed) = INSTALLED.get() else {
        // Another thread is still putting it there: the fault comes again.
        return;
    };
    let running = RUNNING.try_with(Cell::get).ok().flatten();
    if let Some(running) = running
        && guard(&running, installed).contains(&address)
    {
        write(&running);
        // SAFETY: it may be called from a handler: it runs nothing of this process any more.
        unsafe { libc::_exit(STATUS) };
    }
    let index = SIGNALS.iter().position(|it| *it == signal).unwrap_or(0);
    // SAFETY: the arguments are those of this handler, for the one before.
    unsafe { pass_on(&installed.before[index], signal, info, context) };
}

fn guard(running: &Running, installed: &Installed) -> Range<usize> {
    running.limit..running.limit + installed.page
}

/// # Safety
/// The arguments are those of a signal's handler.
unsafe fn pass_on(
    before: &libc::sigaction,
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut c_void,
) {
    match before.sa_sigaction {
        // The fault comes again, and then ends the process.
        // SAFETY: the action was in place before.
        libc::SIG_DFL | libc::SIG_IGN => unsafe {
            libc::sigaction(signal, before, ptr::null_mut());
        },
        // SAFETY: the flags say which kind of function it is.
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => unsafe {
            type WithInfo = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
            std::mem::transmute::<usize, WithInfo>(handler)(signal, info, context);
        },
        // SAFETY: as above.
        handler => unsafe {
            std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal);
        },
    }
}

/// Says it on standard error, without an allocation.
fn write(running: &Running) {
    let mut text = Text {
        bytes: [0; 512],
        len: 0,
    };
    let kernel = running.kernel;
    // What does not fit is left out.
    let _ = writeln!(
        text,
        "{kernel}: {} overflowed its stack of {} KiB on the host, by deep recursion or a large local array; \
         the process ends. The emulator reports it as an error where it executes the kernel's PTX.",
        running.thread,
        STACK_BYTES / 1024
    );
    // SAFETY: so many bytes are there.
    unsafe { libc::write(libc::STDERR_FILENO, text.bytes.as_ptr().cast(), text.len) };
}

/// Text of a fixed size.
struct Text {
    bytes: [u8; 512],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = &mut self.bytes[self.len..];
        let len = text.len().min(rest.len());
        rest[..len].copy_from_slice(&text.as_bytes()[..len]);
        self.len += len;
        Ok(())
    }
}
