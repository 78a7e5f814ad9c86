// Limit patches from OpenSubdiv's Far: refines the selected faces of a mesh, and gives the control points of each patch
// in one form: Bezier points, the interior ones in pairs (Gregory patches), in double precision until the end.

#include "shim.h"

#include <opensubdiv/far/patchTable.h>
#include <opensubdiv/far/patchTableFactory.h>
#include <opensubdiv/far/primvarRefiner.h>
#include <opensubdiv/far/ptexIndices.h>
#include <opensubdiv/far/stencilTable.h>
#include <opensubdiv/far/topologyDescriptor.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace Far = OpenSubdiv::Far;
namespace Sdc = OpenSubdiv::Sdc;

namespace {

const size_t ERROR_BYTES = 256;

// Rows of doubles that OpenSubdiv's templates sum.
struct Row {
    double *at;
    int width;

    void Clear() { std::fill(at, at + width, 0.0); }
    void AddWithWeight(const Row &other, double weight) {
        for (int i = 0; i < width; ++i) at[i] += weight * other.at[i];
    }
};

struct Rows {
    double *at = nullptr;
    int width = 0;

    Row operator[](int index) const { return Row{at + size_t(index) * width, width}; }
};

using Matrix = std::vector<double>; // rows of the Bezier points, columns of the patch's points

// Row of the cubic B-spline's four points that gives Bezier point i.
const double SPLINE_TO_BEZIER[4][4] = {
    {1.0 / 6, 4.0 / 6, 1.0 / 6, 0}, {0, 4.0 / 6, 2.0 / 6, 0}, {0, 2.0 / 6, 4.0 / 6, 0}, {0, 1.0 / 6, 4.0 / 6, 1.0 / 6}};

// A phantom point beyond a boundary continues the line of the two before.
void fold(double weights[16], int phantom, int border, int inner) {
    weights[border] += 2.0 * weights[phantom];
    weights[inner] -= weights[phantom];
    weights[phantom] = 0.0;
}

Matrix spline_matrix(int boundary) {
    Matrix result(16 * 16);
    for (int point = 0; point < 16; ++point) {
        double *weights = &result[point * 16];
        for (int k = 0; k < 16; ++k) weights[k] = SPLINE_TO_BEZIER[point % 4][k % 4] * SPLINE_TO_BEZIER[point / 4][k / 4];
        for (int i = 0; i < 4; ++i) {
            if (boundary & 1) fold(weights, i, 4 + i, 8 + i);
            if (boundary & 4) fold(weights, 12 + i, 8 + i, 4 + i);
        }
        for (int i = 0; i < 4; ++i) {
            if (boundary & 2) fold(weights, 4 * i + 3, 4 * i + 2, 4 * i + 1);
            if (boundary & 8) fold(weights, 4 * i, 4 * i + 1, 4 * i + 2);
        }
    }
    return result;
}

// Quartic Bernstein polynomial of point p^i along u, j along v, in rows of falling length.
double bernstein_triangle(int i, int j, double u, double v) {
    static const double factorial[5] = {1, 1, 2, 6, 24};
    const int k = 4 - i - j;
    return 24.0 / (factorial[i] * factorial[j] * factorial[k]) * std::pow(u, i) * std::pow(v, j) * std::pow(1 - u - v, k);
}

// The inverse of the matrix that evaluates a quartic Bezier triangle at the fifteen points of its lattice.
const Matrix &lattice_inverse() {
    static const Matrix inverse = [] {
        const int n = 15;
        std::vector<std::pair<int, int>> lattice;
        for (int j = 0; j <= 4; ++j)
            for (int i = 0; i + j <= 4; ++i) lattice.emplace_back(i, j);
        Matrix m(n * 2 * n);
        for (int row = 0; row < n; ++row) {
            for (int column = 0; column < n; ++column)
                m[row * 2 * n + column] =
                    bernstein_triangle(lattice[column].first, lattice[column].second, lattice[row].first / 4.0, lattice[row].second / 4.0);
            m[row * 2 * n + n + row] = 1.0;
        }
        for (int pivot = 0; pivot < n; ++pivot) {
            int best = pivot;
            for (int row = pivot; row < n; ++row)
                if (std::fabs(m[row * 2 * n + pivot]) > std::fabs(m[best * 2 * n + pivot])) best = row;
            for (int c = 0; c < 2 * n; ++c) std::swap(m[pivot * 2 * n + c], m[best * 2 * n + c]);
            const double scale = 1.0 / m[pivot * 2 * n + pivot];
            for (int c = 0; c < 2 * n; ++c) m[pivot * 2 * n + c] *= scale;
            for (int row = 0; row < n; ++row) {
                const double factor = m[row * 2 * n + pivot];
                if (row == pivot || factor == 0.0) continue;
                for (int c = 0; c < 2 * n; ++c) m[row * 2 * n + c] -= factor * m[pivot * 2 * n + c];
            }
        }
        Matrix result(n * n);
        for (int row = 0; row < n; ++row)
            for (int c = 0; c < n; ++c) result[row * n + c] = m[row * 2 * n + n + c];
        return result;
    }();
    return inverse;
}

// Gregory point of each Bezier point, then of the second of each pair of interior ones.
const int GREGORY_QUAD[20] = {0, 1, 7, 5, 2, 3, 8, 6, 16, 18, 13, 12, 15, 17, 11, 10, 4, 9, 14, 19};
const int GREGORY_TRIANGLE[18] = {0, 1, 15, 7, 5, 2, 3, 8, 6, 17, 13, 16, 11, 12, 10, 4, 9, 14};
// Bezier points that have a pair.
const int INTERIOR_QUAD[4] = {5, 6, 10, 9};
const int INTERIOR_TRIANGLE[3] = {6, 7, 10};

} // namespace

