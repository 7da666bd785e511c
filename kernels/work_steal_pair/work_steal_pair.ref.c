/* Reference of work_steal_pair: each CTA of the grid is done once, by itself or by another. */
#include "../common/ref_work_steal.h"

int main(int argc, char **argv)
{
    return work_steal_main(argc, argv);
}
