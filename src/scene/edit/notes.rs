//! What edits need to know of a world besides what is drawn.

use crate::scene::{Drawable, World};

/// An object that is not drawn, and may be shown.
#[derive(Clone, Debug)]
pub struct HiddenDrawable {
    /// How many of the world's drawables were authored before it.
    pub place: usize,
    /// The object.
    pub drawable: Drawable,
}

/// What reading the scene depended on: a world whose reading depended on what is edited must be read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadingNotes {
    /// The camera or the format: levels of detail, procedurals, lights, shaders and spaces made before the world.
    pub depends_on_view: bool,
    /// The shutter: values in motion blocks that have one value for the whole picture.
    pub depends_on_shutter: bool,
    /// Options, in conditions.
    pub has_conditions: bool,
}

/// What edits need to know of a world besides what is drawn.
#[derive(Clone, Debug, Default)]
pub struct EditNotes {
    /// Objects that are not drawn, in the order in which they were authored. A scene's own are kept only where edits
    /// are expected.
    pub hidden: Vec<HiddenDrawable>,
    /// What reading depended on.
    pub reading: ReadingNotes,
}

/// A drawable with whether it is drawn.
pub(super) type ShownDrawable = (Drawable, bool);

impl World {
    /// Iterates over the drawables and then the hidden ones.
    pub(super) fn all_drawables_mut(&mut self) -> impl Iterator<Item = &mut Drawable> {
        let hidden = self.notes.hidden.iter_mut().map(|hidden| &mut hidden.drawable);
        self.drawables.iter_mut().chain(hidden)
    }

    /// Iterates over the drawables and then the hidden ones.
    pub fn all_drawables(&self) -> impl Iterator<Item = &Drawable> {
        self.drawables.iter().chain(self.notes.hidden.iter().map(|hidden| &hidden.drawable))
    }

    /// Takes all objects out, in the order in which they were authored.
    pub(super) fn take_authored(&mut self) -> Vec<ShownDrawable> {
        let mut hidden = std::mem::take(&mut self.notes.hidden).into_iter().peekable();
        let shown = std::mem::take(&mut self.drawables);
        let mut all = Vec::with_capacity(shown.len() + hidden.len());
        for (place, drawable) in shown.into_iter().enumerate() {
            while let Some(before) = hidden.next_if(|hidden| hidden.place <= place) {
                all.push((before.drawable, false));
            }
            all.push((drawable, true));
        }
        all.extend(hidden.map(|hidden| (hidden.drawable, false)));
        all
    }

    /// Puts all objects back.
    pub(super) fn put_authored(&mut self, all: Vec<ShownDrawable>) {
        for (drawable, is_shown) in all {
            if is_shown {
                self.drawables.push(drawable);
            } else {
                self.notes.hidden.push(HiddenDrawable { place: self.drawables.len(), drawable });
            }
        }
    }
}
