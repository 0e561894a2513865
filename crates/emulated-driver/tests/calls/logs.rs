//! The driver's log, which programs read and have told to them.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::client::*;

/// No other test calls it: what is not emulated is said once.
const ABSENT: &str = "cuGraphicsUnregisterResource";

/// The level and the text of each message. Its function calls the driver, too, which may not be.
struct Heard(Mutex<Vec<(u32, String, u32)>>);

extern "C" fn hear(data: *mut c_void, level: u32, message: *mut c_char, length: usize) {
    // SAFETY: the test hands over what lives until it unregisters, and the driver text that ends with NUL.
    let (heard, text) = unsafe { (&*data.cast::<Heard>(), CStr::from_ptr(message)) };
    let text = text.to_str().expect("text").to_owned();
    assert_eq!(text.len(), length);
    let answer = call("cuCtxSynchronize", &[]);
    let mut all = heard.0.lock().expect("nobody has panicked");
    all.push((level, text, answer));
}

/// A listener that ends itself by the first message, and how many it has heard.
#[derive(Default)]
struct Once {
    handle: AtomicU64,
    heard: AtomicU32,
}

extern "C" fn hear_once(data: *mut c_void, _level: u32, _message: *mut c_char, _length: usize) {
    // SAFETY: the test hands over what lives until it has ended.
    let once = unsafe { &*data.cast::<Once>() };
    once.heard.fetch_add(1, Ordering::Relaxed);
    let handle = once.handle.load(Ordering::Relaxed);
    ok("cuLogsUnregisterCallback", &[handle]);
}

/// The log from an iterator on, into room for so many bytes: the answer, and the text.
fn dumped(iterator: &mut u32, room: usize) -> (u32, String) {
    let (mut buffer, mut size) = (vec![0xffu8; room], room);
    let arguments = [
        iterator as *mut u32 as u64,
        buffer.as_mut_ptr() as u64,
        &raw mut size as u64,
        0,
    ];
    let answer = call("cuLogsDumpToMemory", &arguments);
    let end = buffer.get(size).copied();
    assert!(answer != 0 && size == 0 || end == Some(0), "{answer}");
    let text = String::from_utf8(buffer[..size].to_vec());
    (answer, text.expect("text"))
}

#[test]
fn a_program_reads_what_is_said_and_is_told() {
    let _context = Context::new();
    let heard = Heard(Mutex::default());
    let mut iterator = made("cuLogsCurrent", &[0]) as u32;
    let function = hear as *const () as u64;
    let mut handle = 0u64;
    let arguments = [function, &raw const heard as u64, &raw mut handle as u64];
    ok("cuLogsRegisterCallback", &arguments);
    let once = Once::default();
    let place = once.handle.as_ptr() as u64;
    let function = hear_once as *const () as u64;
    let arguments = [function, &raw const once as u64, place];
    ok("cuLogsRegisterCallback", &arguments);
    assert_eq!(call(ABSENT, &[0, 0, 0]), NOT_SUPPORTED);
    // A null pointer is said, too.
    assert_ne!(call("cuMemcpyHtoD_v2", &[0, 0, 4]), 0);
    assert_eq!(once.heard.load(Ordering::Relaxed), 1);
    ok("cuLogsUnregisterCallback", &[handle]);
    assert_eq!(call("cuLogsUnregisterCallback", &[handle]), INVALID_VALUE);
    let all = heard.0.lock().expect("nobody has panicked").clone();
    let own: Vec<_> = all.iter().filter(|it| it.1.contains(ABSENT)).collect();
    let [(level, text, answer)] = &own[..] else {
        panic!("{all:?}")
    };
    assert_eq!((*level, *answer), (0, NOT_PERMITTED));
    assert!(
        text.starts_with("cuGraphicsUnregisterResource is not emulated"),
        "{text}"
    );

    // Read from then on, and once. Tests beside this one may say something, too.
    let before = iterator;
    assert_eq!(dumped(&mut iterator, 8), (INVALID_VALUE, String::new()));
    assert_eq!(iterator, before);
    let (answer, read) = dumped(&mut iterator, 25600);
    assert_eq!(answer, 0);
    assert!(read.contains(&format!("{text}\n")), "{read}");
    let (answer, read) = dumped(&mut iterator, 25600);
    assert!(answer == 0 && !read.contains(ABSENT), "{read}");

    let file = std::env::temp_dir().join(format!("ridgepoint-log-{}", std::process::id()));
    let path = format!("{}\0", file.display());
    ok("cuLogsDumpToFile", &[0, path.as_ptr() as u64, 0]);
    let written = std::fs::read_to_string(&file).expect("a file");
    std::fs::remove_file(&file).expect("a file");
    assert!(written.contains(text), "{written}");
    let mut later = 0u32;
    for (name, arguments) in [
        ("cuLogsCurrent", vec![&raw mut later as u64, 1]),
        ("cuLogsCurrent", vec![0, 0]),
        ("cuLogsRegisterCallback", vec![0, 0, 0]),
        ("cuLogsDumpToFile", vec![0, 0, 0]),
        ("cuLogsDumpToMemory", vec![0, 0, 0, 0]),
    ] {
        assert_eq!(call(name, &arguments), INVALID_VALUE, "{name}");
    }
}
