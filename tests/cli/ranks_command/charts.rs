//! Speedups, drawn.

use std::fs;
use std::path::Path;

use super::{command, text};

/// The marks of a chart, filled and hollow, and what is written in it.
pub(super) fn drawn(path: &Path) -> ([usize; 2], Vec<String>) {
    let svg = fs::read_to_string(path).expect("a chart");
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let is_legend = |it: &roxmltree::Node<'_, '_>| it.attribute("class") == Some("legend");
    let marks = |class: &str| {
        let all = document.descendants();
        let marks = all.filter(|it| it.attribute("class") == Some(class));
        marks
            .filter(|it| !it.ancestors().any(|it| is_legend(&it)))
            .count()
    };
    let counts = [marks("mark"), marks("mark hollow")];
    let texts = document.descendants().filter(|it| it.has_tag_name("text"));
    let texts = texts.filter_map(|it| it.text().map(str::to_owned));
    (counts, texts.collect())
}

#[test]
fn scaling_is_drawn_by_the_commands_and_from_their_rows_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let ridgepoint = |words: &str| {
        let mut command = command(words);
        let output = command.current_dir(folder.path()).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{words}: {}", text(&output.stderr));
    };
    let at = |name: &str| folder.path().join(name);
    for (words, title) in [
        (
            "power --dim 40 --dominance 0.4",
            "Strong scaling of power iteration, 40 x 40",
        ),
        (
            "norm --n 1000 --rounds 1 --scaling weak",
            "Weak scaling of normalization, 1,000 elements on 1 device",
        ),
    ] {
        ridgepoint(&format!(
            "{words} --devices cpu:0,cpu:1 --quiet --plot a.svg,a.png --output a.csv,a.json"
        ));
        let (marks, texts) = drawn(&at("a.svg"));
        // One device, and 1 and 2 measured and 4, 8 and 16 predicted for each exchange.
        assert_eq!(marks, [7, 9], "{words}");
        let said = texts.join(" ");
        for part in [
            title,
            "ideal scaling",
            "devices",
            "speedup",
            "alone",
            "gather",
            "graph",
            "peer",
            "Hollow, dashed: predicted",
            "not a GPU's times",
        ] {
            assert!(said.contains(part), "{words}: {part:?} is not in {said}");
        }
        assert!(
            fs::read(at("a.png"))
                .expect("written")
                .starts_with(b"\x89PNG")
        );
        for rows in ["a.csv", "a.json"] {
            ridgepoint(&format!("chart {rows} --output b.svg"));
            let [drawn, again] = ["a.svg", "b.svg"].map(|it| fs::read(at(it)).expect("written"));
            assert!(drawn == again, "{words}: {rows} are drawn otherwise");
        }
        ridgepoint("chart a.csv --only exchange=peer --title Peer --output c.svg");
        let (marks, texts) = drawn(&at("c.svg"));
        assert_eq!(marks, [2, 3], "{words}");
        assert!(texts.contains(&"Peer".to_owned()) && !texts.contains(&"gather".to_owned()));
    }
}

#[test]
fn rows_of_several_problems_are_not_drawn_as_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = "study,exchange,devices,kind,scaling,size,speedup,device";
    let row = "power,alone,1,measured,strong,64,1.0,GPU";
    let refused = |rows: &str, more: &str| {
        fs::write(folder.path().join("a.csv"), format!("{header}\n{rows}\n")).expect("written");
        let mut command = command(&format!("chart a.csv --output a.svg {more}"));
        let output = command.current_dir(folder.path()).output();
        let output = output.expect("it starts");
        assert!(!output.status.success(), "{rows}");
        assert!(!folder.path().join("a.svg").exists(), "{rows}");
        text(&output.stderr)
    };
    let both = |other: &str| refused(&format!("{row}\n{other}"), "");
    for (other, why) in [
        (
            "norm,peer,2,measured,strong,64,1.9,2 x GPU",
            "more than one study: power, norm",
        ),
        (
            "power,peer,2,measured,weak,91,1.9,2 x GPU",
            "more than one scaling: strong, weak",
        ),
        (
            "power,peer,2,measured,strong,91,1.9,2 x GPU",
            "more than one size: 64, 91",
        ),
        (
            "power,peer,2,measured,strong,64,1.9,2 x TPU",
            "more than one device: GPU, TPU",
        ),
        (
            "power,peer,2,guessed,strong,64,1.9,2 x GPU",
            "row 2: kind is \"guessed\"",
        ),
        (
            "power,peer,0,measured,strong,64,1.9,2 x GPU",
            "row 2: devices is \"0\"",
        ),
        (
            "power,peer,2,measured,strong,64,-1,2 x GPU",
            "row 2: speedup is \"-1\"",
        ),
    ] {
        let said = both(other);
        assert!(said.contains(why), "{other}: {said}");
    }
    let weak = "power,alone,1,measured,weak,64,1.0,GPU\npower,peer,2,measured,weak,91,1.9,2 x GPU";
    let said = refused(
        &format!("{weak}\npower,peer,2,measured,weak,92,1.9,2 x GPU"),
        "",
    );
    assert!(said.contains("more than one size: 91, 92"), "{said}");
    for option in ["--ceilings x.json", "--links x.json", "--mark size=64"] {
        let said = refused(row, option);
        assert!(said.contains("has no effect"), "{option}: {said}");
    }
}

/// With one exchange and checkpoints, one device is not measured, and nothing has a speedup.
#[test]
fn without_a_speedup_there_is_no_chart_and_that_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "power --devices cpu:0,cpu:1 --dim 40 --dominance 0.4 --exchange peer --checkpoint steps --plot a.svg";
    let mut command = command(words);
    let output = command.current_dir(folder.path()).output();
    let output = output.expect("it starts");
    let said = text(&output.stderr);
    assert!(
        output.status.success() && said.contains("no chart: no row"),
        "{said}"
    );
    assert!(!folder.path().join("a.svg").exists());
}
