//! The bowling pin of Chan et al. (2002), as far as the paper gives it: its surface shader is printed (figure 4), its
//! lights are not, but for what they use.

use spirv_gen::partition::{Dag, DagNode, NodeId, NodeKind};

/// A graph with the leaves and operations that the paper counts.
#[derive(Default)]
pub(crate) struct Sketch {
    pub(crate) dag: Dag,
    textures: u32,
}

impl Sketch {
    pub(crate) fn interpolant(&mut self) -> NodeId {
        self.dag.add(DagNode::new(NodeKind::Interpolant, &[]))
    }

    pub(crate) fn constant(&mut self) -> NodeId {
        self.dag.add(DagNode::new(NodeKind::Constant, &[]))
    }

    pub(crate) fn op(&mut self, kids: &[NodeId]) -> NodeId {
        self.dag.arithmetic(kids)
    }

    /// A fetch of a texture of its own.
    pub(crate) fn fetch(&mut self, at: NodeId) -> NodeId {
        self.textures += 1;
        self.dag.add(DagNode::new(NodeKind::Fetch(self.textures), &[at]))
    }

    /// A fetch at a coordinate of its own.
    pub(crate) fn map(&mut self) -> NodeId {
        let at = self.interpolant();
        self.fetch(at)
    }
}

/// How the bowling pin is built, where the paper leaves it open.
#[derive(Clone, Copy, Default)]
pub(crate) struct PinVariant {
    /// Operands stand in the other order.
    pub(crate) reversed: bool,
    /// `front` and one attenuation are constants, so that 24 interpolants are left, as in table 1.
    pub(crate) fewer_interpolants: bool,
}

/// A pin that is built.
struct Pin {
    sketch: Sketch,
    variant: PinVariant,
}

impl Pin {
    fn op(&mut self, kids: &[NodeId]) -> NodeId {
        let mut kids = kids.to_vec();
        if self.variant.reversed {
            kids.reverse();
        }
        self.sketch.op(&kids)
    }

    /// `over(a, b) = a + (1 - a) b`, in two operations.
    fn over(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let one = self.sketch.constant();
        let rest = self.op(&[one, a]);
        self.op(&[rest, b, a])
    }

    fn leaf(&mut self, is_constant: bool) -> NodeId {
        if is_constant { self.sketch.constant() } else { self.sketch.interpolant() }
    }

    /// The sum over the five lights of what each sends, `first` a point light, times a factor of its own.
    fn lit(&mut self, first: NodeId, lights: &[NodeId]) -> NodeId {
        let factor = self.sketch.interpolant();
        let mut sum = self.op(&[first, factor]);
        for &light in lights {
            let factor = self.sketch.interpolant();
            sum = self.op(&[light, factor, sum]);
        }
        sum
    }
}

/// The RenderMan bowling pin with a point light and four textured lights (RBP): 27 operations, 9 fetches.
pub(crate) fn bowling_pin(variant: PinVariant) -> Dag {
    let mut pin = Pin { sketch: Sketch::default(), variant };
    let (front, back) = (pin.leaf(variant.fewer_interpolants), pin.leaf(false));
    let base = pin.sketch.map();
    let label = |pin: &mut Pin, side: NodeId| {
        let map = pin.sketch.map();
        pin.op(&[side, map])
    };
    let (bruns, circle, coated) = (label(&mut pin, front), label(&mut pin, front), label(&mut pin, back));
    let marks = pin.sketch.map();
    let coat = pin.over(coated, base);
    let labelled = pin.over(bruns, coat);
    let surface = pin.over(circle, labelled);

    let point = pin.sketch.interpolant();
    let lights: Vec<NodeId> = (0..4)
        .map(|number| {
            let map = pin.sketch.map();
            let attenuation = pin.leaf(variant.fewer_interpolants && number == 0);
            pin.op(&[map, attenuation])
        })
        .collect();
    let (diffuse, specular) = (pin.lit(point, &lights), pin.lit(point, &lights));
    let [kd, ka, ks] = [(); 3].map(|()| pin.sketch.constant());
    let matte = pin.op(&[diffuse, kd, ka]);
    let gloss = pin.op(&[specular, ks]);
    let coloured = pin.op(&[marks, matte]);
    let colour = pin.op(&[surface, coloured, gloss]);
    pin.sketch.dag.add_output(colour);
    pin.sketch.dag
}
