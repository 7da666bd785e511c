/* Reference of string_match: strstr. */
#include "../common/ref.h"

int main(int argc, char **argv)
{
    static const char pattern[] = "ababa";
    static char text[1001];
    int32_t count[1] = {0};

    ref_init(argc, argv);
    for (uint64_t i = 0; i < 1000; i++)
        text[i] = (char)ref_uniform_int(313, i, 97, 98);
    for (const char *at = text; (at = strstr(at, pattern)); at++)
        count[0]++;
    ref_write("pattern.bin", pattern, 5);
    REF_WRITE("naive.bin", count);
    REF_WRITE("kmp.bin", count);
    return 0;
}
