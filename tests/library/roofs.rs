//! scripts/gpu/roofs.py tells a kernel that misses its roof from one that is near its ridge point.

use std::path::Path;
use std::process::{Command, Output};

const HEADER: &str = "k,ai,gflops,kernel,dtype,vector,ilp,n,grid,cache,ridge_point,\
                      percent_measured_roof,bound,advice,device";

/// Runs the script on rows of k, intensity, rate and percent of the roof, with a ridge point at 16 FLOP/byte.
fn judge(rows: &[(u32, f64, f64, &str)]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.csv");
    let mut text = HEADER.to_owned();
    for (k, ai, gflops, percent) in rows {
        text += &format!(
            "\n{k},{ai},{gflops},horner,f32,4,1,1024,8,warm,16,{percent},latency,try,NVIDIA H200"
        );
    }
    std::fs::write(&path, text).expect("writable");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/gpu/roofs.py");
    Command::new("python3")
        .arg(script)
        .arg(path)
        .output()
        .expect("python3 is installed (setup.sh)")
}

#[test]
fn a_row_below_its_roof_is_found_but_near_the_ridge_point() {
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let good = [(1, 0.25, 1000.0, "95.0"), (50, 12.5, 40e3, "80.0")];
    let output = judge(&good);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("near the ridge point: horner f32 k=50"));

    let slow = (1000, 250.0, 50e3, "75.0");
    let output = judge(&[good[0], slow]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("BELOW: horner f32 k=1000: 75.0 %"));

    // A faster variant of the same point is what counts.
    let output = judge(&[slow, (1000, 250.0, 64e3, "97.0")]);
    assert_eq!(
        (output.status.code(), text(&output)),
        (Some(0), String::new())
    );

    let output = judge(&[(1, 0.25, 1000.0, "")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ridgepoint ceilings"));
}
