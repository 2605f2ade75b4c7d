# Cut the snippets of C out of a page: a header, or a page of Markdown.
#
# usage: awk -v page=NAME -v out=DIRECTORY -f extract.awk FILE
#
# A snippet is
#   - in Markdown, a fence marked c;
#   - there, and in the comments of a header, a block indented by four or more
#     spaces, after an empty line, in which a line ends in a semicolon (a remark
#     may follow) or is a directive.
#
# One with a main is a program, written to OUT/NAME.N.c; N counts the snippets
# of the page.  Any other is cut at empty lines and at lines of three dots, and
# written to OUT/NAME.N.M.  Each knows the lines that it came from, for the
# compiler to tell.  Prints a line for each: `program`, `piece` or `other` (an
# indented block that is not C), and the name.
#
# A fence marked output is what the program before it prints: OUT/NAME.N.output.

BEGIN { is_after_gap = 1 }

# The text of a header is what stands in comments that begin a line.
FILENAME ~ /\.h$/ {
    if (!in_comment && $0 !~ /^ *\/\*/) {
        gap()
        next
    }
    in_comment = ($0 !~ /\*\//)
    text = $0
    sub(/\*\/.*/, "", text)
    sub(/^ *\/?\* ?/, "", text)
    read(text)
    next
}

/^ *```/ {
    flush()
    language = $0
    sub(/^ *```+ */, "", language)
    in_fence = !in_fence
    in_snippet = (in_fence && language == "c")
    in_output = (in_fence && language == "output")
    is_after_gap = 1
    next
}
in_snippet { keep($0) }
in_output { print >(out "/" page "." snippets ".output") }
!in_fence { read($0) }

END {
    flush()
    if (in_fence) {
        print FILENAME ": a fence without an end" >"/dev/stderr"
        exit 1
    }
}

# A line of text, in which an indented block may begin, go on or end.
function read(text)
{
    if (text ~ /^ *$/) {
        if (count > 0)
            keep("")
        is_after_gap = 1
    } else if (text ~ /^    / && (count > 0 || is_after_gap)) {
        keep(substr(text, 5))
    } else {
        gap()
        is_after_gap = 0
    }
}

# No text: what follows begins anew.
function gap()
{
    flush()
    is_after_gap = 1
}

function keep(text)
{
    lines[++count] = text
    numbers[count] = FNR
}

# The end of a block, if there is one.
function flush(    i, is_c, is_program)
{
    for (i = 1; i <= count; i++) {
        if (lines[i] ~ /;( *\/\*.*)?$/ || lines[i] ~ /^#(include|define|if)/)
            is_c = 1
        if (lines[i] ~ /^int main\(/)
            is_program = 1
    }
    if (is_program)
        write_program()
    else if (in_snippet || is_c)
        write_pieces()
    else if (count > 0)
        print "other", FILENAME ":" numbers[1]
    count = 0
}

function write_program(    i, file)
{
    file = page "." ++snippets ".c"
    begin(out "/" file, 1)
    for (i = 1; i <= count; i++)
        print lines[i] >(out "/" file)
    close(out "/" file)
    print "program", file
}

function write_pieces(    i, pieces, file)
{
    snippets++
    for (i = 1; i <= count; i++) {
        if (lines[i] ~ /^ *(\.\.\.)?$/) {
            file = ""
            continue
        }
        if (file == "") {
            file = page "." snippets "." ++pieces
            begin(out "/" file, i)
            print "piece", file
        }
        print lines[i] >(out "/" file)
    }
}

function begin(path, i)
{
    printf "#line %d \"%s\"\n", numbers[i], FILENAME >path
}
