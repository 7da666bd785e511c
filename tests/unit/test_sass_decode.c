/* Decoding of single words: text, logical operand order, modifiers, widths, memory kinds, branch
 * targets, control information; and the words that must not decode.
 *
 * The words are compiler output (CUDA 13.0) for known PTX; the expected texts are the vendor's
 * notation of them. Words of the error table are made from these by changing single bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "isa/sass/sass.h"

struct text_case {
  unsigned sm;
  uint64_t pc, lo, hi;
  const char *text;
};

static const struct text_case texts[] = {
    {75, 0x0, 0x0000000002037381, 0x000ea800001ee900, "LDG.E.SYS R3, [R2] ;"},
    {70, 0x0, 0x000000060a0c7236, 0x0d1fe4000000500c,
     "HMMA.884.F32.F32.STEP0 R12, R10.reuse.ROW, R6.reuse.ROW, R12 ;"},
    {72, 0x0, 0x000000060a0c7236, 0x0d1fe4000001f60c,
     "HMMA.884.F32.F32.STEP3.SATFINITE R12, R10.reuse.COL, R6.reuse.COL, R12 ;"},
    {75, 0x0, 0x8000000402127236, 0x000f640000009104, "HMMA.884.F32.F16.STEP1 R18, -R2.ROW, -R4.ROW, R4 ;"},
    {70, 0x0, 0x0000000c08067236, 0x000b640000008406, "HMMA.884.F16.F16.STEP1 R6, R8.ROW, R12.COL, R6 ;"},
    {75, 0x0, 0x0000000407077981, 0x000ea200081ee900, "LDG.E.SYS R7, [R7.U32+UR4] ;"},
    {75, 0x0, 0x0000000003037984, 0x000e220000001800, "LDS.U R3, [R3] ;"},
    {75, 0x0, 0x0000401a18ff73a8, 0x00016800041f45ff,
     "ATOMG.E.EXCH.64.STRONG.GPU PT, RZ, [R24+0x40], R26 ;"},
    {100, 0x0, 0x00006c00ff0477ac, 0x000e220008000800, "LDCU UR4, c[0x0][0x360] ;"},
    {100, 0x0, 0x00000002ff197210, 0x000fe20007f1e0ff,
     "IADD3 R25, P0, PT, RZ, R2, RZ ;"},
    {100, 0x0, 0x000000080400758d, 0x000e240001800009, "ATOMS.CAST.SPIN P0, [R4], R8, R9 ;"},
    {100, 0x0, 0x8000281d04ff79a8, 0x000368000c1ef10a,
     "ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR10][R4.64+0x28], R29 ;"},
    {100, 0x0, 0x000000090214724b, 0x000fe20000200000,
     "FADD2 R20, R2.F32x2.HI_LO, R9.F32 ;"},
    {100, 0x0, 0x0000000217037276, 0x001fca0007800014, "FMNMX3 R3, R23, R2, R20, !PT ;"},
    {90, 0x0, 0x2000000d0a087247, 0x004fe2000780280c, "VHMNMX R8, R10.H0_H0, R13.H0_H0, R12.H0_H0, !PT ;"},
    {100, 0x0, 0xa000000604047247, 0x000fe40007ba000a, "VHMNMX.BF16_V2.NAN R4, R4, -R6.H0_H0, -|R10|, !PT ;"},
    {80, 0x0, 0x00005a00040c7a2c, 0x004e100000000008, "CLMAD.LO R12, R4, c[0x0][0x168], R8 ;"},
    {90, 0x0, 0x000000060c0e7e2c, 0x000fd2000800200e, "CLMAD.HI R14, R12, R14, UR6 ;"},
    {120, 0x0, 0x00000004ff22723e, 0x000fe400020403ff, "F2FP.F16.E2M1.UNPACK_B R34, R4.B1 ;"},
    {120, 0x0, 0x00000004ff22723e, 0x000fe400030402ff, "F2FP.F16.E2M1.UNPACK_B R34, R4.B2 ;"},
    {120, 0x0, 0x00000004ff22723e, 0x000fe400030006ff, "F2FP.F16.E4M3.UNPACK_B R34, R4.H1 ;"},
    {100, 0x0, 0x000000001f0f72cc, 0x000fc80000008000, "CREDUX.MIN UR15, R31 ;"},
    {100, 0x0, 0x0000000000007945, 0x000fe20003800200, "BSSY.RECONVERGENT B0, 0x10 ;"},
    {75, 0x0, 0x2000002502037232, 0x000fc20000004800,
     "HMUL2.F32 R3, R2.H0_H0, R37.H0_H0 ;"},
    {86, 0x0, 0x000000121112723e, 0x000fc200000000ff,
     "F2FP.PACK_AB R18, R17, R18 ;"},
    {86, 0x0, 0x00000002ff0b723e, 0x000fc200000190ff,
     "F2FP.BF16.PACK_AB.RZ R11, RZ, R2 ;"},
    {86, 0x0, 0x0000000014007950, 0x000fc20003e00000,
     "RET.ABS.NODEC R20 0x0 ;"},
    {90, 0x0, 0x4018000000057908, 0x000fc20000001800,
     "MUFU.RCP64H R5, 6 ;"},
    /* nvcc 13.5, -G; the others beside them by nvdisasm */
    {90, 0x0, 0x000000ff3e007224, 0x000fc000078e02ff, "IMAD.MOV R0, R62, RZ, RZ ;"},
    {90, 0x0, 0x000000013e007824, 0x000fc000078e02ff, "IMAD.MOV R0, R62, 0x1, RZ ;"},
    {90, 0x0, 0x00000003ff067824, 0x000fc000078e02ff, "IMAD.MOV R6, RZ, 0x3, RZ ;"},
    {90, 0x0, 0x000000033e067824, 0x000fc000078e02ff, "IMAD R6, R62, 0x3, RZ ;"},
    {90, 0x0, 0x000000013e067824, 0x000fc000078e0209, "IMAD.IADD R6, R62, 0x1, R9 ;"},
    /* CUDA 12.4 */
    {90, 0x0, 0x0000000cff0c723e, 0x004fca000480710c, "F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R12, RZ, R12, R12.H1 ;"},
    {90, 0x1f0, 0x000000013014794e, 0x000fe40000000000, "LEPC R20, 0x330 ;"},
    {90, 0x100, 0xffffffff3014794e, 0x000fe4000003ffff, "LEPC R20, 0x40 ;"},
    {90, 0x0, 0x2800002220207361, 0x00321e00019e0f22, "TEX.B.LL R34, R32, R32, R34, 2D ;"},
    {90, 0x0, 0x08000010080c7367, 0x00321e00019e2f1c, "TLD.B.LL.CL R28, R12, R8, R16, 1D ;"},
    {90, 0x0, 0x2800000c0e0c7364, 0x00321e00011e0f0e, "TLD4.B.B R14, R12, R14, R12, 2D ;"},
    {90, 0x0, 0xa80000040804736d, 0x00321e00001e0f06, "TXD.B R6, R4, R8, R4, ARRAY_2D ;"},
    {90, 0x0, 0x40618000ff057435, 0x000fc200000001ff,
     "HFMA2.MMA R5, -RZ, RZ, 2.189453125, -0.0  ;"},
    {100, 0x0, 0x0000007f00007804, 0x000fe20000001000,
     "R2P PR, R0.B1, 0x7f ;"},
    {120, 0x0, 0x800000120c247235, 0x000fc200000e0600,
     "IADD.64.X R36, R12, ~R18, P0 ;"},
    {120, 0x0, 0x0000001f03037835, 0x001fca00078e0100, "IADD R3, -R3, 0x1f ;"}, /* CUDA 13.2 */
    {120, 0x0, 0x8000000806047235, 0x000fc20000880400, "IADD.X R4, P4, R6, ~R8, P1 ;"},
    {120, 0x0, 0x3f80000005047455, 0x000fc20008000804,
     "UFFMA UR4, UR5, -UR4, 1 ;"},
    {120, 0x0, 0x0000003700007c02, 0x000fe20009000f00, "MOV.SPILL R0, UR55 ;"},
    {120, 0x0, 0x00000000003772ca, 0x000fe400004e0000, "R2UR.FILL UR55, R0 ;"},
    {120, 0x0, 0x0000000602040e07, 0x000fe4000c800000, "@P0 SEL.64 R4, R2, UR6, !P1 ;"},
    {120, 0x0, 0x0000142806067487, 0x000fe2000c000000, "USEL.64 UR6, UR6, 0x1428, !UP0 ;"},
    {120, 0x0, 0x00000007050472a6, 0x000fc8000f8e0004, "UIMAD.HI.U32 UR4, UR5, UR7, UR4 ;"},
    /* a switch on a uniform value, before sm_90; reuse of the metadata register of sparse products */
    {75, 0xa0, 0xffffff5004007958, 0x000fea000b83ffff, "BRXU UR4, -0xb0 ;"},
    {80, 0xc0, 0xffffff3004007958, 0x000fea000b83ffff, "BRXU UR4, -0xd0 ;"},
    {86, 0xc0, 0xffffff3004007958, 0x000fea000b83ffff, "BRXU UR4, -0xd0 ;"},
    {89, 0xc0, 0xffffff3004007958, 0x000fea000b83ffff, "BRXU UR4, -0xd0 ;"},
    {80, 0x0, 0x000000060404723c, 0x204fde0000001aff, "HMMA.SP.16816.F32 R4, R4, R6, RZ, R0, 0x0 ;"},
    {86, 0x0, 0x000000060404723c, 0x204fde0000001aff, "HMMA.SP.16816.F32 R4, R4, R6, RZ, R0, 0x0 ;"},
    {90, 0x0, 0x000000060404723c, 0x204fde0000001aff, "HMMA.SP.16816.F32 R4, R4, R6, RZ, R0, 0x0 ;"},
    /* reuse of metadata, which has a bit of its own up to sm_90 (CUTLASS's sparse products in PyTorch) */
    {80, 0x0, 0x0004028c8804723c, 0x042fe20000005a04,
     "HMMA.SP.16832.F32 R4, R136.reuse, R140, R4, R2.reuse, 0x0 ;"},
    {90, 0x0, 0x0007028c8804723c, 0x042fe20000005a04,
     "HMMA.SP.16832.F32 R4, R136.reuse, R140, R4, R2.reuse, 0x3 ;"},
    {86, 0x0, 0x0004000c08087237, 0x004ff60000605510,
     "IMMA.SP.16864.S8.S8 R8, R8.ROW, R12.COL, R16, R0.reuse, 0x0 ;"},
    {89, 0x0, 0x0004000c0808727a, 0x004ff60000013410,
     "QMMA.SP.16864.F32.E4M3.E4M3 R8, R8.ROW, R12.COL, R16, R0.reuse, 0x0 ;"},
    /* reuse of the scales of B, absolute values of FP64 matrices, cache hints where no program of kernels/ has any */
    {120, 0x0, 0x7008211c1018747f, 0x020fe20000083e18,
     "OMMA.SF.16864.F32.E2M1.E2M1.E8 R24, R16, R28, R24, R33, R0.reuse, URZ ;"},
    {120, 0x0, 0x7008211c1018747f, 0x020fe20000043e18,
     "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X R24, R16, R28, R24, R33, R0.reuse, URZ ;"},
    {80, 0x0, 0x400000060404723f, 0x0100640000000208, "DMMA.884 R4, |R4|, |R6|, R8 ;"},
    {90, 0x0, 0x400000060404723f, 0x010e62000000020c, "DMMA.8x8x4 R4, |R4|, |R6|, R12 ;"},
    {86, 0x0, 0x0000000f0200798a, 0x00016820081ee1c8,
     "ATOM.E.ADD.STRONG.GPU PT, R0, desc[UR8][R2.64], R15 ;"},
    /* handles in uniform registers before sm_90 */
    {75, 0x0, 0x30000a1508097f60, 0x042fc200099e01ff, "TEX.SCR.LL RZ, R9, R8, R21, UR10, 0x0, 2D, 0x1 ;"},
    {80, 0x0, 0x3000140c021c7f63, 0x000fe200081e02ff, "TLD4.SCR.R RZ, R28, R2, R12, UR20, 0x0, 2D, 0x2 ;"},
    {75, 0x0, 0x100006000a067f99, 0x000f6200081f0900, "SULD.D.BA.1D.STRONG.CTA.TRAP R6, [R10], UR6, 0x0 ;"},
    {90, 0x0, 0x000006000a0073bc, 0x0003e20008001008, "UBLKPF.L2 [UR10], UR8, desc[UR6] ;"},
    {75, 0x0, 0x30005c0006077b60, 0x001f4200059e01ff,
     "TEX.SCR.LL.NODEP RZ, R7, R6, R0, 0x0, 0x5c, 2D, 0x1 ;"},
    {80, 0x0, 0x5000580208197b60, 0x050f4200019e01ff, /* reuse bit of Ra set */
     "TEX.SCR.LL RZ, R25, R8, R2, 0x0, 0x58, 3D, 0x1 ;"},
    {120, 0x0, 0x0000000f0a007253, 0x000fc2000bf0c000,
     "UFSETP.GTU.AND UP0, UPT, UR10, UR15, UPT ;"},
    {120, 0x0, 0x000000ff00087c82, 0x000fc20008010000,
     "UMOV.64 UR8, URZ ;"},
    {120, 0x0, 0x00000008000b725d, 0x000fe20008201000,
     "UFRND UR11, UR8 ;"},
    {120, 0x0, 0x000000040004725d, 0x001fcc0008104800, "UFRND.F16.FLOOR UR4, UR4 ;"},
    {120, 0x0, 0x000000040004725b, 0x001fe20008204800, "UF2F.F16.F32.RM UR4, UR4 ;"},
    {120, 0x0, 0xc00000040004725b, 0x001fe20008200800, "UF2F.F16.F32 UR4, -|UR4| ;"},
    /* constants of conversions from FP16 and BF16; hexadecimal words as nvdisasm 13.0 prints them */
    {86, 0x0, 0x0000c8a600047907, 0x000fcc0000108800, "FRND.F16.CEIL R4, -9.296875 ;"},
    {86, 0x0, 0x00007c0000047907, 0x000fcc0000108800, "FRND.F16.CEIL R4, +INF  ;"},
    {86, 0x0, 0x0000000100047907, 0x000fcc0000108800, "FRND.F16.CEIL R4, 5.9604644775390625e-08 ;"},
    {120, 0x0, 0x7f800000ff097851, 0x000fc6000c000000,
     "UFSEL UR9, URZ, +INF , !UP0 ;"},
    {120, 0x0, 0x000000ff04047c87, 0x008fcc000c000000,
     "USEL.64 UR4, UR4, URZ, !UP0 ;"},
    {120, 0x0, 0x000000040e0e7835, 0x004fc400078e0200, "IADD.64 R14, R14, 0x4 ;"},
    {120, 0x0, 0x42000000420e7402, 0x001fc60000000000, "MOV.64 R14, 0x4200000042 ;"},
    {120, 0x0, 0x0000000c0e00720c, 0x004fe40003f35270,
     "ISETP.NE.S64.AND P1, PT, R14, R12, PT ;"},
    {120, 0x0, 0xffffffffff067407, 0x000fc60005000001, "SEL.64 R6, RZ, -0x1, !P2 ;"},
    {120, 0x0, 0x00000009ff087248, 0x000fe20007fe0100, "VIMNMX.S32 R8, RZ, R9, !PT ;"},
    {90, 0x1a0, 0x00000006080073ba, 0x0005d80008000204,
     "UBLKCP.S.G [UR6], [UR8], UR4 ;"},
    {90, 0x380, 0x00000004080073ba, 0x0005e20008000409,
     "UBLKCP.G.S [UR4], [UR8], UR9 ;"},
    {90, 0x0, 0x00000006040073bb, 0x0001d80009000405,
     "UBLKRED.G.S.MAX [UR6], [UR4], UR5 ;"},
    {100, 0x0, 0x00000000040073bc, 0x0045e20008000009,
     "UBLKPF.L2 [UR4], UR9 ;"},
    {90, 0x0, 0x00000000000079b7, 0x0001e20000000000,
     "UTMACMDFLUSH ;"},
    {90, 0x0, 0x0000100004047897, 0x000fe4000fffe03f,
     "UIADD3.64 UR4, UR4, 0x1000, URZ ;"},
    {120, 0x0, 0x00000002040c727a, 0x000fde0000246c0c,
     "QMMA.16832.F32.E3M2.E2M3 R12, R4, R2, R12 ;"},
    {120, 0x0, 0x0000000c0808727a, 0x004fde000001b4ff,
     "QMMA.SP.16864.F32.E4M3.E5M2 R8, R8, R12, RZ, R0, 0x0 ;"},
    {120, 0x0, 0x60900802040c747a, 0x000fde000024c00c,
     "QMMA.SF.16832.F32.E3M2.E2M1.E8 R12, R4, R2, R12, R8, R9, UR6 ;"},
    {120, 0x0, 0x61101002040c747f, 0x000fe2000004000c,
     "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X R12, R4, R2, R12, R16, R17, UR6 ;"},
    {120, 0x0, 0x000000090008723e, 0x0c4fe400042070ff,
     "F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C R8, R0.reuse, R9.reuse, RZ ;"},
    {100, 0x0, 0x000000090006723e, 0x000fc40004c1e0ff,
     "F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RZ R6, R0, R9, RZ ;"},
    {120, 0x0, 0x00000004ff0d723e, 0x002fc40002040eff,
     "F2FP.RELU.F16.E3M2.UNPACK_B R13, R4 ;"},
    {120, 0x0, 0x00000004ff05723e, 0x000fe200020816ff,
     "F2FP.BF16.E8.UNPACK_B R5, R4 ;"},
    {120, 0x0, 0x00000000000878cb, 0x000fe20000015200, "CS2UR UR8, SR_GLOBALTIMERLO ;"},
    {80, 0x1b0, 0x00005b0005057623, 0x080fe20000000004,
     "FFMA R5, R5, R4.reuse, c[0x0][0x16c] ;"},
    {80, 0x2430, 0x800000ff0d0e0221, 0x040fe40000010100,
     "@P0 FADD.FTZ R14, -R13.reuse, -RZ ;"},
    {80, 0x2c0, 0x00005d000f057a10, 0x000fc60000ffe4ff,
     "IADD3.X R5, R15, c[0x0][0x174], RZ, P1, !PT ;"},
    {80, 0x1ed0, 0x8000000403007c10, 0x000fc8000fb5e0ff,
     "IADD3 R0, P2, P3, R3, -UR4, RZ ;"},
    {80, 0x460, 0x000000ffff087224, 0x000fd800078e0009,
     "IMAD.MOV.U32 R8, RZ, RZ, R9 ;"},
    {80, 0x17f0, 0x0000001502107225, 0x004fc80007860010,
     "IMAD.WIDE.U32 R16, P3, R2, R21, R16 ;"},
    {80, 0x70, 0x00005a0002027625, 0x001fcc00078e0203,
     "IMAD.WIDE R2, R2, R3, c[0x0][0x168] ;"},
    {80, 0x360, 0x000000040b0b7824, 0x000fe400078e00ff,
     "IMAD.SHL.U32 R11, R11, 0x4, RZ ;"},
    {80, 0x230, 0x00005b0006037a11, 0x000fe400000f14ff,
     "LEA.HI.X R3, R6, c[0x0][0x16c], RZ, 0x2, P0 ;"},
    {80, 0x18c0, 0x000000ff0b0b7211, 0x000fe200008ff6ff,
     "LEA.HI.X.SX32 R11, R11, RZ, 0x1e, P1 ;"},
    {80, 0x930, 0x0000000105ff7812, 0x040fe2000780c0ff,
     "LOP3.LUT P0, RZ, R5.reuse, 0x1, RZ, 0xc0, !PT ;"},
    {80, 0x19d0, 0x00000003ff0c7219, 0x000fe20000011e00,
     "SHF.R.W.U32.HI R12, RZ, R3, R0 ;"},
    {80, 0x10c0, 0x0000000d0b00720c, 0x000fda0003f06100,
     "ISETP.GE.U32.AND.EX P0, PT, R11, R13, PT, P0 ;"},
    {80, 0x2160, 0x000000000000781c, 0x000fda0000f24572,
     "PLOP3.LUT P1, PT, P1, P2, PT, 0x2a, 0x0 ;"},
    {80, 0x1ed0, 0x7f8000000800780b, 0x000fda0003f1c200,
     "FSETP.GTU.FTZ.AND P0, PT, |R8|, +INF , PT ;"},
    {80, 0x1df0, 0x0000000603107209, 0x0c0fe20007820000,
     "FMNMX.NAN R16, R3.reuse, R6.reuse, !PT ;"},
    {80, 0x1c0, 0x4000000c00057308, 0x0000620000001400,
     "MUFU.RSQ R5, |R12| ;"},
    {90, 0x220, 0x4000000000037308, 0x0002a20000001400,
     "MUFU.RSQ R3, |R0| ;"},
    {80, 0x1a20, 0x1000000300117308, 0x002e220000000a00,
     "MUFU.EX2.F16 R17, R3.H1 ;"},
    {90, 0x1a10, 0x1000000200137308, 0x000e220000000900,
     "MUFU.EX2.F16 R19, R2.H1 ;"},
    {80, 0x940, 0x0000000600077305, 0x0002a4000021f000,
     "F2I.FTZ.U32.TRUNC.NTZ R7, R6 ;"},
    {80, 0x1370, 0x0000000c001a7312, 0x002e62000030dc00,
     "I2F.F64.S64.RZ R26, R12 ;"},
    {80, 0xc00, 0x0000000e00097310, 0x000e680000301000,
     "F2F.F32.F64 R9, R14 ;"},
    {80, 0x1d0, 0x00000000ff047229, 0x000e22000000050a,
     "DADD R4, -RZ, |R10| ;"},
    {90, 0x1030, 0x3ff000000c0c742b, 0x080fe40000000812,
     "DFMA R12, R12, -R18.reuse, 1 ;"},
    {80, 0x2f20, 0x0000000c0a00722a, 0x008e620003900000,
     "DSETP.MIN.AND P0, P1, R10, R12, PT ;"},
    {80, 0x12f0, 0x20000015ff007230, 0x000fe20000004100,
     "HADD2.F32 R0, -RZ, R21.H0_H0 ;"},
    {80, 0x11a0, 0x3f8040000b097431, 0x000fca0000240009,
     "HFMA2.BF16_V2 R9, R11, R9.H0_H0, 1, 2 ;"},
    {80, 0x540, 0x200000ff0b007234, 0x000fe20003f44a00,
     "HSETP2.GT.AND P2, PT, |R11|.H0_H0, RZ.H0_H0, PT ;"},
    {80, 0x5d0, 0x000000041010723c, 0x001fe6000004180c,
     "HMMA.16816.F32.BF16 R16, R16, R4, R12 ;"},
    {80, 0x370, 0x000000060c14723c, 0x000ff60000081014,
     "HMMA.1688.F32.TF32 R20, R12, R6, R20 ;"},
    {80, 0x200, 0x000000060c107237, 0x0c8ff60000441c10,
     "IMMA.16832.S8.U8.SAT R16, R12.reuse.ROW, R6.reuse.COL, R16 ;"},
    {80, 0xba0, 0x0000000614107981, 0x000ee8000c1e9d00,
     "LDG.E.128.CONSTANT R16, [R20.64] ;"},
    {90, 0xf70, 0x00000006140c7981, 0x000ea8000c1e9d00,
     "LDG.E.128.CONSTANT R12, desc[UR6][R20.64] ;"},
    {80, 0x410, 0x0000000a18037981, 0x0010a2000c1f5500,
     "LDG.E.U16.STRONG.SYS R3, [R24.64] ;"},
    {90, 0x4c0, 0x0000001012137981, 0x000e22000c1f5500,
     "LDG.E.U16.STRONG.SYS R19, desc[UR16][R18.64] ;"},
    {80, 0x1640, 0x0000000406007986, 0x001fe2000c101b06,
     "STG.E.64 [R6.64], R4 ;"},
    {90, 0x18e0, 0x0000000402007986, 0x001fe2000c101b0a,
     "STG.E.64 desc[UR10][R2.64], R4 ;"},
    {80, 0x230, 0x00000104ff1b7984, 0x000fe80008000000,
     "LDS.U8 R27, [UR4+0x1] ;"},
    {80, 0x520, 0x0000000015047984, 0x002462000000cc00,
     "LDS.128 R4, [R21.X16] ;"},
    {80, 0x230, 0x0000380a03009388, 0x0105ec0000008a00,
     "@!P1 STS.64 [R3.X8+0x38], R10 ;"},
    {80, 0x1990, 0x0000100001027983, 0x000ea80000100a00,
     "LDL.64 R2, [R1+0x10] ;"},
    {80, 0x1fa0, 0x0003101004ff79a8, 0x00436800091eebcc,
     "ATOMG.E.MAX.S64.STRONG.GPU PT, RZ, [R4.64+0x310], R16 ;"},
    {90, 0x21c0, 0x0002d00608ff79a8, 0x00456800091ee7c6,
     "ATOMG.E.MAX.S64.STRONG.GPU PT, RZ, desc[UR6][R8.64+0x2d0], R6 ;"},
    {90, 0x6f0, 0x0000300d040079a6, 0x0003e2000c10f38a,
     "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR10][R4.64+0x30], R13 ;"},
    {80, 0x5c0, 0x000034020400798e, 0x0001e2000c10e786,
     "RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R4.64+0x34], R2 ;"},
    {80, 0x0, 0x000040032400798e, 0x0003e2000010e300,
     "RED.E.ADD.S32.STRONG.GPU [R36+0x40], R3 ;"},
    {86, 0x0, 0x000040032400798e, 0x0003e2000010e300,
     "RED.E.ADD.S32.STRONG.GPU [R36+0x40], R3 ;"},
    {90, 0x0, 0x000040032400798e, 0x0003e2000010e300,
     "REDG.E.ADD.S32.STRONG.GPU [R36+0x40], R3 ;"},
    {120, 0x0, 0x000040032400798e, 0x0003e2000010e700,
     "REDG.E.ADD.S64.STRONG.GPU [R36+0x40], R3 ;"},
    {80, 0x0, 0x00004003240673a8, 0x000ee200001ee300,
     "ATOMG.E.ADD.S32.STRONG.GPU PT, R6, [R36+0x40], R3 ;"},
    {89, 0x0, 0x00004003240673a8, 0x000ee200001ee700,
     "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R6, [R36+0x40], R3 ;"},
    {90, 0x0, 0x00004003240079a6, 0x0003e2000010f300,
     "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU [R36+0x40], R3 ;"},
    {100, 0x0, 0x00004003240079a6, 0x0003e2000010f700,
     "REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU [R36+0x40], R3 ;"},
    {90, 0x0, 0x00004003240673a3, 0x000ee200001ef300,
     "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R6, [R36+0x40], R3 ;"},
    {100, 0x0, 0x00004003240673a3, 0x000ee200001ef300,
     "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R6, [R36+0x40], R3 ;"},
    {90, 0x0, 0x0002004004ff7dae, 0x0003e2000b920a46,
     "LDGSTS.E.64 [UR6+0x20], [R4.64+0x40] ;"},
    {100, 0x0, 0x00020040040b7fae, 0x0003e2000b9a0006,
     "LDGSTS.E [R11+0x20], [R4.64+UR6+0x40] ;"},
    {100, 0x0, 0x00020040040b7fae, 0x0003e2000b9a0406,
     "LDGSTS.E.64 [R11+0x20], [R4.64+UR6+0x40] ;"},
    {100, 0x0, 0x00020040040b7fae, 0x0003e2000b980806,
     "LDGSTS.E.BYPASS.128 [R11+0x20], [R4.64+UR6+0x40] ;"},
    {100, 0x0, 0x00020040040b7fae, 0x0003e2000b920406,
     "LDGSTS.E.64 [R11+0x20], [R4.U32+UR6+0x40] ;"},
    {100, 0x0, 0x0002004004ff7dae, 0x0003e2000b9a0806,
     "LDGSTS.E.128 [UR6+0x20], [R4.64+0x40] ;"},
    {120, 0x0, 0x0002004004ff7dae, 0x0003e2000b9a1806,
     "LDGSTS.E.128 [UR6+0x20], desc[UR7][R4.64+0x40] ;"},
    {80, 0x0, 0x00020040040b7dae, 0x0003e2000b921a46,
     "LDGSTS.E.64 [R11+UR6+0x20], [R4.64+0x40] ;"},
    {90, 0x0, 0x00020040040b7dae, 0x0003e2000b920a46,
     "LDGSTS.E.64 [R11+UR6+0x20], [R4.64+0x40] ;"},
    {100, 0x0, 0x00020040040b7dae, 0x0003e2000b9a0806,
     "LDGSTS.E.128 [R11+UR6+0x20], [R4.64+0x40] ;"},
    {120, 0x0, 0x00020040040b7dae, 0x0003e2000b9a1806,
     "LDGSTS.E.128 [R11+UR6+0x20], desc[UR7][R4.64+0x40] ;"},
    {80, 0x790, 0x000048101c1073a9, 0x000ea400001ee512,
     "ATOMG.E.CAS.64.STRONG.GPU PT, R16, [R28+0x48], R16, R18 ;"},
    {90, 0x8b0, 0x000040101c1073a9, 0x000ea400001ee512,
     "ATOMG.E.CAS.64.STRONG.GPU PT, R16, [R28+0x40], R16, R18 ;"},
    {80, 0xee0, 0x00003810ff12738d, 0x000e240001800412,
     "ATOMS.CAST.SPIN.64 R18, [0x38], R16, R18 ;"},
    {90, 0x10c0, 0x000000100d12738d, 0x000e240001800412,
     "ATOMS.CAST.SPIN.64 R18, [R13], R16, R18 ;"},
    {80, 0x1c0, 0x0000000005ff7f8c, 0x0001e2000d00403f,
     "ATOMS.POPC.INC.32 RZ, [R5.X4+URZ] ;"},
    {80, 0x180, 0x0000000006037fae, 0x0003e2000c101c4e,
     "LDGSTS.E.BYPASS.128 [R3], [R6.64], !P0 ;"},
    {90, 0x1f0, 0x0000000008037fae, 0x0005e2000c101c4c,
     "LDGSTS.E.BYPASS.128 [R3], desc[UR12][R8.64], !P0 ;"},
    {80, 0x110, 0x00020040040b7fae, 0x0005e8000b921a44,
     "LDGSTS.E.64 [R11+0x20], [R4.64+0x40] ;"},
    {90, 0x180, 0x00020040040b7fae, 0x0003e8000b921a46,
     "LDGSTS.E.64 [R11+0x20], desc[UR6][R4.64+0x40] ;"},
    {80, 0x490, 0x000300003014783b, 0x000e220000004200,
     "LDSM.16.MT88.4 R20, [R48+0x300] ;"},
    {80, 0xd0, 0x00c0100008087b82, 0x000e300000000800,
     "LDC R8, c[0x3][R8+0x40] ;"},
    {80, 0x30, 0x0000460000067ab9, 0x000fe40000000a00,
     "ULDC.64 UR6, c[0x0][0x118] ;"},
    {80, 0x8b0, 0x000000093f097290, 0x000fe200087fe43f,
     "UIADD3.X UR9, URZ, UR9, URZ, UP0, !UPT ;"},
    {80, 0x1f0, 0x0000003f3f3ff290, 0x000fea000fffe03f,
     "@!UPT UIADD3 URZ, URZ, URZ, URZ ;"},
    {80, 0x2f0, 0x0000000912127291, 0x000fe400080f0c06,
     "ULEA.HI.X UR18, UR18, UR9, UR6, 0x1, UP0 ;"},
    {80, 0x270, 0x000000030400788c, 0x000fe2000bf06070,
     "UISETP.GE.U32.AND UP0, UPT, UR4, 0x3, UPT ;"},
    {80, 0x10, 0x0c00000504047389, 0x000e240000000006,
     "SHFL.BFLY P0, R4, R4, R5, R6 ;"},
    {80, 0x130, 0x08101f1100117589, 0x004e2800000e0000,
     "SHFL.DOWN PT, R17, R0, R17, 0x101f ;"},
    {80, 0xf0, 0x0420000004037989, 0x004e2400000e00ff,
     "SHFL.UP PT, R3, R4, 0x1, RZ ;"},
    {90, 0x120, 0x0420000004037989, 0x004e2400000e00ff,
     "SHFL.UP PT, R3, R4, 0x1, RZ ;"},
    {80, 0x1140, 0x0000000000ff7806, 0x000fe40000820000,
     "VOTE.ALL P1, P1 ;"},
    {80, 0x12b0, 0x0000000000097806, 0x000fe200040e0100,
     "VOTE.ANY R9, PT, !P0 ;"},
    {80, 0xf0, 0x0000000000047886, 0x000fe200038e0100,
     "VOTEU.ANY UR4, UPT, PT ;"},
    {80, 0x4d0, 0x000000000a0b73a1, 0x004e2400000e8200,
     "MATCH.ANY.U64 R11, R10 ;"},
    {80, 0x240, 0x000000001e0973c4, 0x000ef00000010200,
     "REDUX.MIN.S32 UR9, R30 ;"},
    {80, 0x50, 0x00000000010473c2, 0x000e6200000e0000,
     "R2UR UR4, R1 ;"},
    {90, 0x1290, 0x00000000030672ca, 0x000fe400000e0000,
     "R2UR UR6, R3 ;"},
    {80, 0x70, 0x00000000000a7805, 0x000fca0000015000,
     "CS2R R10, SR_CLOCKLO ;"},
    {80, 0x10, 0x0000000000037919, 0x000e220000002100,
     "S2R R3, SR_TID.X ;"},
    {80, 0x990, 0x0000000000007b1d, 0x000fe20000014000,
     "BAR.RED.POPC.DEFER_BLOCKING 0x0, P0 ;"},
    {80, 0x220, 0x0102000000007b1d, 0x000fec0000002000,
     "BAR.ARV 0x4, 0x80 ;"},
    {80, 0x800, 0x008000060000791d, 0x0043ec0000010000,
     "BAR.SYNC.DEFER_BLOCKING 0x2, R6 ;"},
    {80, 0x9d0, 0x000000000009731c, 0x000ea800000e4000,
     "B2R.RESULT R9 ;"},
    /* words of CUDA 9.1 (sm_70) and 11.0 (sm_80): fields without a meaning hold 15 and RZ; a product with zero is a
     * move, whatever is added */
    {70, 0xb80, 0x03c000000005731c, 0x000e6200000e4000,
     "B2R.RESULT R5 ;"},
    {70, 0xbf0, 0x03c0000000ff731c, 0x000e260000024000,
     "B2R.RESULT RZ, P1 ;"},
    {80, 0x460, 0x001000130c13338c, 0x002e6800000000ff,
     "@P3 ATOMS.ADD R19, [R12+0x1000], R19 ;"},
    {70, 0x0, 0x0000000fff0f7224, 0x000fc800078e0205,
     "IMAD.MOV R15, RZ, R15, R5 ;"},
    {86, 0x0, 0x000000ff050f7224, 0x000fc800078e0a07,
     "IMAD.MOV R15, R5, RZ, -R7 ;"},
    {86, 0x0, 0x00000002050f7824, 0x000fc800078e0aff,
     "IMAD.SHL R15, R5, 0x2, -RZ ;"},
    {86, 0x0, 0x00000000050f7824, 0x000fc800078e0207,
     "IMAD.MOV R15, R5, 0x0, R7 ;"},
    {86, 0x0, 0x00000004ff0f7c24, 0x000fc8000f8e0207,
     "IMAD R15, RZ, UR4, R7 ;"},
    {80, 0x190, 0x0000000000007992, 0x000fec0000002000,
     "MEMBAR.SC.GPU ;"},
    {80, 0x3b0, 0x000080000000791a, 0x000fc80000000000,
     "DEPBAR.LE SB0, 0x0 ;"},
    {80, 0x10, 0x0000000007287355, 0x000e220000100000,
     "BMOV.32.CLEAR R40, B7 ;"},
    {80, 0x130, 0x0000000000018942, 0x000fe20005000000,
     "@!P0 BREAK !P2, B1 ;"},
    {90, 0x130, 0x0000000000018942, 0x000fea0005000000,
     "@!P0 BREAK !P2, B1 ;"},
    {80, 0x1580, 0xffffffff00007948, 0x000fe20003800000,
     "WARPSYNC 0xffffffff ;"},
    {80, 0x13b0, 0x0000000600007348, 0x000fe80003800000,
     "WARPSYNC R6 ;"},
    {90, 0x1300, 0x0000000003007348, 0x000fee0003800000,
     "WARPSYNC R3 ;"},
    {80, 0x80, 0x000001f40000795d, 0x000fe40003800000,
     "NANOSLEEP 0x1f4 ;"},
    {80, 0x430, 0x0000000000007946, 0x000fea0003800000,
     "YIELD ;"},
    {80, 0x1b0, 0x00000000ff00798f, 0x000fca0002000000,
     "CCTL.IVALL ;"},
    {80, 0x40, 0x000000040000795c, 0x003fde0000300000,
     "BPT.TRAP 0x1 ;"},
    {90, 0x1330, 0xb9600000030d7446, 0x0c0fe40007800910,
     "VIADDMNMX R13, R3.reuse, -R16.reuse, 0xb9600000, !PT ;"},
    {90, 0x100, 0x00000007000e7248, 0x0c0fe20007b40300,
     "VIMNMX.S16x2 R14, P2, P3, R0.reuse, R7.reuse, !PT ;"},
    /* tensor memory */
    {100, 0x0, 0x000c040a080075ea, 0x0011e40008000006,
     "UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], UR12, UP0 ;"},
    {100, 0x0, 0x000c040a080075ea, 0x0011e40008001806,
     "UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], UR12, UP0, 0x3 ;"},
    {100, 0x0, 0x00ff0408070079ea, 0x0011e40008200406,
     "UTCHMMA.2CTA.ASHIFT tmem[UR7], gdesc[UR8], tmem[UR6], tmem[UR4], idesc[UR5], UP0 ;"},
    {100, 0x0, 0x00ff0408070079ea, 0x0011e40008700006,
     "UTCHMMA.2CTA tmem[UR7].A_REUSE.A_KEEP, gdesc[UR8], tmem[UR6], tmem[UR4], idesc[UR5], UP0 ;"},
    {100, 0x0, 0x00ff040a080075ea, 0x0011e400080f8006,
     "UTCHMMA.WS gdesc[UR8], gdesc[UR10].B_REUSE.B_KEEP.BUFFER3, tmem[UR6], tmem[UR4], idesc[UR5], UP0 ;"},
    {100, 0x0, 0x00ff040a080075ea, 0x0011e40008000106,
     "UTCIMMA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], UP0 ;"},
    {100, 0x0, 0x00080410070079ea, 0x0011e40008200106,
     "UTCIMMA.2CTA tmem[UR7], gdesc[UR16], tmem[UR6], tmem[UR4], idesc[UR5], UR8, UP0 ;"},
    {100, 0x0, 0x0008040c0b007fea, 0x0021e4000850030a,
     "UTCQMMA tmem[UR11].A_REUSE.A_KEEP, gdesc[UR12], tmem[UR10], tmem[UR4], idesc[UR5], tmem[UR8], UP0 ;"},
    {100, 0x0, 0x00ff040a080075ea, 0x0011e40008000306,
     "UTCQMMA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], UP0 ;"},
    {100, 0x0, 0x8008040e0c0075ea, 0x0021e4000800000a,
     "UTCOMMA.4X gdesc[UR12], gdesc[UR14], tmem[UR10], tmem[UR4], idesc[UR5], tmem[UR8], UP0 ;"},
    {100, 0x0, 0xc008040e0c0075ea, 0x0021e4000820000a,
     "UTCOMMA.2CTA gdesc[UR12], gdesc[UR14], tmem[UR10], tmem[UR4], idesc[UR5], tmem[UR8], UP0 ;"},
    {100, 0x0, 0x00ff040a080075ea, 0x0011e4000b800006,
     "UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], UPT ;"},
    {100, 0x0, 0x00ff040a080075ea, 0x0011e4000f800006,
     "UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], !UPT ;"},
    {100, 0x0, 0x000a0408070079ea, 0x0011e40008080306,
     "UTCQMMA.WS tmem[UR7], gdesc[UR8], tmem[UR6], tmem[UR4], idesc[UR5], UR10, UP0 ;"},
    {100, 0x0, 0x00000006040079e7, 0x0011e400092a0000,
     "UTCCP.T.S.2CTA.2x64dp128bit_lw01_lw23.U6x16P32 tmem[UR4], gdesc[UR6] ;"},
    {100, 0x0, 0x00000006040079e7, 0x0011e40008000000,
     "UTCCP.T.S tmem[UR4], gdesc[UR6] ;"},
    {100, 0x0, 0x00000000040079e6, 0x001fe20008210000,
     "UTCSHIFT.2CTA.DOWN tmem[UR4] ;"},
    {90, 0x0, 0x00000000021179a5, 0x001e68000801597f,
     "LDGMC.E.ADD.F32.RN.STRONG.SYS R17, [R2.64+URZ] ;"},
    {90, 0x0, 0x00004000020479a5, 0x000ee2000b014b7f,
     "LDGMC.E.F32ADD.BF16x8.RN.STRONG.SYS R4, [R2.64+URZ+0x40] ;"},
    {90, 0x0, 0x00000000ff0279a4, 0x000eaa000b814504,
     "LDGMC.E.XOR.64.STRONG.SYS R2, [RZ.U32+UR4] ;"},
    {90, 0x0, 0x00004000ff0579a4, 0x000eaa0008814304,
     "LDGMC.E.MIN.S32.STRONG.SYS R5, [RZ.U32+UR4+0x40] ;"},
    {100, 0x0, 0x00002800020e79a4, 0x000f28000a8345ff,
     "LDGMC.E.AND.64.STRONG.SYS R14, [R2.64+URZ+0x28] ;"},
    {100, 0x0, 0x00004000ff0c79a5, 0x000ea8000b814b04,
     "LDGMC.E.HPADD.E4M3x8.RN.STRONG.SYS R12, [RZ.U32+UR4+0x40] ;"},
    {103, 0x0, 0x0000f000ff1079a5, 0x008ee80009814704,
     "LDGMC.E.MIN.E5M2x16.RN.STRONG.SYS R16, [RZ.U32+UR4+0xf0] ;"},
    {120, 0x0, 0x00001000020479a5, 0x000ea20008035dff,
     "LDGMC.E.ADD.F32x4.RN.STRONG.SYS R4, [R2.64+URZ+0x10] ;"},
    {100, 0x0, 0x000000ff050073e9, 0x0021e40008200804,
     "UTCBAR.2CTA.MULTICAST [UR5], URZ, UR4 ;"},
    {100, 0x0, 0x000000ff040073e9, 0x0001e400080000ff,
     "UTCBAR [UR4], URZ ;"},
    {100, 0x0, 0x00000000040083ca, 0x000fd80008000100,
     "@!UP0 UGETNEXTWORKID.BROADCAST [UR4], [UR5] ;"},
    {120, 0x0, 0x00000000040073ca, 0x000fd80008000000,
     "UGETNEXTWORKID.SELFCAST [UR4], [UR5] ;"},
    {100, 0x0, 0x00000004000575e3, 0x000e240008200800,
     "UTCATOMSWS.2CTA.FIND_AND_SET.ALIGN UP0, UR5, UR4 ;"},
    {100, 0x0, 0x0000000600ff79e3, 0x0005e20008000000,
     "UTCATOMSWS.AND URZ, UR6 ;"},
    {100, 0x0, 0x000000800000784c, 0x000fe80000000000,
     "UVIRTCOUNT.DEALLOC.SMPOOL 0x80 ;"},
    {100, 0x0, 0x00000004000479ee, 0x001e6200082a0000,
     "LDTM.16dp256bit.x32 R4, tmem[UR4] ;"},
    {100, 0x0, 0x10002004000579ee, 0x001e620008040000,
     "LDTM R5, tmem[UR4+0x100020] ;"},
    {100, 0x0, 0x00000004000079ed, 0x004fe20008160004,
     "STTM.16dp64bit.x4 tmem[UR4], R4 ;"},
    {100, 0x0, 0x00000000000073c6, 0x000fe20000000200,
     "FENCE.VIEW.ASYNC.T ;"},
    {100, 0x0, 0x00000004000079ed, 0x004fe20008910004,
     "STTM.16dp32bit_t0_t15.x4.EXPAND16BIT tmem[UR4], R4 ;"},
    {100, 0x0, 0x00001004000079ed, 0x000fe20008930004,
     "STTM.16dp32bit_t16_t31.x4.EXPAND16BIT tmem[UR4+0x10], R4 ;"},
    {103, 0x0, 0x8008040e0c0075ea, 0x0021e4000800000a,
     "UTCOMMA.BLOCK16 gdesc[UR12], gdesc[UR14], tmem[UR10], tmem[UR4], idesc[UR5], tmem[UR8], UP0 ;"},
    {103, 0x0, 0x00000004850475ee, 0x001fe20008b8000e,
     "LDTM.STAT.16dp32bit_t0_t15.x128.MINABS.F32 R133, R4, tmem[UR4] ;"},
    {103, 0x0, 0x00001004850475ee, 0x000e620008ba000e,
     "LDTM.STAT.16dp32bit_t16_t31.x128.MINABS.F32 R133, R4, tmem[UR4+0x10] ;"},
    {103, 0x0, 0x00000004090475ee, 0x001e620008140001,
     "LDTM.STAT.x4.MAX.S32 R9, R4, tmem[UR4] ;"},
    {110, 0x0, 0x8008040e0c0075ea, 0x0021e4000800000a,
     "UTCOMMA.4X gdesc[UR12], gdesc[UR14], tmem[UR10], tmem[UR4], idesc[UR5], tmem[UR8], UP0 ;"},
};

