// Sample points: one in each subpixel, jittered by a hash of the absolute subpixel coordinates (Cook 1986).

#ifndef SAMPLING_GLSL
#define SAMPLING_GLSL

// A region of the picture with the memory of its subpixels: pixels [x, x + width) x [y, y + height), row-major, the
// subpixels of a pixel together.
struct RegionRect {
    int x;
    int y;
    uint width;
    uint height;
};

uint hash_subpixel(uint x, uint y) {
    uint h = x * 0x9e3779b1u ^ y * 0x85ebca77u;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    return h ^ (h >> 15);
}

// Position in 1/1024 pixel of the sample in subpixel k of pixel p, along x and y.
ivec2 sample_position(Frame frame, ivec2 pixel, uvec2 k) {
    uvec2 low = (k * frame.sample_step) >> 16, high = ((k + 1u) * frame.sample_step) >> 16;
    uint h = hash_subpixel(uint(pixel.x) * frame.samples.x + k.x, uint(pixel.y) * frame.samples.y + k.y);
    uvec2 jitter = (frame.flags & FRAME_JITTER) != 0u ? uvec2(h & 0xffffu, h >> 16) : uvec2(0x8000u);
    return pixel * FIXED + ivec2(low + (((high - low) * jitter) >> 16));
}

// Levels of detail blend by samples: each has a number of 16 bits, those of a pixel spread evenly, and an instance is
// seen by those from `detail`'s low half on, as many as its high half says before the last. 0: by all.
const uint DETAIL_ALL = 0u;
const int DETAIL_END_SHIFT = 16;

// Whether sample `index` of a pixel sees a level of detail.
bool sees_detail(uint detail, ivec2 pixel, uint index) {
    if (detail == DETAIL_ALL) return true;
    uint number = (bitfieldReverse(index) + hash_subpixel(~uint(pixel.x), uint(pixel.y))) >> 16;
    return number >= (detail & 0xffffu) && number + (detail >> DETAIL_END_SHIFT) < 0x10000u;
}

// First and last subpixel (inside a pixel that starts at `origin`) whose sample can lie in [low, high], 1/1024 pixel:
// conservative.
uvec2 first_subpixel(ivec2 low, ivec2 origin) { return (uvec2(clamp(low - origin, 0, FIXED - 1)) * frame.samples) >> FIXED_LOG2; }
uvec2 last_subpixel(ivec2 high, ivec2 origin) {
    return min(((uvec2(clamp(high - origin, 0, FIXED - 1)) + 1u) * frame.samples) >> FIXED_LOG2, frame.samples - 1u);
}

uint region_pixel(RegionRect region, ivec2 pixel) { return uint(pixel.y - region.y) * region.width + uint(pixel.x - region.x); }

#endif
