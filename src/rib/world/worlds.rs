//! WorldBegin to WorldEnd: collecting a [`World`] and passing it to the consumer.

use super::scene::SceneBuilder;
use super::world_builder::WorldBuilder;
use crate::host_memory::{Charge, ChargeKind};
use crate::rib::state::eye;
use crate::rib::state::freeze::Frozen;
use crate::rib::state::motion::{self, divides_by_depth};
use crate::rib::stream::fault::RequestFault;
use crate::rib::stream::search;
use crate::scene::{
    Camera, DisplayMode, DisplayPart, EditNotes, FORMAT_WINDOW, Light, Motion, NamedSpace, OVERSCAN_BEFORE_MAX,
    Options, Projection, RESOLUTION_MAX, ShaderInstance, World,
};
use crate::stats::human_bytes;
use glam::DMat4;
use std::ops::ControlFlow;
use std::sync::Arc;

impl SceneBuilder<'_> {
    /// Freezes the options, makes the current transformation that of the camera, and starts the world's at the
    /// identity.
    pub(crate) fn begin_world(&mut self) {
        let (frozen, world_from_camera) = self.frozen();
        if frozen.lost_window {
            let message = "the transformations before Projection leave no area of the screen window; they are ignored";
            self.messages.report_error("range", message);
        }
        if let Some(window) = frozen.lost_overscan {
            self.report_lost_overscan(&window, &frozen.camera);
        }
        self.notes.depends_on_view |= self.has_state_of_camera();
        self.rebase_state(&world_from_camera);
        if self.settings.expects_edits() {
            self.edit_scene = Some(self.edit_scene_here());
        }
        let mirrored = frozen.camera.camera_from_world.first().determinant() < 0.0;
        self.state.transform = motion::still(DMat4::IDENTITY);
        // Film and geometry share host memory, and without its film a world cannot be drawn.
        let film_bytes = self.worlds.film_bytes(&frozen.options, &frozen.camera);
        if !self.charge.take(ChargeKind::Film, film_bytes) {
            let [width, height] = frozen.camera.resolution;
            let asked = format!("{} for a film of {width} by {height} pixels", human_bytes(film_bytes));
            self.refuse(&asked, "this world is not drawn");
        }
        let location = self.messages.current.location.clone();
        self.world = Some(WorldBuilder::new(frozen.options, frozen.camera, mirrored, location));
    }

    /// Returns the options and the camera that a world has that begins here, in full.
    pub(crate) fn frozen_here(&mut self) -> (Options, Camera) {
        let (frozen, _) = self.frozen();
        (frozen.options, frozen.camera)
    }

    /// Freezes the options with the current transformation as that of the camera.
    fn frozen(&mut self) -> (Frozen, WorldFromCamera) {
        let (camera_from_world, projection) = self.camera_of_world();
        let world_from_camera = WorldFromCamera {
            camera: motion::inverse(&camera_from_world),
            divided: motion::inverse(&self.state.transform),
        };
        let mut frozen = self.options.freeze(Motion::clone(&camera_from_world), &self.settings.overrides);
        frozen.camera.projection = projection;
        let settings = self.settings;
        let search = &frozen.options.search;
        frozen.options.search = search::with_others(search, &settings.search_first, &settings.search_last);
        frozen.options.imager = frozen.options.imager.map(|imager| rebase(&imager, &world_from_camera));
        (frozen, world_from_camera)
    }

    /// Whether anything was made before the world whose place follows the camera.
    fn has_state_of_camera(&self) -> bool {
        let attributes = &self.state.attributes;
        let shaders = [&attributes.surface, &attributes.displacement, &attributes.atmosphere].into_iter().flatten();
        let is_named = |shader: &Arc<ShaderInstance>| shader.location.line > 0;
        let spaces = attributes.scoped_spaces.len() + self.spaces.len() + self.lights.list.len();
        spaces > 0 || shaders.into_iter().any(is_named)
    }

    /// Reports that a crop window selects pixels outside of the picture that are not drawn.
    fn report_lost_overscan(&self, window: &[f64; 4], camera: &Camera) {
        let [left, right, top, bottom] = window;
        let window_text = format!("the crop window {left} {right} {top} {bottom}");
        let fault = if camera.whole_window == FORMAT_WINDOW {
            let message =
                format!("at WorldBegin, {window_text} goes beyond the picture, of which only the inside is drawn");
            self.messages
                .warning("range", message)
                .hint("Option \"image\" \"overscan\" 1, or --overscan, draws what is outside of it too")
        } else {
            let [x0, y0, x1, y1] = camera.whole_px();
            let [x1, y1] = [x1 - 1, y1 - 1];
            let message = format!(
                "{window_text} goes beyond what can be drawn: from pixel {x0} {y0} to pixel {x1} {y1} of this picture"
            );
            let hint = format!(
                "overscan has at most {OVERSCAN_BEFORE_MAX} pixels left of a picture and above it, and {RESOLUTION_MAX} \
                 on a side together with the picture"
            );
            self.messages.error("limitcheck", message).hint(hint)
        };
        let is_of_scene = *window == self.options.crop_window;
        let location = if is_of_scene { &self.options.crop_location } else { &self.messages.current.location };
        self.messages.report_at(location.clone(), fault);
    }

    /// Returns the transformation and the projection of the camera. Together they divide by depth once.
    fn camera_of_world(&mut self) -> (Arc<Motion<DMat4>>, Projection) {
        let (transform, projection) = (Arc::clone(&self.state.transform), self.options.projection);
        if !transform.keyframes().iter().any(|(_, matrix)| divides_by_depth(matrix)) {
            return (transform, projection);
        }
        if let (Projection::Orthographic, Some((camera, own))) = (projection, eye::apart(&transform)) {
            return (Arc::new(camera), own);
        }
        let message = "Perspective before WorldBegin, together with Projection \"perspective\" or at some times of a motion \
                       only, is not supported: it divides nothing";
        self.messages.warn_once("Perspective", "unimplement", message);
        (transform, projection)
    }

    /// Converts shaders and spaces that were made before WorldBegin from camera space to world space.
    fn rebase_state(&mut self, world_from_camera: &WorldFromCamera) {
        for light in &mut self.lights.list {
            let shader = ShaderInstance::clone(&rebase(&Arc::new(light.shader.clone()), world_from_camera));
            let scoped_spaces =
                light.scoped_spaces.iter().map(|space| rebased_space(space, world_from_camera)).collect();
            *light = Arc::new(Light { shader, scoped_spaces, ..(**light).clone() });
        }
        for space in &mut self.spaces {
            *space = rebased_space(space, world_from_camera);
        }
        let attributes = Arc::make_mut(&mut self.state.attributes);
        for shader in [&mut attributes.surface, &mut attributes.displacement, &mut attributes.atmosphere] {
            *shader = shader.as_ref().map(|shader| rebase(shader, world_from_camera));
        }
        let scoped = attributes.scoped_spaces.iter();
        attributes.scoped_spaces = scoped.map(|space| rebased_space(space, world_from_camera)).collect();
    }

    /// Takes the finished world.
    pub(crate) fn take_world(&mut self) -> Option<World> {
        let lights = self.lights.placed(&mut self.messages);
        let world = self.world.take()?;
        self.warn_of_emptiness(&world);
        let mut world = World {
            options: world.options,
            camera: world.camera,
            drawables: world.drawables,
            solids: world.solids.finish(),
            lights,
            spaces: self.spaces.clone(),
            location: world.location,
            notes: EditNotes { hidden: world.hidden, reading: self.notes },
        };
        if world.options.hider.paints() {
            self.without_depths(&mut world);
        }
        Some(world)
    }

    /// Takes away what a painted picture cannot have, because nothing in it has a depth, and says so.
    fn without_depths(&self, world: &mut World) {
        let shows_depth = |part: &DisplayPart| matches!(part.mode, DisplayMode::Image { z: true, .. });
        let depth = world.options.displays.iter().flat_map(|display| &display.parts).any(shows_depth);
        let lost = [
            (!world.solids.is_empty(), "solids are not cut: their primitives are drawn"),
            (!world.camera.clip_planes.is_empty(), "ClippingPlane removes nothing"),
            (depth, "depths are 1 wherever anything is seen"),
        ];
        for (_, what) in lost.into_iter().filter(|(used, _)| *used) {
            let message = format!("Hider \"paint\" has no depths, so {what}");
            self.messages.report_at(world.location.clone(), RequestFault::warning("incapable", 0, message));
        }
        world.solids = Default::default();
        world.camera.clip_planes.clear();
        world.drawables.iter_mut().for_each(|drawable| drawable.solid = None);
    }

    /// Says that nothing is left of a world that has geometry.
    fn warn_of_emptiness(&self, world: &WorldBuilder) {
        let (left_out, invisible) = (world.left_out, world.invisible);
        if !world.drawables.is_empty() || !world.hidden.is_empty() || left_out + invisible == 0 {
            return;
        }
        let mut reasons = Vec::new();
        if left_out > 0 {
            reasons.push(format!("{left_out} primitives are left out"));
        }
        if invisible > 0 {
            reasons.push(format!("{invisible} are invisible to the camera"));
        }
        let message = format!("at WorldEnd, nothing of the geometry can be drawn: {}", reasons.join(", "));
        self.messages.report_at(world.location.clone(), RequestFault::warning("nothing", 0, message));
    }

    /// Passes a world to the consumer.
    pub(crate) fn hand_over(&mut self, world: World, charge: Arc<Charge>) {
        self.summary.worlds += 1;
        if let Some(scene) = self.edit_scene.take() {
            self.worlds.editable(scene);
        }
        charge.lend();
        if let ControlFlow::Break(()) = self.worlds.take(world, charge) {
            self.refused = true;
        }
    }
}