static void test_texts(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const struct text_case *c = &texts[i];
    struct sass_inst s;
    struct inst t;
    struct err e = {""};
    char buf[256];
    if (!sass_decode(c->sm, (struct word128){c->lo, c->hi}, c->pc, &s, &t, &e))
      fail_msg("%s: %s", c->text, e.msg);
    sass_print(&s, &t, false, buf, sizeof buf);
    assert_string_equal(buf, c->text);
  }
}

/* ---- Words that must not decode ---- */

struct error_case {
  unsigned sm;
  uint64_t lo, hi;
  const char *message; /* part of it */
};

static const struct error_case errors[] = {
    {80, 0, 0, "0x0000 on sm_80"},
    {86, 0x0000000002007dbd, 0x000fe2000c00083f, "0x1dbd on sm_86"}, /* STAS */
    {80, 0x000000801b087836, 0x000fe40000000000, "0x0836 on sm_80"}, /* VIADD: sm_90 only */
    {90, 0xb96000000d0d7817, 0x000fe40007800200, "0x0817 on sm_90"}, /* IMNMX: up to sm_89 */
    {80, 0x0000000900057245, 0x000fe40000201400, "0x0245 on sm_80"}, /* I2FP: from sm_86 */
    {62, 0x0000000000007918, 0x000fc00000000000, "on sm_62"},
    {70, 0x00000004070479b9, 0x000fc00000000a00, "on sm_70"},         /* ULDC: sm_75 and later */
    {70, 0x0000000407077981, 0x000ea200081ee900, "0x1981 on sm_70"},  /* LDG with a uniform register */
    {80, 0x000000060a0c7236, 0x0d1fe4000000500c, "0x0236 on sm_80"},  /* HMMA.884: sm_70 to sm_75 */
    {70, 0x000000060a0c7236, 0x0d1fe4000000580c, "bits 75"},          /* HMMA.444 of nvdisasm */
    {80, 0x800000ff0c087221, 0x000fe20000000a00, "bits 75"},          /* FADD with X's slot bit */
    {80, 0x0000000000007918, 0x000fc00000000001, "bits 64"},          /* NOP */
    {80, 0x0000000000007918, 0x200fc00000000000, "bits 125"},         /* above the control bits */
    {80, 0x0000001000007918, 0x000fc00000000000, "bits 36"},
    {80, 0x0000000015047984, 0x002462000001cc00, "bits 80"},          /* LDS with STG's ordering */
    {80, 0x000000ffff087224, 0x000fd800008e0009 | 1 << 12, "bits 76"}, /* IMAD */
    {80, 0x0000000000007b1d, 0x000fe20000014001, "bits 64"},          /* BAR */
};

