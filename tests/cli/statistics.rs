//! The JSON of `--stats` is what docs/stats.schema.json says, in ordinary and in profiled renders.

use super::{anthill, directory};
use serde_json::Value;
use std::fs;

/// What checks values by a schema, of which it knows the few words that docs/stats.schema.json uses.
struct Checker {
    root: Value,
    problems: Vec<String>,
}

impl Checker {
    fn check(&mut self, schema: &Value, value: &Value, path: &str) {
        for (word, rule) in schema.as_object().expect("a schema is an object") {
            match word.as_str() {
                "$ref" => {
                    let place = rule.as_str().and_then(|text| text.strip_prefix('#')).expect("a place in the file");
                    let referred = self.root.pointer(place).unwrap_or_else(|| panic!("{place}")).clone();
                    self.check(&referred, value, path);
                }
                "anyOf" => self.check_any(rule, value, path),
                "type" if !is_of(rule, value) => self.problems.push(format!("{path}: {value} is no {rule}")),
                "minimum" if value.is_number() && value.as_f64() < rule.as_f64() => {
                    self.problems.push(format!("{path}: {value} < {rule}"));
                }
                "minItems" | "maxItems" if value.as_array().map(|list| list.len() as u64) != rule.as_u64() => {
                    self.problems.push(format!("{path}: {value} has not {rule} items"));
                }
                "items" => {
                    let items = value.as_array().into_iter().flatten().enumerate();
                    items.for_each(|(at, item)| self.check(rule, item, &format!("{path}[{at}]")));
                }
                "properties" => self.check_properties(schema, rule, value, path),
                "required" | "additionalProperties" | "type" | "minimum" | "minItems" | "maxItems" => {}
                "description" | "title" | "$schema" | "$defs" => {}
                other => panic!("{other}: the checker does not know this word"),
            }
        }
    }

    fn check_any(&mut self, choices: &Value, value: &Value, path: &str) {
        let fits = |choice: &Value| {
            let mut tried = Self { root: self.root.clone(), problems: Vec::new() };
            tried.check(choice, value, path);
            tried.problems
        };
        let problems: Vec<Vec<String>> = choices.as_array().expect("choices").iter().map(fits).collect();
        if problems.iter().all(|problems| !problems.is_empty()) {
            self.problems.extend(problems.concat());
        }
    }

    fn check_properties(&mut self, schema: &Value, properties: &Value, value: &Value, path: &str) {
        let Some(object) = value.as_object() else { return };
        assert_eq!(schema["additionalProperties"], false, "{path}: keys that nobody knows would pass");
        for key in schema["required"].as_array().expect("a list").iter().filter_map(Value::as_str) {
            if !object.contains_key(key) {
                self.problems.push(format!("{path}: {key} is missing"));
            }
        }
        for (key, value) in object {
            match properties.get(key) {
                Some(schema) => self.check(schema, value, &format!("{path}.{key}")),
                None => self.problems.push(format!("{path}: {key} is not in the schema")),
            }
        }
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("one type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("{other} is no type"),
    }
}

fn problems(stats: &Value) -> Vec<String> {
    let text = include_str!("../../docs/stats.schema.json");
    let root: Value = serde_json::from_str(text).expect("the schema is JSON");
    let mut checker = Checker { root: root.clone(), problems: Vec::new() };
    checker.check(&root, stats, "");
    checker.problems
}

#[test]
fn statistics_are_what_their_schema_says() {
    let directory = directory();
    fs::write(
        directory.path().join("a.rib"),
        "Display \"a.exr\" \"exr\" \"rgba\"\nFormat 32 32 1\nTranslate 0 0 5\nWorldBegin\nSurface \"none\"\n\
         Opacity [.5 .5 .5]\nSphere 1 -1 1 360\nWorldEnd\nDisplay \"b.exr\" \"exr\" \"rgba\"\nWorldBegin\nDisk 0 1 360\nWorldEnd\n",
    )
    .expect("writable");
    for (command, timed) in [("render", false), ("profile", true)] {
        let args = [command, "a.rib", "--devices", "0", "--stats", "s.json", "--regions", "3"];
        let ran = anthill(directory.path(), &args);
        let stats = fs::read(directory.path().join("s.json")).unwrap_or_else(|_| panic!("{}", ran.err));
        let mut stats: Value = serde_json::from_slice(&stats).expect("JSON");
        assert_eq!(problems(&stats), Vec::<String>::new(), "{command}");
        assert!(!stats["warnings"].as_array().expect("a list").is_empty(), "the shader is missing");
        let device = &stats["devices"][0];
        assert_eq!(device["command_times"]["commands"].is_array(), timed, "{device}");
        let memory = &device["categories_peak_bytes"];
        assert!(memory["regions"].as_u64() > Some(0) && memory["frame"].as_u64() > Some(0), "{memory}");
        let device_s: f64 = stats["worlds"].as_array().expect("a list").iter().flat_map(regions_s).sum();
        let stages = device["stages_s"].as_object().expect("an object");
        let drawn: f64 =
            stages.iter().filter(|(stage, _)| *stage != "bound_split").filter_map(|(_, s)| s.as_f64()).sum();
        assert!((drawn - device_s).abs() < 1e-6, "each world's time is counted once: {drawn} {device_s}");
        stats["new"] = 1.into();
        stats["wall_s"] = "long".into();
        assert_eq!(problems(&stats), [": new is not in the schema", ".wall_s: \"long\" is no \"number\""]);
    }
}

/// The times of a world's regions.
fn regions_s(world: &Value) -> Vec<f64> {
    let regions = world["regions"].as_array().expect("a list");
    regions.iter().filter_map(|region| region["device_s"].as_f64()).collect()
}
