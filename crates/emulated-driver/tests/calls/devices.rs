//! Devices: those that `CUDA_VISIBLE_DEVICES` leaves a program, in its order.

use std::ffi::CStr;
use std::process::{Command, Output};

use emulated_driver::settings;

use super::client::*;

const ALREADY_ENABLED: u32 = 704;
const NOT_ENABLED: u32 = 705;

/// Prints the answer of `cuInit`, and the name of each device.
#[test]
fn devices_have_names() {
    let begun = call("cuInit", &[0]);
    println!("cuInit: {begun}");
    let mut count = 0i32;
    if begun != 0 || call("cuDeviceGetCount", &[&raw mut count as u64]) != 0 {
        return;
    }
    for device in 0..count as u64 {
        let mut name = [0u8; 100];
        ok("cuDeviceGetName", &[name.as_mut_ptr() as u64, 100, device]);
        let name = CStr::from_bytes_until_nul(&name).expect("an end");
        println!("device {device}: {}", name.to_str().expect("text"));
    }
}

/// Runs one of these tests in a process of its own, which sees these of three devices.
fn among_three(test: &str, list: &str) -> Output {
    let own = std::env::current_exe().expect("this program");
    Command::new(own)
        .args(["--exact", "--nocapture", test])
        .env(settings::NUMBER_OF_DEVICES, "3")
        .env(settings::VISIBLE_DEVICES, list)
        .output()
        .expect("this program")
}

/// The devices that the test above prints in such a process.
fn seen(list: &str) -> Vec<String> {
    let ran = among_three("devices::devices_have_names", list);
    let text = String::from_utf8(ran.stdout).expect("text");
    let is_told = |line: &&str| line.contains("cuInit: ") || line.starts_with("device ");
    let lines = text.lines().filter(is_told);
    lines
        .map(|it| it[it.find("cuInit").unwrap_or(0)..].to_owned())
        .collect()
}

#[test]
fn a_program_sees_the_devices_that_its_environment_names() {
    let name =
        |at: u32, number: u32| format!("device {at}: Ridgepoint emulated sm_90 (cpu:{number})");
    let begun = || "cuInit: 0".to_owned();
    assert_eq!(seen("2,0"), [begun(), name(0, 2), name(1, 0)]);
    assert_eq!(seen("1,7,0"), [begun(), name(0, 1)]);
    const NO_DEVICE: &str = "cuInit: 100";
    assert_eq!(seen(""), [NO_DEVICE]);
    assert_eq!(seen("-1"), [NO_DEVICE]);
}

/// Does nothing where there is one device.
#[test]
fn a_peer_is_reached_from_enable_to_disable() {
    let mut count = 0i32;
    let own = Context::new();
    ok("cuDeviceGetCount", &[&raw mut count as u64]);
    if count < 2 {
        return;
    }
    let peer = made("cuCtxCreate_v2", &[0, 1]);
    let theirs = device_words(&[1; 64]);
    ok("cuCtxSetCurrent", &[own.handle]);
    let (add, ours) = (own.function("add"), device_words(&[2; 64]));
    let reach = || launch(add, 0, 64, (theirs, ours));
    assert_eq!(call("cuCtxDisablePeerAccess", &[peer]), NOT_ENABLED);
    assert_eq!(reach(), ILLEGAL_ADDRESS);
    ok("cuCtxEnablePeerAccess", &[peer, 0]);
    assert_eq!(call("cuCtxEnablePeerAccess", &[peer, 0]), ALREADY_ENABLED);
    assert_eq!(reach(), 0);
    // Another context of the same device keeps what it was allowed.
    let second = made("cuCtxCreate_v2", &[0, 0]);
    ok("cuCtxEnablePeerAccess", &[peer, 0]);
    ok("cuCtxSetCurrent", &[own.handle]);
    ok("cuCtxDisablePeerAccess", &[peer]);
    assert_eq!(reach(), 0);
    ok("cuCtxSetCurrent", &[second]);
    ok("cuCtxDisablePeerAccess", &[peer]);
    assert_eq!(call("cuCtxDisablePeerAccess", &[peer]), NOT_ENABLED);
    ok("cuCtxSetCurrent", &[own.handle]);
    assert_eq!(reach(), ILLEGAL_ADDRESS);
    println!("the peer was reached");
}

#[test]
fn peers_are_reached_in_a_process_that_has_some() {
    let ran = among_three("devices::a_peer_is_reached_from_enable_to_disable", "0,1");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains("the peer was reached"), "{ran:?}");
}
