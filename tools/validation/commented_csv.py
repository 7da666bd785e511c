"""CSV files of data/ whose first lines are comments that say where the rows come from: read as rows by column, written with the same comments."""


def read(path):
    head, *rows = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return [dict(zip(head.split(","), row.split(","))) for row in rows]


def write(path, rows):
    comment = [line for line in path.read_text().splitlines() if line.startswith("#")]
    lines = comment + [",".join(rows[0])] + [",".join(row.values()) for row in rows]
    path.write_text("\n".join(lines) + "\n")
