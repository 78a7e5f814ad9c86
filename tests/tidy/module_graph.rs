//! The module graph of a folder of sources: which module uses which, sorted into layers.
//!
//! `cargo test --test main tidy::module_graph -- --nocapture` prints that of `src/render`. Where `TIDY_ROOT` names
//! another checkout, the graph is that one's.

use super::code::without_tests;
use super::paths::{relative_uses, uses};
use super::tree::{File, files};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A graph of names: each with those that it uses, itself excluded.
pub(super) type Graph = BTreeMap<String, BTreeSet<String>>;

/// A use of one module of a source tree by another: `file:line`, the using module, and the path that is used. Both
/// begin with the tree's name.
pub(super) struct Use {
    pub at: String,
    pub user: String,
    pub used: String,
}

/// The sources in one folder: a part of `src`, or a whole crate.
pub(super) struct SourceTree {
    /// The folder, with a `/` at its end.
    folder: &'static str,
    /// The name of its root module, which the paths of all others begin with.
    pub name: String,
    /// All modules, without tests.
    modules: BTreeSet<String>,
}

impl SourceTree {
    /// The tree in `src/render/`, or in `spirv-gen/src/`.
    pub(super) fn of(folder: &'static str) -> Self {
        let part = folder.strip_prefix("src/").or_else(|| folder.strip_suffix("src/")).expect("a folder of sources");
        let mut tree = Self { folder, name: part.trim_end_matches('/').replace('-', "_"), modules: BTreeSet::new() };
        tree.modules = tree.sources().map(|file| tree.module(file)).collect();
        tree
    }

    fn sources(&self) -> impl Iterator<Item = &'static File> + use<> {
        let folder = self.folder;
        files().iter().filter(move |file| file.is_in(folder) && file.is_product())
    }

    /// The module of a file, with `::` between its parts.
    fn module(&self, file: &File) -> String {
        let path = file.path.trim_start_matches(self.folder).trim_end_matches(".rs");
        match path {
            "mod" | "lib" => self.name.clone(),
            path => format!("{}::{}", self.name, path.trim_end_matches("/mod").replace('/', "::")),
        }
    }

    /// The folder inside the tree that a module is in, or the name of its file where it is in none; the tree's own name
    /// for its root module.
    pub(super) fn folder_of<'a>(&'a self, module: &'a str) -> &'a str {
        module.split("::").nth(1).unwrap_or(&self.name)
    }

    /// Every use of something in the tree by its own modules, tests excluded.
    pub(super) fn uses(&self) -> Vec<Use> {
        let is_crate = !self.folder.starts_with("src/");
        let inside = format!("{}::", self.name);
        let mut found = Vec::new();
        for file in self.sources() {
            let (user, code) = (self.module(file), without_tests(&file.code));
            let mut used = uses(&code);
            if is_crate {
                used.iter_mut().for_each(|(_, used)| used.insert_str(0, &inside));
            }
            used.extend(relative_uses(&code, &user, &self.modules));
            let own = used.into_iter().filter(|(_, used)| used.starts_with(&inside));
            found.extend(own.map(|(at, used)| Use { at: file.at(at), user: user.clone(), used }));
        }
        found
    }

    /// The module that a path leads into.
    fn module_at(&self, used: &str) -> Option<&String> {
        let is_prefix = |module: &&String| {
            used.strip_prefix(module.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        self.modules.iter().filter(is_prefix).max_by_key(|module| module.len())
    }

    /// The graph of modules.
    pub(super) fn module_graph(&self) -> Graph {
        let mut graph: Graph = self.modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
        for Use { user, used, .. } in self.uses() {
            if let Some(used) = self.module_at(&used).filter(|used| **used != user) {
                graph.entry(user).or_default().insert(used.clone());
            }
        }
        graph
    }

    /// The graph of folders that the graph of modules makes.
    pub(super) fn folder_graph(&self, modules: &Graph) -> Graph {
        let mut graph = Graph::new();
        for (user, used) in modules {
            let from = self.folder_of(user);
            let others = used.iter().map(|used| self.folder_of(used)).filter(|to| *to != from);
            graph.entry(from.to_owned()).or_default().extend(others.map(str::to_owned));
        }
        graph
    }

    /// The modules of one folder, with its name left out.
    fn inside(&self, graph: &Graph, folder: &str) -> Graph {
        let is_in = |module: &&String| self.folder_of(module) == folder;
        let prefix = format!("{folder}::");
        let short = |module: &String| module.rsplit_once(&prefix).map_or("mod", |(_, short)| short).to_owned();
        let rows = graph.iter().filter(|(module, _)| is_in(module));
        rows.map(|(module, used)| (short(module), used.iter().filter(is_in).map(short).collect())).collect()
    }
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

/// The groups of names that use each other, the largest first.
pub(super) fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = layers(graph).into_iter().flatten().filter(|group| group.len() > 1).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
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

#[test]
fn the_module_graph_of_render_is_printed() {
    let tree = SourceTree::of("src/render/");
    let modules = tree.module_graph();
    let folders = tree.folder_graph(&modules);
    let mut all = format!("folders of src/render, callers first:\n{}", text(&folders));
    for folder in folders.keys() {
        write!(all, "{folder}:\n{}", text(&tree.inside(&modules, folder))).expect("a string takes all");
    }
    let arrows = |graph: &Graph| graph.values().map(BTreeSet::len).sum::<usize>();
    write!(
        all,
        "{} modules, {} arrows, {} circles; {} folders, {} arrows, {} circles",
        modules.len(),
        arrows(&modules),
        circles(&modules).len(),
        folders.len(),
        arrows(&folders),
        circles(&folders).len()
    )
    .expect("a string takes all");
    println!("{all}");
    assert!(modules.len() > 1, "src/render has modules");
}

#[test]
fn layers_and_circles_are_found() {
    let graph = |arrows: &[(&str, &[&str])]| -> Graph {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        arrows.iter().map(|(name, used)| ((*name).to_owned(), set(used))).collect()
    };
    let found = layers(&graph(&[("a", &["b", "d"]), ("b", &["c"]), ("c", &["b", "d"]), ("d", &[])]));
    assert_eq!(found, [vec![vec!["a"]], vec![vec!["b", "c"]], vec![vec!["d"]]]);
    let found = circles(&graph(&[("a", &["b"]), ("b", &["a"]), ("c", &["d"]), ("d", &["e"]), ("e", &["c", "a"])]));
    assert_eq!(found, [vec!["c", "d", "e"], vec!["a", "b"]]);
}
