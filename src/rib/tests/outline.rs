//! Outlines of worlds that are being read.

use super::*;
use crate::host_memory::Charge;
use crate::rib::WorldConsumer;

/// The numbers of drawables of the outlines.
#[derive(Default)]
struct Outlined(Vec<usize>);

impl WorldConsumer for Outlined {
    fn foresee(&mut self, outline: World) {
        self.0.push(outline.drawables.len());
    }

    fn take(&mut self, _: World, _: Arc<Charge>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn outlined(body: &str) -> Vec<usize> {
    let mut consumer = Outlined::default();
    let input = Input::Memory { name: "t.rib".to_owned(), bytes: format!("WorldBegin\n{body}WorldEnd\n").into() };
    read(&input, &Settings::default(), &Reporter::silent(), &mut consumer);
    consumer.0
}

#[test]
fn large_worlds_are_outlined_when_there_is_a_new_sort_of_drawables() {
    let points = |count: usize| "Points \"P\" [0 0 0]\nColor 1 0 0\n".repeat(count);
    let sphere = "Sphere 1 -1 1 360\n";
    assert!(outlined(&points(4000)).is_empty(), "it is read soon");
    assert_eq!(outlined(&points(20_000)), [1]);
    assert_eq!(outlined(&format!("{sphere}{}", points(20_000))), [2]);
    let glass = format!("Opacity .5 .5 .5\n{sphere}Surface \"glass\"\n{sphere}");
    assert_eq!(outlined(&format!("{}{glass}", points(5000))), [1], "too soon for another one");
    assert_eq!(outlined(&format!("{}{glass}{}", points(5000), points(4000))), [1, 4]);
    let many = format!("Points \"P\" [{}]\n", "0 0 0 ".repeat((1 << 17) + 1));
    assert_eq!(outlined(&format!("{sphere}{many}")), [1], "a drawable that would take long is left out");
}
