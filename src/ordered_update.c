/*-------------------------------------------------------------------------
 *
 * ordered_update.c
 *		The door: SQL entry points and library load.
 *
 * Reads and checks what SQL passes, and hands a batch down.  Does no work of
 * its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "batch.h"
#include "json_changes.h"
#include "lock_all.h"
#include "keyset.h"
#include "order_check.h"
#include "settings.h"
#include "statement_watch.h"
#include "statements.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

PG_FUNCTION_INFO_V1(ordered_increment_ids);
PG_FUNCTION_INFO_V1(ordered_increment);
PG_FUNCTION_INFO_V1(ordered_add);
PG_FUNCTION_INFO_V1(ordered_update);
PG_FUNCTION_INFO_V1(ordered_upsert);
PG_FUNCTION_INFO_V1(ordered_delete);
PG_FUNCTION_INFO_V1(ordered_lock);
PG_FUNCTION_INFO_V1(ordered_lock_all);

/*
 * Called when the library is loaded.
 */
void
_PG_init(void)
{
	ou_settings_define();
	ou_statements_install();
	ou_statement_watch_install();
	ou_order_install();
}

/*
 * Check that the argument that SQL calls name is not null: 22004.
 */
static void
check_not_null(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
}

/*
 * Read a boolean argument.
 */
static bool
read_flag(FunctionCallInfo fcinfo, int arg, const char *name)
{
	check_not_null(fcinfo, arg, name);
	return PG_GETARG_BOOL(arg);
}

/*
 * Read the array of keys.  Raises what ou_keyset_check_array raises.
 */
static ArrayType *
read_keys(FunctionCallInfo fcinfo, int arg, const char *name)
{
	ArrayType  *keys;

	check_not_null(fcinfo, arg, name);
	keys = PG_GETARG_ARRAYTYPE_P(arg);
	ou_keyset_check_array(keys);
	return keys;
}

/*
 * Read the missing_ok argument.
 */
static MissingPolicy
read_missing(FunctionCallInfo fcinfo, int arg)
{
	return read_flag(fcinfo, arg, "missing_ok") ? MISSING_SKIP : MISSING_RAISE;
}

/*
 * Read the strength argument, in SQL's words.  Raises 22023 for others.
 */
static LockStrength
read_strength(FunctionCallInfo fcinfo, int arg)
{
	char	   *word;

	check_not_null(fcinfo, arg, "strength");
	word = text_to_cstring(PG_GETARG_TEXT_PP(arg));
	if (pg_strcasecmp(word, "update") == 0)
		return STRENGTH_UPDATE;
	if (pg_strcasecmp(word, "no key update") == 0)
		return STRENGTH_NO_KEY_UPDATE;
	if (pg_strcasecmp(word, "share") == 0)
		return STRENGTH_SHARE;
	if (pg_strcasecmp(word, "key share") == 0)
		return STRENGTH_KEY_SHARE;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized lock strength: \"%s\"", word),
			 errhint("Valid strengths are \"update\", \"no key update\", \"share\" and \"key share\".")));
}

/*
 * Lock the table that the row type of the first argument belongs to.
 */
static void
lock_target(FunctionCallInfo fcinfo, Batch *batch)
{
	LockRequest request = {.verb = batch->verb};

	request.batch_size = ou_batch_size(batch);
	batch->shape.relid = ou_target_lock_by_rowtype(get_fn_expr_argtype(fcinfo->flinfo, 0),
												   &request, &batch->held);
}

/*
 * Run a batch whose rows are the result of the SQL function.  The executor has
 * made a description of the short form's result, which is not to be made from
 * the catalog a second time.
 */
static Datum
run_batch(FunctionCallInfo fcinfo, Batch *batch)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, batch->shape.result == RESULT_ID_REVISION ?
						MAT_SRF_USE_EXPECTED_DESC : 0);
	batch->result = rsinfo->setResult;
	batch->resultdesc = rsinfo->setDesc;
	if (batch->shape.change != CHANGE_UPSERT && ou_target_has_ctids(batch->shape.relid))
		batch->shape.locate = LOCATE_BY_CTID;
	else
		batch->shape.locate = LOCATE_BY_KEY;
	ou_batch_run(batch);
	return (Datum) 0;
}

/*
 * Check that all ids are positive: 22023.
 */
static void
check_positive(const ArrayType *ids)
{
	const int32 *values = (const int32 *) ARR_DATA_PTR(ids);
	int			nvalues = ArrayGetNItems(ARR_NDIM(ids), ARR_DIMS(ids));

	for (int i = 0; i < nvalues; i++)
		if (values[i] <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("ids must be positive"),
					 errdetail("The batch contains %d.", values[i])));
}

/*
 * ordered_increment(ids integer[]) RETURNS TABLE (id integer, revision integer)
 *
 * The short form: adds 1 to the configured counter of the configured table.
 */
Datum
ordered_increment_ids(PG_FUNCTION_ARGS)
{
	Batch		batch = {.verb = "ordered_increment"};
	LockRequest request = {.verb = batch.verb};

	batch.keys = read_keys(fcinfo, 0, "ids");
	check_positive(batch.keys);
	ou_target_check_writable(batch.verb);

	request.batch_size = ou_batch_size(&batch);
	request.hint = gettext_noop("The short form changes the table that ordered_update.default_table names.");
	batch.shape.relid = ou_target_lock_by_name(ou_default_table, &request, &batch.held);
	batch.shape.change = CHANGE_INCREMENT;
	batch.shape.strength = STRENGTH_UPDATE;
	batch.shape.result = RESULT_ID_REVISION;
	batch.shape.columns =
		bms_make_singleton(ou_target_find_counter(batch.shape.relid, ou_default_counter));
	batch.amount = int64_to_numeric(1);
	return run_batch(fcinfo, &batch);
}

