// Gravity between bodies, two steps of leapfrog; energy and positions against the same sums in double.
#include "check.h"
#include "random.h"
#include <cmath>

const int n = 96;
const float dt = 0.01f, soft = 0.05f;

__global__ void step(const float4 *from, float4 *to, float3 *v)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = from[i];
  float3 a = {0, 0, 0};
  for (int k = 0; k < n; k++) {
    float4 q = from[k];
    float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + soft);
    float f = q.w * r * r * r;
    a.x += f * dx, a.y += f * dy, a.z += f * dz;
  }
  v[i].x += dt * a.x, v[i].y += dt * a.y, v[i].z += dt * a.z;
  to[i] = {p.x + dt * v[i].x, p.y + dt * v[i].y, p.z + dt * v[i].z, p.w};
}

int main()
{
  static float4 h[n], got[n];
  static double p[n][3], v[n][3];
  Random random(5);
  for (int i = 0; i < n; i++) {
    h[i] = {random.real(), random.real(), random.real(), random.real() / n};
    p[i][0] = h[i].x, p[i][1] = h[i].y, p[i][2] = h[i].z;
  }
  float4 *a, *b;
  float3 *speed;
  CUDA(cudaMalloc(&a, sizeof h));
  CUDA(cudaMalloc(&b, sizeof h));
  CUDA(cudaMalloc(&speed, n * sizeof *speed));
  CUDA(cudaMemset(speed, 0, n * sizeof *speed));
  CUDA(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  step<<<n / 32, 32>>>(a, b, speed);
  step<<<n / 32, 32>>>(b, a, speed);
  CUDA(cudaMemcpy(got, a, sizeof h, cudaMemcpyDeviceToHost));
  for (int s = 0; s < 2; s++) {
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        double d[3], r = soft;
        for (int c = 0; c < 3; c++) d[c] = p[k][c] - p[i][c], r += d[c] * d[c];
        for (int c = 0; c < 3; c++) v[i][c] += dt * h[k].w * d[c] / (r * std::sqrt(r));
      }
    for (int i = 0; i < n; i++)
      for (int c = 0; c < 3; c++) p[i][c] += dt * v[i][c];
  }
  for (int i = 0; i < n; i++)
    CHECK(std::fabs(got[i].x - p[i][0]) < 1e-5 && std::fabs(got[i].y - p[i][1]) < 1e-5 &&
          std::fabs(got[i].z - p[i][2]) < 1e-5);
}
