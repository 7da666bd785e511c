/* Fuzz targets: each takes any bytes and must return, without a crash, a hang, or more host memory
 * than the headers of what it calls allow. `make fuzz` builds one libFuzzer program of each;
 * tests/unit/test_fuzz_corpus.c runs them over the files of tests/fuzz/corpus/NAME.
 */
#ifndef WS_FUZZ_H
#define WS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

void fuzz_cubin(const uint8_t *data, size_t size);      /* load/module.h */
void fuzz_link(const uint8_t *data, size_t size);       /* load/link.h */
void fuzz_fatbin(const uint8_t *data, size_t size);     /* load/file.h */
void fuzz_launchfile(const uint8_t *data, size_t size); /* host/launchfile.h */
void fuzz_decode(const uint8_t *data, size_t size);     /* isa/sass/sass.h */
void fuzz_guest(const uint8_t *data, size_t size);      /* func/func.h */
void fuzz_gdb(const uint8_t *data, size_t size);        /* debug/gdb_packet.h, debug/expression.h */
void fuzz_rv64(const uint8_t *data, size_t size);       /* host/linux/linux_elf.h, func/rv64/rv64_core.h */

/* These build what they try from fields of the bytes (draw.h): what is behind the syntax. */
void fuzz_case(const uint8_t *data, size_t size);       /* host/snapshot.h, host/case.h */
void fuzz_trace(const uint8_t *data, size_t size);      /* trace/reader.h, trace/source.h */
void fuzz_preset(const uint8_t *data, size_t size);     /* config/presets.h */
void fuzz_machine(const uint8_t *data, size_t size);    /* config/machine_preset.h, config/topology.h */
void fuzz_launch(const uint8_t *data, size_t size);     /* host/launchfile.h, host/case.h */
void fuzz_sass(const uint8_t *data, size_t size);       /* load/asm_source.h */
void fuzz_suite(const uint8_t *data, size_t size);      /* validate/suite.h */
void fuzz_container(const uint8_t *data, size_t size);  /* load/fatbin.h, machine code and PTX */

#endif
