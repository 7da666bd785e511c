// A list in managed memory: the host builds it, the device reverses and sums it, the host walks it back.
#include "check.h"

struct Node {
  Node *next;
  int value;
};

__global__ void reverse(Node **head, long long *sum)
{
  Node *done = nullptr;
  *sum = 0;
  for (Node *n = *head, *next; n; n = next) {
    next = n->next;
    n->next = done;
    done = n;
    *sum += n->value;
  }
  *head = done;
}

int main()
{
  const int n = 40;
  Node **head;
  long long *sum;
  CUDA(cudaMallocManaged(&head, sizeof *head));
  CUDA(cudaMallocManaged(&sum, sizeof *sum));
  *head = nullptr;
  for (int i = 0; i < n; i++) {
    Node *node;
    CUDA(cudaMallocManaged(&node, sizeof *node));
    *node = {*head, i * i};
    *head = node;
  }
  reverse<<<1, 1>>>(head, sum);
  CUDA(cudaDeviceSynchronize());
  CHECK(*sum == (n - 1) * n * (2 * n - 1) / 6);
  int i = 0;
  for (Node *node = *head, *next; node; node = next, i++) {
    next = node->next;
    CHECK(node->value == i * i);
    CUDA(cudaFree(node));
  }
  CHECK(i == n);
}