static void test_errors(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    const struct error_case *c = &errors[i];
    struct sass_inst s;
    struct inst t;
    struct err e = {""};
    assert_false(sass_decode(c->sm, (struct word128){c->lo, c->hi}, 0x40, &s, &t, &e));
    if (!strstr(e.msg, c->message)) fail_msg("'%s' lacks '%s'", e.msg, c->message);
    assert_null(s.row);
    assert_true(t.flags & INST_UNDECODED);
    assert_int_equal(t.pc, 0x40);
  }
}

/* ---- The two views ---- */

struct both {
  struct sass_inst s;
  struct inst t;
};

static struct both decode(unsigned sm, uint64_t pc, uint64_t lo, uint64_t hi)
{
  struct both b;
  struct err e = {""};
  if (!sass_decode(sm, (struct word128){lo, hi}, pc, &b.s, &b.t, &e)) fail_msg("%s", e.msg);
  return b;
}

static void expect_src(const struct inst *t, unsigned i, unsigned file, unsigned index,
                       unsigned width, unsigned slot)
{
  assert_true(i < t->n_src);
  assert_int_equal(t->src[i].file, file);
  assert_int_equal(t->src[i].index, index);
  assert_int_equal(t->src[i].width, width);
  assert_int_equal(t->src[i].slot, slot);
}

