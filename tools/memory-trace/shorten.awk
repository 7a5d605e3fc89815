# Turns a trace of Valgrind's lackey into the simple format, with instructions counted
# instead of listed: a half of the size.
#
#     awk -f tools/memory-trace/shorten.awk program.trace > program.simple

function flush() {
    if (instructions > 0) print "work " instructions
    instructions = 0
}
BEGIN { names["L"] = "load"; names["S"] = "store"; names["M"] = "modify" }
/^I  / { instructions++; next }
/^ [LSM] / {
    flush()
    split($2, part, ",")
    print names[$1] " 0x" part[1] " " part[2]
}
END { flush() }
