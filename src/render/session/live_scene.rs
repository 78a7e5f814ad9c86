//! The scene of a live session: its last world, which is edited, and what comes before and after it.

use crate::film::{DisplayOutcome, OutputNaming, display_path, set_driver};
use crate::options::RenderOptions;
use crate::render::session::reading::{ReadItem, ReadWorld};
use crate::scene::{Options, World};

/// A world or a texture of the scene.
struct SceneItem {
    item: ReadItem,
    /// Whether it must be drawn or made, again if it was before.
    is_due: bool,
    /// What came of it last.
    displays: Vec<DisplayOutcome>,
}

/// What was read of a scene, edited so far.
#[derive(Default)]
pub(in crate::render) struct LiveScene {
    items: Vec<SceneItem>,
}

impl LiveScene {
    pub(super) fn push(&mut self, item: ReadItem) {
        self.items.push(SceneItem { item, is_due: true, displays: Vec::new() });
    }

    /// Returns the place of the world that is edited live: the last one.
    fn last_world(&self) -> Option<usize> {
        self.items.iter().rposition(|item| matches!(item.item, ReadItem::World(_)))
    }

    /// Whether there is a world to draw.
    pub(in crate::render) fn has_world(&self) -> bool {
        self.last_world().is_some()
    }

    /// Returns how many worlds and textures come before the last world.
    pub(in crate::render) fn passes(&self) -> usize {
        self.last_world().unwrap_or(0)
    }

    /// Returns the world that is edited, as it was read.
    pub(super) fn live(&self) -> Option<&ReadWorld> {
        match &self.items[self.last_world()?].item {
            ReadItem::World(read) => Some(read),
            ReadItem::Texture(..) | ReadItem::Settle(_) => None,
        }
    }

    /// Changes every world as `edit` does, which says whether it changed anything. What comes after a changed world
    /// that is not the last is drawn and made again, because it may read its pictures.
    pub(in crate::render) fn edit(&mut self, edit: &mut dyn FnMut(&mut World) -> bool) -> bool {
        let (mut any, mut stale) = (false, false);
        for item in &mut self.items {
            if let ReadItem::World(read) = &mut item.item {
                let changed = edit(&mut read.world);
                any |= changed;
                stale |= changed;
            }
            item.is_due |= stale;
        }
        any
    }

    /// Has all be drawn and made again.
    pub(in crate::render) fn renew(&mut self) {
        self.items.iter_mut().for_each(|item| item.is_due = true);
    }

    /// Returns the place of the first world or texture from `from` up to `end` that is due.
    pub(super) fn next_due(&self, end: usize) -> Option<usize> {
        self.items[..end].iter().position(|item| item.is_due)
    }

    /// Returns the number of worlds and textures.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn item(&self, place: usize) -> &ReadItem {
        &self.items[place].item
    }

    /// Notes what came of a world or a texture.
    pub(super) fn done(&mut self, place: usize, displays: Vec<DisplayOutcome>) {
        self.items[place].is_due = false;
        self.items[place].displays = displays;
    }

    /// Returns what came of all that was drawn and made, in the order of the scene.
    pub(in crate::render) fn displays(&self) -> Vec<DisplayOutcome> {
        self.items.iter().flat_map(|item| &item.displays).cloned().collect()
    }

    /// Notes what came of the last world's displays.
    pub(super) fn live_done(&mut self, displays: Vec<DisplayOutcome>) {
        if let Some(place) = self.last_world() {
            self.done(place, displays);
        }
    }

    /// Returns the world at a place with the driver and the name that the command line gives it, of which the picture
    /// may be written again.
    ///
    /// # Errors
    /// If the name fits only one picture, and there are more.
    pub(super) fn named_world(&self, place: usize, options: &RenderOptions) -> Result<Option<World>, String> {
        let mut all: Vec<(usize, Options)> = Vec::new();
        let mut naming = options.output.as_ref().map(OutputNaming::new);
        for (index, item) in self.items.iter().enumerate() {
            match &item.item {
                ReadItem::World(read) => all.push((index, driven(options, &read.world.options))),
                ReadItem::Texture(texture, _) => {
                    naming.iter_mut().for_each(|naming| naming.keep(texture.make.inputs.iter().cloned()));
                }
                ReadItem::Settle(_) => {}
            }
        }
        if let Some(naming) = &mut naming {
            naming.apply(&mut all.iter_mut().map(|(_, options)| options).collect::<Vec<_>>())?;
        }
        let named = all.into_iter().find(|(index, _)| *index == place).map(|(_, named)| named);
        let (Some(named), ReadItem::World(read)) = (named, self.item(place)) else { return Ok(None) };
        named.displays.iter().for_each(|display| options.files.draw_again(&display_path(display)));
        Ok(Some(World { options: named, ..read.world.clone() }))
    }
}

/// Returns a world's options with the display driver of the command line.
fn driven(options: &RenderOptions, of_world: &Options) -> Options {
    let mut driven = of_world.clone();
    if let Some(driver) = &options.display_type {
        set_driver(&mut driven, driver);
    }
    driven
}