struct OsdRefiner {
    std::unique_ptr<Far::TopologyRefiner> refiner;
    std::vector<std::pair<int, int>> quadrants; // (face, quadrant) of each ptex face
    std::vector<int> channel_value_counts;
    bool triangles = false;
};

struct OsdPatches {
    std::vector<OsdPatch> patches;
    std::vector<float> vertex;
    std::vector<float> varying;
    std::vector<std::vector<float>> channels;
};

namespace {

void say(char *error, const char *what) { std::snprintf(error, ERROR_BYTES, "%s", what); }

class Refinement {
public:
    Refinement(OsdRefiner &owner, const OsdValues &values) : owner(owner), refiner(*owner.refiner), values(values) {}

    // Returns false if there would be more than patches_max patches.
    bool run(Far::ConstIndexArray faces, int isolation, int smooth_isolation, size_t patches_max, OsdPatches &out) {
        Far::PatchTableFactory::Options options(isolation);
        options.SetEndCapType(Far::PatchTableFactory::Options::ENDCAP_GREGORY_BASIS);
        options.SetPatchPrecision<double>();
        options.SetFVarPatchPrecision<double>();
        options.useInfSharpPatch = true;
        options.generateLegacySharpCornerPatches = false;
        options.generateVaryingTables = true;
        options.generateVaryingLocalPoints = false;
        options.generateFVarTables = refiner.GetNumFVarChannels() > 0;
        options.generateFVarLegacyLinearPatches = false;
        Far::TopologyRefiner::AdaptiveOptions adaptive = options.GetRefineAdaptiveOptions();
        adaptive.SetSecondaryLevel(smooth_isolation);
        refiner.Unrefine();
        refiner.RefineAdaptive(adaptive, faces);
        table.reset(Far::PatchTableFactory::Create(refiner, options, faces));
        if (size_t(table->GetNumPatchesTotal()) > patches_max) return false;
        interpolate();
        collect(out);
        return true;
    }

private:
    OsdRefiner &owner;
    Far::TopologyRefiner &refiner;
    const OsdValues &values;
    std::unique_ptr<Far::PatchTable> table;
    std::vector<double> vertex, varying;
    std::vector<std::vector<double>> channels;
    std::map<std::pair<int, int>, Matrix> matrices; // by kind of patch and boundary

