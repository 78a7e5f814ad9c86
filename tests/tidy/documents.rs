//! What is written about the code is true of it, and every file belongs somewhere.

use super::expect_none;
use super::tree::{File, file, files, root};

/// Documents about the code, apart from those in `docs/`.
const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"];

/// Lines of README.md, at most.
const README_LINES_MAX: usize = 200;

/// Columns of a line of a page, at most; rows of tables may be longer.
const PAGE_COLUMNS_MAX: usize = 120;

/// Bytes of all pictures in `docs/`, at most: everybody clones them.
const PICTURES_BYTES_MAX: u64 = 600 << 10;

/// The pages of `docs/`.
fn pages() -> impl Iterator<Item = &'static File> {
    files().iter().filter(|file| file.is_in("docs/") && file.path.ends_with(".md"))
}

#[test]
fn the_readme_is_short_and_pages_fit_the_screen() {
    let readme = &file("README.md").text;
    let lines = readme.lines().count();
    assert!(lines <= README_LINES_MAX, "README.md has {lines} lines: move details to docs/");
    let others = ["README.md", "CHANGELOG.md", "scenes/README.md"].map(file);
    let mut found = Vec::new();
    for page in pages().chain(others) {
        for (index, line) in page.text.lines().enumerate() {
            if line.chars().count() > PAGE_COLUMNS_MAX && !line.starts_with('|') {
                found.push(format!("{}:{}", page.path, index + 1));
            }
        }
    }
    expect_none(found, &format!("Wrap the line: it keeps to {PAGE_COLUMNS_MAX} columns."));
}

/// Links of a page to files and their headings: what stands in parentheses after a bracket, before and after `#`. The
/// file of a link inside of the page is empty.
fn links(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    targets.filter(|target| !target.contains("://")).map(|target| target.split_once('#').unwrap_or((target, "")))
}

/// The anchors that GitHub and mdBook give to the headings of a page: their words in small letters, joined by hyphens.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    // Every second part is a block of code.
    let prose = text.split("```").step_by(2).flat_map(str::lines);
    let headings = prose.filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings.map(|heading| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    })
}

#[test]
fn links_lead_somewhere() {
    let mut found = Vec::new();
    for page in pages().chain(["README.md", "scenes/README.md"].map(file)) {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (target, anchor) in links(&page.text) {
            let path = if target.is_empty() { root().join(&page.path) } else { root().join(folder).join(target) };
            let leads = path.exists()
                && (anchor.is_empty() || {
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    anchors(&text).any(|heading| heading == anchor)
                });
            if !leads {
                found.push(format!("{}: {target}#{anchor}", page.path));
            }
        }
    }
    expect_none(found, "There is no such file, or no such heading in it: correct the link.");
}

#[test]
fn every_page_is_in_the_book() {
    let listed: Vec<String> = links(&file("docs/SUMMARY.md").text).map(|(page, _)| format!("docs/{page}")).collect();
    let unlisted = pages().filter(|page| page.path != "docs/SUMMARY.md" && !listed.contains(&page.path));
    expect_none(unlisted.map(|page| page.path.clone()), "Add the page to docs/SUMMARY.md.");
    let renamed = pages().filter(|page| page.path != "docs/README.md" && page.path.ends_with("/README.md"));
    expect_none(
        renamed.map(|page| page.path.clone()),
        "mdBook renames README.md and breaks links to it: put the page beside its folder, under the folder's name.",
    );
}

#[test]
fn links_of_the_book_stay_in_it() {
    let leaves = |page: &File, target: &str| target.matches("../").count() >= page.path.matches('/').count();
    let found = pages().flat_map(|page| {
        let outside = links(&page.text).filter(move |(target, _)| leaves(page, target));
        outside.map(|(target, _)| format!("{}: {target}", page.path))
    });
    expect_none(found, "The book has nothing outside of docs/: name the file in backticks instead.");
}

#[test]
fn pictures_of_documents_are_used_and_small() {
    let pictures = || {
        let is_picture = |file: &&File| [".png", ".jpg"].iter().any(|end| file.path.ends_with(end));
        files().iter().filter(|file| file.is_in("docs/")).filter(is_picture)
    };
    let bytes: u64 = pictures().map(|file| file.bytes).sum();
    assert!(bytes <= PICTURES_BYTES_MAX, "the pictures of docs/ have {bytes} bytes: make them smaller");
    let texts: Vec<&str> = pages().chain([file("README.md")]).map(|page| &*page.text).collect();
    let is_used = |file: &&File| {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        texts.iter().any(|text| text.contains(&format!("pictures/{name})")))
    };
    expect_none(
        pictures().filter(|file| !is_used(file)).map(|file| file.path.clone()),
        "No page shows the picture: remove it.",
    );
}

