/*-------------------------------------------------------------------------
 *
 * plan_cache.h
 *		Saved plans of batches: find, validate, rebuild, evict.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_PLAN_CACHE_H
#define OU_PLAN_CACHE_H

#include "executor/spi.h"

#include "sql_text.h"

/*
 * A table as it was described, and the statements for one shape of batch on
 * it.  Belongs to the cache; ou_plans_find says how long it lives.
 */
typedef struct BatchPlans
{
	MemoryContext context;		/* holds this struct and all it points to */
	int			references;		/* by the cache and by running batches */
	dlist_node	node;			/* in the cache's list, most recent first */
	BatchShape	shape;
	Target	   *target;
	bool		allows_one_pass;	/* may the change lock the rows itself? */
	SPIPlanPtr	plans[NSTATEMENTS];
} BatchPlans;

extern void ou_plans_note_order(void);
extern BatchPlans *ou_plans_find(const BatchShape *shape);
extern SPIPlanPtr ou_plans_get(BatchPlans *plans, Statement statement);
extern void ou_plans_execute(BatchPlans *plans, Statement statement, const Datum *values,
							 DestReceiver *receiver);

#endif							/* OU_PLAN_CACHE_H */