    static std::vector<double> spread(const float *from, size_t count, size_t total) {
        std::vector<double> to(total);
        std::copy(from, from + count, to.begin());
        return to;
    }

    // The values of every level, one after the other, then those of local points.
    void interpolate() {
        const Far::PrimvarRefinerReal<double> primvars(refiner);
        const size_t base = refiner.GetLevel(0).GetNumVertices();
        const size_t refined = refiner.GetNumVerticesTotal();
        const int width = values.vertex_width, varying_width = values.varying_width;
        vertex = spread(values.vertex, base * width, (refined + table->GetNumLocalPoints()) * width);
        varying = spread(values.varying, base * varying_width, refined * varying_width);
        size_t from = 0;
        for (int level = 1; level < refiner.GetNumLevels(); ++level) {
            const size_t to = from + refiner.GetLevel(level - 1).GetNumVertices();
            Rows source{vertex.data() + from * width, width}, target{vertex.data() + to * width, width};
            primvars.Interpolate(level, source, target);
            if (varying_width > 0) {
                Rows source{varying.data() + from * varying_width, varying_width};
                Rows target{varying.data() + to * varying_width, varying_width};
                primvars.InterpolateVarying(level, source, target);
            }
            from = to;
        }
        if (auto stencils = table->GetLocalPointStencilTable<double>()) {
            Rows source{vertex.data(), width}, target{vertex.data() + refined * width, width};
            stencils->UpdateValues(source, target);
        }
        for (int channel = 0; channel < refiner.GetNumFVarChannels(); ++channel) interpolate_channel(primvars, channel);
    }

    void interpolate_channel(const Far::PrimvarRefinerReal<double> &primvars, int channel) {
        const int width = values.channel_widths[channel];
        const size_t refined = refiner.GetNumFVarValuesTotal(channel);
        channels.push_back(spread(values.channels[channel], size_t(owner.channel_value_counts[channel]) * width,
                                  (refined + table->GetNumLocalPointsFaceVarying(channel)) * width));
        std::vector<double> &all = channels.back();
        size_t from = 0;
        for (int level = 1; level < refiner.GetNumLevels(); ++level) {
            const size_t to = from + refiner.GetLevel(level - 1).GetNumFVarValues(channel);
            Rows source{all.data() + from * width, width}, target{all.data() + to * width, width};
            primvars.InterpolateFaceVarying(level, source, target, channel);
            from = to;
        }
        if (auto stencils = table->GetLocalPointFaceVaryingStencilTable<double>(channel)) {
            Rows source{all.data(), width}, target{all.data() + refined * width, width};
            stencils->UpdateValues(source, target);
        }
    }

    static bool is_regular(const Far::PatchDescriptor &descriptor) {
        return descriptor.GetType() == Far::PatchDescriptor::REGULAR || descriptor.GetType() == Far::PatchDescriptor::LOOP;
    }

    // Bezier points of a regular patch from its own.
    template <typename Evaluate> const Matrix &matrix(int boundary, Evaluate evaluate) {
        Matrix &known = matrices[std::make_pair(int(owner.triangles), boundary)];
        if (!known.empty()) return known;
        if (!owner.triangles) return known = spline_matrix(boundary);
        double at[15][12];
        int point = 0;
        for (int j = 0; j <= 4; ++j)
            for (int i = 0; i + j <= 4; ++i) evaluate(i / 4.0, j / 4.0, at[point++]);
        known.assign(15 * 12, 0.0);
        const Matrix &inverse = lattice_inverse();
        for (int row = 0; row < 15; ++row)
            for (int column = 0; column < 12; ++column) {
                double sum = 0.0;
                for (int k = 0; k < 15; ++k) sum += inverse[row * 15 + k] * at[k][column];
                // They are multiples of 1/24, halves of them along boundaries: remove the rounding.
                const double unit = 1.0 / 144.0, snapped = std::round(sum / unit) * unit;
                known[row * 12 + column] = std::fabs(snapped - sum) < 1e-9 ? snapped : sum;
            }
        return known;
    }

