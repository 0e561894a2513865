// probe PTX MODE : MODE bits: 1 = cuCtxGetCurrent before each launch, 2 = pinned registered page, 4 = extra small copies, 8 cuProfilerStart
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define CK(x) do{CUresult r=(x); if(r){printf("%s: %d\n",#x,r);exit(1);}}while(0)
static double now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec*1e6+t.tv_nsec*1e-3;}
static int cmp(const void*a,const void*b){double x=*(double*)a,y=*(double*)b;return (x>y)-(x<y);}
int main(int c,char**v){
 int mode=atoi(v[2]); FILE*f=fopen(v[1],"rb");fseek(f,0,SEEK_END);long n=ftell(f);rewind(f);char*t=malloc(n+1);fread(t,1,n,f);t[n]=0;
 CK(cuInit(0));CUdevice d;CK(cuDeviceGet(&d,0));CUcontext x;CK(cuDevicePrimaryCtxRetain(&x,d));CK(cuCtxSetCurrent(x));
 CUmodule m;CK(cuModuleLoadData(&m,t));CUfunction k;CK(cuModuleGetFunction(&k,m,"count"));
 CUstream s;CK(cuStreamCreateWithPriority(&s,CU_STREAM_NON_BLOCKING,0));CUdeviceptr p;CK(cuMemAlloc(&p,256));CK(cuMemsetD8(p,0,256));
 if(mode&2){void*h;posix_memalign(&h,4096,4096);CK(cuMemHostRegister(h,4096,3));}
 if(mode&4){int z=0;CK(cuMemcpyHtoD(p,&z,4));}
 if(mode&8)cuProfilerStart();
 for(int way=0;way<3;way++){int each=way==0?1:way==1?10:1000000;double h[41];
  for(int r=0;r<41;r++){CK(cuStreamSynchronize(s));double b=now();
   for(int i=0;i<500;i++){ if(mode&1){CUcontext y;cuCtxGetCurrent(&y);} void*a[]={&p};CK(cuLaunchKernel(k,1,1,1,32,1,1,0,s,a,0)); if((i+1)%each==0)CK(cuStreamSynchronize(s)); }
   h[r]=(now()-b)/500;CK(cuStreamSynchronize(s));}
  qsort(h,41,8,cmp);printf(" %.3f",h[20]);}
 // graph
 CUgraph g;CUgraphExec e;CK(cuStreamBeginCapture(s,CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));for(int i=0;i<500;i++){void*a[]={&p};CK(cuLaunchKernel(k,1,1,1,32,1,1,0,s,a,0));}
 CK(cuStreamEndCapture(s,&g));CK(cuGraphInstantiateWithFlags(&e,g,0));double h[41];
 for(int r=0;r<41;r++){CK(cuStreamSynchronize(s));double b=now();CK(cuGraphLaunch(e,s));h[r]=now()-b;}
 qsort(h,41,8,cmp);printf(" graph %.2f  %s mode %d\n",h[20],v[1],mode);return 0;}
