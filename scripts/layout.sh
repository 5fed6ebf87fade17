# shellcheck shell=bash
#
# layout.sh: the layout of the C files.  Sourced by format and check-style.

# pg_bsd_indent's flags and what goes before and after it are those of
# src/tools/pgindent/pgindent in PostgreSQL 17.
indent_flags='-bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 -i4
	-l79 -lp -lpl -nip -npro -sac -tpg -ts4'

# Print a C file as it should be laid out.
format_source() {
	# shellcheck disable=SC2086 # a list of flags
	sed -E 's|/\* +---|/*---X_X|g' "$1" |
		pg_bsd_indent $indent_flags -Usrc/typedefs.list |
		sed -E -e 's|/\*---X_X|/* ---|g' \
			-e 's|\*/(/\*.*\*/)$|*/\t\1|' \
			-e 's|^([A-Za-z_][^[:space:]]*)[[:space:]]+\*$|\1 *|'
}