    void append_points(std::vector<float> &to, const std::vector<double> &from, int width, Far::ConstIndexArray points,
                       const Matrix *regular) const {
        const int count = owner.triangles ? 18 : 20, bezier = owner.triangles ? 15 : 16;
        const int *gregory = owner.triangles ? GREGORY_TRIANGLE : GREGORY_QUAD;
        const int *interior = owner.triangles ? INTERIOR_TRIANGLE : INTERIOR_QUAD;
        const size_t first = to.size();
        to.resize(first + size_t(count) * width);
        float *out = to.data() + first;
        for (int point = 0; point < count; ++point, out += width) {
            if (!regular) {
                const double *value = from.data() + size_t(points[gregory[point]]) * width;
                std::copy(value, value + width, out);
                continue;
            }
            const double *weights = regular->data() + size_t(point < bezier ? point : interior[point - bezier]) * points.size();
            for (int i = 0; i < width; ++i) {
                double sum = 0.0;
                for (int k = 0; k < points.size(); ++k)
                    if (weights[k] != 0.0) sum += weights[k] * from[size_t(points[k]) * width + i];
                out[i] = float(sum);
            }
        }
    }

    static void append_corners(std::vector<float> &to, const std::vector<double> &from, int width, const int *points, int count) {
        for (int corner = 0; corner < count; ++corner)
            for (int i = 0; i < width; ++i) to.push_back(float(from[size_t(points[corner]) * width + i]));
    }

    void collect(OsdPatches &out) {
        out.channels.resize(refiner.GetNumFVarChannels());
        for (int array = 0; array < table->GetNumPatchArrays(); ++array) {
            const Far::PatchDescriptor descriptor = table->GetPatchArrayDescriptor(array);
            for (int index = 0; index < table->GetNumPatches(array); ++index) collect_patch(array, index, descriptor, out);
        }
    }

    void collect_patch(int array, int index, const Far::PatchDescriptor &descriptor, OsdPatches &out) {
        const Far::PatchParam param = table->GetPatchParam(array, index);
        const std::pair<int, int> quadrant = owner.quadrants[param.GetFaceId()];
        const int corners = owner.triangles ? 3 : 4;
        OsdPatch patch = {};
        patch.face = quadrant.first;
        patch.quadrant = quadrant.second;
        patch.u = uint16_t(param.GetU());
        patch.v = uint16_t(param.GetV());
        patch.depth = uint8_t(param.GetDepth() - (param.NonQuadRoot() ? 1 : 0));
        patch.rotated = owner.triangles && param.IsTriangleRotated();
        patch.regular = is_regular(descriptor);
        Far::PatchTable::PatchHandle handle;
        handle.arrayIndex = array;
        handle.patchIndex = index;
        handle.vertIndex = index * descriptor.GetNumControlVertices();
        const Matrix *regular = nullptr;
        if (patch.regular) {
            regular = &matrix(param.GetBoundary(), [&](double u, double v, double weights[12]) {
                to_face(param, u, v);
                table->EvaluateBasis(handle, u, v, weights);
            });
        }
        append_points(out.vertex, vertex, values.vertex_width, table->GetPatchVertices(array, index), regular);
        if (values.varying_width > 0)
            append_corners(out.varying, varying, values.varying_width, table->GetPatchVaryingVertices(array, index).begin(), corners);
        for (int channel = 0; channel < refiner.GetNumFVarChannels(); ++channel) {
            const bool flat = collect_channel(array, index, handle, channel, out.channels[channel]);
            patch.regular = patch.regular && flat;
        }
        out.patches.push_back(patch);
    }

    void to_face(const Far::PatchParam &param, double &u, double &v) const {
        if (owner.triangles) param.UnnormalizeTriangle(u, v);
        else param.Unnormalize(u, v);
    }

