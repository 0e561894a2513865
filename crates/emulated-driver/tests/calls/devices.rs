//! Devices: those that `CUDA_VISIBLE_DEVICES` leaves a program, in its order.

use std::ffi::CStr;
use std::process::Command;

use emulated_driver::settings;

use super::client::*;

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

/// The devices that the test above prints in a process that sees these of three.
fn seen(list: &str) -> Vec<String> {
    let own = std::env::current_exe().expect("this program");
    let ran = Command::new(own)
        .args(["--exact", "--nocapture", "devices::devices_have_names"])
        .env(settings::NUMBER_OF_DEVICES, "3")
        .env(settings::VISIBLE_DEVICES, list)
        .output()
        .expect("this program");
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