static void expect_dst(const struct inst *t, unsigned i, unsigned file, unsigned index,
                       unsigned width)
{
  assert_true(i < t->n_dst);
  assert_int_equal(t->dst[i].file, file);
  assert_int_equal(t->dst[i].index, index);
  assert_int_equal(t->dst[i].width, width);
}

/* FFMA R5, R5, R4.reuse, c[0x0][0x16c]: the constant takes slot B and b moves to slot C, but the
 * reuse bit is that of position b. */
static void test_constant_operand(void **state)
{
  struct both b = decode(80, 0x1b0, 0x00005b0005057623, 0x080fe20000000004);
  (void)state;
  assert_int_equal(b.s.sem, SEM_FFMA);
  assert_int_equal(b.s.src[0].index, 5);
  assert_int_equal(b.s.src[1].kind, SRC_REG);
  assert_int_equal(b.s.src[1].index, 4);
  assert_int_equal(b.s.src[2].kind, SRC_CONST);
  assert_int_equal(b.s.src[2].bank, 0);
  assert_int_equal(b.s.src[2].imm, 0x16c);
  expect_src(&b.t, 0, FILE_R, 5, 1, 0);
  expect_src(&b.t, 1, FILE_R, 4, 1, 1);
  assert_true(b.t.src[1].reuse && !b.t.src[0].reuse);
  assert_true(b.t.has_const);
  assert_int_equal(b.t.const_off, 0x16c);
  assert_int_equal(b.t.pipe, PIPE_FMA);
}