    // Returns whether its interior is not rational.
    bool collect_channel(int array, int index, const Far::PatchTable::PatchHandle &handle, int channel, std::vector<float> &out) {
        const int width = values.channel_widths[channel], corners = owner.triangles ? 3 : 4;
        const Far::ConstIndexArray all = table->GetPatchFVarValues(array, index, channel);
        const Far::PatchDescriptor whole = table->GetFVarPatchDescriptor(channel);
        if (whole.GetType() == Far::PatchDescriptor::QUADS || whole.GetType() == Far::PatchDescriptor::TRIANGLES) {
            append_corners(out, channels[channel], width, all.begin(), corners);
            return true;
        }
        const Far::PatchParam param = table->GetPatchFVarPatchParam(array, index, channel);
        const bool regular = param.IsRegular();
        const Far::PatchDescriptor own =
            regular ? table->GetFVarPatchDescriptorRegular(channel) : table->GetFVarPatchDescriptorIrregular(channel);
        const Far::ConstIndexArray points(all.begin(), own.GetNumControlVertices());
        const Matrix *convert = nullptr;
        if (regular) {
            convert = &matrix(param.GetBoundary(), [&](double u, double v, double weights[12]) {
                to_face(param, u, v);
                table->EvaluateBasisFaceVarying(handle, u, v, weights, (double *)nullptr, (double *)nullptr, (double *)nullptr,
                                                (double *)nullptr, (double *)nullptr, channel);
            });
        }
        append_points(out, channels[channel], width, points, convert);
        return regular;
    }
};

// Calls f; exceptions become messages.
template <typename F> auto guarded(char *error, F f) -> decltype(f()) {
    error[0] = 0;
    try {
        return f();
    } catch (const std::exception &e) {
        say(error, e.what());
    } catch (...) {
        say(error, "an unknown exception");
    }
    return nullptr;
}

Sdc::SchemeType scheme_of(const OsdCage &cage) {
    if (cage.scheme == 0) return Sdc::SCHEME_BILINEAR;
    return cage.scheme == 2 ? Sdc::SCHEME_LOOP : Sdc::SCHEME_CATMARK;
}

Sdc::Options options_of(const OsdCage &cage) {
    Sdc::Options options;
    options.SetVtxBoundaryInterpolation(cage.boundary == 0   ? Sdc::Options::VTX_BOUNDARY_NONE
                                        : cage.boundary == 2 ? Sdc::Options::VTX_BOUNDARY_EDGE_ONLY
                                                             : Sdc::Options::VTX_BOUNDARY_EDGE_AND_CORNER);
    options.SetFVarLinearInterpolation(Sdc::Options::FVarLinearInterpolation(cage.face_varying));
    options.SetCreasingMethod(cage.chaikin ? Sdc::Options::CREASE_CHAIKIN : Sdc::Options::CREASE_UNIFORM);
    options.SetTriangleSubdivision(cage.smooth_triangles ? Sdc::Options::TRI_SUB_SMOOTH : Sdc::Options::TRI_SUB_CATMARK);
    return options;
}

} // namespace

