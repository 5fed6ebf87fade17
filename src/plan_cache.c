/*-------------------------------------------------------------------------
 *
 * plan_cache.c
 *		Saved plans of batches: find, validate, rebuild, evict.
 *
 * After ri_triggers.c: the text is built from the catalogs, the plan is saved,
 * and after any change to the table, a rename too, the server marks the plan
 * invalid, upon which the text is built anew.  Unlike there, the cache is
 * bounded, as tables, verbs and columns multiply.
 *
 * Plans are generic: a plan that folded an array of a million keys into
 * itself would be larger than the batch.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "lib/ilist.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "one_pass.h"
#include "plan_cache.h"

/* How many shapes of batches a session keeps plans for. */
#define MAX_CACHED_PLANS 64

typedef struct CacheEntry
{
	BatchShape	shape;			/* hash key; its sets belong to plans */
	BatchPlans *plans;
} CacheEntry;

static HTAB *cache = NULL;
static dlist_head recent = DLIST_STATIC_INIT(recent);

/* How many statements the planner hook has given an order. */
static uint64 nordered = 0;

/*
 * Hash a shape.
 */
static uint32
hash_shape(const void *key, Size keysize)
{
	const BatchShape *shape = key;
	uint32		words[] = {shape->relid, shape->change, shape->source, shape->strength,
		shape->wait, shape->locate, shape->result,
	bms_hash_value(shape->columns), bms_hash_value(shape->optional)};

	return hash_bytes((const unsigned char *) words, sizeof(words));
}

/*
 * Compare two shapes: 0 if they are equal.
 */
static int
match_shapes(const void *a, const void *b, Size keysize)
{
	const BatchShape *left = a;
	const BatchShape *right = b;

	return !(left->relid == right->relid &&
			 left->change == right->change &&
			 left->source == right->source &&
			 left->strength == right->strength &&
			 left->wait == right->wait &&
			 left->locate == right->locate &&
			 left->result == right->result &&
			 bms_equal(left->columns, right->columns) &&
			 bms_equal(left->optional, right->optional));
}

/*
 * Create the cache, once a session.
 */
static void
create_cache(void)
{
	HASHCTL		ctl = {
		.keysize = sizeof(BatchShape),
		.entrysize = sizeof(CacheEntry),
		.hash = hash_shape,
		.match = match_shapes,
	};

	cache = hash_create("ordered_update plans", MAX_CACHED_PLANS, &ctl,
						HASH_ELEM | HASH_FUNCTION | HASH_COMPARE);
}

/*
 * Give up one reference; the last one frees the plans.
 */
static void
release(void *arg)
{
	BatchPlans *plans = arg;

	if (--plans->references > 0)
		return;
	for (int i = 0; i < NSTATEMENTS; i++)
		if (plans->plans[i] != NULL)
			SPI_freeplan(plans->plans[i]);
	MemoryContextDelete(plans->context);
}

/*
 * Take plans out of the cache.  A batch that runs by them keeps them alive.
 */
static void
evict(BatchPlans *plans)
{
	hash_search(cache, &plans->shape, HASH_REMOVE, NULL);
	dlist_delete(&plans->node);
	release(plans);
}

/*
 * Whether nothing has happened to the table since the plans were made.  There
 * is always one that reads the table and its key, and so is invalidated with
 * it.
 */
static bool
are_valid(const BatchPlans *plans)
{
	for (int i = 0; i < NSTATEMENTS; i++)
		if (plans->plans[i] != NULL && !SPI_plan_is_valid(plans->plans[i]))
			return false;
	return true;
}

/*
 * Note that the planner hook has given a statement of a verb its order.
 */
void
ou_plans_note_order(void)
{
	nordered++;
}

/*
 * Plan a statement that the planner hook is to give an order, and check that it
 * does: another extension's hook can stand in front of it and pass it by.
 * Without the order rows would be locked in any.
 */
static void
demand_order(SPIPlanPtr plan)
{
	uint64		before = nordered;
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);

	if (cached != NULL)
		ReleaseCachedPlan(cached, CurrentResourceOwner);
	if (nordered == before)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("planner hook of \"ordered_update\" is not called"),
				 errhint("Load \"ordered_update\" after the other extension that has a planner hook.")));
}

/*
 * Prepare and save a statement of plans.
 */
static SPIPlanPtr
prepare(const BatchPlans *plans, Statement statement)
{
	SqlText		sql = ou_sql_build(plans->target, &plans->shape, statement);
	int			order = statement == STATEMENT_LOCK_AND_CHANGE ?
	OU_CURSOR_OPT_GIVE_ORDER : OU_CURSOR_OPT_HAS_ORDER;
	SPIPlanPtr	plan = SPI_prepare_cursor(sql.text, sql.nparams, sql.paramtypes,
										  CURSOR_OPT_GENERIC_PLAN | order);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor returned %s for %s",
			 SPI_result_code_string(SPI_result), sql.text);
	SPI_keepplan(plan);
	pfree(sql.text);
	if (statement == STATEMENT_LOCK_AND_CHANGE)
		demand_order(plan);
	return plan;
}

/*
 * Check that the columns that a batch names suit what it does with them:
 * 22023, 42804, 0A000.
 */