/* DADD R4, -RZ, |R10|: the second addend lies in slot C; FADD R8, |R12|, -RZ: in slot B. */
static void test_addends(void **state)
{
  struct both d = decode(80, 0x1d0, 0x00000000ff047229, 0x000e22000000050a);
  struct both f = decode(80, 0x1d0, 0x800000ff0c087221, 0x000fe20000000200);
  (void)state;
  assert_int_equal(d.s.src[1].index, 10);
  assert_true(d.s.src[0].neg && !d.s.src[0].abs && d.s.src[1].abs && !d.s.src[1].neg);
  assert_int_equal(d.s.src[2].kind, SRC_NONE);
  expect_src(&d.t, 0, FILE_R, 10, 2, 2);
  expect_dst(&d.t, 0, FILE_R, 4, 2);
  assert_int_equal(f.s.src[1].index, SASS_RZ);
  assert_true(f.s.src[0].abs && !f.s.src[0].neg && f.s.src[1].neg);
  assert_int_equal(f.t.n_src, 1);
}

/* IMAD.WIDE.U32 R16, P3, R2, R21, R16 */
static void test_wide(void **state)
{
  struct both b = decode(80, 0x17f0, 0x0000001502107225, 0x004fc80007860010);
  (void)state;
  assert_int_equal(b.s.sem, SEM_IMAD_WIDE);
  assert_int_equal(sass_get(&b.s, FLD_SIGNED), 0);
  assert_int_equal(b.s.pu, 3);
  expect_dst(&b.t, 0, FILE_R, 16, 2);
  expect_dst(&b.t, 1, FILE_P, 3, 1);
  expect_src(&b.t, 0, FILE_R, 2, 1, 0);
  expect_src(&b.t, 1, FILE_R, 21, 1, 1);
  expect_src(&b.t, 2, FILE_R, 16, 2, 2);
  assert_true(b.t.flags & INST_HALF_RATE_PORT);
  assert_int_equal(b.t.ctrl.wait, 1 << 2);
}