OsdRefiner *osd_refiner_new(const OsdCage *cage, char *error) {
    return guarded(error, [&]() -> OsdRefiner * {
        Far::TopologyDescriptor descriptor;
        descriptor.numVertices = cage->vertex_count;
        descriptor.numFaces = cage->face_count;
        descriptor.numVertsPerFace = cage->face_sizes;
        descriptor.vertIndicesPerFace = cage->face_vertices;
        descriptor.numCreases = cage->crease_count;
        descriptor.creaseVertexIndexPairs = cage->crease_edges;
        descriptor.creaseWeights = cage->crease_sharpness;
        descriptor.numCorners = cage->corner_count;
        descriptor.cornerVertexIndices = cage->corner_vertices;
        descriptor.cornerWeights = cage->corner_sharpness;
        descriptor.numHoles = cage->hole_count;
        descriptor.holeIndices = cage->hole_faces;
        std::vector<Far::TopologyDescriptor::FVarChannel> channels(cage->channel_count);
        for (int i = 0; i < cage->channel_count; ++i) {
            channels[i].numValues = cage->channel_value_counts[i];
            channels[i].valueIndices = cage->channel_values[i];
        }
        descriptor.numFVarChannels = cage->channel_count;
        descriptor.fvarChannels = channels.data();
        typedef Far::TopologyRefinerFactory<Far::TopologyDescriptor> Factory;
        std::unique_ptr<OsdRefiner> owner(new OsdRefiner);
        owner->refiner.reset(Factory::Create(descriptor, Factory::Options(scheme_of(*cage), options_of(*cage))));
        if (!owner->refiner) {
            say(error, "its topology is not valid");
            return nullptr;
        }
        owner->triangles = cage->scheme == 2;
        owner->channel_value_counts.assign(cage->channel_value_counts, cage->channel_value_counts + cage->channel_count);
        const int regular = owner->triangles ? 3 : 4;
        for (int face = 0; face < cage->face_count; ++face) {
            const int parts = cage->face_sizes[face] == regular ? 1 : cage->face_sizes[face];
            for (int part = 0; part < parts; ++part) owner->quadrants.emplace_back(face, part);
        }
        return owner.release();
    });
}

void osd_refiner_free(OsdRefiner *refiner) { delete refiner; }

OsdPatches *osd_refine(OsdRefiner *refiner, const int32_t *faces, int32_t count, int32_t isolation, int32_t smooth_isolation,
                       int32_t patches_max, const OsdValues *values, char *error) {
    return guarded(error, [&]() -> OsdPatches * {
        std::unique_ptr<OsdPatches> patches(new OsdPatches);
        Refinement refinement(*refiner, *values);
        const Far::ConstIndexArray selected(faces, count);
        if (!refinement.run(selected, isolation, smooth_isolation, size_t(patches_max), *patches)) return nullptr;
        return patches.release();
    });
}

size_t osd_even_limit(OsdRefiner *owner, int32_t level, const float *positions, float *limits, size_t room) {
    Far::TopologyRefiner &refiner = *owner->refiner;
    refiner.Unrefine();
    Far::TopologyRefiner::UniformOptions options(level);
    options.fullTopologyInLastLevel = true;
    refiner.RefineUniform(options);
    const Far::PrimvarRefinerReal<double> primvars(refiner);
    std::vector<double> values(positions, positions + size_t(refiner.GetLevel(0).GetNumVertices()) * 3);
    for (int at = 1; at <= level; ++at) {
        std::vector<double> next(size_t(refiner.GetLevel(at).GetNumVertices()) * 3);
        Rows source{values.data(), 3}, target{next.data(), 3};
        primvars.Interpolate(at, source, target);
        values.swap(next);
    }
    std::vector<double> limit(values.size());
    Rows source{values.data(), 3}, target{limit.data(), 3};
    primvars.Limit(source, target);
    std::copy(limit.begin(), limit.begin() + std::min(limit.size(), room * 3), limits);
    return limit.size() / 3;
}

void osd_patches_free(OsdPatches *patches) { delete patches; }
size_t osd_patch_count(const OsdPatches *patches) { return patches->patches.size(); }
const OsdPatch *osd_patch_records(const OsdPatches *patches) { return patches->patches.data(); }

namespace {
const float *values_of(const std::vector<float> &values, size_t *count) {
    *count = values.size();
    return values.data();
}
} // namespace

const float *osd_vertex_values(const OsdPatches *patches, size_t *count) { return values_of(patches->vertex, count); }
const float *osd_varying_values(const OsdPatches *patches, size_t *count) { return values_of(patches->varying, count); }
const float *osd_channel_values(const OsdPatches *patches, int32_t channel, size_t *count) {
    return values_of(patches->channels[channel], count);
}
