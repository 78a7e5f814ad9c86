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

// What each coordinate adds to the hash of a subpixel.
const uint HASH_X = 0x9e3779b1u;
const uint HASH_Y = 0x85ebca77u;

uint hash_mixed(uint h) {
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    return h ^ (h >> 15);
}

uint hash_subpixel(uint x, uint y) { return hash_mixed(x * HASH_X ^ y * HASH_Y); }

// The samples of a row of subpixels: what their positions have in common.
struct SampleRow {
    ivec2 corner; // of the first pixel; y of the subpixels
    uint height;  // of the subpixels
    uvec2 hash;   // terms of the hash: that of the first pixel's first subpixel, and that of the row
};

SampleRow sample_row(Frame frame, ivec2 pixel, uint y) {
    uint part = y * frame.sample_step.y, low = part >> 16;
    uvec2 hash = (uvec2(pixel) * frame.samples + uvec2(0u, y)) * uvec2(HASH_X, HASH_Y);
    return SampleRow(pixel * FIXED + ivec2(0, int(low)), ((part + frame.sample_step.y) >> 16) - low, hash);
}

// Position in 1/1024 pixel, along x and y, of the sample in column x of a pixel of the row.
ivec2 row_position(Frame frame, SampleRow row, uint pixel, uint x) {
    uint part = x * frame.sample_step.x, low = part >> 16, width = ((part + frame.sample_step.x) >> 16) - low;
    uint h = hash_mixed((row.hash.x + (pixel * frame.samples.x + x) * HASH_X) ^ row.hash.y);
    uvec2 jitter = (frame.flags & FRAME_JITTER) != 0u ? uvec2(h & 0xffffu, h >> 16) : uvec2(0x8000u);
    return row.corner + ivec2(int(low + ((width * jitter.x) >> 16)) + int(pixel) * FIXED, int((row.height * jitter.y) >> 16));
}

// Position of the sample in subpixel k of a pixel.
ivec2 sample_position(Frame frame, ivec2 pixel, uvec2 k) { return row_position(frame, sample_row(frame, pixel, k.y), 0u, k.x); }

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
