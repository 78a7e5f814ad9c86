//! Coarse pictures of a world, which are seen while it is edited.

use super::{Display, DisplayPart, Filter, FilterKind, World};

/// The filter of pictures with one sample a pixel: its own.
const ONE_SAMPLE: Filter = Filter { kind: FilterKind::Box, width: [1.0, 1.0] };

impl World {
    /// Returns the world as a coarse picture shows it: with one sample a pixel, and of a format that is `divider` times
    /// smaller on each side. Nothing else differs: objects have the same attributes, so that what is made of them for
    /// one picture serves the others.
    pub fn at_level(&self, divider: u32) -> Self {
        let mut world = self.clone();
        let camera = &mut world.camera;
        let resolution = camera.resolution.map(|side| side.div_ceil(divider.max(1)));
        // The same part of the screen on pixels whose sides are rounded.
        let [x, y] = [0, 1].map(|axis| f64::from(camera.resolution[axis]) / f64::from(resolution[axis]));
        camera.pixel_aspect *= x / y;
        camera.resolution = resolution;
        world.options.pixel_samples = [1, 1];
        world.options.filter = ONE_SAMPLE;
        let parts = world.options.displays.iter_mut().flat_map(|display: &mut Display| &mut display.parts);
        let own = parts.filter_map(|part: &mut DisplayPart| part.filter.as_mut());
        own.for_each(|filter| *filter = ONE_SAMPLE);
        world
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Reporter;
    use crate::rib;
    use crate::scene::{Filter, FilterKind, World};
    use std::ops::ControlFlow;
    use std::sync::Arc;

    fn world(text: &str) -> World {
        let input = rib::Input::Memory { name: "t.rib".to_owned(), bytes: text.into() };
        let mut worlds = Vec::new();
        rib::read(&input, &rib::Settings::default(), &Reporter::silent(), &mut |world: World| {
            worlds.push(world);
            ControlFlow::Continue(())
        });
        worlds.remove(0)
    }

    #[test]
    fn a_coarse_picture_differs_in_its_frame_only() {
        let fine = world(
            "Format 101 60 1 PixelSamples 4 3 CropWindow 0.5 1 0 1 Projection \"perspective\" \"fov\" [30]\n\
             Display \"a.exr\" \"exr\" \"rgba\" WorldBegin ShadingRate 0.5 Sphere 1 -1 1 360 WorldEnd",
        );
        let coarse = fine.at_level(4);
        assert_eq!((coarse.camera.resolution, coarse.options.pixel_samples), ([26, 15], [1, 1]));
        assert_eq!(coarse.options.filter, Filter { kind: FilterKind::Box, width: [1.0, 1.0] });
        assert_eq!(coarse.camera.screen_window, fine.camera.screen_window);
        let width = |world: &World| f64::from(world.camera.resolution[0]) * world.camera.pixel_aspect;
        let shape = |world: &World| width(world) / f64::from(world.camera.resolution[1]);
        assert!((shape(&coarse) - shape(&fine)).abs() < 1e-9, "the shape of the picture is the same");
        assert_eq!(coarse.camera.crop_px(), [13, 0, 26, 15]);
        assert!(Arc::ptr_eq(&coarse.drawables[0].attributes, &fine.drawables[0].attributes));
        assert_eq!(fine.at_level(1).camera, fine.camera);
        assert_eq!(fine.at_level(1000).camera.resolution, [1, 1]);
    }
}