/* MEMBAR.SC.CTA, .GPU and .SYS: how long a warp waits depends on it. */
static void test_fence_scope(void **state)
{
  (void)state;
  assert_int_equal(decode(80, 0, 0x0000000000007992, 0x000fec0000000000).t.scope, SCOPE_CTA);
  assert_int_equal(decode(80, 0, 0x0000000000007992, 0x000fec0000002000).t.scope, SCOPE_GPU);
  assert_int_equal(decode(80, 0, 0x0000000000007992, 0x000fec0000003000).t.scope, SCOPE_SYS);
}

/* LDG.E.128.CONSTANT R16, desc[UR6][R20.64] and STG.E.64 desc[UR6][R6.64], R4 */
static void test_global(void **state)
{
  struct both l = decode(80, 0xba0, 0x0000000614107981, 0x000ee8000c1e9d00);
  struct both st = decode(80, 0x1640, 0x0000000406007986, 0x001fe2000c101b06);
  (void)state;
  assert_true(l.s.ua_is_descriptor);
  assert_int_equal(l.s.ua, 6);
  expect_dst(&l.t, 0, FILE_R, 16, 4);
  expect_src(&l.t, 0, FILE_R, 20, 2, 0);
  expect_src(&l.t, 1, FILE_UR, 6, 2, 1);
  assert_int_equal(l.t.mem.space, MEM_GLOBAL);
  assert_int_equal(l.t.mem.op, MEM_LOAD);
  assert_int_equal(l.t.mem.bytes, 16);
  assert_int_equal(l.t.mem.addr, ADDR_REGULAR);
  assert_false(l.t.mem.strong || l.t.mem.bypass_l1);
  assert_int_equal(l.t.ctrl.write_sb, 3);
  assert_int_equal(st.t.mem.op, MEM_STORE);
  assert_int_equal(st.t.n_dst, 0);
  assert_int_equal(st.t.mem.bytes, 8);
  expect_src(&st.t, 2, FILE_R, 4, 2, 1);
}

