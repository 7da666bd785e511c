/* The arguments of a call as CUPTI's functionParams has them: a structure with a member for each, in their order and of
 * their types (generated_cuda_meta.h and generated_cuda_runtime_api_meta.h of the toolkit declare one for each
 * function). ARGUMENTS(a, b) is the address of one that lives as long as the block it is in.
 */
#ifndef WS_CUDA_ARGUMENTS_H
#define WS_CUDA_ARGUMENTS_H

#define ARGUMENT_(a) __typeof__(a) a##_;
#define ARGUMENTS_1(a)      ARGUMENT_(a)
#define ARGUMENTS_2(a, ...) ARGUMENT_(a) ARGUMENTS_1(__VA_ARGS__)
#define ARGUMENTS_3(a, ...) ARGUMENT_(a) ARGUMENTS_2(__VA_ARGS__)
#define ARGUMENTS_4(a, ...) ARGUMENT_(a) ARGUMENTS_3(__VA_ARGS__)
#define ARGUMENTS_5(a, ...) ARGUMENT_(a) ARGUMENTS_4(__VA_ARGS__)
#define ARGUMENTS_6(a, ...) ARGUMENT_(a) ARGUMENTS_5(__VA_ARGS__)
#define ARGUMENTS_7(a, ...) ARGUMENT_(a) ARGUMENTS_6(__VA_ARGS__)
#define ARGUMENTS_8(a, ...) ARGUMENT_(a) ARGUMENTS_7(__VA_ARGS__)
#define ARGUMENTS_9(a, ...) ARGUMENT_(a) ARGUMENTS_8(__VA_ARGS__)
#define ARGUMENTS_10(a, ...) ARGUMENT_(a) ARGUMENTS_9(__VA_ARGS__)
#define ARGUMENTS_11(a, ...) ARGUMENT_(a) ARGUMENTS_10(__VA_ARGS__)
#define ARGUMENTS_PICK_(a, b, c, d, e, f, g, h, i, j, k, members, ...) members
#define ARGUMENTS_MEMBERS_(...)                                                                                     \
  ARGUMENTS_PICK_(__VA_ARGS__, ARGUMENTS_11, ARGUMENTS_10, ARGUMENTS_9, ARGUMENTS_8, ARGUMENTS_7, ARGUMENTS_6,      \
                  ARGUMENTS_5, ARGUMENTS_4, ARGUMENTS_3, ARGUMENTS_2, ARGUMENTS_1, )(__VA_ARGS__)
#define ARGUMENTS(...) (&(const struct { ARGUMENTS_MEMBERS_(__VA_ARGS__) }){__VA_ARGS__})

#endif
