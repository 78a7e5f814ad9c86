//! (under construction: everything is shaded by the test program `facing`)

use crate::diagnostic::Reporter;
use crate::pipeline::kernels::test::facing;
use crate::pipeline::look::{Look, Program, ShadingKernel, Verdict};
use crate::scene::{ValueType, World};
use std::sync::Arc;

/// Shaders that were read, kept between worlds.
#[derive(Default)]
pub struct Library {}

/// The shading of a world.
pub struct Shading {
    pub looks: Vec<Arc<Look>>,
    pub kernels: Arc<[ShadingKernel]>,
    pub params: Arc<[[f32; 4]]>,
    pub space_table: u32,
}

impl Library {
    pub fn shade(&mut self, world: &World, _variables: &[(Arc<str>, ValueType)], _reporter: &Reporter) -> Shading {
        let mut params = Vec::new();
        let mut looks = Vec::new();
        let mut last: Option<(*const crate::scene::Attributes, Arc<Look>)> = None;
        for d in &world.drawables {
            let key = Arc::as_ptr(&d.attributes);
            if let Some((k, l)) = &last
                && *k == key
            {
                looks.push(Arc::clone(l));
                continue;
            }
            let c = d.attributes.color;
            let o = d.attributes.opacity;
            let block = params.len() as u32;
            params.push([c[0], c[1], c[2], 0.0]);
            params.push([o[0], o[1], o[2], 0.0]);
            let verdict = if o == [1.0; 3] { Verdict::Opaque } else { Verdict::Translucent };
            let look = Arc::new(Look {
                verdict,
                displace: None,
                shade: Some(Program { kernel: 0, block, inputs: Arc::new([]) }),
            });
            last = Some((key, Arc::clone(&look)));
            looks.push(look);
        }
        let kernel = ShadingKernel {
            kernel: Arc::clone(facing::kernel()),
            geometry_channels: 3,
            input_channels: 4,
            uniform_records: 0,
            output_channels: 2,
            opacity_channel: Some(1),
            variable_channels: Vec::new(),
        };
        Shading { looks, kernels: vec![kernel].into(), params: params.into(), space_table: 0 }
    }
}
