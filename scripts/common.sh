# shellcheck shell=bash
#
# common.sh: what the scripts share.  Sourced, never run.
#
# 1. Messages.
# 2. The machine: find a PostgreSQL with headers, install what is missing.
# 3. The sandbox: a temporary folder with a private copy of the server, a copy
#    of this tree and a server that only a Unix socket in the folder reaches.
#    All of it runs as an unprivileged user and is gone when the script ends.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# PG_CONFIG= of the caller, before anything here can change it.
asked_pg_config=${PG_CONFIG:-}

# A make that called us must not pass its variables to the makes we call, nor
# the caller's environment lead our clients to another server.
unset MAKEFLAGS MFLAGS MAKELEVEL PG_CONFIG
for name in "${!PG@}"; do
	unset "$name"
done
unset name


# 1. Messages

say() { printf '%s\n' "$*"; }

heading() { printf '\n== %s\n\n' "$*"; }

fail() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# One field of /etc/os-release, empty where there is none.
os_field() {
	[ -r /etc/os-release ] || return 0
	# shellcheck source=/dev/null
	(. /etc/os-release && printf '%s' "${!1:-}")
}


# 2. The machine

# Where Debian folders and logs are kept between runs.
cache_folder() {
	echo "${ORDERED_UPDATE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ordered_update}"
}

oldest_major=15