/*
 * ordered_increment(target anyelement, keys anycompatiblearray, counter name,
 *					 by numeric, missing_ok boolean) RETURNS SETOF anyelement
 */
Datum
ordered_increment(PG_FUNCTION_ARGS)
{
	Batch		batch = {.verb = "ordered_increment"};

	batch.keys = read_keys(fcinfo, 1, "keys");
	check_not_null(fcinfo, 2, "counter");
	check_not_null(fcinfo, 3, "by");
	batch.amount = PG_GETARG_NUMERIC(3);
	batch.missing = read_missing(fcinfo, 4);
	ou_target_check_writable(batch.verb);

	lock_target(fcinfo, &batch);
	batch.shape.change = CHANGE_INCREMENT;
	batch.shape.columns =
		bms_make_singleton(ou_target_find_counter(batch.shape.relid,
												  NameStr(*PG_GETARG_NAME(2))));
	return run_batch(fcinfo, &batch);
}

/*
 * Run a batch of changes, which SQL passes as JSON in the second argument.
 */
static Datum
run_changes(FunctionCallInfo fcinfo, Batch *batch)
{
	JsonColumns columns;

	check_not_null(fcinfo, 1, "changes");
	batch->changes = PG_GETARG_JSONB_P(1);
	if (batch->shape.change != CHANGE_UPSERT)
		batch->missing = read_missing(fcinfo, 2);
	ou_target_check_writable(batch->verb);

	lock_target(fcinfo, batch);
	ou_json_columns_read(&columns, batch->changes, batch->shape.relid);
	batch->shape.source = ou_json_objects_source(batch->changes);
	batch->shape.columns = columns.all;
	batch->shape.optional = bms_difference(columns.all, columns.common);
	batch->nulls = columns.null;
	return run_batch(fcinfo, batch);
}

/*
 * ordered_add(target anyelement, changes jsonb, missing_ok boolean)
 *		RETURNS SETOF anyelement
 */
Datum
ordered_add(PG_FUNCTION_ARGS)
{
	Batch		batch = {.verb = "ordered_add"};

	batch.shape.change = CHANGE_ADD;
	return run_changes(fcinfo, &batch);
}

/*
 * ordered_update(target anyelement, changes jsonb, missing_ok boolean)
 *		RETURNS SETOF anyelement
 */
Datum
ordered_update(PG_FUNCTION_ARGS)
{
	Batch		batch = {.verb = "ordered_update"};

	batch.shape.change = CHANGE_SET;
	return run_changes(fcinfo, &batch);
}

/*
 * ordered_upsert(target anyelement, changes jsonb) RETURNS SETOF anyelement
 */
Datum
ordered_upsert(PG_FUNCTION_ARGS)
{
	Batch		batch = {.verb = "ordered_upsert"};

	batch.shape.change = CHANGE_UPSERT;
	return run_changes(fcinfo, &batch);
}

/*
 * ordered_delete(target anyelement, keys anycompatiblearray, missing_ok boolean)
 *		RETURNS SETOF anyelement
 */
Datum
ordered_delete(PG_FUNCTION_ARGS)
{
	Batch		batch = {.verb = "ordered_delete"};

	batch.keys = read_keys(fcinfo, 1, "keys");
	batch.missing = read_missing(fcinfo, 2);
	ou_target_check_writable(batch.verb);

	lock_target(fcinfo, &batch);
	batch.shape.change = CHANGE_DELETE;
	return run_batch(fcinfo, &batch);
}

/*
 * ordered_lock(target anyelement, keys anycompatiblearray, strength text,
 *				nowait boolean, missing_ok boolean) RETURNS SETOF anyelement
 */
Datum
ordered_lock(PG_FUNCTION_ARGS)
{
	Batch		batch = {.verb = "ordered_lock"};

	batch.keys = read_keys(fcinfo, 1, "keys");
	batch.shape.strength = read_strength(fcinfo, 2);
	batch.shape.wait = read_flag(fcinfo, 3, "nowait") ? WAIT_NOT : WAIT_UNTIL_FREE;
	batch.missing = read_missing(fcinfo, 4);
	ou_target_check_writable(batch.verb);

	lock_target(fcinfo, &batch);
	batch.shape.change = CHANGE_NONE;
	return run_batch(fcinfo, &batch);
}

/*
 * ordered_lock_all(targets jsonb, strength text, nowait boolean, missing_ok boolean)
 *		RETURNS bigint
 */
Datum
ordered_lock_all(PG_FUNCTION_ARGS)
{
	Batch		batch = {.verb = "ordered_lock_all"};

	check_not_null(fcinfo, 0, "targets");
	batch.shape.change = CHANGE_NONE;
	batch.shape.result = RESULT_NONE;
	batch.shape.locate = LOCATE_BY_KEY;
	batch.shape.strength = read_strength(fcinfo, 1);
	batch.shape.wait = read_flag(fcinfo, 2, "nowait") ? WAIT_NOT : WAIT_UNTIL_FREE;
	batch.missing = read_missing(fcinfo, 3);
	ou_target_check_writable(batch.verb);
	PG_RETURN_INT64(ou_lock_all(PG_GETARG_JSONB_P(0), &batch));
}