/* LDS.U8 R27, [UR4+0x1]; LDS.128 R4, [R21.X16] */
static void test_shared(void **state)
{
  struct both u = decode(80, 0x230, 0x00000104ff1b7984, 0x000fe80008000000);
  struct both x = decode(80, 0x520, 0x0000000015047984, 0x002462000000cc00);
  (void)state;
  assert_int_equal(u.t.mem.addr, ADDR_UNIFORM);
  assert_int_equal(u.t.mem.bytes, 1);
  assert_int_equal(u.s.offset, 1);
  expect_src(&u.t, 0, FILE_UR, 4, 1, 1);
  assert_int_equal(sass_get(&x.s, FLD_LDS_STRIDE), 3);
  assert_int_equal(x.s.ua, SASS_URZ);
  expect_dst(&x.t, 0, FILE_R, 4, 4);
}

/* The type of MAX.S64 is 5 on sm_80 and 3 on sm_90. */
static void test_atomics(void **state)
{
  struct both a = decode(80, 0, 0x0003101004ff79a8, 0x00436800091eebcc);
  struct both b = decode(90, 0, 0x0002d00608ff79a8, 0x00456800091ee7c6);
  struct both f = decode(90, 0, 0x0000300d040079a6, 0x0003e2000c10f38a);
  struct both c = decode(80, 0, 0x000048101c1073a9, 0x000ea400001ee512);
  (void)state;
  assert_int_equal(sass_atom_type(&a.s), ATOM_S64);
  assert_int_equal(sass_atom_type(&b.s), ATOM_S64);
  assert_int_equal(sass_atom_type(&f.s), ATOM_F32);
  assert_int_equal(sass_atom_type(&c.s), ATOM_U64);
  assert_int_equal(a.s.offset, 0x310);
  assert_int_equal(a.t.mem.op, MEM_ATOMIC);
  assert_true(a.t.mem.strong);
  expect_src(&a.t, 2, FILE_R, 16, 2, 1);
  assert_int_equal(f.t.mem.op, MEM_RED);
  assert_true(f.t.mem.floats); /* updates of one word take longer in L2 */
  assert_false(a.t.mem.floats || b.t.mem.floats || c.t.mem.floats);
  assert_int_equal(c.s.src[1].index, 16); /* compare */
  assert_int_equal(c.s.src[2].index, 18); /* swap */
  expect_dst(&c.t, 0, FILE_R, 16, 2);
}

