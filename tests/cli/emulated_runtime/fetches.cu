// Texture fetches and surface accesses of every kind, in bits: the same text on a GPU and on the emulator.
//
//     nvcc -arch=compute_90 fetches.cu -o fetches
//     ./fetches
//     ridgepoint emulate ./fetches
//
// A line is a case and, for each of its places, the channels that its image has.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t status = (call);                                                                                   \
        if (status != cudaSuccess) {                                                                                   \
            std::printf("%s: %s\n", #call, cudaGetErrorString(status));                                               \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

enum Geometry { Line, Plane, Volume, Lines, Planes, Cube, Cubes };
const char *const GEOMETRIES[] = {"1D", "2D", "3D", "1D layered", "2D layered", "cube", "cube layered"};

struct Place {
    float x, y, z;
    int layer;
};

template <class T> __device__ T fetch(cudaTextureObject_t image, Geometry geometry, Place at) {
    switch (geometry) {
    case Line: return tex1D<T>(image, at.x);
    case Plane: return tex2D<T>(image, at.x, at.y);
    case Volume: return tex3D<T>(image, at.x, at.y, at.z);
    case Lines: return tex1DLayered<T>(image, at.x, at.layer);
    case Planes: return tex2DLayered<T>(image, at.x, at.y, at.layer);
    case Cube: return texCubemap<T>(image, at.x, at.y, at.z);
    default: return texCubemapLayered<T>(image, at.x, at.y, at.z, at.layer);
    }
}

__global__ void fetches(cudaTextureObject_t image, Geometry geometry, bool whole, const Place *places, int4 *out) {
    int at = threadIdx.x;
    if (whole) {
        out[at] = fetch<int4>(image, geometry, places[at]);
    } else {
        float4 got = fetch<float4>(image, geometry, places[at]);
        out[at] = *reinterpret_cast<int4 *>(&got);
    }
}

__global__ void gathers(cudaTextureObject_t image, int channel, const Place *places, int4 *out) {
    Place at = places[threadIdx.x];
    float4 got = channel == 0   ? tex2Dgather<float4>(image, at.x, at.y, 0)
                 : channel == 1 ? tex2Dgather<float4>(image, at.x, at.y, 1)
                                : tex2Dgather<float4>(image, at.x, at.y, 3);
    out[threadIdx.x] = *reinterpret_cast<int4 *>(&got);
}

__global__ void levels(cudaTextureObject_t image, bool gradient, const Place *places, int4 *out) {
    Place at = places[threadIdx.x];
    float2 step = make_float2(at.z, 0.5f);
    float4 got = gradient ? tex2DGrad<float4>(image, at.x, at.y, step, step) : tex2DLod<float4>(image, at.x, at.y, at.z);
    out[threadIdx.x] = *reinterpret_cast<int4 *>(&got);
}

__global__ void elements(cudaTextureObject_t image, bool whole, const Place *places, int4 *out) {
    int at = int(places[threadIdx.x].x);
    if (whole) {
        out[threadIdx.x] = tex1Dfetch<int4>(image, at);
    } else {
        float4 got = tex1Dfetch<float4>(image, at);
        out[threadIdx.x] = *reinterpret_cast<int4 *>(&got);
    }
}

template <class T, cudaSurfaceBoundaryMode MODE> __device__ void access(cudaSurfaceObject_t image, int dimensions, Place at, T *out) {
    int x = int(at.x) * int(sizeof(T)), y = int(at.y), z = int(at.z);
    T value;
    if (dimensions == 1) {
        surf1Dread(&value, image, x, MODE);
    } else if (dimensions == 2) {
        surf2Dread(&value, image, x, y, MODE);
    } else if (dimensions == 3) {
        surf3Dread(&value, image, x, y, z, MODE);
    } else {
        surf2DLayeredread(&value, image, x, y, at.layer, MODE);
    }
    *out = value;
}

__global__ void surfaces(cudaSurfaceObject_t image, int dimensions, bool clamps, const Place *places, unsigned *out) {
    Place at = places[threadIdx.x];
    clamps ? access<unsigned, cudaBoundaryModeClamp>(image, dimensions, at, out + threadIdx.x)
           : access<unsigned, cudaBoundaryModeZero>(image, dimensions, at, out + threadIdx.x);
}

__global__ void stores(cudaSurfaceObject_t image, bool clamps, const Place *places) {
    // One after the other: places may be the same.
    for (int at = 0; at < 48; at++) {
        int x = int(places[at].x) * 4, y = int(places[at].y);
        clamps ? surf2Dwrite(0x1000u + at, image, x, y, cudaBoundaryModeClamp)
               : surf2Dwrite(0x1000u + at, image, x, y, cudaBoundaryModeZero);
    }
}

unsigned state;

unsigned next() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

float between(float low, float high) { return low + (high - low) * (float(next() & 0xfffff) / 0x100000); }

struct Format {
    const char *name;
    cudaChannelFormatKind kind;
    int bits, channels;
};

const Format FLOAT1 = {"f32", cudaChannelFormatKindFloat, 32, 1};
const Format FORMATS[] = {
    {"u8", cudaChannelFormatKindUnsigned, 8, 1},  {"u8x4", cudaChannelFormatKindUnsigned, 8, 4},
    {"s8x2", cudaChannelFormatKindSigned, 8, 2},  {"u16", cudaChannelFormatKindUnsigned, 16, 1},
    {"s16x4", cudaChannelFormatKindSigned, 16, 4}, {"u32x2", cudaChannelFormatKindUnsigned, 32, 2},
    {"s32", cudaChannelFormatKindSigned, 32, 1},  {"f16x2", cudaChannelFormatKindFloat, 16, 2},
    {"f16x4", cudaChannelFormatKindFloat, 16, 4}, FLOAT1,
    {"f32x2", cudaChannelFormatKindFloat, 32, 2}, {"f32x4", cudaChannelFormatKindFloat, 32, 4},
};

cudaChannelFormatDesc described(const Format &format) {
    int of[4];
    for (int at = 0; at < 4; at++) of[at] = at < format.channels ? format.bits : 0;
    return cudaCreateChannelDesc(of[0], of[1], of[2], of[3], format.kind);
}

// Elements of an image, from the first on.
std::vector<unsigned char> contents(const Format &format, int elements) {
    std::vector<unsigned char> bytes;
    for (int at = 0; at < elements * format.channels; at++) {
        unsigned raw = next() ^ next() << 16;
        if (format.kind == cudaChannelFormatKindFloat) {
            // Halves from 1 to 2, of both signs.
            float value = between(-2, 2);
            raw = format.bits == 16 ? (raw & 0x83ff) | 0x3c00 : *reinterpret_cast<unsigned *>(&value);
        }
        for (int byte = 0; byte < format.bits / 8; byte++) bytes.push_back(raw >> 8 * byte & 255);
    }
    return bytes;
}

const int COUNT = 48;

struct Size {
    int width, height, depth;
};

// Places in and around an image: some of them special, the others anywhere.
std::vector<Place> around(Size size, bool normalized, bool directions) {
    std::vector<Place> places(COUNT);
    float of[3] = {float(size.width), float(size.height), float(size.depth)};
    for (int at = 0; at < COUNT; at++) {
        float to[3];
        for (int dimension = 0; dimension < 3; dimension++) {
            float all = of[dimension];
            const float special[] = {0.0f,   all,    0.5f,         all - 0.5f,        -0.5f, all + 0.5f, 1.0f,
                                     -1e-6f, 1e-6f,  1.501953125f, all - 1.00390625f, -0.0f, 2.25f,      all * 2 + 0.25f,
                                     -all,   3e9f,   -3e9f,        INFINITY,          NAN};
            const int specials = sizeof special / sizeof special[0];
            float value = at < 19 ? special[(at + dimension * 7) % specials] : between(-1.5f * all, 2.5f * all);
            if (at >= 34) value = between(0, all);
            to[dimension] = normalized ? value / all : value;
            if (directions) to[dimension] = at < 19 ? float(int(next() % 5) - 2) : between(-1, 1);
        }
        places[at] = {to[0], to[1], to[2], int(next() % 6) - 1};
    }
    return places;
}

struct Buffers {
    Place *places;
    int4 *out;
};

Buffers buffers() {
    static Buffers both = {};
    if (!both.places) {
        CHECK(cudaMalloc(&both.places, COUNT * sizeof(Place)));
        CHECK(cudaMalloc(&both.out, COUNT * sizeof(int4)));
    }
    return both;
}

void put(const std::vector<Place> &places) {
    CHECK(cudaMemcpy(buffers().places, places.data(), COUNT * sizeof(Place), cudaMemcpyHostToDevice));
}

void show(const std::string &name, int channels) {
    int out[COUNT][4];
    CHECK(cudaMemcpy(out, buffers().out, sizeof out, cudaMemcpyDeviceToHost));
    std::printf("%s:", name.c_str());
    for (auto &one : out) {
        for (int at = 0; at < channels; at++) std::printf("%s%x", at ? "," : " ", one[at]);
    }
    std::printf("\n");
}

struct Reading {
    int mode;
    bool linear, normalized, whole;
};

std::string named(Geometry geometry, const Format &format, Reading how) {
    const char *const modes[] = {"wrap", "clamp", "mirror", "border"};
    return std::string(GEOMETRIES[geometry]) + " " + format.name + " " + modes[how.mode] + (how.linear ? " linear" : " point") +
           (how.normalized ? " normalized" : "") + (how.whole ? " whole" : "");
}

cudaTextureDesc texture(const Format &format, Reading how) {
    cudaTextureDesc texture = {};
    for (auto &mode : texture.addressMode) mode = cudaTextureAddressMode(how.mode);
    texture.filterMode = how.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    bool is_float = format.kind == cudaChannelFormatKindFloat;
    texture.readMode = how.whole || is_float || format.bits == 32 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    texture.normalizedCoords = how.normalized;
    for (int at = 0; at < 4; at++) texture.borderColor[at] = 0.25f + at;
    return texture;
}

Size size_of(Geometry geometry) {
    switch (geometry) {
    case Line: return {7, 0, 0};
    case Plane: return {7, 5, 0};
    case Volume: return {7, 5, 3};
    case Lines: return {7, 0, 4};
    case Planes: return {7, 5, 4};
    case Cube: return {5, 5, 6};
    default: return {5, 5, 12};
    }
}

cudaArray_t array_of(Geometry geometry, const Format &format, unsigned flags) {
    Size size = size_of(geometry);
    if (geometry == Lines || geometry == Planes || geometry == Cubes) flags |= cudaArrayLayered;
    if (geometry >= Cube) flags |= cudaArrayCubemap;
    cudaArray_t array;
    cudaChannelFormatDesc channel = described(format);
    CHECK(cudaMalloc3DArray(&array, &channel, make_cudaExtent(size.width, size.height, size.depth), flags));
    int height = size.height ? size.height : 1, depth = size.depth ? size.depth : 1;
    auto bytes = contents(format, size.width * height * depth);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(bytes.data(), bytes.size() / (height * depth), size.width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(size.width, height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

// Has a kernel fetch from what a resource is, and ends the texture.
template <class Launch> void with_texture(const cudaResourceDesc &resource, const cudaTextureDesc &reading, Launch launch) {
    cudaTextureObject_t image;
    CHECK(cudaCreateTextureObject(&image, &resource, &reading, nullptr));
    launch(image);
    CHECK(cudaDestroyTextureObject(image));
}

// Has a kernel fetch from an array of values, at places around it, and shows the results.
template <class Launch>
void fetched(Geometry geometry, const Format &format, Reading how, unsigned flags, const std::string &name, int channels, Launch launch) {
    state = 1;
    cudaArray_t array = array_of(geometry, format, flags);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    put(around(size_of(geometry), how.normalized, geometry >= Cube));
    with_texture(resource, texture(format, how), launch);
    show(name + named(geometry, format, how), channels);
    CHECK(cudaFreeArray(array));
}

void sampled(Geometry geometry, const Format &format, Reading how) {
    fetched(geometry, format, how, 0, "", format.channels, [&](cudaTextureObject_t image) {
        fetches<<<1, COUNT>>>(image, geometry, how.whole, buffers().places, buffers().out);
    });
}

void gathered(const Format &format, int channel, Reading how) {
    fetched(Plane, format, how, cudaArrayTextureGather, "gather " + std::to_string(channel) + " of ", 4,
            [&](cudaTextureObject_t image) { gathers<<<1, COUNT>>>(image, channel, buffers().places, buffers().out); });
}

void leveled(bool gradient, Reading how) {
    fetched(Plane, FLOAT1, how, 0, gradient ? "gradient of " : "level of ", 1,
            [&](cudaTextureObject_t image) { levels<<<1, COUNT>>>(image, gradient, buffers().places, buffers().out); });
}

// Plain memory as an image: elements by number, or rows of a plane.
void plain(const Format &format, bool plane, Reading how) {
    state = 1;
    Size size = {7, 5, 0};
    size_t element = format.bits / 8 * format.channels, pitch = 512;
    auto bytes = contents(format, 35);
    char *memory;
    CHECK(cudaMalloc(&memory, pitch * 5));
    CHECK(cudaMemset(memory, 0x55, pitch * 5));
    cudaResourceDesc resource = {};
    if (plane) {
        CHECK(cudaMemcpy2D(memory, pitch, bytes.data(), element * 7, element * 7, 5, cudaMemcpyHostToDevice));
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory;
        resource.res.pitch2D.desc = described(format);
        resource.res.pitch2D.width = 7;
        resource.res.pitch2D.height = 5;
        resource.res.pitch2D.pitchInBytes = pitch;
    } else {
        CHECK(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = memory;
        resource.res.linear.desc = described(format);
        resource.res.linear.sizeInBytes = bytes.size();
    }
    std::vector<Place> places(COUNT);
    for (int at = 0; at < COUNT; at++) places[at].x = at - 6;
    put(plane ? around(size, how.normalized, false) : places);
    with_texture(resource, texture(format, how), [&](cudaTextureObject_t image) {
        plane ? fetches<<<1, COUNT>>>(image, Plane, how.whole, buffers().places, buffers().out)
              : elements<<<1, COUNT>>>(image, how.whole, buffers().places, buffers().out);
    });
    show((plane ? "rows of " : "elements of ") + named(plane ? Plane : Line, format, how), format.channels);
    CHECK(cudaFree(memory));
}

// A ramp from 0 to 1 and one of values that are far apart, at each 1024th of an element: how weights are rounded, and sums.
void weights(int axis) {
    const float values[2] = {0, 1}, far[2] = {1, 0x1p-20f};
    for (const float *ends : {values, far}) {
        cudaArray_t array;
        cudaChannelFormatDesc channel = described(FLOAT1);
        Size size = {axis == 0 ? 2 : 1, axis == 0 ? 0 : axis == 1 ? 2 : 1, axis == 2 ? 2 : 0};
        CHECK(cudaMalloc3DArray(&array, &channel, make_cudaExtent(size.width, size.height, size.depth)));
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(const_cast<float *>(ends), axis == 0 ? 8 : 4, axis == 0 ? 2 : 1, axis == 1 ? 2 : 1);
        copy.dstArray = array;
        copy.extent = make_cudaExtent(size.width, size.height ? size.height : 1, size.depth ? size.depth : 1);
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        with_texture(resource, texture(FLOAT1, {1, true, false, false}), [&](cudaTextureObject_t image) {
            for (int part = 0; part < 4; part++) {
                std::vector<Place> places(COUNT);
                for (int at = 0; at < COUNT; at++) {
                    float along = 0.5f + float(part * 256 + at * 5 + part) / 1024;
                    places[at] = {axis == 0 ? along : 0.5f, axis == 1 ? along : 0.5f, axis == 2 ? along : 0.5f, 0};
                }
                put(places);
                fetches<<<1, COUNT>>>(image, Geometry(axis), false, buffers().places, buffers().out);
                show("weights along " + std::to_string(axis) + (ends == far ? " far" : ""), 1);
            }
        });
        CHECK(cudaFreeArray(array));
    }
}

void surfaced(int dimensions, bool clamps) {
    state = 1;
    Geometry geometry = dimensions == 4 ? Planes : Geometry(dimensions - 1);
    cudaArray_t array = array_of(geometry, FLOAT1, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t image;
    CHECK(cudaCreateSurfaceObject(&image, &resource));
    Size size = size_of(geometry);
    std::vector<Place> places(COUNT);
    for (auto &place : places) {
        place = {float(int(next() % 13) - 3), float(int(next() % 11) - 3), float(int(next() % 9) - 3), int(next() % size_of(Planes).depth)};
    }
    put(places);
    unsigned *words = reinterpret_cast<unsigned *>(buffers().out);
    auto name = "surface of " + std::string(GEOMETRIES[geometry]) + (clamps ? " clamp" : " zero");
    auto words_of = [&](const std::string &name) {
        unsigned out[COUNT];
        CHECK(cudaMemcpy(out, words, sizeof out, cudaMemcpyDeviceToHost));
        std::printf("%s:", name.c_str());
        for (unsigned one : out) std::printf(" %x", one);
        std::printf("\n");
    };
    surfaces<<<1, COUNT>>>(image, dimensions, clamps, buffers().places, words);
    words_of(name);
    if (dimensions == 2) {
        stores<<<1, 1>>>(image, clamps, buffers().places);
        unsigned out[35];
        CHECK(cudaMemcpy2DFromArray(out, 28, array, 0, 0, 28, size.height, cudaMemcpyDeviceToHost));
        std::printf("%s after stores:", name.c_str());
        for (unsigned one : out) std::printf(" %x", one);
        std::printf("\n");
    }
    CHECK(cudaDestroySurfaceObject(image));
    CHECK(cudaFreeArray(array));
}

int main() {
    for (int axis = 0; axis < 3; axis++) weights(axis);
    for (Geometry geometry : {Line, Plane, Volume}) {
        for (int mode = 0; mode < 4; mode++) {
            for (bool linear : {false, true}) {
                for (bool normalized : {false, true}) sampled(geometry, FLOAT1, {mode, linear, normalized, false});
            }
        }
    }
    for (Geometry geometry : {Lines, Planes, Cube, Cubes}) {
        for (int mode : {1, 3}) {
            for (bool linear : {false, true}) sampled(geometry, FLOAT1, {mode, linear, true, false});
        }
    }
    for (const Format &format : FORMATS) {
        bool is_float = format.kind == cudaChannelFormatKindFloat;
        for (bool linear : {false, true}) {
            if (is_float || format.bits < 32) sampled(Plane, format, {3, linear, true, false});
        }
        if (!is_float) sampled(Plane, format, {3, false, true, true});
        plain(format, false, {1, false, false, !is_float});
        if (!is_float && format.bits < 32) plain(format, false, {1, false, false, false});
        for (int mode : {1, 3}) {
            if (is_float || format.bits < 32) plain(format, true, {mode, true, true, false});
        }
        if (is_float || format.bits < 32) gathered(format, format.channels == 4 ? 3 : format.channels - 1, {1, true, false, false});
    }
    for (int mode = 0; mode < 4; mode++) gathered(FLOAT1, 0, {mode, true, true, false});
    for (bool gradient : {false, true}) {
        for (bool linear : {false, true}) leveled(gradient, {1, linear, true, false});
    }
    for (int dimensions = 1; dimensions <= 4; dimensions++) {
        for (bool clamps : {false, true}) surfaced(dimensions, clamps);
    }
    return 0;
}
