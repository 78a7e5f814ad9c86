//! The module graph of `src/render`: which module uses which, sorted into layers.
//!
//! `cargo test --test main tidy::render_graph -- --nocapture` prints it. Where `TIDY_ROOT` names another checkout, the
//! graph is that one's.

use super::code::without_tests;
use super::paths::{relative_uses, uses};
use super::tree::{File, files};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The folder, as a module, and what is in none of its folders.
const ROOT: &str = "render";

/// A graph of names: each with those that it uses, itself excluded.
pub(super) type Graph = BTreeMap<String, BTreeSet<String>>;

/// A use of one module of `src/render` by another: `file:line`, the using module, and the path that is used. Both begin
/// with `render`.
pub(super) struct Use {
    pub at: String,
    pub user: String,
    pub used: String,
}

/// The module of a file, with `::` between its parts.
fn module(file: &File) -> String {
    let path = file.path.trim_start_matches("src/").trim_end_matches(".rs");
    path.trim_end_matches("/mod").replace('/', "::")
}

/// The folder of a module inside `src/render`; `render` for what is in none.
pub(super) fn folder<'a>(module: &'a str, folders: &BTreeSet<String>) -> &'a str {
    let first = module.split("::").nth(1).unwrap_or_default();
    if folders.contains(first) { first } else { ROOT }
}

fn sources() -> impl Iterator<Item = &'static File> {
    files().iter().filter(|file| file.is_in("src/render/") && file.is_product())
}

/// The folders of `src/render`.
pub(super) fn folders() -> BTreeSet<String> {
    let inside = sources().filter_map(|file| file.path.strip_prefix("src/render/")?.split_once('/'));
    inside.map(|(folder, _)| folder.to_owned()).collect()
}

/// Every use of something in `src/render` by its own modules, tests excluded.
pub(super) fn render_uses() -> Vec<Use> {
    let modules: BTreeSet<String> = sources().map(module).collect();
    let mut found = Vec::new();
    for file in sources() {
        let (user, code) = (module(file), without_tests(&file.code));
        let mut used = uses(&code);
        used.extend(relative_uses(&code, &user, &modules));
        let inside = used.into_iter().filter(|(_, used)| used.starts_with("render::"));
        found.extend(inside.map(|(at, used)| Use { at: file.at(at), user: user.clone(), used }));
    }
    found
}

/// The module that a path leads into.
fn module_of<'a>(used: &str, modules: &'a BTreeSet<String>) -> Option<&'a String> {
    let is_prefix = |module: &&String| {
        used.strip_prefix(module.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    modules.iter().filter(is_prefix).max_by_key(|module| module.len())
}

/// The graph of modules.
pub(super) fn module_graph() -> Graph {
    let modules: BTreeSet<String> = sources().map(module).collect();
    let mut graph: Graph = modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
    for Use { user, used, .. } in render_uses() {
        if let Some(used) = module_of(&used, &modules).filter(|used| **used != user) {
            graph.entry(user).or_default().insert(used.clone());
        }
    }
    graph
}

/// The graph of folders that a graph of modules makes.
pub(super) fn folder_graph(modules: &Graph) -> Graph {
    let folders = folders();
    let mut graph = Graph::new();
    for (user, used) in modules {
        let from = folder(user, &folders);
        let others = used.iter().map(|used| folder(used, &folders)).filter(|to| *to != from).map(str::to_owned);
        graph.entry(from.to_owned()).or_default().extend(others);
    }
    graph
}

/// The layers of a graph: what a layer uses is in layers after it, or in its own cycle. Cycles are groups of several
/// names.
pub(super) fn layers(graph: &Graph) -> Vec<Vec<Vec<String>>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|name| (name, reachable(graph, name))).collect();
    let cycle = |name: &String| -> Vec<String> {
        let mates = graph.keys().filter(|other| reach[name].contains(other) && reach[other].contains(name));
        let mates: Vec<String> = mates.cloned().collect();
        if mates.is_empty() { vec![name.clone()] } else { mates }
    };
    let mut left: BTreeSet<Vec<String>> = graph.keys().map(cycle).collect();
    let mut layers = Vec::new();
    while !left.is_empty() {
        let is_used =
            |group: &Vec<String>| left.iter().any(|other| other != group && reach[&other[0]].contains(&group[0]));
        let layer: Vec<Vec<String>> = left.iter().filter(|group| !is_used(group)).cloned().collect();
        left.retain(|group| !layer.contains(group));
        layers.push(layer);
    }
    layers
}

/// The groups of names that use each other.
pub(super) fn cycles(graph: &Graph) -> Vec<String> {
    layers(graph).into_iter().flatten().filter(|group| group.len() > 1).map(|group| group.join(", ")).collect()
}

fn reachable<'a>(graph: &'a Graph, from: &'a str) -> BTreeSet<&'a String> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(name) = left.pop() {
        left.extend(graph.get(name).into_iter().flatten().filter(|used| reached.insert(*used)).map(String::as_str));
    }
    reached
}

/// A graph as text: a line a name, sorted into layers, with an arrow to what it uses.
fn text(graph: &Graph) -> String {
    let mut text = String::new();
    for (number, layer) in layers(graph).iter().enumerate() {
        for group in layer {
            for name in group {
                let used: Vec<&str> = graph[name].iter().map(String::as_str).collect();
                let arrow = if used.is_empty() { "" } else { " -> " };
                let cycle = if group.len() > 1 { " (cycle)" } else { "" };
                writeln!(text, "  {}. {name}{cycle}{arrow}{}", number + 1, used.join(" ")).expect("a string takes all");
            }
        }
    }
    text
}

/// The modules of one folder, with its name left out.
fn inside(graph: &Graph, name: &str) -> Graph {
    let folders = folders();
    let is_in = |module: &&String| folder(module, &folders) == name;
    let short = |module: &String| module.rsplit_once(&format!("{name}::")).map_or("mod", |(_, short)| short).to_owned();
    let rows = graph.iter().filter(|(module, _)| is_in(module));
    rows.map(|(module, used)| (short(module), used.iter().filter(is_in).map(short).collect())).collect()
}

#[test]
fn the_module_graph_is_printed() {
    let modules = module_graph();
    let folders = folder_graph(&modules);
    let mut all = format!("folders of src/render, callers first:\n{}", text(&folders));
    for folder in folders.keys() {
        write!(all, "{folder}:\n{}", text(&inside(&modules, folder))).expect("a string takes all");
    }
    let arrows = |graph: &Graph| graph.values().map(BTreeSet::len).sum::<usize>();
    write!(
        all,
        "{} modules, {} arrows, {} cycles; {} folders, {} arrows, {} cycles",
        modules.len(),
        arrows(&modules),
        cycles(&modules).len(),
        folders.len(),
        arrows(&folders),
        cycles(&folders).len()
    )
    .expect("a string takes all");
    println!("{all}");
    assert!(modules.len() > 1, "src/render has modules");
}

#[test]
fn layers_and_cycles_are_found() {
    let graph = |arrows: &[(&str, &[&str])]| -> Graph {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        arrows.iter().map(|(name, used)| ((*name).to_owned(), set(used))).collect()
    };
    let found = layers(&graph(&[("a", &["b", "d"]), ("b", &["c"]), ("c", &["b", "d"]), ("d", &[])]));
    assert_eq!(found, [vec![vec!["a"]], vec![vec!["b", "c"]], vec![vec!["d"]]]);
}