#[test]
fn documents_name_files_that_exist() {
    let folders = ["", "src/", "src/rib/", "src/pipeline/", "glsl/", "spirv-gen/", "spirv-gen/src/"];
    let mut found = Vec::new();
    for document in pages().chain(DOCUMENTS.map(file)) {
        for (index, line) in document.text.lines().enumerate() {
            // Every second part of a line stands in backticks.
            for name in line.split('`').skip(1).step_by(2).filter(|name| is_path(name)) {
                // A star stands for whatever follows.
                let (begin, _) = name.split_once('*').unwrap_or((name, ""));
                let exists = |folder: &&str| match name.contains('*') {
                    true => files().iter().any(|file| file.path.starts_with(&format!("{folder}{begin}"))),
                    false => root().join(folder).join(name).exists(),
                };
                if !folders.iter().any(exists) {
                    found.push(format!("{}:{}: {name}", document.path, index + 1));
                }
            }
        }
    }
    expect_none(found, "There is no such file: correct the document.");
}

/// Whether a quoted word is meant as a path of the repository.
fn is_path(name: &str) -> bool {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./*".contains(&byte));
    let begins = ["src/", "glsl/", "tests/", "spirv-gen/", "build/", "bench/", "docs/", "fuzz/", "scenes/"];
    is_plain
        && (begins.iter().any(|folder| name.starts_with(folder))
            || [".rs", ".comp", ".glsl"].iter().any(|e| name.ends_with(e)))
}

#[test]
fn integration_tests_are_one_binary() {
    let main = &file("tests/main.rs").text;
    let own = files().iter().filter(|file| file.is_in("tests/") && file.is_rust());
    let found = own.filter_map(|file| {
        let inside = file.path.strip_prefix("tests/")?;
        let module = inside.split_once('/').map_or(inside.trim_end_matches(".rs"), |(folder, _)| folder);
        let belongs = module == "main" || inside.contains('/') && main.contains(&format!("mod {module};"));
        (!belongs).then(|| file.path.clone())
    });
    expect_none(found, "Tests are folders named in tests/main.rs: each further binary links everything once more.");
}

/// A file that no `mod` names is not compiled, and nothing reports it.
#[test]
fn every_source_file_is_compiled() {
    let roots = ["src/lib.rs", "src/main.rs", "spirv-gen/src/lib.rs", "tests/main.rs"];
    let folders = ["src/", "spirv-gen/src/", "tests/"];
    let is_source = |file: &&File| file.is_rust() && folders.iter().any(|folder| file.is_in(folder));
    let mut found = Vec::new();
    for file in files().iter().filter(is_source).filter(|file| !roots.contains(&&*file.path)) {
        let module = file.path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
        let (parent, name) = module.rsplit_once('/').unwrap_or_default();
        let parents = [format!("{parent}.rs"), format!("{parent}/mod.rs")];
        let is_parent = |other: &&File| {
            parents.contains(&other.path)
                || roots.contains(&&*other.path)
                    && other.path.rsplit_once('/').is_some_and(|(folder, _)| folder == parent)
        };
        let line = format!("mod {name};");
        if !files().iter().filter(is_parent).any(|parent| parent.code.contains(&line)) {
            found.push(file.path.clone());
        }
    }
    expect_none(found, "No parent has a `mod` line for it, so it is never compiled: add one, or remove the file.");
}

#[test]
fn test_scenes_are_small_and_say_what_they_show() {
    let mut found = Vec::new();
    for scene in files().iter().filter(|file| file.is_in("scenes/tests/") && file.path.ends_with(".rib")) {
        let says = scene.text.lines().take(4).any(|line| line.starts_with("# "));
        if !says {
            found.push(format!("{}: no comment says what it shows", scene.path));
        }
        for line in scene.text.lines().filter_map(|line| line.trim().strip_prefix("Format ")) {
            let sizes: Vec<u32> = line.split_whitespace().take(2).filter_map(|size| size.parse().ok()).collect();
            if sizes.iter().any(|size| *size > 64) {
                found.push(format!("{}: Format {line}", scene.path));
            }
        }
    }
    expect_none(
        found,
        "A test scene shows one feature, says which in a comment at its top, and is 64 pixels wide and high at most.",
    );
}
