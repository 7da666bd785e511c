#!/usr/bin/env bash
# Compiles lines.cu with line tables (needs nvcc), in a folder of a fixed name: the tables hold it.
set -eu
cd "$(dirname "$0")"
folder=/tmp/warpstep-lines
mkdir -p "$folder"
cp lines.cu "$folder"
for sm in 86 120; do
  (cd "$folder" && nvcc -arch="sm_$sm" -lineinfo -cubin -o "lines.sm_$sm.cubin" lines.cu)
  mv "$folder/lines.sm_$sm.cubin" .
done
rm -r "$folder"
