// Ranges of NVTX around work, in C: of the thread, of the process, of a domain with a registered name, and a mark.
// cc -I NVTX/include ranges.c -o ranges -ldl
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *driver;

static int call(int status, const char *what) {
    if (status != 0) {
        fprintf(stderr, "%s has answered %d\n", what, status);
        exit(1);
    }
    return status;
}

#define FUNCTION(name, ...) int (*name)(__VA_ARGS__) = (int (*)(__VA_ARGS__))dlsym(driver, #name)
#define CALL(name, ...) call(name(__VA_ARGS__), #name)

int main(void) {
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    FUNCTION(cuInit, unsigned);
    FUNCTION(cuDeviceGet, int *, int);
    FUNCTION(cuDevicePrimaryCtxRetain, void **, int);
    FUNCTION(cuCtxSetCurrent, void *);
    FUNCTION(cuMemAlloc_v2, uint64_t *, size_t);
    FUNCTION(cuMemsetD8_v2, uint64_t, unsigned char, size_t);
    FUNCTION(cuMemcpyDtoH_v2, void *, uint64_t, size_t);
    enum { BYTES = 1 << 20 };
    static char host[BYTES];
    int device;
    void *context;
    uint64_t memory;
    CALL(cuInit, 0);
    CALL(cuDeviceGet, &device, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuMemAlloc_v2, &memory, BYTES);

    nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    nvtxRangeId_t whole = nvtxRangeStartA("whole");
    for (int step = 0; step < 3; step++) {
        nvtxRangePushA("fill");
        CALL(cuMemsetD8_v2, memory, 1, BYTES);
        nvtxRangePop();
        nvtxDomainRangePushEx(domain, &attributes);
        CALL(cuMemcpyDtoH_v2, host, memory, BYTES);
        nvtxDomainRangePop(domain);
    }
    nvtxRangeEnd(whole);
    nvtxMarkA("done");
    printf("DID fills 3 copies 3\n");
    return 0;
}