static void
check_columns(const Target *target, const BatchShape *shape)
{
	Bitmapset  *changed = ou_sql_changed_columns(target, shape);
	int			attnum = -1;

	if (shape->source == SOURCE_OBJECTS || shape->source == SOURCE_MANY_OBJECTS)
		ou_target_check_named(target, bms_difference(shape->columns, shape->optional));
	if (shape->change == CHANGE_INCREMENT)
		ou_target_check_counter(target, bms_singleton_member(shape->columns));
	if (shape->change == CHANGE_ADD)
		while ((attnum = bms_next_member(changed, attnum)) >= 0)
			ou_target_check_counter(target, attnum);
	if (shape->source == SOURCE_SCALARS && target->key->ncolumns > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("keys of table \"%s\" must be objects", target->name),
				 errdetail("Columns of its primary key: %d.", target->key->ncolumns),
				 errhint("Write keys as [{\"a\": 1, \"b\": 2}, ...].")));
	if (shape->change == CHANGE_NONE && !bms_is_empty(changed))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" is not part of the primary key of table \"%s\"",
						target->columns[bms_next_member(changed, -1) - 1].name,
						target->name)));
	if ((shape->change == CHANGE_ADD || shape->change == CHANGE_SET) &&
		bms_is_empty(changed))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("changes name no column to change"),
				 errdetail("They name nothing but the primary key of table \"%s\".",
						   target->name)));
}

/*
 * The statement to prepare first: one that reads the table, and that a batch of
 * this shape most likely needs.  The change statement of a JSON batch cannot be
 * prepared yet, as there is no relation of changes.
 */
static Statement
first_statement(const BatchPlans *plans)
{
	if (!plans->allows_one_pass)
		return STATEMENT_LOCK;
	if (plans->shape.source == SOURCE_ARRAY)
		return STATEMENT_LOCK_AND_CHANGE;
	return STATEMENT_LOOK;
}

/*
 * Describe the table and prepare a first statement, in a context that is a
 * child of the current one until all has succeeded.
 */
static BatchPlans *
build(const BatchShape *shape)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "ordered_update batch plans",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	BatchPlans *plans = palloc0(sizeof(BatchPlans));

	plans->context = context;
	plans->shape = *shape;
	plans->shape.columns = bms_copy(shape->columns);
	plans->shape.optional = bms_copy(shape->optional);
	plans->target = ou_target_describe(shape->relid, ou_sql_change_event(shape->change));
	MemoryContextSwitchTo(caller);
	check_columns(plans->target, shape);
	plans->allows_one_pass = ou_one_pass_is_safe(plans->target, shape);

	ou_plans_get(plans, first_statement(plans));
	MemoryContextSwitchTo(caller);	/* from SPI's */
	MemoryContextSetParent(context, CacheMemoryContext);
	return plans;
}

/*
 * Put plans into the cache, in place of the least recently used ones if the
 * cache is full.
 */
static void
enter(BatchPlans *plans)
{
	CacheEntry *entry;

	if (hash_get_num_entries(cache) >= MAX_CACHED_PLANS)
		evict(dlist_tail_element(BatchPlans, node, &recent));
	entry = hash_search(cache, &plans->shape, HASH_ENTER, NULL);
	entry->plans = plans;
	dlist_push_head(&recent, &plans->node);
	plans->references = 1;
}

/*
 * Keep plans alive until the current memory context is reset: an error, or a
 * nested call that evicts them, must not take them from a running batch.
 */
static void
pin(BatchPlans *plans)
{
	MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));

	callback->func = release;
	callback->arg = plans;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
	plans->references++;
}

/*
 * Find valid plans for a batch of the given shape, or make them.  The table
 * is locked and SPI connected.  The result is good until the current memory
 * context is reset.
 *
 * Raises what ou_target_describe and check_columns raise.
 */
BatchPlans *
ou_plans_find(const BatchShape *shape)
{
	CacheEntry *entry;
	BatchPlans *plans;

	if (cache == NULL)
		create_cache();

	entry = hash_search(cache, shape, HASH_FIND, NULL);
	plans = entry != NULL ? entry->plans : NULL;
	if (plans != NULL && !are_valid(plans))
	{
		evict(plans);
		plans = NULL;
	}
	if (plans == NULL)
	{
		plans = build(shape);
		enter(plans);
	}
	dlist_move_head(&recent, &plans->node);
	pin(plans);
	return plans;
}

/*
 * Get the saved plan of one statement, prepared when it is first needed.
 *
 * A function that the batch called, of a cast or a domain, can have renamed a
 * column meanwhile, which the server allows on a table in use: 55006.
 */
SPIPlanPtr
ou_plans_get(BatchPlans *plans, Statement statement)
{
	if (!are_valid(plans) && !ou_target_is_unchanged(plans->target))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("table \"%s\" was altered while a batch runs on it",
						plans->target->name)));
	if (plans->plans[statement] == NULL)
		plans->plans[statement] = prepare(plans, statement);
	return plans->plans[statement];
}

/*
 * Run a statement of plans with its parameters, none of them null.  Its rows go
 * to receiver, their number to SPI_processed.
 */
void
ou_plans_execute(BatchPlans *plans, Statement statement, const Datum *values,
				 DestReceiver *receiver)
{
	SPIPlanPtr	plan = ou_plans_get(plans, statement);
	int			nparams = SPI_getargcount(plan);
	ParamListInfo params = makeParamList(nparams);
	SPIExecuteOptions options = {.params = params,.dest = receiver};
	int			result;

	for (int i = 0; i < nparams; i++)
	{
		params->params[i].value = values[i];
		params->params[i].isnull = false;
		params->params[i].pflags = PARAM_FLAG_CONST;
		params->params[i].ptype = SPI_getargtypeid(plan, i);
	}
	result = SPI_execute_plan_extended(plan, &options);
	if (result < 0)
		elog(ERROR, "SPI_execute_plan_extended returned %s", SPI_result_code_string(result));
}
