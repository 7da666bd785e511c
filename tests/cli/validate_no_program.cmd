# Rows whose program is not there say so; nothing ran is an error.
mkdir -p "$T/programs"
cat >"$T/x.suite" <<X
title = "X"; source = "none"; gpu = "rtx-3080"; unit = "us"; data = "x.csv"; recorded = "r.csv"; tolerance_pct = 1.0;
X
printf 'id,split,group,run,launch,measured\na,held-out,g,exec absent/main,1,5\n' >"$T/x.csv"
"$W" validate --suite "$T/x.suite" --programs "$T/programs"
