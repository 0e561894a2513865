//! The HTML report in a real browser, from disk.

use crate::support;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::browser::Page;

/// Makes a report with these arguments.
fn report(folder: &Path, arguments: &[&str]) -> PathBuf {
    let path = folder.join("report.html");
    let output = Command::new(support::ridgepoint())
        .args(arguments)
        .args(["--device", "cpu", "--quiet", "--output"])
        .arg(folder.join("rows.csv"))
        .arg("--report")
        .arg(&path)
        .output()
        .expect("the command starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    path
}

fn open(report: &Path) -> Page {
    Page::open(&format!("file://{}", report.display()), [1280, 1600])
}

#[test]
fn the_report_opens_from_disk_switches_its_theme_and_shows_a_points_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let axes = [
        "roofline", "--n", "1000", "--k", "1,50", "--dtype", "f32,f64", "--runs", "3",
    ];
    let path = report(folder.path(), &axes);
    let text = std::fs::read_to_string(&path).expect("written");
    let addresses = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http://") && !addresses.contains("https://"));

    let mut page = open(&path);
    let title = page.text("document.querySelector('h1').textContent");
    // One device's name, and it is the GPU's that the chart is of.
    assert_eq!(title, "Roofline: NVIDIA H200, predicted");
    let above = "[...document.querySelectorAll('header, #notes, main')].map(it => it.textContent).join(' ')";
    assert!(
        !page.text(above).contains("CPU emulator"),
        "{}",
        page.text(above)
    );
    let note = page.text("document.getElementById('notes').textContent");
    assert!(note.contains("timings are those of this host"), "{note}");
    for (selector, count) in [("main > svg", 2), ("svg .point", 4), ("tbody tr", 8)] {
        let found = page.evaluate(&format!("document.querySelectorAll('{selector}').length"));
        assert_eq!(found, count, "{selector}");
    }

    // What is predicted and what the host's clock said are in tables of their own.
    let heads = "[...document.querySelectorAll('thead')].map(it => it.textContent + ' ').join('|')";
    let headings = page.text(heads);
    let (predicted, host) = headings.split_once('|').expect("two tables");
    for name in [
        "intensity, FLOP/byte",
        "formula, FLOP/byte",
        "counted, FLOP/byte",
        "predicted, GFLOP/s",
    ] {
        assert!(
            predicted.contains(name) && !host.contains(name),
            "{headings}"
        );
    }
    for name in ["median, ms", "% of peak"] {
        assert!(
            host.contains(name) && !predicted.contains(name),
            "{headings}"
        );
    }
    assert!(!headings.contains('_'), "{headings}");

    let colour = "getComputedStyle(document.body).backgroundColor";
    let before = page.text(colour);
    page.point_at("#theme", &["mousePressed", "mouseReleased"]);
    assert_ne!(before, page.text(colour));

    let shown = "getComputedStyle(document.getElementById('tip')).display";
    assert_eq!(page.text(shown), "none");
    page.point_at("svg .point", &["mouseMoved"]);
    assert_eq!(page.text(shown), "block");
    let tip = page.text("document.getElementById('tip').textContent");
    let row = first_row(&folder.path().join("rows.csv"));
    assert!(
        tip.contains("k = 1, 0.250 FLOP/byte") && tip.contains(&row),
        "{tip}, not {row}"
    );
    assert!(tip.contains("predicted for NVIDIA H200"), "{tip}");
    assert!(page.picture().len() > 10_000);
}

/// The first row's predicted roof as the page says it.
fn first_row(path: &Path) -> String {
    let mut reader = csv::Reader::from_path(path).expect("a CSV");
    let header = reader.headers().expect("a header").clone();
    let row = reader.records().next().expect("a row").expect("readable");
    let at = |name: &str| {
        let column = header.iter().position(|it| it == name).expect("a column");
        row.get(column).unwrap_or_default().to_owned()
    };
    format!("limited by {}", at("predicted_limit"))
}

#[test]
fn an_occupancy_study_has_its_curves_and_knees() {
    let folder = tempfile::tempdir().expect("a folder");
    let axes = [
        "occupancy",
        "--n",
        "2000",
        "--block",
        "256",
        "--ilp",
        "1,8",
        "--runs",
        "1",
    ];
    let path = report(folder.path(), &axes);
    let mut page = open(&path);
    assert_eq!(
        page.evaluate("document.querySelectorAll('main > svg').length"),
        2
    );
    let notes = page.text("document.getElementById('notes').textContent");
    assert!(notes.contains(" with ILP 8: "), "{notes}");
    let legend = page.text("document.querySelector('.legend').textContent");
    assert!(
        legend.contains("ILP 1") && legend.contains("ILP 8"),
        "{legend}"
    );
}

/// The boxes of all texts that overlap another's or leave their chart, as the browser has laid them out.
const FAULTS: &str = "(() => {\
    const faults = [];\
    for (const svg of document.querySelectorAll('main > svg')) {\
        const all = svg.getBoundingClientRect();\
        const texts = [...svg.querySelectorAll('text')].map(it => [it.textContent, it.getBoundingClientRect()]);\
        texts.forEach(([text, a], index) => {\
            if (a.left < all.left - 1 || a.right > all.right + 1) faults.push(text + ' is cut');\
            if (a.height < 9 || a.height > 24) faults.push(text + ' is ' + a.height + ' px high');\
            for (const [other, b] of texts.slice(0, index))\
                if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)\
                    faults.push(text + ' covers ' + other);\
        });\
    }\
    return faults.join('; ');\
})()";

