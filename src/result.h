/*-------------------------------------------------------------------------
 *
 * result.h
 *		The rows that a verb returns, in key order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_RESULT_H
#define OU_RESULT_H

#include "executor/tuptable.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

#include "sql_text.h"

typedef struct BatchResult
{
	MemoryContext context;		/* of all but store */
	const Target *target;
	ResultShape shape;
	Tuplestorestate *store;		/* the caller's: receives the rows */
	TupleDesc	desc;			/* of store */
	int		   *fields;			/* for each column a statement returns, its
								 * field in desc, from 0 */
	int			nfields;
	TupleTableSlot *slot;		/* the row at hand */
	const Keyset *expected;		/* keys of rows to be sorted, or NULL */
	int			next;			/* next one of them to come in key order */
	Tuplesortstate *sort;		/* NULL as long as rows come in key order */
} BatchResult;

extern void ou_result_begin(BatchResult *result, const Target *target, ResultShape shape,
							Tuplestorestate *store, TupleDesc desc);
extern void ou_result_load(BatchResult *result, TupleTableSlot *from, int first);
extern void ou_result_read_key(const BatchResult *result, Datum *key);
extern void ou_result_check_counters(BatchResult *result, const Bitmapset *counters);
extern void ou_result_append(BatchResult *result);
extern void ou_result_begin_sort(BatchResult *result, const Keyset *expected);
extern void ou_result_sort(BatchResult *result);
extern void ou_result_end_sort(BatchResult *result);

#endif							/* OU_RESULT_H */
