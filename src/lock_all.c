/*-------------------------------------------------------------------------
 *
 * lock_all.c
 *		Rows of several tables, locked in one order.
 *
 * The tables come in the order of their schema-qualified names, as bytes, and
 * the rows of each in primary key order, however they are written.  Each table
 * is a batch; what is missing is collected and reported for all of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "json_changes.h"
#include "lock_all.h"

/* A table and the keys of its rows. */
typedef struct LockTarget
{
	char	   *name;			/* as written */
	Oid			relid;
	char	   *qualified;		/* schema.name, which gives the order */
	Jsonb	   *keys;
} LockTarget;

/*
 * Compare two tables for qsort.  Names that have dots in them can be alike, as
 * are table "b.c" of schema "a" and table "c" of schema "a.b".
 */
static int
compare_targets(const void *a, const void *b)
{
	const LockTarget *one = a;
	const LockTarget *other = b;
	int			order = strcmp(one->qualified, other->qualified);

	if (order != 0 || one->relid == other->relid)
		return order;
	return one->relid < other->relid ? -1 : 1;
}

/*
 * Raise 22023 for JSON of the wrong shape.
 */
static void
report_wrong_shape(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("targets must be a JSON object of arrays of keys"),
			 errhint("Write targets as {\"articles\": [3, 1, 2], \"pages\": [{\"article\": 3, \"number\": 7}]}.")));
}

/*
 * Check that keys are all values or all objects.
 */
static void
check_keys(Jsonb *keys)
{
	JsonbIterator *iterator = JsonbIteratorInit(&keys->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	uint32		nobjects = 0;

	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM || value.type != jbvBinary)
			continue;
		if (!JsonContainerIsObject(value.val.binary.data))
			report_wrong_shape();
		nobjects++;
	}
	if (nobjects > 0 && nobjects < JB_ROOT_COUNT(keys))
		report_wrong_shape();
}

/*
 * Look up a table by its name as written, without locking it.  Raises 42P01
 * when there is none.
 */
static void
look_up(LockTarget *target)
{
	List	   *names = textToQualifiedNameList(cstring_to_text(target->name));

	target->relid = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, false);
	target->qualified = psprintf("%s.%s", get_namespace_name(get_rel_namespace(target->relid)),
								 get_rel_name(target->relid));
}

/*
 * Read the tables and their keys, in order.  Returns how many there are.
 */
static int
read_targets(Jsonb *json, LockTarget **targets)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	value;
	int			ntargets = 0;

	if (!JB_ROOT_IS_OBJECT(json))
		report_wrong_shape();
	*targets = palloc(sizeof(LockTarget) * Max(JB_ROOT_COUNT(json), 1));
	iterator = JsonbIteratorInit(&json->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		LockTarget *target = *targets + ntargets;

		if (token == WJB_KEY)
		{
			target->name = pnstrdup(value.val.string.val, value.val.string.len);
			look_up(target);
		}
		else if (token == WJB_VALUE)
		{
			if (value.type != jbvBinary || !JsonContainerIsArray(value.val.binary.data))
				report_wrong_shape();
			target->keys = JsonbValueToJsonb(&value);
			check_keys(target->keys);
			ntargets++;
		}
	}
	qsort(*targets, ntargets, sizeof(LockTarget), compare_targets);
	return ntargets;
}

/*
 * Check that there is something to lock, and no table twice: 22023.
 */
static void
check_targets(const LockTarget *targets, int ntargets)
{
	if (ntargets == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("batch must not be empty")));
	for (int i = 1; i < ntargets; i++)
		if (compare_targets(&targets[i - 1], &targets[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("table \"%s\" is named twice", targets[i].qualified)));
}

/*
 * Raise P0002 for all rows of all tables that do not exist.
 */
static void
report_absent(const AbsentRows *absent)
{
	ereport(ERROR,
			(errcode(ERRCODE_NO_DATA_FOUND),
			 errmsg_plural("%d row does not exist or is not visible",
						   "%d rows do not exist or are not visible",
						   absent->nrows, absent->nrows),
			 errdetail_internal("%s", absent->detail.data)));
}

/*
 * Lock rows of several tables: targets is an object of table names, written as
 * in SQL, and arrays of keys.  A key is a value, or, for a key of several
 * columns, an object that names them.  common holds what all batches share.
 * Returns the number of locked rows.
 *
 * Raises 22023 for other JSON, 42P01 for a table that does not exist, P0002
 * for missing rows, and what ou_batch_run raises.
 */
int64
ou_lock_all(Jsonb *targets, const Batch *common)
{
	LockTarget *tables;
	int			ntables = read_targets(targets, &tables);
	Batch	   *batches = palloc(sizeof(Batch) * Max(ntables, 1));
	AbsentRows	absent = {0};
	LockRequest request = {.verb = common->verb};
	int64		nlocked = 0;

	check_targets(tables, ntables);
	initStringInfo(&absent.detail);
	for (int i = 0; i < ntables; i++)
	{
		batches[i] = *common;
		batches[i].absent = &absent;
		batches[i].changes = tables[i].keys;
		request.batch_size = ou_batch_size(&batches[i]);
		batches[i].shape.relid = ou_target_lock_by_name(tables[i].name, &request,
														&batches[i].held);
		batches[i].shape.source = ou_json_keys_read(tables[i].keys, batches[i].shape.relid,
													&batches[i].shape.columns);
	}
	for (int i = 0; i < ntables; i++)
		nlocked += ou_batch_run(&batches[i]);
	if (absent.nrows > 0)
		report_absent(&absent);
	return nlocked;
}