/* LDGSTS.E.64 [R11+0x20], [R4.64+0x40]; LDGSTS.E.BYPASS.128 [R3], [R6.64], !P0; DEPBAR.LE */
static void test_async_copy(void **state)
{
  struct both a = decode(80, 0, 0x00020040040b7fae, 0x0005e8000b921a44);
  struct both b = decode(80, 0, 0x0000000006037fae, 0x0003e2000c101c4e);
  struct both d = decode(80, 0, 0x000080400000791a, 0x000fc80000000000);
  (void)state;
  assert_int_equal(a.s.src[0].index, 4);
  assert_int_equal(a.s.src[1].index, 11);
  assert_int_equal(a.s.offset, 0x40);
  assert_int_equal(sass_get(&a.s, FLD_LDGSTS_SOFF), 0x20);
  assert_int_equal(a.t.mem.bytes, 8);
  assert_false(a.t.mem.bypass_l1);
  assert_true(b.t.mem.bypass_l1);
  assert_true(b.s.pp.neg);
  assert_int_equal(b.s.pp.index, 0);
  assert_true(d.t.flags & INST_DEPBAR);
  assert_int_equal(d.t.hold_for, 1 << 0);
  assert_int_equal(d.t.n_limits, 1);
  assert_int_equal(d.t.limit[0].counter, 0);
  assert_int_equal(d.t.limit[0].at_most, 1);
}

/* Register widths of matrix operands follow shape and types (PTX ISA fragment layouts). */
static void test_matrix(void **state)
{
  struct both h = decode(80, 0, 0x000000041010723c, 0x001fe6000004180c); /* 16816.F32.BF16 */
  struct both t = decode(80, 0, 0x000000060c14723c, 0x000ff60000081014); /* 1688.F32.TF32 */
  struct both i = decode(80, 0, 0x000000060c107237, 0x0c8ff60000441c10); /* 16832.S8.U8.SAT */
  (void)state;
  expect_dst(&h.t, 0, FILE_R, 16, 4);
  expect_src(&h.t, 0, FILE_R, 16, 4, 0);
  expect_src(&h.t, 1, FILE_R, 4, 2, 1);
  expect_src(&h.t, 2, FILE_R, 12, 4, 2);
  assert_int_equal(h.t.lat, LAT_MMA_16816_F32);
  expect_src(&t.t, 0, FILE_R, 12, 4, 0);
  expect_src(&t.t, 1, FILE_R, 6, 2, 1);
  assert_int_equal(sass_get(&i.s, FLD_IMMA_A), 1); /* S8 */
  assert_int_equal(sass_get(&i.s, FLD_IMMA_B), 0); /* U8 */
  assert_int_equal(sass_get(&i.s, FLD_IMMA_SAT), 1);
  expect_src(&i.t, 0, FILE_R, 12, 4, 0);
  assert_true(i.t.src[0].reuse && i.t.src[1].reuse && !i.t.src[2].reuse);
}

/* Displacements are relative to pc + 16, in units of 4 bytes, and split on sm_90. */
static void test_branches(void **state)
{
  struct both old = decode(80, 0x1830, 0x000000a000008947, 0x000fea0000800000); /* @!P0 BRA P1 */
  struct both new = decode(90, 0x1930, 0x0000000000288947, 0x000fea0000800000);
  struct both back = decode(80, 0x1810, 0xffffe7e006007950, 0x000fea0003c3ffff); /* RET.REL R6 */
  struct both far = decode(90, 0x1fb0, 0xffffffe006107950, 0x003fea0003c3ffff);
  (void)state;
  assert_int_equal(old.s.offset, 0xa0);
  assert_int_equal(new.s.offset, 0xa0);
  assert_int_equal(old.s.guard.index, 0);
  assert_true(old.s.guard.neg && old.t.guard_not);
  assert_int_equal(old.s.pp.index, 1);
  assert_false(old.s.pp.neg);
  assert_true(old.t.flags & INST_BRANCH);
  /* The displacement of RET.REL is -(pc + 16): the register holds a section-relative address. */
  assert_true(back.s.offset == -(0x1810 + 16));
  assert_true(far.s.offset == -(0x1fb0 + 16));
  expect_src(&back.t, 0, FILE_R, 6, 2, 0);
}

/* PLOP3.LUT P1, PT, P1, P2, PT, 0x2a, 0x0 and ISETP.GE.U32.AND.EX P0, PT, R11, R13, PT, P0 */
static void test_predicates(void **state)
{
  struct both p = decode(80, 0, 0x000000000000781c, 0x000fda0000f24572);
  struct both e = decode(80, 0, 0x0000000d0b00720c, 0x000fda0003f06100);
  (void)state;
  assert_int_equal(p.s.pu, 1);
  assert_int_equal(p.s.pv, SASS_PT);
  assert_int_equal(p.s.pp.index, 1);
  assert_int_equal(p.s.pq.index, 2);
  assert_int_equal(p.s.pr.index, SASS_PT);
  assert_int_equal(sass_get(&p.s, FLD_PLUT), 0x2a);
  assert_int_equal(p.t.lat, LAT_PRED);
  assert_int_equal(e.s.pr.index, 0);
  assert_int_equal(e.s.pp.index, SASS_PT);
  expect_dst(&e.t, 0, FILE_P, 0, 1);
}

/* @!UPT UIADD3 URZ, URZ, URZ, URZ never executes; CS2R R10, SR_CLOCKLO reads the clock. */
static void test_uniform_and_clock(void **state)
{
  struct both u = decode(80, 0, 0x0000003f3f3ff290, 0x000fea000fffe03f);
  struct both c = decode(80, 0, 0x00000000000a7805, 0x000fca0000015000);
  (void)state;
  assert_true(u.s.guard.uniform && u.s.guard.neg);
  assert_int_equal(u.s.udst, SASS_URZ);
  assert_int_equal(u.s.src[0].kind, SRC_UREG);
  assert_int_equal(u.s.src[2].index, SASS_URZ);
  assert_int_equal(u.t.n_src + u.t.n_dst, 0);
  assert_int_equal(sass_get(&c.s, FLD_SR), 80);
  expect_dst(&c.t, 0, FILE_R, 10, 2);
  assert_true(c.t.flags & INST_CLOCK);
}

/* Bits 124:105 by hand: stall 2, keep issuing, no counters, reuse of a; a read counter and a wait;
 * a yield. */
static void test_control(void **state)
{
  struct both a = decode(90, 0, 0x000000161016722b, 0x040fe40000000018);
  struct both b = decode(80, 0, 0x0000380a03009388, 0x0105ec0000008a00);
  char text[32];
  (void)state;
  sass_print_ctrl(&a.t.ctrl, text, sizeof text);
  assert_string_equal(text, "[B------:R-:W-:-:S02]");
  assert_int_equal(a.t.ctrl.reuse, 1);
  assert_false(a.t.ctrl.yield);
  sass_print_ctrl(&b.t.ctrl, text, sizeof text);
  assert_string_equal(text, "[B----4-:R2:W-:-:S06]");
  b = decode(80, 0, 0x000080000000791a, 0x000fc80000000000);
  sass_print_ctrl(&b.t.ctrl, text, sizeof text);
  assert_string_equal(text, "[B------:R-:W-:Y:S04]");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts),       cmocka_unit_test(test_errors),
      cmocka_unit_test(test_constant_operand), cmocka_unit_test(test_addends),
      cmocka_unit_test(test_wide),
      cmocka_unit_test(test_fence_scope),        cmocka_unit_test(test_global),
      cmocka_unit_test(test_shared),      cmocka_unit_test(test_atomics),
      cmocka_unit_test(test_async_copy),  cmocka_unit_test(test_matrix),
      cmocka_unit_test(test_branches),    cmocka_unit_test(test_predicates),
      cmocka_unit_test(test_uniform_and_clock), cmocka_unit_test(test_control),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