#[test]
fn charts_are_legible_on_a_telephone_and_on_a_wide_screen_in_both_themes() {
    let folder = tempfile::tempdir().expect("a folder");
    let axes = [
        "roofline", "--kernel", "all", "--n", "1000", "--k", "1,10,100", "--vector", "1,4",
        "--dtype", "f32,f64", "--runs", "1",
    ];
    let path = report(folder.path(), &axes);
    for width in [400, 690, 1400] {
        let address = format!("file://{}", path.display());
        let mut page = Page::open(&address, [width, 1200]);
        assert_eq!(page.evaluate("innerWidth"), width);
        let mut colours = Vec::new();
        for theme in ["dark", "light"] {
            page.evaluate(&format!("theme('{theme}')"));
            assert_eq!(page.text(FAULTS), "", "{width} px, {theme}");
            let scrolls =
                "document.documentElement.scrollWidth > document.documentElement.clientWidth";
            assert_eq!(
                page.evaluate(scrolls),
                false,
                "{width} px: the page scrolls sideways"
            );
            colours
                .push(page.text("getComputedStyle(document.querySelector('main svg .text')).fill"));
            let picture = page.picture();
            assert!(picture.len() > 10_000);
            // To look at: RIDGEPOINT_PICTURES=FOLDER cargo test --test cli report::.
            if let Some(kept) = std::env::var_os("RIDGEPOINT_PICTURES") {
                let name = format!("report-{width}-{theme}.png");
                std::fs::write(Path::new(&kept).join(name), picture).expect("writable");
            }
        }
        assert_ne!(colours[0], colours[1]);
    }
    // The check can fail.
    let mut page = Page::open(&format!("file://{}", path.display()), [1400, 1200]);
    page.evaluate(
        "document.querySelectorAll('main svg text').forEach(it => it.setAttribute('x', '5'))",
    );
    assert!(page.text(FAULTS).contains("covers"));
}

/// Few steps are far from the roofs, and the emulator's own ceilings are none of a GPU.
#[test]
fn all_that_is_drawn_lies_in_its_chart() {
    let folder = tempfile::tempdir().expect("a folder");
    let ceilings = folder.path().join("ceilings.json");
    let measured = Command::new(support::ridgepoint())
        .args(["ceilings", "--device", "cpu", "--n", "1000", "--runs", "1"])
        .arg("--output")
        .arg(&ceilings)
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&measured.stdout).into_owned();
    assert!(
        measured.status.success() && !said.contains(" 0.00 ┆"),
        "{said}"
    );
    let axes = ["roofline", "--n", "1000", "--k", "1,2,5", "--runs", "3"];
    let with = ["--ceilings", ceilings.to_str().expect("text")];
    let path = report(folder.path(), &[&axes[..], &with].concat());
    let mut page = open(&path);
    assert_eq!(
        page.evaluate("document.querySelectorAll('main > svg > polyline.roof').length"),
        3
    );
    let outside = "[...document.querySelectorAll('main > svg > *')].filter(it => {\
        const box = it.getBoundingClientRect(), all = it.parentNode.getBoundingClientRect();\
        return box.left < all.left || box.right > all.right || box.top < all.top \
            || box.bottom > all.bottom;\
    }).map(it => it.outerHTML).join(' ')";
    assert_eq!(page.text(outside), "");
}

/// A reader magnifies a chart, moves it, sees all of it again, and leaves series out.
#[test]
fn a_chart_is_magnified_and_its_series_are_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let axes = [
        "occupancy",
        "--kernel",
        "copy",
        "--n",
        "2000",
        "--ilp",
        "1,4",
        "--runs",
        "1",
        "--against",
        "block",
    ];
    let mut page = open(&report(folder.path(), &axes));
    let title = page.text("document.querySelector('main h2').textContent");
    assert!(title.contains("against block"), "{title}");
    let wide = "document.querySelector('main > svg').viewBox.baseVal.width";
    assert_eq!(page.evaluate(wide), 1100);
    let press = |label: &str| {
        format!("document.querySelector('.tools button[aria-label=\"{label}\"]').click()")
    };
    page.evaluate(&press("Zoom in"));
    let near = page.evaluate(wide).as_f64().expect("a number");
    assert!((near - 1100.0 / 1.5).abs() < 0.1, "{near}");
    let inside = "(() => { const v = document.querySelector('main > svg').viewBox.baseVal;\
        return v.x >= 0 && v.y >= 0 && v.x + v.width <= 1100; })()";
    assert_eq!(page.evaluate(inside), true);
    // A turn of the wheel magnifies with a key alone.
    let turn = |key: bool| {
        format!(
            "document.querySelector('main > svg').dispatchEvent(new WheelEvent('wheel', {{ctrlKey: {key}, deltaY: -1, cancelable: true}}))"
        )
    };
    page.evaluate(&turn(false));
    assert_eq!(page.evaluate(wide).as_f64(), Some(near));
    page.evaluate(&turn(true));
    assert!(page.evaluate(wide).as_f64().expect("a number") < near);
    page.evaluate(&press("Show the whole chart"));
    assert_eq!(page.evaluate(wide), 1100);

    let shown = "[...document.querySelectorAll('main > svg')[0].querySelectorAll('.point')]\
        .filter(it => getComputedStyle(it).display !== 'none').length";
    let all = page.evaluate(shown).as_u64().expect("a number");
    let names = page.text("[...document.querySelector('.tools').querySelectorAll('label')].map(it => it.textContent).join('|')");
    assert_eq!(names, " ilp 1| ilp 4");
    page.evaluate("document.querySelector('.tools input').click()");
    assert_eq!(page.evaluate(shown).as_u64(), Some(all / 2));
    page.evaluate("document.querySelector('.tools input').click()");
    assert_eq!(page.evaluate(shown).as_u64(), Some(all));
    assert_eq!(page.text(FAULTS), "");
}
