# ordered_update: make overlapping batches of row changes take their locks in
# one order.  `make && make install` builds with the server of PG_CONFIG;
# `make demo` and `make test` need no server and leave the installed one alone.

EXTENSION = ordered_update
MODULE_big = ordered_update
OBJS = \
	src/batch.o \
	src/changes.o \
	src/insert_source.o \
	src/json_changes.o \
	src/keyset.o \
	src/keytype.o \
	src/lock_all.o \
	src/merge_actions.o \
	src/missing.o \
	src/one_pass.o \
	src/order_check.o \
	src/order_watch.o \
	src/ordered_update.o \
	src/own_changes.o \
	src/plan_cache.o \
	src/procedural_calls.o \
	src/result.o \
	src/row_lock.o \
	src/settings.o \
	src/sql_text.o \
	src/statement_watch.o \
	src/statements.o \
	src/target.o \
	src/unique_columns.o
DATA = ordered_update--1.0.sql
PGFILEDESC = "ordered_update - row changes that lock in one order"

REGRESS = \
	setup \
	short_form \
	short_form_errors \
	short_form_settings \
	increment \
	delete \
	lock \
	ordered_add \
	ordered_update \
	ordered_upsert \
	json_shapes \
	key_forms \
	key_types \
	key_types_citext \
	tables \
	partitions \
	refusals \
	privileges \
	row_security \
	triggers \
	plans \
	one_pass \
	nesting \
	lock_modes \
	read_only \
	ordered_lock_all \
	ordered_contract \
	order_check \
	search_path \
	ordered_statements_setup \
	ordered_statements \
	ordered_statements_left_alone \
	ordered_statements_results \
	order_check_statements \
	statements_unchanged \
	own_changes
ISOLATION = \
	bitmap-scan-control \
	composite-keys \
	composite-keys-recheck \
	delete-control \
	delete-while-waiting \
	hash-join-control \
	insert-on-conflict-control \
	json-while-waiting \
	key-column-changed \
	key-column-changed-control \
	lock-all \
	lock-all-control \
	lock-all-modes \
	lock-nowait \
	lock-strength \
	nested-trigger \
	nested-trigger-control \
	one-pass-check \
	one-pass-trigger \
	one-pass-trigger-control \
	one-pass-unique \
	one-pass-unique-control \
	opposite-orders \
	opposite-orders-control \
	other-order \
	other-order-control \
	overlapping-sets \
	parent-counter \
	parent-counter-control \
	parent-upsert \
	partition-move \
	partition-orders \
	partition-recheck \
	reinsert-while-waiting \
	rekey-while-waiting \
	repeatable-read \
	savepoint-release \
	select-for-update-control \
	serializable \
	share-lock \
	share-lock-control \
	share-lock-partition \
	statements-cascade \
	statements-delete \
	statements-insert-or-nothing \
	statements-merge \
	statements-merge-recheck \
	statements-select \
	statements-update-bitmap \
	statements-update-sequential \
	statements-update-values \
	statements-update-while-waiting \
	statements-upsert \
	update-while-waiting \
	upsert-new-rows \
	upsert-new-rows-control \
	verb-pairs \
	verb-pairs-json \
	wait-cut-short \
	watch-deadlock \
	watch-multixact
ISOLATION_OPTS = --load-extension=ordered_update
TAP_TESTS = 1
EXTRA_CLEAN = output_iso tmp_check log

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
else
all install installcheck:
	@echo "$(PG_CONFIG) finds no PGXS: install the server's development package, or name another PG_CONFIG=" >&2
	@false
endif

# PGXS of a packaged server tracks no headers.
$(OBJS) $(OBJS:.o=.bc): $(wildcard src/*.h)

.PHONY: demo test test-all bench bench-all check-style check-warnings format
demo test test-all bench bench-all check-style check-warnings format:
	scripts/$@
