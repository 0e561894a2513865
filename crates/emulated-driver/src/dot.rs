//! Graphs drawn in the language of Graphviz, as `cuGraphDebugDotPrint` writes them.

use std::fmt::{self, Write};
use std::fs;

use crate::findings::say;
use crate::graph::Graph;
use crate::status::{Answer, Status};
use crate::work::Work;

/// Writes a graph to a file, with those within it.
pub(crate) fn write(graph: &Graph, path: &str) -> Answer {
    let mut text = "digraph dot {\n".to_owned();
    let drawn = draw(graph, &mut 0, &mut text);
    drawn.map_err(|_| Status::UNKNOWN)?;
    text.push_str("}\n");
    fs::write(path, text).map_err(|error| {
        say(&format!("{path}: {error}"));
        Status::OPERATING_SYSTEM
    })
}

/// Draws a graph as a cluster, whose number is that of the graphs before it.
fn draw(graph: &Graph, count: &mut usize, text: &mut String) -> fmt::Result {
    let own = *count;
    *count += 1;
    writeln!(text, "subgraph cluster_{own} {{\nlabel=\"graph_{own}\"")?;
    let nodes = graph.nodes();
    let number = |handle| nodes.iter().position(|it| it.handle == handle);
    for (index, node) in nodes.iter().enumerate() {
        let label = label(&node.work());
        writeln!(
            text,
            "\"graph_{own}_node_{index}\" [shape=\"box\" label=\"{index}\\n{label}\"]"
        )?;
        for before in node.after().iter().filter_map(|it| number(it.handle)) {
            writeln!(
                text,
                "\"graph_{own}_node_{before}\" -> \"graph_{own}_node_{index}\""
            )?;
        }
    }
    for node in &nodes {
        for within in node.work().graphs() {
            draw(&within, count, text)?;
        }
    }
    text.push_str("}\n");
    Ok(())
}

/// Names what a node does.
fn label(work: &Work) -> String {
    match work {
        Work::Launch(launch) => {
            let [x, y, z] = launch.shape.grid;
            let [width, height, depth] = launch.shape.block;
            let name = &launch.function.named().name;
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{name}\\n({x}, {y}, {z}) ({width}, {height}, {depth})")
        }
        other => other.name().to_owned(),
    }
}
