//! With functions in the place of CUPTI's: there has been one copy, whose record comes with the flush.

use std::cell::Cell;
use std::ffi::c_char;

use super::*;
use crate::activity::{Direction, Work};
use crate::library::{Answer, Callback, Completed, Requested};
use crate::record::{Fields, MEMCPY, Record};

const REFUSED: Answer = 39;
const NO_MORE_RECORDS: Answer = 12;

/// A copy from the device, as its record's words: kind and direction, bytes, start and end, device
/// and context, stream.
const COPY: [u64; 6] = [MEMCPY as u64 | 2 << 32, 4096, 1500, 1700, 1 << 32, 13];

thread_local! {
    /// The function that answers with an error.
    static REFUSES: Cell<&'static str> = const { Cell::new("") };
    static SUBSCRIBED: Cell<bool> = const { Cell::new(false) };
    static ENABLED: Cell<usize> = const { Cell::new(0) };
    static CALLBACKS: Cell<Option<(Requested, Completed)>> = const { Cell::new(None) };
}

fn put<T>(place: *mut T, value: T) -> Answer {
    // SAFETY: the session hands over places to write to.
    unsafe { place.write(value) };
    0
}

unsafe extern "C" fn get_version(version: *mut u32) -> Answer {
    put(version, 130_001)
}

unsafe extern "C" fn result_string(_: Answer, text: *mut *const c_char) -> Answer {
    put(text, c"AN_ERROR".as_ptr())
}

unsafe extern "C" fn timestamp(time: *mut u64) -> Answer {
    match REFUSES.get() {
        "cuptiGetTimestamp" => REFUSED,
        _ => put(time, 1000),
    }
}

unsafe extern "C" fn context_id(_: *mut c_void, id: *mut u32) -> Answer {
    put(id, 1)
}

unsafe extern "C" fn stream_id(_: *mut c_void, _: *mut c_void, _: u8, id: *mut u32) -> Answer {
    put(id, 13)
}

unsafe extern "C" fn subscribe(_: *mut *mut c_void, _: Callback, _: *mut c_void) -> Answer {
    if REFUSES.get() == "cuptiSubscribe" {
        return REFUSED;
    }
    SUBSCRIBED.set(true);
    0
}

unsafe extern "C" fn unsubscribe(_: *mut c_void) -> Answer {
    SUBSCRIBED.set(false);
    0
}

unsafe extern "C" fn enable_callback(_: u32, _: *mut c_void, _: u32, _: u32) -> Answer {
    REFUSED
}

unsafe extern "C" fn callback_name(_: u32, _: u32, _: *mut *const c_char) -> Answer {
    REFUSED
}

unsafe extern "C" fn register(requested: Requested, completed: Completed) -> Answer {
    CALLBACKS.set(Some((requested, completed)));
    0
}

unsafe extern "C" fn enable(_: u32) -> Answer {
    ENABLED.set(ENABLED.get() + 1);
    0
}

unsafe extern "C" fn disable(_: u32) -> Answer {
    ENABLED.set(ENABLED.get() - 1);
    0
}

unsafe extern "C" fn flush(_: u32) -> Answer {
    let (requested, completed) = CALLBACKS.get().expect("registered");
    let (mut buffer, mut size, mut records) = (ptr::null_mut(), 0, 1);
    // SAFETY: as CUPTI calls them, with the buffer that it was given.
    unsafe {
        requested(&mut buffer, &mut size, &mut records);
        assert_eq!(records, 0);
        assert!(size >= size_of_val(&COPY) && buffer.cast::<u64>().is_aligned());
        buffer.cast::<[u64; 6]>().write(COPY);
        completed(ptr::null_mut(), 0, buffer, size, size_of_val(&COPY));
    }
    0
}

unsafe extern "C" fn next_record(
    buffer: *mut u8,
    valid: usize,
    record: *mut *mut Record,
) -> Answer {
    assert_eq!(valid, size_of_val(&COPY));
    // SAFETY: the session hands over its own variable.
    match unsafe { (*record).is_null() } {
        true => put(record, buffer.cast()),
        false => NO_MORE_RECORDS,
    }
}

unsafe extern "C" fn dropped(_: *mut c_void, _: u32, count: *mut usize) -> Answer {
    put(count, 2)
}

unsafe extern "C" fn device_id(_: *mut c_void, _: *mut u32) -> Answer {
    REFUSED
}

pub(crate) static FUNCTIONS: Functions = Functions {
    get_version,
    result_string,
    timestamp,
    context_id,
    device_id,
    stream_id,
    subscribe,
    unsubscribe,
    enable_callback,
    callback_name,
    register_callbacks: register,
    enable,
    disable,
    flush_all: flush,
    next_record,
    dropped,
    version: Version(130_001),
};

#[test]
fn a_session_collects_until_it_ends() {
    for function in ["cuptiSubscribe", "cuptiGetTimestamp"] {
        REFUSES.set(function);
        let refused = Session::with(&FUNCTIONS).expect_err(function);
        assert_eq!(refused.to_string(), format!("{function}: AN_ERROR (39)"));
        assert!(!SUBSCRIBED.get());
    }
    REFUSES.set("");

    let session = Session::with(&FUNCTIONS).expect("nothing refuses");
    assert_eq!(Session::with(&FUNCTIONS).err(), Some(Error::Busy));
    assert_eq!((SUBSCRIBED.get(), ENABLED.get()), (true, KINDS.len()));
    // SAFETY: the functions above look at neither handle.
    let stream = unsafe { session.stream_id(ptr::null_mut(), ptr::null_mut()) };
    let Collected { activities, lost } = session.end();
    assert_eq!((SUBSCRIBED.get(), ENABLED.get()), (false, 0));
    assert_eq!((activities.len(), lost), (1, 2));
    assert_eq!(Ok(activities[0].stream), stream);
    assert_eq!(activities[0].took, Duration::from_nanos(200));
    let work = Work::Copy {
        direction: Direction::FromDevice,
        bytes: 4096,
    };
    assert_eq!(activities[0].work, work);

    let again = Session::with(&FUNCTIONS).expect("the first has ended");
    assert_eq!(again.end().activities.len(), 1);
}

#[test]
fn times_are_on_the_hosts_clock_and_work_without_times_is_counted_as_lost() {
    let clock = Clock {
        host: Instant::now(),
        cupti: 1000,
    };
    let mut collected = Collected::default();
    for (start, end) in [(1500, 1700), (900, 1000), (0, 0), (1500, 0)] {
        let fields = Fields {
            start,
            end,
            stream: StreamId {
                context: 1,
                stream: 7,
            },
            work: Work::Fill { bytes: 1 },
        };
        collected.add(&clock, fields);
    }
    let ns = Duration::from_nanos;
    let times: Vec<_> = collected
        .activities
        .iter()
        .map(|activity| (activity.began, activity.took))
        .collect();
    let expected = [
        (clock.host + ns(500), ns(200)),
        (clock.host - ns(100), ns(100)),
    ];
    assert_eq!(times, expected);
    assert_eq!(collected.lost, 2);
}
