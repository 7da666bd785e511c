"""Small mutations of C text: each replaces one line, so that line numbers stay. Preprocessor lines, comments, strings,
assertions of our own (BUG_ON) and compile-time checks are left alone."""
import collections
import re

Mutant = collections.namedtuple("Mutant", "path line kind old new")

SKIP = re.compile(r"^\s*#|\bBUG_ON\b|\b_?[sS]tatic_assert\b|\bLANE_UNUSED\b|\(void\)")
COMPARE = {"<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="], "==": ["!="], "!=": ["=="]}
OPERATOR = {"+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"],
            "|": ["&"], "^": ["|"], "&&": ["||"], "||": ["&&"], "+=": ["-=", "="], "-=": ["+="], "|=": ["&=", "="],
            "&=": ["|="], "<<=": [">>="], ">>=": ["<<="]}
BINARY = re.compile(r"(?<=[\w\])] )(<<=|>>=|&&|\|\||<<|>>|<=|>=|==|!=|\+=|-=|\|=|&=|[-+*/%&|^<>])(?= [\w(!~*&\"-])")
NUMBER = re.compile(r"(?<![\w.\"])(0x[0-9a-fA-F]+|0|[1-9][0-9]*)([uUlL]*)(?![\w.])")
SIMPLE = r"[A-Za-z_]\w*(?:(?:->|\.)\w+|\[\w+\])*"
SWAP_ABLE = re.compile(rf"(?<![\w.>\])] )\b({SIMPLE}) (-|/|<<|>>|%) ({SIMPLE})(?![\w(\[.]|->)")
SWAP_CALL = re.compile(rf"\b(\w+)\(({SIMPLE}), ({SIMPLE})([,)])")
CONDITION = re.compile(r"^(\s*(?:\} )?(?:else )?(?:if|while) \()(.*)$")
GUARD = re.compile(r"^\s*if \(.*\) (?:return\b.*|continue|break|goto \w+);$")
STATEMENT = re.compile(r"^\s+(?:[a-z_]\w*\(.*\)|[*(]?[A-Za-z_][\w.>()\[\]*+ -]*? (?:[-+|&^*]|<<|>>)?= .*|[\w.>\[\]-]+(?:\+\+|--));$")
DECLARATION = re.compile(r"^\s+(?:const |static |struct |enum |unsigned |uint|int|bool |size_t |char |double |float |picos |void |lane_mask |CU|cuda)"
                         r"[\w ]*[* ]\w+(?:\[.*\])?(?: =|;|,)")
HEAD = re.compile(r"^(?!typedef|struct \w+ \{|enum)(?:static )?(?:inline )?((?:const )?(?:struct |enum )?\w+(?: int| long| char)?)( \*+| )(\w+)\(")


def blank(text):
    """The text with comments, strings and characters replaced by blanks of the same length; quotes stay."""
    def spaces(match):
        s = match.group(0)
        if s[0] in "\"'":
            return s[0] + "~" * (len(s) - 2) + s[-1]
        return re.sub(r"[^\n]", " ", s)
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", spaces, text, flags=re.S)


def closing(code, at):
    """Index of the parenthesis that closes the one before `at`, or -1."""
    depth = 1
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return -1


def of_line(line, code):
    """(kind, new line) of one line; `code` is the line without comments and strings."""
    for m in BINARY.finditer(code):
        op, kind = m.group(1), "comparison" if m.group(1) in COMPARE else "operator"
        if op in "*&" and re.search(r"[(,=] ?$|\breturn $", code[:m.start()]):
            continue
        for new in COMPARE.get(op) or OPERATOR.get(op, []):
            yield kind, line[:m.start()] + new + line[m.end():]
    for m in NUMBER.finditer(code):
        if code[m.end():].startswith("]") and re.match(r"^\s+[\w ]+ \w+\[$", code[:m.start()]):
            continue  # the size of an array
        n = int(m.group(1), 0)
        values = [n + 1] + ([n - 1] if n else [])
        for v in values:
            text = hex(v) if m.group(1).startswith("0x") else str(v)
            yield "constant", line[:m.start()] + text + m.group(2) + line[m.end():]
    for m in SWAP_ABLE.finditer(code):
        yield "operands", f"{line[:m.start()]}{m.group(3)} {m.group(2)} {m.group(1)}{line[m.end():]}"
    for m in SWAP_CALL.finditer(code):
        if m.group(2) != m.group(3) and m.group(1) not in ("if", "while", "for", "return", "sizeof"):
            yield "arguments", f"{line[:m.start()]}{m.group(1)}({m.group(3)}, {m.group(2)}{m.group(4)}{line[m.end():]}"
    m = CONDITION.match(code)
    if m:
        at = m.end(1)
        end = closing(code, at)
        if end > 0:
            yield "condition", f"{line[:at]}!({line[at:end]}){line[end:]}"
    if GUARD.match(code):
        yield "check", re.match(r"\s*", line).group(0) + ";"
    elif STATEMENT.match(code) and not DECLARATION.match(code):
        yield "statement", re.match(r"\s*", line).group(0) + ";"


def early_returns(lines, codes):
    """Functions that return at once: the opening brace in column 0 gets a return."""
    for i, code in enumerate(codes):
        if code != "{" or i == 0:
            continue
        head = i - 1
        while head > 0 and codes[head - 1].strip() and not codes[head - 1].startswith(("}", "#")) and not HEAD.match(codes[head]):
            head -= 1
        m = HEAD.match(codes[head])
        if not m or not codes[head][0].isalpha():
            continue
        kind, pointer = m.group(1), "*" in m.group(2)
        if kind == "void" and not pointer:
            values = [""]
        elif kind == "bool" and not pointer:
            values = [" true", " false"]
        elif kind.startswith("struct") and not pointer:
            continue
        else:
            values = [" 0"]
        for v in values:
            yield i, "return", "{ return" + v + ";"


def candidates(path, text):
    """All mutants of a file."""
    lines, codes = text.split("\n"), blank(text).split("\n")
    depth = 0
    for i, (line, code) in enumerate(zip(lines, codes)):
        if code == "{":
            depth = 1
        elif code.startswith("}"):
            depth = 0
        in_macro = i > 0 and lines[i - 1].endswith("\\") or line.endswith("\\")
        if SKIP.search(code) or in_macro or (not depth and not re.match(r"^(LANE_|enum \{)", code) and "=" not in code):
            continue
        for kind, new in of_line(line, code):
            if new != line:
                yield Mutant(path, i + 1, kind, line, new)
    for i, kind, new in early_returns(lines, codes):
        yield Mutant(path, i + 1, kind, lines[i], new)