/// World space from what is taken for camera space before WorldBegin: that of the camera, or what its transformation
/// makes of it by a division by depth.
struct WorldFromCamera {
    camera: Motion<DMat4>,
    divided: Motion<DMat4>,
}

fn rebase(shader: &Arc<ShaderInstance>, world_from_camera: &WorldFromCamera) -> Arc<ShaderInstance> {
    let world_from_shader = rebased(&shader.world_from_shader, world_from_camera);
    Arc::new(ShaderInstance { world_from_shader, ..ShaderInstance::clone(shader) })
}

fn rebased_space(space: &NamedSpace, world_from_camera: &WorldFromCamera) -> NamedSpace {
    NamedSpace { world_from_space: rebased(&space.world_from_space, world_from_camera), ..space.clone() }
}

/// Converts a space from camera space to world space. If the result would have too many keyframes, only the first is
/// kept.
fn rebased(camera_from_space: &Arc<Motion<DMat4>>, world_from_camera: &WorldFromCamera) -> Arc<Motion<DMat4>> {
    let is_divided = divides_by_depth(camera_from_space.first());
    let world_from_camera = if is_divided { &world_from_camera.divided } else { &world_from_camera.camera };
    let product = motion::product(world_from_camera, camera_from_space);
    Arc::new(product.unwrap_or_else(|| Motion::still(*world_from_camera.first() * *camera_from_space.first())))
}