pg_major() { "$1" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/'; }

# Does this pg_config belong to a server with all that building and running
# the extension takes?
is_complete() {
	local bindir program
	bindir=$("$1" --bindir 2>/dev/null) || return 1
	for program in postgres initdb pg_ctl pg_config psql pgbench; do
		[ -x "$bindir/$program" ] || return 1
	done
	[ -f "$("$1" --includedir-server)/postgres.h" ] &&
		[ -f "$("$1" --pgxs)" ] &&
		[ "$(pg_major "$1")" -ge "$oldest_major" ]
}

# Every pg_config in the places of Debian, PGDG's RPMs, Homebrew and PATH.
list_pg_configs() {
	local file
	for file in /usr/lib/postgresql/*/bin/pg_config /usr/pgsql-*/bin/pg_config \
		/opt/homebrew/opt/postgresql@*/bin/pg_config \
		/usr/local/opt/postgresql@*/bin/pg_config; do
		[ ! -x "$file" ] || echo "$file"
	done
	command -v pg_config || true
}

# The pg_config asked for, else that of the newest complete server; empty if
# there is none.
find_pg_config() {
	local file
	if [ -n "$asked_pg_config" ]; then
		! is_complete "$asked_pg_config" || command -v "$asked_pg_config"
		return
	fi
	list_pg_configs | while read -r file; do
		! is_complete "$file" || echo "$(pg_major "$file") $file"
	done | sort -rn | sed -n '1s/^[0-9]* //p'
}

# The major version whose Debian packages are wanted: the one asked for, the
# newest one already installed without its headers, or the distribution's.
wanted_major() {
	local major
	if [ -n "$asked_pg_config" ]; then
		major=$(sed -nE 's|^/usr/lib/postgresql/([0-9]+)/bin/pg_config$|\1|p' <<<"$asked_pg_config")
		[ -n "$major" ] || fail "PG_CONFIG=$asked_pg_config has no complete server beside it"
		echo "$major"
		return
	fi
	major=$(find /usr/lib/postgresql -path '*/bin/postgres' 2>/dev/null |
		sed -E 's|^/usr/lib/postgresql/([0-9]+)/.*|\1|' | sort -n | tail -n 1 || true)
	if [ "${major:-0}" -lt "$oldest_major" ]; then
		major=$(apt-cache depends postgresql |
			sed -nE 's/^ *Depends: postgresql-([0-9]+)$/\1/p' | head -n 1)
	fi
	[ "${major:-0}" -ge "$oldest_major" ] ||
		fail "the package sources here have no PostgreSQL $oldest_major or newer"
	echo "$major"
}

has_node_pg() {
	command -v node >/dev/null &&
		(cd / && NODE_PATH=/usr/share/nodejs node -e 'require("pg")') 2>/dev/null
}

# The Debian packages of the tools that are missing, besides the server.
# Only the tests take Perl and node-postgres, which comes by npm where there
# is one.
needs=demo
missing_tools() {
	command -v make >/dev/null || echo make
	echo '#include <stdio.h>' | gcc -E - >/dev/null 2>&1 || echo gcc libc6-dev
	[ "$needs" = test ] || return 0
	{ command -v prove && perl -MTest::More -e 1; } >/dev/null 2>&1 || echo perl
	perl -MIPC::Run -e 1 2>/dev/null || echo libipc-run-perl
	has_node_pg || command -v npm >/dev/null || echo nodejs node-pg
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# Installing Debian's server package creates and starts a cluster unless this
# file forbids it.
no_cluster=/etc/postgresql-common/createcluster.d/ordered_update.conf
no_cluster_written=no
no_cluster_folder_made=no

forbid_cluster() {
	no_cluster_written=yes
	[ -d "${no_cluster%/*}" ] || no_cluster_folder_made=yes
	as_root mkdir -p "${no_cluster%/*}"
	echo 'create_main_cluster = false' | as_root tee "$no_cluster" >/dev/null
}

allow_cluster() {
	[ "$no_cluster_written" = yes ] || return 0
	as_root rm -f "$no_cluster"
	[ "$no_cluster_folder_made" = no ] ||
		as_root rmdir --ignore-fail-on-non-empty "${no_cluster%/*}"
	no_cluster_written=no
}

apt_install() {
	forbid_cluster
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o Dpkg::Use-Pty=0 --no-install-recommends install "$@" </dev/null
	allow_cluster
}

install_on_debian() {
	local tools major
	tools=$(missing_tools | tr '\n' ' ')
	if [ -n "$tools" ] || [ -z "$(find_pg_config)" ]; then
		[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
			fail "something is missing, and installing it takes root or sudo"
		say "Installing what is missing."
		as_root apt-get -q update </dev/null
		if [ -z "$(find_pg_config)" ]; then
			major=$(wanted_major)
			tools="$tools postgresql-$major postgresql-server-dev-$major"
		fi
		# shellcheck disable=SC2086 # a list of package names
		apt_install $tools
	fi
}

# Where nothing is installed for the user: say what is missing and its names.
explain_missing() {
	local missing=''
	[ -n "$(find_pg_config)" ] ||
		missing="a PostgreSQL $oldest_major or newer with server, pgbench, headers and PGXS${asked_pg_config:+ at PG_CONFIG=$asked_pg_config}"
	missing="$missing $(missing_tools | grep -v nodejs | tr '\n' ' ')"
	[ -n "${missing// /}" ] || return 0
	cat >&2 <<-TEXT
		Missing on this machine: $missing

		  Fedora:   dnf install postgresql-server postgresql-contrib postgresql-server-devel \\
		                postgresql-test make gcc perl-IPC-Run perl-Test-Harness nodejs npm
		  Homebrew: brew install postgresql@17 cpanminus node && cpanm IPC::Run

		If PostgreSQL is installed in a place of its own, name it: make test PG_CONFIG=/path/to/pg_config
	TEXT
	exit 1
}

# Leave in $system_pg_config a complete server's pg_config.
prepare_machine() {
	if command -v apt-get >/dev/null; then
		install_on_debian
	else
		explain_missing
	fi
	system_pg_config=$(find_pg_config)
	[ -n "$system_pg_config" ] ||
		fail "no complete PostgreSQL${asked_pg_config:+ at PG_CONFIG=$asked_pg_config}"
}


# 3. The sandbox

sandbox=''

# The programs of the server, by name: its folder may hold all other programs
# of the system too.
server_programs='postgres initdb pg_ctl pg_config psql pgbench pg_isready
	pg_dump pg_dumpall pg_restore pg_basebackup pg_checksums pg_controldata
	pg_resetwal pg_rewind pg_verifybackup pg_waldump pg_receivewal pg_recvlogical
	createdb dropdb createuser dropuser pg_archivecleanup pg_combinebackup
	pg_createsubscriber'

# Stop the servers of the sandbox, those of cut-off tests too.
stop_servers() {
	local file
	find "$sandbox" -name postmaster.pid 2>/dev/null | while read -r file; do
		run pg_ctl -D "${file%/*}" -m immediate -w stop >/dev/null 2>&1 || true
	done
}

# Remove the sandbox and only that.
remove_sandbox() {
	local status=$?
	trap - EXIT INT TERM
	allow_cluster
	if [ -n "$sandbox" ]; then
		stop_servers
		rm -rf "$sandbox"
	fi
	exit "$status"
}

trap remove_sandbox EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The user everything in the sandbox runs as: a server refuses to run as root.
sandbox_user() {
	if [ "$(id -u)" -eq 0 ]; then
		echo nobody
	else
		id -un
	fi
}

# Run a command in the sandbox: as its user, with the private server first in
# PATH and none of the caller's PostgreSQL settings.
run() {
	local drop=()
	if [ "$(id -u)" -eq 0 ]; then
		if command -v setpriv >/dev/null; then
			drop=(setpriv --reuid=nobody "--regid=$(id -g nobody)" --clear-groups)
		else
			drop=(runuser -u nobody --)
		fi
	fi
	(cd "$sandbox/source" && exec ${drop[@]+"${drop[@]}"} env HOME="$sandbox/home" TMPDIR="$sandbox/tmp" \
		PATH="$bindir:$PATH" LC_ALL="$locale" PGHOST="$sandbox/socket" \
		PGDATABASE=postgres NODE_PATH="$sandbox/node_modules:/usr/share/nodejs" "$@")
}

make_sandbox() {
	local parent=${TMPDIR:-/tmp}
	# A Unix socket's path has at most 103 bytes on some systems.
	[ "${#parent}" -le 60 ] || parent=/tmp
	sandbox=$(mktemp -d "${parent%/}/ordered_update.XXXXXX")
	chmod 755 "$sandbox"
	mkdir "$sandbox/home" "$sandbox/tmp" "$sandbox/socket" "$sandbox/source"
	locale=C
	! locale -a 2>/dev/null | grep -qiE '^C\.utf-?8$' || locale=C.UTF-8
}

copy_folder() {
	mkdir -p "$2"
	cp -RL "$1/." "$2"
}

# Copy the server as the core tree's temp-install does.  Its programs find
# their libraries and data relative to where they are themselves, so the copy
# is whole, and `make install` with its pg_config writes into the copy.
copy_server() {
	local install=$sandbox/install program dir from
	from=$("$system_pg_config" --bindir)
	bindir=$install$from
	mkdir -p "$bindir"
	for program in $server_programs; do
		[ ! -x "$from/$program" ] || cp -L "$from/$program" "$bindir"
	done
	for dir in "$("$system_pg_config" --pkglibdir)" "$("$system_pg_config" --sharedir)"; do
		copy_folder "$dir" "$install$dir"
	done
	for dir in --includedir --pkgincludedir --includedir-server; do
		dir=$("$system_pg_config" "$dir")
		[ -e "$install$dir" ] || {
			mkdir -p "$install${dir%/*}"
			ln -s "$dir" "$install$dir"
		}
	done
	pg_config=$bindir/pg_config
	"$pg_config" --version >/dev/null 2>&1 ||
		fail "cannot run programs in $sandbox: set TMPDIR to a folder where programs may run"
}

# Copy the tree to a folder, without what a build or a test left in it.
copy_tree() {
	tar -C "$top" -cf - --exclude=./.git --exclude='*.o' --exclude='*.so' \
		--exclude='*.bc' --exclude='*.dylib' --exclude=node_modules --exclude=./results \
		--exclude=./output_iso --exclude=./tmp_check --exclude=./log . |
		tar -C "$1" -xf -
}

# make_in_root VERSION SECONDS ARGUMENT...: run make in the Debian folder of a
# server version.  The tree is copied into the folder, and into nothing else.
# The folder's lock keeps two runs from installing in it at once.
make_in_root() {
	local version=$1 seconds=$2 root copy status=0
	shift 2
	root=$("$top/scripts/version-root" "$version")
	exec 9>"$root.lock"
	flock 9
	# Left by a run that was killed.
	rm -rf --one-file-system "$root"/tmp/ordered_update.*
	copy=$(mktemp -d "$root/tmp/ordered_update.XXXXXX")
	chmod 755 "$copy"
	copy_tree "$copy"
	timeout --foreground "$seconds" "$top/scripts/in-root" "$root" \
		make -C "${copy#"$root"}" "$@" </dev/null 9>&- || status=$?
	rm -rf --one-file-system "$copy"
	exec 9>&-
	return "$status"
}

# node-postgres for the example programs, where the system does not have it.
fetch_node_pg() {
	if [ "$needs" = test ] && ! has_node_pg && command -v npm >/dev/null; then
		run npm install --silent --no-audit --no-fund --prefix "$sandbox" pg >/dev/null 2>&1 ||
			say "The npm package pg could not be installed: its example cannot be run."
	fi
}

give_sandbox_away() {
	[ "$(id -u)" -ne 0 ] || chown -R "nobody:$(id -g nobody)" "$sandbox"
}

build() {
	run make -s PG_CONFIG="$pg_config" all install >"$sandbox/build.log" 2>&1 || {
		cat "$sandbox/build.log" >&2
		fail "the extension does not build with $("$pg_config" --version)"
	}
}

# ICU decides the order of text where the server has it, so that a test which
# compares bytes by mistake does not pass by luck.
initdb_options() {
	printf '%s\n' --auth=trust --encoding=UTF8 --locale="$locale" --no-sync
	case "$(pg_major "$pg_config") $("$pg_config" --configure)" in
		*--without-icu*) ;;
		*--with-icu* | 1[6-9]\ * | [2-9]?\ *) printf '%s\n' --locale-provider=icu --icu-locale=und ;;
	esac
}

start_server() {
	local options
	options=$(initdb_options)
	# shellcheck disable=SC2086 # a list of options
	run initdb -D "$sandbox/data" $options >"$sandbox/initdb.log" 2>&1 || {
		cat "$sandbox/initdb.log" >&2
		fail "initdb failed"
	}
	run tee -a "$sandbox/data/postgresql.conf" >/dev/null <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$sandbox/socket'
		fsync = off
		full_page_writes = off
		max_connections = 100
		max_prepared_transactions = 20
		max_wal_size = 1GB
	CONF
	run pg_ctl -D "$sandbox/data" -l "$sandbox/server.log" -w start >/dev/null || {
		cat "$sandbox/server.log" >&2
		fail "the server did not start"
	}
}

# A private copy of the server and of the tree, ready to build.
open_build() {
	prepare_machine
	make_sandbox
	copy_server
	copy_tree "$sandbox/source"
	give_sandbox_away
}

# A running private server with the extension installed, for $needs: "demo" or
# "test".
open_sandbox() {
	needs=$1
	open_build
	say "$("$pg_config" --version), copied to a temporary folder; the installed server is not touched."
	fetch_node_pg
	build
	start_server
}
